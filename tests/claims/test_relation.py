"""Where sources disagree, and where they only speak of different things."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.claims.relation import Relation, compare, relation, stated_in
from chapterhouse.types import Evidence


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


@given(st.text(max_size=120), st.text(max_size=120))
def test_any_text_can_be_compared(one: str, other: str) -> None:
    assert relation(one, other) in Relation


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


def test_questions_and_headings_state_nothing() -> None:
    text = "# Harbour rules\n\nWhy should the ferry wait? The ferry waits."
    evidence = Evidence("one", 0, len(text), text, "en")
    assert [stated.sentence.text for stated in stated_in([evidence])] == ["The ferry waits."]


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
