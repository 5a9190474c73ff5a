"""Units: what is never cut."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.chunking.limits import Limits
from chapterhouse.chunking.units import fitted, units_of
from chapterhouse.types import Body

LIMITS = Limits(target=400, minimum=100, maximum=800)


def test_a_text_of_hardly_anything_but_full_stops_has_few_units() -> None:
    text = ". " * 20_000
    units = fitted(text, units_of(Body(text)), LIMITS)
    assert len(units) < len(text) / 30
    assert (units[0].start, units[-1].end) == (0, len(text))
    assert all(a.end == b.start for a, b in pairwise(units))


@given(st.integers(1, 60))
def test_ordinary_sentences_are_units_by_themselves(count: int) -> None:
    text = "The ferry leaves at nine. " * 60 * count
    assert len(fitted(text, units_of(Body(text)), LIMITS)) == 60 * count
