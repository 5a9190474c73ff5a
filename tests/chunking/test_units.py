"""Units: what is never cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.chunking.units import Border, Limits, fit, units_of
from chapterhouse.types import Body, Kind

LIMITS = Limits(target=400, minimum=100, maximum=800)


def test_a_text_of_hardly_anything_but_full_stops_has_few_units() -> None:
    text = ". " * 20_000
    units = fit(text, units_of(Body(text)), LIMITS)
    assert len(units) < len(text) / 30
    assert (units[0].start, units[-1].end) == (0, len(text))
    assert all(a.end == b.start for a, b in pairwise(units))


@given(st.integers(1, 60))
def test_ordinary_sentences_are_units_by_themselves(count: int) -> None:
    text = "The ferry leaves at nine. " * 60 * count
    assert len(fit(text, units_of(Body(text)), LIMITS)) == 60 * count


@pytest.mark.parametrize(
    ("target", "minimum", "maximum"), [(50, 100, 1_500), (500, 0, 1_500), (500, 100, 399)]
)
def test_impossible_limits_are_refused(target: int, minimum: int, maximum: int) -> None:
    with pytest.raises(ValueError, match="minimum"):
        Limits(target, minimum, maximum)


def test_a_definition_of_a_source_file_is_what_a_heading_is() -> None:
    source = "```python\nimport os\n\ndef one():\n    a = 1\n\n    return a\n\n\nclass Two:\n```\n"
    borders = {source[u.start : u.end].strip(): u.border for u in units_of(Body(source))}
    assert borders["def one():"] is borders["class Two:"] is Border.HEADING
    assert borders["return a"] is Border.BLOCK
    assert borders["a = 1"] is Border.SENTENCE
    inside = {u.border for u in units_of(Body(f"Some prose.\n\n{source}")) if u.kind is Kind.CODE}
    assert inside == {Border.BLOCK, Border.SENTENCE}
