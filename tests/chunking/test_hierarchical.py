"""Parents of chunks: the passage under one heading, then each section around it."""

from itertools import pairwise

from chapterhouse.chunking.hierarchical import chunk_by_hierarchy, with_parents
from chapterhouse.chunking.units import Limits
from chapterhouse.types import Body, Section, Span

from .bodies import body_of

LIMITS = Limits(10, 1, 40)
# What stands before the first heading, A with A.1 below it, then B.
BODY = Body(
    "x" * 100,
    (
        Section(0, 0, (), 0, 10),
        Section(1, 1, ("A",), 10, 30),
        Section(2, 2, ("A", "A.1"), 30, 60),
        Section(3, 1, ("B",), 60, 100),
    ),
)


def spans(*borders: int) -> tuple[Span, ...]:
    return tuple(Span(start, end) for start, end in pairwise(borders))


def test_a_section_holds_all_sections_below_it_and_nothing_else() -> None:
    cut = with_parents(BODY, spans(0, 10, 30, 60, 100), LIMITS)
    assert [one.parents for one in cut] == [(), ((10, 60),), ((10, 60),), ()]


def test_neighbours_under_one_heading_are_a_passage_up_to_three_targets() -> None:
    cut = with_parents(BODY, spans(60, 70, 80, 90, 100), LIMITS)
    assert [one.parents[0] for one in cut] == [(60, 90)] * 3 + [(60, 100)]
    assert all(one.parents[-1] == (60, 100) for one in cut)


def test_two_neighbours_are_a_passage_however_long_they_are() -> None:
    body = Body("x" * 100)
    assert [one.parents for one in with_parents(body, spans(0, 50, 100), LIMITS)] == (
        [((0, 100),)] * 2
    )


def test_a_heading_is_cut_before_though_both_parts_would_fit_one_chunk() -> None:
    part = "Boats wait. " * 20
    body = body_of(f"# A\n\n{part}\n\n# B\n\n{part}")
    starts = [one.start for one in chunk_by_hierarchy(body, Limits(600, 100, 900))]
    assert starts == [0, body.text.index("# B")]
