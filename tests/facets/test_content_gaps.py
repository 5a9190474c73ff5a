"""Gaps: questions on one subject come together, the same way each time."""

from hypothesis import given, settings
from hypothesis import strategies as st

from chapterhouse.facets.content_gaps import group_questions
from chapterhouse.types import OutcomeCounts, QuestionOutcome, QuestionRecord

ENGLISH = {"en": 10}


def asked(
    text: str, *nearest: str, outcome: QuestionOutcome = QuestionOutcome.PASSAGES
) -> QuestionRecord:
    return QuestionRecord(1, outcome, text=text, nearest=nearest)


def test_questions_with_the_same_words_are_one_gap() -> None:
    groups, weights = group_questions(
        [
            asked("How do I reset my password?", "terms"),
            asked("What is the weather in Berlin?"),
            asked("Who resets a forgotten password?", outcome=QuestionOutcome.NOT_FOUND),
            asked("How many vacation days are there?", "modern"),
        ],
        ENGLISH,
    )
    first = groups[0]
    assert first.examples == ("How do I reset my password?", "Who resets a forgotten password?")
    assert set(first.shared_words(weights)) == {"password", "reset"}
    assert first.outcomes == OutcomeCounts(2, 0, 1, 1)
    assert [len(group.questions) for group in groups] == [2, 1, 1]


def test_without_texts_the_nearest_document_decides() -> None:
    weak = [asked("", "b", "a"), asked("", "a", "b"), asked("", "b"), asked("")]
    groups, _ = group_questions(weak, ENGLISH)
    assert [group.nearest for group in groups] == [("b", "a"), (), ("a", "b")]
    assert groups[0].count("b") == 2
    assert groups[0].examples == ()


WORDS = st.sampled_from(["berth", "tide", "refund", "price", "harbour", "ferry"])
RECORDS = st.builds(
    lambda words, nearest: asked(" ".join(words), *nearest),
    st.lists(WORDS, max_size=4),
    st.lists(st.sampled_from("abc"), max_size=3, unique=True),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(RECORDS, max_size=15))
def test_every_question_is_in_one_gap_and_the_largest_comes_first(
    weak: list[QuestionRecord],
) -> None:
    groups, weights = group_questions(weak, ENGLISH)
    sizes = [len(group.questions) for group in groups]
    assert sizes == sorted(sizes, reverse=True)
    members = [id(one.record) for group in groups for one in group.questions]
    assert sorted(members) == sorted(map(id, weak))
    again, _ = group_questions(weak, ENGLISH)
    assert [group.examples for group in again] == [group.examples for group in groups]
    for group in groups:
        assert set(group.shared_words(weights)) <= set(
            " ".join(one.record.text for one in group.questions).split()
        )
