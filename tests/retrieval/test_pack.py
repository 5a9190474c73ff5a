"""The packer is exact: it equals brute force, ties and all."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chapterhouse.retrieval.pack import Item, pack

# Eighths are exact in every arithmetic, so equal values are really ties.
VALUES = st.integers(0, 8).map(lambda eighths: eighths / 8)
OPENINGS = {"a": 0, "b": 2, "c": 1}


ITEMS = st.lists(
    st.builds(
        lambda tokens, value, document, group: Item(
            tokens, value, document, group, OPENINGS[document]
        ),
        st.integers(0, 7),
        VALUES,
        st.sampled_from("abc"),
        st.sampled_from(["", "", "x", "y"]),
    ),
    max_size=7,
)


def total_value(found: Sequence[Item], chosen: Iterable[int]) -> float:
    return math.fsum(found[place].value for place in chosen)


def total_tokens(found: Sequence[Item], chosen: Iterable[int]) -> int:
    """Return the cost of a choice, each document's heading once."""
    openings: dict[str, int] = {}
    for item in found:
        openings.setdefault(item.document, item.opening)
    taken = [found[place] for place in chosen]
    return sum(item.tokens for item in taken) + sum(
        openings[name] for name in {item.document for item in taken}
    )


def allowed(found: Sequence[Item]) -> Iterator[tuple[int, ...]]:
    for bits in product((True, False), repeat=len(found)):
        chosen = tuple(place for place, bit in enumerate(bits) if bit)
        named = [(found[place].document, found[place].group) for place in chosen]
        grouped = [name for name in named if name[1]]
        if len(set(grouped)) == len(grouped):
            yield chosen


def in_order(found: Sequence[Item], maximum: int) -> list[int]:
    """Return the places of what can matter: documents by first item, then groups by first item."""
    useful = [
        place
        for place, item in enumerate(found)
        if item.value and item.tokens + OPENINGS[item.document] <= maximum
    ]
    names = {p: (found[p].document, found[p].group or f"alone {p}") for p in useful}
    documents = list(dict.fromkeys(document for document, _ in names.values()))
    groups = list(dict.fromkeys(names.values()))
    return sorted(useful, key=lambda p: (documents.index(names[p][0]), groups.index(names[p]), p))


def brute_force(found: Sequence[Item], maximum: int) -> list[int]:
    order = in_order(found, maximum)
    best = max(
        (
            chosen
            for chosen in allowed(found)
            if total_tokens(found, chosen) <= maximum and set(chosen) <= set(order)
        ),
        key=lambda chosen: (
            total_value(found, chosen),
            -total_tokens(found, chosen),
            [place in chosen for place in order],
        ),
    )
    return list(best)


MANY = 4 * settings().max_examples  # small and quick, and the wrong choice is rare


@settings(max_examples=MANY)
@given(ITEMS, st.integers(0, 24))
def test_it_equals_brute_force(found: list[Item], maximum: int) -> None:
    assert list(pack(found, maximum)) == brute_force(found, maximum)


@settings(max_examples=MANY)
@given(
    st.lists(
        st.builds(
            Item, st.integers(0, 9), st.floats(0, 1), st.sampled_from("ab"), opening=st.just(1)
        ),
        max_size=8,
    ),
    st.integers(0, 30),
)
def test_any_values_reach_what_brute_force_reaches(found: list[Item], maximum: int) -> None:
    chosen = pack(found, maximum)
    best = max(
        total_value(found, other)
        for other in allowed(found)
        if total_tokens(found, other) <= maximum
    )
    assert total_tokens(found, chosen) <= maximum
    assert total_value(found, chosen) == pytest.approx(best, abs=1e-8)


@given(ITEMS, st.integers(0, 24))
def test_the_order_of_documents_matters_only_for_ties(found: list[Item], maximum: int) -> None:
    backwards = found[::-1]
    one = total_value(found, pack(found, maximum))
    assert one == total_value(backwards, pack(backwards, maximum))


def test_nothing_comes_of_nothing() -> None:
    assert list(pack([], 100)) == []
    assert list(pack([Item(5, 1.0)], 4)) == []
    assert list(pack([Item(5, 1.0)], -1)) == []
    assert list(pack([Item(0, 1.0)], 0)) == [0]


def test_value_counts_and_not_value_by_token() -> None:
    assert list(pack([Item(1, 0.3, "a"), Item(10, 1.0, "b")], 10)) == [1]


def test_a_heading_is_paid_once() -> None:
    found = [Item(4, 0.6, "a", opening=3), Item(4, 0.6, "a"), Item(4, 0.7, "b", opening=3)]
    assert list(pack(found, 11)) == [0, 1]
    assert list(pack(found, 14)) == [0, 2]


def test_one_version_of_a_group_is_chosen() -> None:
    found = [Item(9, 0.9, "a", "x"), Item(3, 0.8, "a", "x"), Item(5, 0.5, "b")]
    assert list(pack(found, 9)) == [1, 2]
    assert list(pack(found, 14)) == [0, 2]


def test_ties_go_to_fewer_tokens_then_to_the_first() -> None:
    assert list(pack([Item(5, 0.5, "a"), Item(4, 0.5, "b")], 8)) == [1]
    assert list(pack([Item(4, 0.5, "a"), Item(4, 0.5, "b")], 7)) == [0]


@pytest.mark.parametrize(
    "item",
    [Item(-1, 0.5), Item(1, -0.1), Item(1, float("nan")), Item(1, 1e9), Item(1, 1, opening=-1)],
)
def test_what_cannot_be_is_an_error(item: Item) -> None:
    with pytest.raises(ValueError, match="must"):
        pack([item], 10)
