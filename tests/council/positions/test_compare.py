"""How members stand to each other, as a law: whoever is named first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.council.positions.compare import compare_positions
from chapterhouse.types import Aspect, AspectKind, Position, PositionKind, PositionRelation

ASPECT = Aspect("a1", "How long does it last", AspectKind.VALUE)
DECIDES = Aspect("a1", "May we share it", AspectKind.YES_NO)
KINDS = PositionKind
RELATIONS = PositionRelation


def holds(member: str, *keys: str, text: str = "", whose: str = "") -> Position:
    return Position(member, "a1", KINDS.VALUE, keys, keys, text or f"{member} says", whose=whose)


def says(member: str, kind: PositionKind, text: str = "") -> Position:
    return Position(member, "a1", kind, text=text or f"{member} says")


def test_conditions_that_are_not_the_same_are_not_compared() -> None:
    one, other = (
        Position(name, "a1", KINDS.CONDITIONAL, text=name, condition=f"if {name} agrees")
        for name in ("a", "b")
    )
    assert compare_positions(DECIDES, [one, other]).relation is RELATIONS.NOT_COMPARABLE
    same = Position("b", "a1", KINDS.CONDITIONAL, text="b", condition=one.condition)
    assert compare_positions(DECIDES, [one, same]).relation is RELATIONS.AGREE


@pytest.mark.parametrize(
    ("aspect", "positions", "relation", "groups"),
    [
        (ASPECT, [holds("a", "5"), holds("b", "5")], RELATIONS.AGREE, (("a", "b"),)),
        (ASPECT, [holds("a", "5"), holds("b", "2")], RELATIONS.DIFFER, (("a",), ("b",))),
        (ASPECT, [holds("a", "5"), holds("b", "5", "2")], RELATIONS.AGREE, (("a", "b"),)),
        (
            ASPECT,
            [holds("a", "5"), holds("b", "2"), holds("c", "5")],
            RELATIONS.DIFFER,
            (("a", "c"), ("b",)),
        ),
        (ASPECT, [holds("a", "5"), says("b", KINDS.SILENT)], RELATIONS.ONE_ONLY, (("a",),)),
        (ASPECT, [says("a", KINDS.SILENT), says("b", KINDS.SILENT)], RELATIONS.SILENT, ()),
        (ASPECT, [], RELATIONS.SILENT, ()),
        (
            ASPECT,
            [holds("a", "13", whose="GitHub"), holds("b", "18", whose="Acme")],
            RELATIONS.NOT_COMPARABLE,  # each has a limit of its own
            (("a",), ("b",)),
        ),
        (
            ASPECT,
            [holds("a", "13", whose="GitHub"), holds("b", "18", whose="GITHUB")],
            RELATIONS.DIFFER,
            (("a",), ("b",)),
        ),
        (
            ASPECT,
            [holds("a", "5"), says("b", KINDS.STATED)],
            RELATIONS.NOT_COMPARABLE,
            (("a",), ("b",)),
        ),
        (
            ASPECT,
            [says("a", KINDS.STATED, "The same."), says("b", KINDS.STATED, "The same.")],
            RELATIONS.AGREE,
            (("a", "b"),),
        ),
        (DECIDES, [says("a", KINDS.YES), says("b", KINDS.YES)], RELATIONS.AGREE, (("a", "b"),)),
        (DECIDES, [says("a", KINDS.YES), says("b", KINDS.NO)], RELATIONS.DIFFER, (("a",), ("b",))),
        (
            DECIDES,
            [says("a", KINDS.NO), says("b", KINDS.CONDITIONAL)],
            RELATIONS.CONDITIONAL,
            (("a",), ("b",)),
        ),
        (
            DECIDES,
            [says("a", KINDS.NO), says("b", KINDS.CONDITIONAL), says("c", KINDS.YES)],
            RELATIONS.DIFFER,
            (("a",), ("b",), ("c",)),
        ),
    ],
)
def test_how_they_stand(
    aspect: Aspect,
    positions: list[Position],
    relation: PositionRelation,
    groups: tuple[tuple[str, ...], ...],
) -> None:
    found = compare_positions(aspect, positions)
    assert (found.aspect, found.relation, found.groups) == ("a1", relation, groups)


@pytest.mark.parametrize("kind", [AspectKind.LIST, AspectKind.REASON])
def test_reasons_that_are_not_the_same_are_not_compared(kind: AspectKind) -> None:
    aspect = Aspect("a1", "Why", kind)
    found = compare_positions(aspect, [holds("a", "5"), holds("b", "2")])
    assert found.relation is RELATIONS.NOT_COMPARABLE


def test_one_source_is_told_of_an_agreement_alone() -> None:
    same = compare_positions(ASPECT, [holds("a", "5"), holds("b", "5")], same_source=True)
    other = compare_positions(ASPECT, [holds("a", "5"), holds("b", "2")], same_source=True)
    assert (same.same_source, other.same_source) == (True, False)


def _position(drawn: tuple[PositionKind, str, str], number: int) -> Position:
    kind, key, whose = drawn
    member = f"m{number}"
    if kind is KINDS.VALUE:
        return holds(member, key, whose=whose)
    return says(member, kind, key)


ANY = st.lists(
    st.tuples(
        st.sampled_from(list(KINDS)), st.sampled_from("abc"), st.sampled_from(["", "x", "y"])
    ),
    max_size=6,
).map(lambda drawn: [_position(one, number) for number, one in enumerate(drawn)])


@given(ANY.flatmap(lambda made: st.tuples(st.just(made), st.permutations(made))))
def test_the_relation_does_not_depend_on_the_order_of_the_seats(
    drawn: tuple[list[Position], list[Position]],
) -> None:
    first, second = (compare_positions(ASPECT, positions) for positions in drawn)
    assert first.relation is second.relation
    assert {frozenset(group) for group in first.groups} == {
        frozenset(group) for group in second.groups
    }


@given(ANY)
def test_who_speaks_is_in_one_group_in_the_order_of_the_seats(positions: list[Position]) -> None:
    found = compare_positions(ASPECT, positions)
    spoken = [one.member for one in positions if one.kind is not KINDS.SILENT]
    assert sorted(member for group in found.groups for member in group) == sorted(spoken)
    assert all(list(group) == sorted(group) for group in found.groups)
    assert [group[0] for group in found.groups] == sorted(group[0] for group in found.groups)


def test_who_states_two_values_joins_the_same_whoever_sits_first() -> None:
    one, both, other = holds("a", "5"), holds("b", "5", "2"), holds("c", "2")
    assert (
        compare_positions(ASPECT, [one, both, other]).relation
        is compare_positions(ASPECT, [both, one, other]).relation
    )


def test_the_same_value_in_other_words_is_the_same() -> None:
    months = Position("a", "a1", PositionKind.VALUE, ("24 months",), ("730.5 time",), text="one")
    years = Position("b", "a1", PositionKind.VALUE, ("two years",), ("730.5 time",), text="other")
    asked = Aspect("a1", "how long does it last", AspectKind.VALUE)

    assert compare_positions(asked, [months, years]).relation is PositionRelation.AGREE
