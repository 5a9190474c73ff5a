"""Tags and age."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.retrieval.question import parse_question
from chapterhouse.retrieval.rerank import (
    FRESHNESS_FLOOR,
    TAG_BOOST,
    Recency,
    fold_tag,
    freshness,
    names_document,
    names_year,
    shared_tags,
    tags_of,
    weight_of,
)

from .scripted import document

DAY = 86_400
ENGLISH = {"en": 1}


@pytest.mark.parametrize(("days", "value"), [(0, 1.0), (1, 0.976), (30, 0.504), (180, 0.107)])
def test_freshness_is_the_published_formula(days: int, value: float) -> None:
    assert freshness(days * DAY) == pytest.approx(value, abs=1e-3)


@given(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12))
def test_freshness_falls_with_age_and_stays_above_its_floor(one: float, other: float) -> None:
    younger, older = sorted((one, other))
    assert 1.0 >= freshness(younger) >= freshness(older) >= FRESHNESS_FLOOR
    assert freshness(-5.0) == 1.0


@pytest.mark.parametrize("tag", ["Eye_Tracking", " eye tracking ", "EYE-TRACKING", "eye__tracking"])
def test_tags_are_compared_folded(tag: str) -> None:
    assert fold_tag(tag) == "eye-tracking"
    marked = document("a", metadata={"tags": "Gaze, Eye Tracking,, "})
    assert tags_of(marked) == {"gaze", "eye-tracking"}
    assert shared_tags(marked, (tag, "other")) == ("eye-tracking",)
    assert shared_tags(document("a"), (tag,)) == ()


@pytest.mark.parametrize(
    ("text", "title", "named"),
    [
        ("What does the crew handbook say?", "Crew Handbook", True),
        ("What is in the “Crew  handbook”?", "Crew Handbook", True),
        ("What does a crew handbooklet say?", "Crew Handbook", False),
        ("the screw handbook", "Crew Handbook", False),
        ("the handbook of the crew", "Crew Handbook", False),
        ("rules of safety", "Rules", False),  # too short to be meant
        ("what does rules-2019.txt say", "Other", True),
        ("what does RULES-2019.TXT say", "Other", True),
        ("what do rules say", "Other", False),
        ("anything", "", False),
    ],
)
def test_a_document_is_named_by_its_file_or_its_whole_title(
    text: str, title: str, *, named: bool
) -> None:
    named_so = document("a", title=title, source="root/rules-2019.txt")
    assert names_document(parse_question(text, ENGLISH), named_so) is named


@pytest.mark.parametrize(
    ("text", "named"),
    [("minutes of 2019", True), ("the 1848 revolution?", True), ("in 1066", False),
     ("order 120190", False), ("2019-05-01", True), ("port 8080", False), ("nothing", False)],
)  # fmt: skip
def test_a_year_is_named_by_four_digits(text: str, *, named: bool) -> None:
    assert names_year(parse_question(text, ENGLISH)) is named


@given(age=st.integers(0, 4_000 * DAY), share=st.floats(0, 1), tagged=st.booleans())
def test_a_score_is_moved_a_little_by_tags_and_down_by_age(
    age: int, share: float, *, tagged: bool
) -> None:
    known = document("a", modified=10_000 * DAY - age, metadata={"tags": "port"})
    question = parse_question("harbour gate", ENGLISH)
    tags = ("port",) if tagged else ("other",)
    boost, fresh = weight_of(question, known, tags, Recency(10_000 * DAY, share))
    assert boost == (1 + TAG_BOOST if tagged else 1.0)
    assert 1 - share * (1 - FRESHNESS_FLOOR) - 1e-9 <= fresh <= 1.0
    assert weight_of(question, known, tags, None) == (boost, 1.0)


def test_the_boost_is_between_five_and_ten_percent() -> None:
    assert 0.05 <= TAG_BOOST <= 0.10


def test_the_date_that_a_document_states_decides_its_age() -> None:
    now = 200 * DAY  # 20 July 1970
    copied_today = document("a", modified=now, metadata={"date": "1970-01-21"})
    question = parse_question("what does it say", ENGLISH)
    _, fresh = weight_of(question, copied_today, (), Recency(now))
    assert fresh == pytest.approx(freshness(180 * DAY))
