"""How numbers and languages are put into words."""

import pytest

from chapterhouse.presenting import wording
from chapterhouse.types import Searched


@pytest.mark.parametrize(
    ("code", "name"), [("de", "German"), ("nb", "Norwegian"), ("ja", "Japanese"), ("xq", "Xq")]
)
def test_languages_have_names(code: str, name: str) -> None:
    assert wording.language(code) == name


def test_nothing_is_said_where_nothing_is_amiss() -> None:
    assert wording.reservations(Searched(1, 1, (), (), ())) == ()


def test_what_is_read_in_part_is_named_and_counted() -> None:
    one = Searched(3, 9, (), (), (), partly_read=1, partly_read_names=("a/x.pdf",))
    assert wording.reservations(one) == ("1 document was read only in part: a/x.pdf",)
    five = Searched(9, 9, (), (), (), partly_read=5, partly_read_names=("x", "y", "z"))
    assert wording.reservations(five) == (
        "5 documents were read only in part: x, y, z, and 2 more",
    )


@pytest.mark.parametrize(
    ("languages", "named"),
    [
        (("de",), "German"),
        (("de", "fr"), "German and French"),
        (("de", "fr", "it"), "German, French and Italian"),
        (("de", "fr", "it", "es", "nl", "pt"), "German, French, Italian, Spanish and others"),
    ],
)
def test_a_question_in_another_language_is_told(languages: tuple[str, ...], named: str) -> None:
    looked = Searched(3, 9, (), (), (), languages=languages, question_language="en")
    assert wording.reservations(looked) == (
        f"The documents are in {named}; the question is in English.",
    )
