"""What the reader is told first."""

import pytest

from chapterhouse.answering.notices import needs_model, notice
from chapterhouse.answering.question_kind import QuestionKind, kind_of

K = QuestionKind
HALL = "The hall has 120 seats. All 12 contracts were signed for three years."


@pytest.mark.parametrize(
    ("asked", "needed"),
    [
        ("How many seats does the hall have?", False),
        ("How many of the contracts were signed?", False),  # the text says it
        ("How many of the agreements end this year?", True),
        ("How many policies mention seats?", True),
        ("Wie viele der Berichte nennen die Halle?", True),
        ("Combien de rapports mentionnent la salle ?", True),
        ("Which of the two halls is better?", True),
        ("Should I sign the lease?", True),
        ("Welche der beiden Hallen ist besser?", True),
        ("Que pensez-vous de la salle ?", True),
        ("Summarise the hall rules", True),
        ("Fasse die Hallenordnung zusammen", True),
        ("Résumez le règlement", True),
        ("Why was the hall closed?", False),
        ("Who runs the hall?", False),
    ],
)
def test_what_is_counted_weighed_or_summed_up_needs_a_model(asked: str, needed: bool) -> None:  # noqa: FBT001 - a parameter of the test
    kind = kind_of(asked, ())
    assert needs_model(kind, HALL, asked) is needed
    assert notice(kind, HALL, asked).endswith(":") is needed
    assert notice(kind, "", asked) == ""


@pytest.mark.parametrize(
    ("kind", "word"),
    [(K.DATE, "date"), (K.NUMBER, "number"), (K.PERSON, "person"), (K.PLACE, "place")],
)
def test_a_value_that_is_not_there_is_told(kind: QuestionKind, word: str) -> None:
    assert notice(kind, "nothing of it", "what?", unvalued=True).startswith(f"No {word} ")
    assert notice(kind, "some of it", "what?") == ""


def test_a_reason_is_told_to_be_missing_only_where_it_is() -> None:
    missing = "No reason is stated in so many words in what was found."
    assert notice(K.REASON, "The hall was closed.", "Why was the hall closed?") == missing
    assert notice(K.REASON, "It was closed because of rain.", "Why was the hall closed?") == ""


def test_what_is_absent_comes_first() -> None:
    told = notice(K.DATE, "x", "When?", absent=["Osk"], missing=["Red Kite"], unvalued=True)
    assert told == "No document searched mentions “Osk”. Nothing was found about “Red Kite”."
    told = notice(K.SUMMARY, "x", "Sum it up", absent=["Osk"], beginning="Rules")
    assert told.endswith("A summary needs a model. This is how “Rules” begins:")
