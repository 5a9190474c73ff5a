"""What a council is compared with when it is checked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What there is around a council; None where it is not known and nothing is compared.

    Attributes:
        folder: The council's own, from which relative paths count.
        personas: Every persona, and whether they can be used.
        councils: Every council, with the councils that are its members.
        broken: Councils that cannot meet.
        profiles: The models that the settings name.
        shelves: Every shelf there is.
        tools: The tools that are registered by name.
    """

    folder: Path | None = None
    personas: Mapping[str, bool] | None = None
    councils: Mapping[str, tuple[str, ...]] | None = None
    broken: frozenset[str] = frozenset()
    profiles: frozenset[str] | None = None
    shelves: frozenset[str] | None = None
    tools: frozenset[str] | None = None


def circle(start: str, inner: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return a way from ``start`` that comes back to where it was, as ``(a, b, a)``; or nothing.

    Args:
        start: A council.
        inner: The councils that are members of each.
    """
    way, done = [start], set[str]()
    ahead: list[Iterator[str]] = [iter(inner.get(start, ()))]
    while ahead:
        follower = next(ahead[-1], None)
        if follower is None:
            ahead.pop()
            done.add(way.pop())
        elif follower in way:
            return (*way[way.index(follower) :], follower)
        elif follower not in done:
            way.append(follower)
            ahead.append(iter(inner.get(follower, ())))
    return ()
