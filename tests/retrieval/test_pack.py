"""The packer is exact: it equals brute force, ties and all."""

from collections.abc import Iterator, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chapterhouse.retrieval.pack import (
    Item,
    Pack,
    pack_exactly,
    pack_greedily,
    pack_in_order,
    total_tokens,
    total_value,
)

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


def allowed(found: Sequence[Item]) -> Iterator[tuple[int, ...]]:
    for bits in product((True, False), repeat=len(found)):
        chosen = tuple(place for place, bit in enumerate(bits) if bit)
        named = [(found[place].document, found[place].group) for place in chosen]
        grouped = [name for name in named if name[1]]
        if len(set(grouped)) == len(grouped):
            yield chosen


def in_order(found: Sequence[Item], maximum: int) -> list[int]:
    """Return the places of what can matter: documents by first item, groups by highest value."""
    useful = [
        place
        for place, item in enumerate(found)
        if item.value and item.tokens + OPENINGS[item.document] <= maximum
    ]
    documents = list(dict.fromkeys(found[place].document for place in useful))
    groups = list(
        dict.fromkeys((found[p].document, found[p].group or f"alone {p}") for p in useful)
    )
    highest: dict[tuple[str, str], float] = {}
    for p in useful:
        name = (found[p].document, found[p].group or f"alone {p}")
        highest[name] = max(highest.get(name, 0.0), found[p].value)
    return sorted(
        useful,
        key=lambda p: (
            documents.index(found[p].document),
            -highest[found[p].document, found[p].group or f"alone {p}"],
            groups.index((found[p].document, found[p].group or f"alone {p}")),
            p,
        ),
    )


def brute_force(found: Sequence[Item], maximum: int, factor: float) -> list[int]:
    order = in_order(found, maximum)
    best = max(
        (
            chosen
            for chosen in allowed(found)
            if total_tokens(found, chosen) <= maximum and set(chosen) <= set(order)
        ),
        key=lambda chosen: (
            total_value(found, chosen, factor),
            -total_tokens(found, chosen),
            [place in chosen for place in order],
        ),
    )
    return list(best)


MANY = 8 * settings().max_examples  # small and quick, and the wrong choice is rare


@settings(max_examples=MANY)
@given(ITEMS, st.integers(0, 24), st.sampled_from([0.0, 0.25, 0.5, 1.0]))
def test_it_equals_brute_force(found: list[Item], maximum: int, factor: float) -> None:
    assert list(pack_exactly(found, maximum, factor)) == brute_force(found, maximum, factor)


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
    chosen = pack_exactly(found, maximum)
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
    one = total_value(found, pack_exactly(found, maximum))
    other = total_value(backwards, pack_exactly(backwards, maximum))
    assert one == pytest.approx(other, abs=1e-8)


@given(ITEMS, st.integers(0, 24), st.sampled_from([pack_exactly, pack_greedily, pack_in_order]))
def test_every_packer_keeps_the_budget_and_the_groups(
    found: list[Item], maximum: int, pack: Pack
) -> None:
    chosen = pack(found, maximum)
    assert list(chosen) == sorted(set(chosen))
    assert total_tokens(found, chosen) <= maximum
    assert tuple(chosen) in set(allowed(found))


@given(ITEMS, st.integers(0, 24))
def test_exact_is_never_worse_than_greedy(found: list[Item], maximum: int) -> None:
    exact = total_value(found, pack_exactly(found, maximum))
    assert exact >= total_value(found, pack_greedily(found, maximum)) - 1e-8


def test_greedy_can_be_worse() -> None:
    found = [Item(1, 0.3, "a"), Item(10, 1.0, "b")]
    assert list(pack_greedily(found, 10)) == [0]
    assert list(pack_exactly(found, 10)) == [1]


@pytest.mark.parametrize("pack", [pack_exactly, pack_greedily, pack_in_order])
def test_nothing_comes_of_nothing(pack: Pack) -> None:
    assert list(pack([], 100)) == []
    assert list(pack([Item(5, 1.0)], 4)) == []
    assert list(pack([Item(5, 1.0)], -1)) == []
    assert list(pack([Item(0, 1.0)], 0)) == [0]


def test_a_second_source_wins_where_it_is_nearly_as_good() -> None:
    found = [Item(10, 1.0, "a"), Item(10, 0.9, "a"), Item(10, 0.7, "b")]
    assert list(pack_exactly(found, 20)) == [0, 2]  # .7 · .9 = .63
    assert list(pack_exactly(found, 20, diversity_factor=0.0)) == [0, 1]


def test_the_best_of_a_document_counts_whole_even_when_it_comes_last() -> None:
    found = [Item(3, 0.5, "a"), Item(3, 1.0, "a"), Item(3, 0.6, "b"), Item(3, 0.6, "b")]
    assert total_value(found, [0, 1]) == pytest.approx(1.0 + 0.7 * 0.5)
    assert list(pack_exactly(found, 9)) == [1, 2, 3]  # .6 + .42 beats .35


def test_a_heading_is_paid_once() -> None:
    found = [Item(4, 0.6, "a", opening=3), Item(4, 0.6, "a"), Item(4, 0.6, "b", opening=3)]
    assert list(pack_exactly(found, 11)) == [0, 1]
    assert list(pack_exactly(found, 14)) == [0, 2]
    assert total_tokens(found, [0, 1, 2]) == 18


def test_one_version_of_a_group_is_chosen() -> None:
    found = [Item(9, 0.9, "a", "x"), Item(3, 0.8, "a", "x"), Item(5, 0.5, "b")]
    assert list(pack_exactly(found, 9)) == [1, 2]
    assert list(pack_exactly(found, 14)) == [0, 2]


def test_ties_go_to_fewer_tokens_then_to_the_first() -> None:
    assert list(pack_exactly([Item(5, 0.5, "a"), Item(4, 0.5, "b")], 8)) == [1]
    assert list(pack_exactly([Item(4, 0.5, "a"), Item(4, 0.5, "b")], 7)) == [0]


@pytest.mark.parametrize(
    "item",
    [Item(-1, 0.5), Item(1, -0.1), Item(1, float("nan")), Item(1, 1e9), Item(1, 1, opening=-1)],
)
def test_what_cannot_be_is_an_error(item: Item) -> None:
    with pytest.raises(ValueError, match="must"):
        pack_exactly([item], 10)
    with pytest.raises(ValueError, match="diversity"):
        pack_exactly([], 10, diversity_factor=1.5)
