"""Where a gold span is in our own reading."""

import pytest

from gold_sets import locate, overlaps


@pytest.mark.parametrize(
    ("text", "wanted", "near", "found"),
    [
        ("# Term\n\nten years.", "Term\r\n  ten", 0, "Term\n\nten"),
        ("one two one two", "one two", 12, "one two"),
        ("one", "two", 0, None),
        ("one", " \n", 0, None),
    ],
)
def test_a_span_is_found_whatever_its_spaces(
    text: str, wanted: str, near: int, found: str | None
) -> None:
    place = locate(text, wanted, near)
    assert (text[slice(*place)] if place else None) == found


def test_the_nearest_of_several_is_taken() -> None:
    assert locate("one two one two", "one two", 12) == (8, 15)
    assert locate("one two one two", "one two", 0) == (0, 7)


def test_touching_is_not_overlapping() -> None:
    spans = {"a": [(5, 9)]}
    assert overlaps(spans, "a", 8, 20)
    assert not overlaps(spans, "a", 9, 20)
    assert not overlaps(spans, "b", 5, 9)
