"""The best cutting, against every cutting."""

import math
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.chunking.segment import best_starts, length_costs, spans_from
from chapterhouse.chunking.units import Border, Limits, Unit, fit, units_of
from chapterhouse.types import Body, Kind

LIMITS = Limits(target=20, minimum=8, maximum=40)
UNITS = st.lists(st.integers(1, 14), min_size=1, max_size=9)


def units_of_lengths(lengths: list[int]) -> list[Unit]:
    units, start = [], 0
    for length in lengths:
        units.append(Unit(start, start + length, Kind.PROSE, Border.SENTENCE))
        start += length
    return units


def total(units: list[Unit], costs: list[float], starts: list[int]) -> float:
    """Return what a cutting costs, infinite where a chunk is out of limits."""
    by_length = length_costs(LIMITS)
    cost = sum(costs[start] for start in starts[1:])
    for first, stop in pairwise([*starts, len(units)]):
        length = units[stop - 1].end - units[first].start
        if not LIMITS.minimum <= length <= LIMITS.maximum:
            return math.inf
        cost += by_length[length]
    return cost


@given(UNITS, st.data())
def test_no_other_cutting_costs_less(lengths: list[int], data: st.DataObject) -> None:
    units = units_of_lengths(lengths)
    size = len(units)
    costs = data.draw(st.lists(st.floats(-3, 3), min_size=size, max_size=size))
    found = best_starts(units, costs, LIMITS)
    every = [
        [0, *inner] for number in range(size) for inner in combinations(range(1, size), number)
    ]
    least = min(total(units, costs, starts) for starts in every)
    if math.isinf(least):
        assert found == [0]  # shorter than the minimum: one chunk
        assert sum(lengths) < LIMITS.minimum
    else:
        assert math.isclose(total(units, costs, found), least, abs_tol=1e-9)


def test_the_target_costs_nothing_and_twice_as_much_as_half() -> None:
    costs = length_costs(Limits(target=200, minimum=50, maximum=800))
    assert costs[200] == 0.0
    assert math.isclose(costs[400], 4 * costs[100])  # twice the text, and twice that of half
    assert length_costs(Limits(target=200, minimum=50, maximum=800), 0.2)[240] == 0.0


def test_a_chunk_is_of_the_kind_that_prevails() -> None:
    units = [
        Unit(0, 10, Kind.PROSE, Border.BLOCK),
        Unit(10, 40, Kind.CODE, Border.BLOCK),
        Unit(40, 50, Kind.TABLE, Border.BLOCK),
    ]
    assert [span.kind for span in spans_from(units, [0])] == [Kind.CODE]
    assert [span.kind for span in spans_from(units, [0, 2])] == [Kind.CODE, Kind.TABLE]
    assert spans_from([], []) == ()


WIDE = Limits(target=400, minimum=100, maximum=800)


def test_sentences_are_units_unless_they_are_hardly_anything_but_full_stops() -> None:
    text = "The ferry leaves at nine. " * 600
    assert len(fit(text, units_of(Body(text)), WIDE)) == 600
    text = ". " * 20_000
    units = fit(text, units_of(Body(text)), WIDE)
    assert len(units) < len(text) / 30
    assert (units[0].start, units[-1].end) == (0, len(text))
    assert all(a.end == b.start for a, b in pairwise(units))


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
