"""In what two sentences give different values for what was asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.answering.question_kind import QuestionKind
from chapterhouse.answering.stated_values import Differing, differing
from chapterhouse.claims.statement import read
from chapterhouse.types import ConflictKind


def told(
    one: str, other: str, kind: QuestionKind = QuestionKind.NUMBER, question: str = ""
) -> tuple[Differing, ...]:
    return tuple(differing(read(one, "en"), read(other, "en"), read(question, "en"), kind))


def values(one: str, other: str, kind: QuestionKind = QuestionKind.NUMBER) -> list[str]:
    return [value.text for found in told(one, other, kind) for value in found.values if value]


def test_numbers_of_one_thing_differ() -> None:
    one, other = "Keep a book for six weeks.", "Books may be kept for four weeks."
    (found,) = told(one, other)
    assert found.kind is ConflictKind.NUMBER
    assert found.same_unit
    assert values(one, other) == ["six weeks", "four weeks"]
    assert found.sure


def test_the_same_number_of_something_else_is_no_other_sign_of_a_value() -> None:
    one, other = "Each line has seven fields, parted by TAB (ASCII 9).", "A line has nine fields."
    assert values(one, other) == ["seven", "nine"]


def test_what_stands_behind_another_number_is_counted_by_that_one() -> None:
    one = "That is work under 16 years of age, or under 14 for light work."
    other = "It is for those younger than 15, or younger than 13 where the work is light."
    assert values(one, other) == ["14", "13"]


def test_of_several_values_none_is_sure() -> None:
    (found,) = told("Keep a book for six weeks.", "Keep a book for four weeks or nine weeks.")
    assert not found.sure


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It takes 24 hours.", "It takes one day."),  # the same in another unit
        ("It takes 14 days.", "It takes two weeks."),
        ("There are 12 ferries.", "There are 30 lamps."),  # another thing is counted
        ("The rope is 5 m long.", "The rope weighs 7 kg."),
        ("10.2 Notices go to the office.", "20.3 Notices go to the office."),  # numbers of clauses
        ("At most 90 passengers may board.", "Today 52 passengers board."),  # within the limit
        ("An 8-year-old girl was found.", "The girl was away for 9 hours."),
        ("You must be age 13 or older.", "You must be 13 years of age or older."),
    ],
)
def test_what_is_no_other_value(one: str, other: str) -> None:
    assert not told(one, other)


def test_what_the_question_states_is_not_asked() -> None:
    one, other = "More than 5 accounts cost $20.", "More than 3 accounts cost $20."
    assert told(one, other)
    assert not told(one, other, question="What do more than 5 accounts cost?")


def test_only_the_kind_of_value_that_is_asked_for_is_compared() -> None:
    one, other = "On 3 May 2024 Ann Lee paid.", "On 5 May 2024 Tom Fox paid."
    assert values(one, other, QuestionKind.DATE) == ["3 May 2024", "5 May 2024"]
    assert values(one, other, QuestionKind.PERSON) == ["Ann Lee", "Tom Fox"]
    assert not told(one, other, QuestionKind.REASON)


def test_a_date_that_states_less_is_no_other_one() -> None:
    assert not told("It was in 2019.", "It was on 5 June 2019.", QuestionKind.DATE)


def test_one_denies_what_the_other_says() -> None:
    one, other = "Dogs are allowed in the gardens.", "Dogs are not allowed in the gardens."
    (found,) = told(one, other, QuestionKind.DECISION)
    assert (found.kind, found.values) == (ConflictKind.NEGATION, (None, None))


@given(st.text(max_size=80), st.text(max_size=80), st.sampled_from(QuestionKind))
def test_no_sentence_differs_from_itself_and_values_stand_there(
    one: str, other: str, kind: QuestionKind
) -> None:
    assert not told(one, one, kind)
    for found in told(one, other, kind):
        for value, text in zip(found.values, (one, other), strict=True):
            assert value is None or (0 <= value.start < value.end <= len(text))
