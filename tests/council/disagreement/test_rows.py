"""Claims that say the same, claims that contradict each other, and how members stand to them."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.council.said import Meeting, meeting

from chapterhouse.council.disagreement.rows import Rows, around_of, positions, rows_of
from chapterhouse.types import Evidence, Stance, Support

TEXTS = {
    "old": "The notice period of the berth is 14 days. Dogs are welcome on the ferry deck.",
    "new": "The notice period of the berth is 30 days. The crane lifts 9 tonnes of steel.",
    "third": "The notice period of the berth is 30 days. The office opens at nine on Monday.",
}

FOURTEEN = ("old", "The notice period of the berth is 14 days.")
THIRTY = ("new", "The notice period of the berth is 30 days.")
SENTENCES = [
    FOURTEEN,
    THIRTY,
    ("third", THIRTY[1]),
    ("old", "Dogs are welcome on the ferry deck."),
    ("new", "The crane lifts 9 tonnes of steel."),
]


def stands(made: Meeting) -> dict[str, dict[int, str]]:
    """Return how each member stands to the rows, by their numbers."""
    claims = made.cited()
    found: dict[str, dict[int, str]] = {member: {} for member in made.members}
    for (member, row), position in positions(made.statements, claims, rows_of(claims)).items():
        found[member][row] = position.stance.value
    return found


# --- rows ---------------------------------------------------------------------------------------


def rows_of_claims(said: list[tuple[str, str]]) -> Rows:
    made = meeting(TEXTS, ["ada"])
    for document, quote in said:
        made.claim("ada", document, quote)
    return rows_of(made.cited())


@given(st.lists(st.sampled_from(SENTENCES), max_size=8))
def test_every_claim_is_in_one_row_with_none_that_it_contradicts(
    said: list[tuple[str, str]],
) -> None:
    found = rows_of_claims(said)
    assert sorted(place for row in found.rows for place in row) == list(range(len(said)))
    assert list(found.rows) == sorted(tuple(sorted(row)) for row in found.rows)
    row_of = found.row_of()
    assert all(row_of[one.one] != row_of[one.other] for one in found.contradictions)
    for row in found.rows:
        assert len({said[place][1] for place in row}) == 1
    notices = [place for place, (_, text) in enumerate(said) if "notice" in text]
    assert {(pair.one, pair.other) for pair in found.contradictions} == {
        (one, other) for one in notices for other in notices
        if one < other and said[one][1] != said[other][1]
    }  # fmt: skip


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=8))
def test_what_is_said_later_moves_nothing_that_was_said_before(
    said: list[tuple[str, str]],
) -> None:
    last = len(said) - 1
    found, before = rows_of_claims(said), rows_of_claims(said[:-1])
    kept = (tuple(place for place in row if place != last) for row in found.rows)
    assert tuple(filter(None, kept)) == before.rows


def test_claims_in_two_languages_are_never_one_row() -> None:
    text = "Der Vertrag Alpha endet am 3. Mai 2024."
    made = meeting({"one": text, "two": text}, ["ada", "bo"])
    made.known = {**made.known, "two": replace(made.known["two"], language="de")}
    made.claim("ada", "one", text)
    made.claim("bo", "two", text)
    assert rows_of(made.cited()).rows == ((0,), (1,))


def test_what_many_repeat_is_as_many_rows_as_there_are_things_said() -> None:
    places = [f"{a} quay of {b}" for a in ("north", "old") for b in "ABCD"]
    sentences = [
        f"The {place} takes {number} boats on {day}."
        for place in places
        for number, day in ((12, "Monday"), (14, "Tuesday"), (15, "Friday"), (20, "Sunday"))
    ]
    texts = {f"d{n}": sentence for n, sentence in enumerate(sentences)}
    made = meeting(texts, [f"m{n}" for n in range(8)])
    order = random.Random(7)
    for member in made.members:
        for name in order.sample(sorted(texts), 20):
            made.claim(member, name, texts[name])
    assert len(rows_of(made.cited()).rows) <= len(sentences)


# --- what carries a claim -----------------------------------------------------------------------


@pytest.mark.parametrize("support", Support)
def test_a_citation_is_evidence_only_of_what_it_carries(support: Support) -> None:
    made = meeting(TEXTS, ["ada"])
    made.claim("ada", *THIRTY, support=support)
    (claim,) = made.cited()
    carried = support in {Support.QUOTED, Support.SUPPORTED, Support.CITED}
    assert claim.citations == ((1,) if carried else ())
    assert claim.documents == ({"new"} if carried else set())
    assert len(claim.spans) == carried
    assert claim.statements  # what is said is compared all the same


def test_a_row_of_a_table_states_nothing_without_its_table() -> None:
    row = "| Dogs | Dogs are welcome on the ferry deck. |"
    made = meeting({"rules": f"| About | Rule |\n|---|---|\n{row}\n"}, ["ada"])
    made.claim("ada", "rules", row, text="Dogs are welcome on the ferry deck.")
    made.claim("ada", "rules", row, text="Dogs may come on deck.", support=Support.SUPPORTED)
    quoted, worded = made.cited()
    assert quoted.evidence
    assert quoted.statements == ()
    assert worded.statements


def test_around_a_stretch_is_the_text_on_both_sides_without_it() -> None:
    text = f"{'b' * 500} stretch {'a' * 500}"
    start = text.index("stretch")
    around = around_of(Evidence("d", start, start + 7, "stretch"), {"d": text}.__getitem__)
    assert around == f"{'b' * 399} \n {'a' * 399}"


# --- how members stand --------------------------------------------------------------------------


def test_who_claims_the_opposite_contradicts_and_who_says_nothing_is_left_out() -> None:
    made = meeting(TEXTS, ["ada", "bo", "cy"])
    made.claim("ada", *FOURTEEN)
    made.claim("bo", *THIRTY)
    assert stands(made) == {
        "ada": {0: "supports", 1: "contradicts"},
        "bo": {0: "contradicts", 1: "supports"},
        "cy": {},
    }


def test_of_two_rounds_the_later_one_counts() -> None:
    made = meeting(TEXTS, ["ada", "bo"])
    claim = made.claim("ada", *THIRTY)
    made.reply("bo", claim, Stance.CONTRADICTS, *FOURTEEN)
    assert stands(made)["bo"] == {0: "contradicts"}
    made.reply("bo", claim, Stance.SUPPORTS, "third", THIRTY[1], during="third")
    assert stands(made)["bo"] == {0: "supports"}


def test_own_documents_that_disagree_are_both_held_in_one_round_and_not_in_two() -> None:
    for during, held in (("first", "supports"), ("later", "contradicts")):
        made = meeting(TEXTS, ["ada"])
        made.claim("ada", *FOURTEEN)
        made.claim("ada", *THIRTY, during=during)
        assert stands(made) == {"ada": {0: held, 1: "supports"}}


def test_only_a_concession_that_counts_moves_a_member() -> None:
    for accepted in (False, True):
        made = meeting(TEXTS, ["ada", "bo"])
        own, other = made.claim("ada", *FOURTEEN), made.claim("bo", *THIRTY)
        before = stands(made)
        made.concede("ada", own, other, accepted=accepted)
        after = stands(made)
        assert after == ({**before, "ada": {1: "supports"}} if accepted else before)
