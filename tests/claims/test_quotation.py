import pytest

from chapterhouse.claims.quotation import (
    find_quotation,
    find_words,
    is_quoted,
    quotations,
    weight,
    words_of,
)
from chapterhouse.types import Evidence

TEXT = "The gate is closed at 21:30. “Nobody,” he said, “may open it later than that.” 渡轮停运。"
EVIDENCE = [Evidence("rules", 100, 100 + len(TEXT), TEXT, "en")]


@pytest.mark.parametrize("marks", ['""', "“”", "„“", "«»", "「」", "『』"])
def test_quotations_of_every_kind(marks: str) -> None:
    assert list(quotations(f"He said {marks[0]}come at once{marks[1]} today.")) == ["come at once"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("the GATE is **closed**", "The gate is closed"),
        ("closed at 21:30", "closed at 21:30"),
        ("closed at 21:31", ""),
        ("gate is close", ""),  # only whole words
        ("渡轮", "渡轮"),
        ("", ""),
    ],
)
def test_words_are_found_one_after_the_other(wanted: str, found: str) -> None:
    place = find_words(wanted, EVIDENCE)
    assert (place.quote if place else "") == found
    assert place is None or place.start == 100 + TEXT.index(found)


def test_two_chinese_characters_weigh_as_a_word() -> None:
    assert weight(words_of("the gate").words) == weight(words_of("渡轮停运").words) == 2


def test_a_quotation_is_found_with_its_place() -> None:
    found = find_quotation("the gate is closed at 21:30", EVIDENCE)
    assert found is not None
    assert (found.document_id, found.start, found.quote) == ("rules", 100, TEXT[:27])
    assert find_quotation("The gate is open at 21:30.", EVIDENCE) is None
    assert find_quotation("gate", EVIDENCE) is None


def test_parts_between_ellipses_must_stand_close_together() -> None:
    assert is_quoted("Nobody … may open it later", EVIDENCE)
    assert not is_quoted("Nobody … must open it", EVIDENCE)
