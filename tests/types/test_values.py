"""Dataclasses whose functions are made late."""

import copy
import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chapterhouse.types import values


def declared(dataclass: object) -> type:
    """Declare one class with what ours have, by one decorator or the other."""

    class Quay:
        name: str
        metres: int = 7
        boats: tuple[str, ...] = ()
        notes: dict[str, str] = dataclasses.field(default_factory=dict)
        seen: int = dataclasses.field(default=0, compare=False, repr=False)

        def __post_init__(self) -> None:
            if not self.name:
                raise ValueError("A quay has a name.")

    Quay.__qualname__ = "Quay"
    return dataclass(frozen=True, slots=True)(Quay)  # type: ignore[operator, no-any-return]


Usual, Late = declared(dataclasses.dataclass), declared(values.dataclass)


def told(made: Any) -> list[object]:
    """Return what a class and its values say and refuse."""
    north, same, other = made("north"), made(name="north", seen=3), made("north", 8)
    refused = []
    for attempt in (
        lambda: setattr(north, "name", "south"),
        lambda: delattr(north, "name"),
        made,
        lambda: made("north", depth=1),
        lambda: made(""),
        lambda: hash(north),
    ):
        with pytest.raises((TypeError, ValueError, AttributeError)) as caught:
            attempt()
        refused.append((caught.type, str(caught.value)))
    return [
        repr(north),
        (north == same, north == other, north == 1),
        dataclasses.asdict(dataclasses.replace(north, metres=2)),
        dataclasses.astuple(copy.copy(north)),
        [field.name for field in dataclasses.fields(made)],
        (made.__slots__, made.__match_args__, repr(made.__dataclass_params__)),
        refused,
    ]


def test_a_late_dataclass_is_as_the_usual_one() -> None:
    assert told(Late) == told(Usual)


def test_one_of_hashable_fields_can_be_a_key_and_be_derived_from() -> None:
    @values.dataclass(frozen=True, slots=True)
    class Berth:
        number: int

    @values.dataclass(frozen=True, slots=True)
    class Mooring(Berth):
        rope: str = "hemp"

    assert {Berth(1): "one"}[Berth(1)] == "one"
    assert repr(Mooring(2)).endswith("Mooring(number=2, rope='hemp')")


def test_a_value_can_be_read_before_the_first_one_is_made() -> None:
    made = declared(values.dataclass)
    empty: Any = object.__new__(made)
    empty.__setstate__(["south", 1, (), {}, 0])  # as ``pickle`` does
    assert empty == made("south", 1)


def test_threads_may_make_the_first_values_at_once() -> None:
    for _ in range(20):
        made = declared(values.dataclass)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(made, ["north"] * 8))
        assert found == [made("north")] * 8
