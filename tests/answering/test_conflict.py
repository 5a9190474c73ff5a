"""Where sources disagree, and where they only speak of different things."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.answering.conflict import Relation, compare, find_conflicts, relation
from chapterhouse.types import ConflictKind, Evidence


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("The notice period is 14 days.", "The notice period is 30 days.", "number"),
        ("The fee is 20 euros.", "The fee is 25 euros.", "number"),
        ("Berlin has 3.6 million inhabitants.", "Berlin has 3.8 million inhabitants.", "number"),
        (
            "The ferry carried 40,000 passengers in 2023.",
            "The ferry carried 50,000 passengers in 2023.",
            "number",
        ),
        ("The contract ends on 3 May 2024.", "The contract ends on 5 May 2024.", "date"),
        ("The museum was founded in 1990.", "The museum was founded in 1995.", "date"),
        ("The office opens at 9:00 on Monday.", "The office opens at 10:00 on Monday.", "date"),
        ("Smoking is allowed on deck.", "Smoking is not allowed on deck.", "negation"),
        ("Smoking is allowed on deck.", "Smoking is prohibited on deck.", "negation"),
        ("The office opens at 9:00 on Monday.", "On Monday the office opens at 9 am.", "agree"),
        (
            "The notice period is 14 days for members.",
            "The notice period is 30 days for guests.",
            "silent",
        ),
        (
            "In 2022, the ferry carried 40 passengers a day.",
            "In 2023, the ferry carried 50 passengers a day.",
            "silent",
        ),
        ("Berlin has 3 million inhabitants.", "Hamburg has 2 million inhabitants.", "silent"),
        ("The pump must be at least 5 m deep.", "The pump must be 7 m deep.", "silent"),
        ("Dogs are welcome on board.", "Cats eat fish.", "silent"),
        ("The rope is 5 m long.", "The rope is 5 kg heavy.", "silent"),
        # A date in front is a date of the event, unless a figure of each year is told.
        (
            "In 1998, the harbour opened a new quay.",
            "In 1996, the harbour opened a new quay.",
            "date",
        ),
        (
            "The lighthouse was built in 1188.",
            "In the year 1186 the lighthouse was built.",
            "date",
        ),
        (
            "In 2013, the average fare was 4 euros.",
            "In 2015, the average fare was 4 euros.",
            "silent",
        ),
        ("The quay was built in 1990.", "The quay was sold in 1995.", "silent"),
        # What only adds something leaves the rest as it is.
        (
            "The fleet has 12 ferries, which carry cars and bicycles to the island.",
            "The fleet has 12 ferries.",
            "agree",
        ),
        (
            "The harbour company (founded by fishermen) employs 40 people.",
            "The harbour company employs 50 people.",
            "number",
        ),
        # Another group, other things, a number that is a name.
        (
            "The cabin rate is 14 euros on Sundays.",
            "The cabin rate is 20 euros on weekdays.",
            "silent",
        ),
        ("The fleet has 12 ferries at sea.", "The fleet has 30 lamps at sea.", "silent"),
        ("Gate 1 leads to the ferry.", "Gate 2 leads to the ferry.", "silent"),
        ("The pregnancy rate was 51% then.", "The cancellation rate was 33% then.", "silent"),
        # A value that stands twice.
        (
            "The crew has 50 men and 50 women on board.",
            "The crew has 50 men and 95 women on board.",
            "number",
        ),
        ("This is the highest crane.", "This is the lowest crane.", "negation"),
        # A number that names something, a number within a range, an item of a list.
        ("The policy P-07 has version 3.", "The policy P-07 has version 4.", "silent"),
        (
            "The wind at the mast is from 12 to 18 m/s.",
            "The wind at the mast is 15 m/s.",
            "silent",
        ),
        (
            "The wind at the mast is from 12 to 18 m/s.",
            "The wind at the mast is 25 m/s.",
            "number",
        ),
        ("1. Choose the right berth.", "2. Choose the right berth.", "silent"),
        # What only one of them says may keep them from saying the same.
        (
            "The ferry does not sail under amber unless the wind is from the west.",
            "The ferry does not sail under amber.",
            "silent",
        ),
        (
            "The harbourmaster decides the condition.",
            "The master and the harbourmaster decide the condition.",
            "silent",
        ),
        (
            "Notices are renewed every two hours while amber lasts.",
            "Notices are renewed every hour while amber lasts.",
            "silent",
        ),
        (
            "All sailings are cancelled.",
            "When sailings are cancelled, tickets bought by card are refunded.",
            "silent",
        ),
        # The same words in another order are not the same.
        (
            "The pilot warned the captain of the storm.",
            "The captain warned the pilot of the storm.",
            "silent",
        ),
    ],
)
def test_how_two_sentences_stand_to_each_other(one: str, other: str, expected: str) -> None:
    assert relation(one, other, "en") is Relation(expected)
    assert relation(other, one, "en") is Relation(expected)


def _evidence(
    text: str, name: str, date: str = "", title: str = "Harbour rules", start: int = 0
) -> Evidence:
    return Evidence(name, start, start + len(text), text, "en", title, date=date)


OLD = _evidence(
    "The berth is 20 m long. The notice period is 14 days.", "old", "2022-01-05", start=100
)
NEW = _evidence("Here the notice period is 30 days.", "new", "2023")


def test_both_sides_are_told_with_the_newer_first() -> None:
    (conflict,) = find_conflicts([OLD, NEW])
    assert conflict.kind is ConflictKind.NUMBER
    assert conflict.newer is True
    assert [side.value for side in conflict.sides] == ["30 days", "14 days"]
    assert [side.date for side in conflict.sides] == ["2023", "2022-01-05"]
    assert "notice" in conflict.subject
    span = conflict.sides[1].span
    assert (span.start, span.quote) == (124, "The notice period is 14 days.")


def test_dates_that_do_not_tell_make_neither_newer() -> None:
    for date in ("", "2023-05"):
        undated = _evidence("The notice period is 14 days.", "old", date)
        (conflict,) = find_conflicts([undated, NEW])
        assert conflict.newer is None


def test_only_what_was_asked_about_is_told() -> None:
    assert find_conflicts([OLD, NEW], "How long is the notice period?")
    assert not find_conflicts([OLD, NEW], "Who owns the lighthouse?")


def test_two_places_of_one_document_may_disagree_but_not_neighbours() -> None:
    text = "The notice period is 14 days. The notice period is 30 days."
    assert not find_conflicts([_evidence(text, "one")])
    far = _evidence("The notice period is 30 days.", "one", start=5_000)
    assert len(find_conflicts([_evidence("The notice period is 14 days.", "one"), far])) == 1


def test_the_same_words_under_other_headings_are_no_conflict() -> None:
    boats = _evidence("The maximum weight is 500 kg.", "boats", title="Rowing boats")
    cranes = _evidence("The maximum weight is 900 kg.", "cranes", title="Steel cranes")
    assert not find_conflicts([boats, cranes])


def test_at_most_five_are_told_in_an_order_that_input_does_not_change() -> None:
    things = ["anchor", "berth", "crane", "dock", "engine", "ferry", "gate", "hull"]
    one = [
        _evidence(f"The {t} inspection takes {n + 2} hours.", f"a{n}") for n, t in enumerate(things)
    ]
    two = [
        _evidence(f"The {t} inspection takes {n + 40} hours.", f"b{n}")
        for n, t in enumerate(things)
    ]
    found = find_conflicts([*one, *two])
    assert len(found) == 5
    assert found == find_conflicts([*one, *two])


@given(st.text(max_size=120), st.text(max_size=120))
def test_any_text_can_be_compared(one: str, other: str) -> None:
    assert relation(one, other) in Relation
    evidence = [_evidence(one, "one"), _evidence(other, "two")]
    for conflict in find_conflicts(evidence):
        for side in conflict.sides:
            source = next(e for e in evidence if e.document_id == side.span.document_id)
            assert source.text[side.span.start : side.span.end] == side.span.quote


@pytest.mark.parametrize(
    ("language", "one", "other", "expected"),
    [
        ("de", "1998 wurde der Hafen eröffnet.", "Im Jahr 1995 wurde der Hafen eröffnet.", "date"),
        (
            "de",
            "Der Hafen wurde 1990 gegründet.",
            "Der Hafen wurde 1995 verkauft.",
            "silent",
        ),
        ("de", "Das ist der größte Kran.", "Das ist der kleinste Kran.", "negation"),
        ("zh", "1998年，港口建造了一座新的灯塔。", "1995年，港口建造了一座新的灯塔。", "date"),
        ("zh", "在冬季，渡船每天运送40名乘客。", "在夏季，渡船每天运送90名乘客。", "silent"),
        ("zh", "灯塔距离城市550公里。", "灯塔距离城市550千米。", "agree"),
    ],
)
def test_other_languages(language: str, one: str, other: str, expected: str) -> None:
    assert relation(one, other, language) is Relation(expected)
    assert relation(other, one, language) is Relation(expected)


def test_questions_and_headings_contradict_nothing() -> None:
    said = _evidence("Why should the harbour let the ferry wait?", "one")
    denied = _evidence("Why should the harbour not let the ferry wait?", "two")
    assert not find_conflicts([said, denied])


@given(st.text(max_size=120), st.text(max_size=120))
def test_the_order_of_two_sentences_changes_only_the_order_of_what_is_told(
    one: str, other: str
) -> None:
    told, turned = compare(one, other), compare(other, one)
    assert told.relation is turned.relation
    assert told.alike == turned.alike
    if one != other:
        assert told.values == turned.values[::-1]


@given(st.text(min_size=1, max_size=120))
def test_no_sentence_contradicts_itself(text: str) -> None:
    assert relation(text, text) in {Relation.AGREE, Relation.SILENT}


@pytest.mark.data
def test_an_encyclopedia_is_not_full_of_conflicts(data_folder: Path) -> None:
    lines = (data_folder / "retrieval" / "xquad-en" / "corpus.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    found = 0
    for first in range(0, 200, 10):
        chosen = records[first : first + 10]
        found += len(
            find_conflicts([_evidence(r["text"], r["_id"], title=r["title"]) for r in chosen])
        )
    assert found <= 2
