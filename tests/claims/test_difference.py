"""What two sentences share and what only one says, and whether that makes them two statements."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.claims.difference import (
    Difference,
    align_words,
    difference,
    is_label,
    is_measured,
    other_thing,
    says_otherwise,
)
from chapterhouse.claims.statement import read


def told(one: str, other: str, language: str = "en") -> Difference:
    return difference(read(one, language), read(other, language))


def numbers(found: Difference) -> tuple[int, int]:
    """Return the places of the first number of each."""
    first = next(n for n, (token, _) in enumerate(found.first) if token.number)
    second = next(n for n, (token, _) in enumerate(found.second) if token.number)
    return first, second


def test_what_both_say_and_what_only_one_says() -> None:
    found = told("The berth costs 80 euros.", "The berth costs 95 euros a metre.")
    assert found.shared == ("berth", "costs")
    assert found.left == ()
    assert [token.text for token in found.right] == ["metre"]
    assert found.contained
    assert found.sure


def test_the_same_sentence_is_wholly_alike() -> None:
    found = told("The ferry leaves at nine.", "The ferry leaves at nine.")
    assert (found.alike, found.overall) == (1.0, 1.0)
    assert not says_otherwise(found)


def test_nothing_in_common_is_not_alike() -> None:
    found = told("The ferry leaves.", "Guests pay tolls.")
    assert found.alike == 0.0
    assert not found.sure
    assert not found.contained


def test_opposites_are_found_where_the_other_side_lacks_them() -> None:
    found = told("Prices rise in summer.", "Prices fall in summer.")
    assert found.opposed is not None
    assert [token.text for token in found.opposed] == ["rise", "fall"]
    assert found.alike == 1.0
    assert told("Prices rise.", "Prices rise.").opposed is None


def test_no_two_numbers_stand_in_one_place() -> None:
    made = align_words(read("50 men and 50 women came.", "en"), read("50 men came.", "en"))
    held = [at for at in made.places if at >= 0]
    assert len(set(held)) == len(held)


@pytest.mark.parametrize(
    ("one", "other", "label"),
    [
        ("Schedule 4 holds the fees.", "Schedule 5 holds the fees.", True),
        ("2. Choose a berth.", "3. Choose a berth.", True),
        ("See version 3 of it.", "See version 4 of it.", True),
        ("The berth costs 80 euros.", "The berth costs 95 euros.", False),
    ],
)
def test_numbers_that_are_names_are_told_from_amounts(one: str, other: str, *, label: bool) -> None:
    found = told(one, other)
    assert is_label(found, numbers(found)) is label


def test_numbers_of_other_things_are_two_statements() -> None:
    found = told("The harbour has 3 ships.", "The harbour has 4 lamps.")
    assert other_thing(found, numbers(found))
    found = told("The harbour has 3 ships.", "The harbour has 4 ships.")
    assert not other_thing(found, numbers(found))


def test_a_share_is_something_measured() -> None:
    assert is_measured(told("Fees rose 5 %.", "Fees rose 7 %."))
    assert not is_measured(told("The berth has 5 lamps.", "The berth has 7 lamps."))


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("All berths close, except berth two.", "All berths close.", "en"),
        ("The ferry is late.", "If the ferry is late, guests wait.", "en"),
        ("Die Fähre fährt täglich.", "Die Fähre fährt täglich, außer am Sonntag.", "de"),
    ],
)
def test_an_exception_or_a_supposition_says_otherwise(one: str, other: str, language: str) -> None:
    assert says_otherwise(told(one, other, language))


WORDS = st.lists(
    st.sampled_from(
        [
            "the",
            "ferry",
            "tug",
            "leaves",
            "sails",
            "not",
            "9:30",
            "80",
            "95",
            "euros",
            "in",
            "summer",
            ",",
            "berth",
        ]
    ),
    max_size=10,
).map(" ".join)


@given(WORDS, WORDS)
def test_shares_are_shares_and_nothing_is_lost(one: str, other: str) -> None:
    found = told(one, other)
    assert 0.0 <= found.overall <= found.alike <= 1.0
    assert [token for token, _ in found.first] == list(read(one, "en").tokens)
    assert [token for token, _ in found.second] == list(read(other, "en").tokens)
