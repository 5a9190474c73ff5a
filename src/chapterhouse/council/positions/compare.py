"""Positions compared as values: who holds the same, who differs, and what cannot be compared."""

from collections.abc import Sequence
from typing import Final

from chapterhouse.types import (
    Aspect,
    AspectKind,
    Position,
    PositionComparison,
    PositionKind,
    PositionRelation,
)

_DECIDED: Final = frozenset({PositionKind.YES, PositionKind.NO, PositionKind.CONDITIONAL})


def compare_positions(
    aspect: Aspect, positions: Sequence[Position], *, same_source: bool = False
) -> PositionComparison:
    """Return how members stand to each other on an aspect.

    Args:
        aspect: What is asked.
        positions: One for each member, in the order of the seats.
        same_source: Whether those who agree quote one document.
    """
    held = [position for position in positions if position.kind is not PositionKind.SILENT]
    groups = _groups(held)
    relation = _relation(aspect, held, groups)
    shared = same_source and relation is PositionRelation.AGREE
    return PositionComparison(aspect.id, relation, groups, shared)


def _groups(held: Sequence[Position]) -> tuple[tuple[str, ...], ...]:
    """Return the members who hold the same, each group in the order of the seats.

    Who holds the same as two others puts all three into one group, whoever sits first.
    """
    groups: list[list[Position]] = []
    for position in held:
        near = [group for group in groups if any(_same(one, position) for one in group)]
        groups = [group for group in groups if group not in near]
        groups.append([*(one for group in near for one in group), position])
    order = {position.member: place for place, position in enumerate(held)}
    ordered = (sorted((one.member for one in group), key=order.__getitem__) for group in groups)
    return tuple(sorted((tuple(group) for group in ordered), key=lambda group: order[group[0]]))


def _same(one: Position, other: Position) -> bool:
    if one.kind is not other.kind:
        return False
    if one.kind is PositionKind.VALUE:
        first, second = set(one.keys), set(other.keys)
        return first <= second or second <= first
    if one.kind is PositionKind.CONDITIONAL and one.condition != other.condition:
        return False
    return one.kind in _DECIDED or one.text == other.text


def _relation(  # noqa: PLR0911 - one way of standing to each other each
    aspect: Aspect, held: Sequence[Position], groups: Sequence[Sequence[str]]
) -> PositionRelation:
    if not held:
        return PositionRelation.SILENT
    if len(held) == 1:
        return PositionRelation.ONE_ONLY
    if len(groups) == 1:
        return PositionRelation.AGREE
    kinds = {position.kind for position in held}
    if kinds == {PositionKind.CONDITIONAL}:
        return PositionRelation.NOT_COMPARABLE  # each under a condition of its own
    if PositionKind.STATED in kinds or aspect.kind in {AspectKind.LIST, AspectKind.REASON}:
        return PositionRelation.NOT_COMPARABLE
    owners = {position.whose.casefold() for position in held if position.whose}
    if kinds == {PositionKind.VALUE} and len(owners) == len(held):
        return PositionRelation.NOT_COMPARABLE  # each states its own
    if PositionKind.CONDITIONAL in kinds and not {PositionKind.YES, PositionKind.NO} <= kinds:
        return PositionRelation.CONDITIONAL
    return PositionRelation.DIFFER
