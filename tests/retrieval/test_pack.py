"""The packer is exact: it equals brute force, ties and all."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chapterhouse.retrieval.pack import (
    Item,
    best_windows,
    merge_ranges,
    pack,
    shorten,
    with_parent,
    with_surroundings,
)
from chapterhouse.retrieval.sentences import Sentence
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.types import Body, Chunk, Document, Excerpt, Hit, Page, Section

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


def test_nothing_comes_of_nothing() -> None:
    assert list(pack([], 100)) == []
    assert list(pack([Item(5, 1.0)], 4)) == []
    assert list(pack([Item(5, 1.0)], -1)) == []
    assert list(pack([Item(0, 1.0)], 0)) == [0]


@pytest.mark.parametrize(
    "item",
    [Item(-1, 0.5), Item(1, -0.1), Item(1, float("nan")), Item(1, 1e9), Item(1, 1, opening=-1)],
)
def test_what_cannot_be_is_an_error(item: Item) -> None:
    with pytest.raises(ValueError, match="must"):
        pack([item], 10)


TEXT = (
    "# Tea\n\nTea is a drink. It is made of leaves. Hot water is poured on them. It is old.\n\n"
    "# Coffee\n\nCoffee is another. It is made of beans. They are roasted first.\n"
)
COFFEE = TEXT.index("# Coffee")
BODY = Body(
    TEXT,
    sections=(
        Section(0, 1, ("Tea",), 0, COFFEE),
        Section(1, 1, ("Coffee",), COFFEE, len(TEXT)),
    ),
)


def chunk(wanted: str, **more: object) -> Chunk:
    start = TEXT.index(wanted)
    return Chunk("d", 0, start, start + len(wanted), wanted, **more)  # type: ignore[arg-type]  # as given


def document(name: str = "d") -> Document:
    return Document(name, name, name, name, "txt", "test", "", "", 0, 0)


@pytest.mark.parametrize("limit", [1, 8, 12, 16, 24, 1_000])
def test_surroundings_are_whole_sentences_within_section_and_limit(limit: int) -> None:
    own = chunk("It is made of leaves. ")
    start, end = with_surroundings(own, BODY, limit=limit, count_tokens=estimate_tokens)
    text = TEXT[start:end]
    assert own.text in text
    assert "Coffee" not in text
    assert estimate_tokens(text) <= max(limit, estimate_tokens(own.text))
    assert text == own.text or text.rstrip()[-1] == "."


def test_surroundings_grow_on_both_sides() -> None:
    start, end = with_surroundings(
        chunk("It is made of leaves. "), BODY, limit=20, count_tokens=estimate_tokens
    )
    assert TEXT[start:end].startswith("Tea is")
    assert "poured on them" in TEXT[start:end]


def test_surroundings_stay_on_the_page() -> None:
    cut = TEXT.index("Hot water")
    paged = Body(TEXT, pages=(Page(1, "", 0, cut), Page(2, "", cut, len(TEXT))))
    own = chunk("It is made of leaves. ")
    assert with_surroundings(own, paged, limit=1_000, count_tokens=estimate_tokens) == (0, cut)


def test_the_smallest_parent_is_taken_if_it_fits() -> None:
    own = chunk("It is made of leaves. ")
    inner, outer = (7, COFFEE), (0, len(TEXT))
    child = Chunk("d", 0, own.start, own.end, own.text, parents=(inner, outer))
    assert with_parent(child, BODY, limit=1_000, count_tokens=estimate_tokens) == inner
    assert with_parent(child, BODY, limit=5, count_tokens=estimate_tokens) == (own.start, own.end)
    assert with_parent(own, BODY, limit=99, count_tokens=estimate_tokens) == (own.start, own.end)


def test_a_parent_that_does_not_hold_the_chunk_is_ignored() -> None:
    own = chunk("It is made of leaves. ")
    odd = Chunk("d", 0, own.start, own.end, own.text, parents=((own.start + 1, own.end), (0, 9**6)))
    assert with_parent(odd, BODY, limit=999, count_tokens=estimate_tokens) == (own.start, own.end)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9)).map(lambda p: (p[0], sum(p)))))
def test_merged_stretches_hold_the_same_places_once(stretches: list[tuple[int, int]]) -> None:
    found = merge_ranges(stretches)
    places = [place for start, end in found for place in range(start, end)]
    assert places == sorted({place for s, e in stretches for place in range(s, e)})
    assert all(one[1] < other[0] for one, other in pairwise(found))


def sentence(place: int, share: float) -> Sentence:
    """Return a sentence of ten characters."""
    start, end = place * 10, place * 10 + 10
    return Sentence(0, start, end, start, end, share=share)


PARTS = st.lists(st.tuples(st.integers(1, 9), st.floats(0.001, 1.0)), min_size=1, max_size=9)


@given(PARTS, st.integers(2, 6))
def test_runs_grow_in_tokens_and_share_and_end_with_everything(
    parts: list[tuple[int, float]], most: int
) -> None:
    sentences = [sentence(place, share) for place, (_, share) in enumerate(parts)]
    runs = best_windows(sentences, [tokens for tokens, _ in parts], most)
    costs = [
        sum(tokens for tokens, _ in parts[start // 10 : end // 10]) for (start, end), _ in runs
    ]
    assert 1 <= len(runs) <= most
    assert costs == sorted(set(costs))
    assert [share for _, share in runs] == sorted({share for _, share in runs})
    assert runs[-1][0] == (0, len(sentences) * 10)
    for (start, end), share in runs:
        assert share == pytest.approx(sum(s.share for s in sentences if start <= s.start < end))


def test_the_sentence_that_answers_is_a_run_of_its_own() -> None:
    shares = (0.01, 0.9, 0.02, 0.01)
    sentences = [sentence(place, share) for place, share in enumerate(shares)]
    assert best_windows(sentences, [9, 4, 9, 9])[0] == ((10, 20), 0.9)


def test_runs_do_not_cross_a_gap() -> None:
    sentences = [sentence(0, 0.4), sentence(2, 0.6)]
    assert [stretch for stretch, _ in best_windows(sentences, [5, 5])] == [(20, 30)]


def test_an_excerpt_is_shortened_at_a_sentence_and_keeps_its_header() -> None:
    own = chunk("Tea is a drink. It is made of leaves. Hot water is poured on them. ")
    excerpt = Excerpt(
        Hit(1, 1.0, own, document()), own.start, own.end, "| a |\n" + own.text, 30, 0.6
    )
    found = shorten(excerpt, lambda e: len(e.text) < 50)
    assert found
    assert found.text == "| a |\nTea is a drink. It is made of leaves."
    assert TEXT[found.start : found.end] == found.text.removeprefix("| a |\n")
    assert 0 < found.relevance < 0.6
    assert shorten(excerpt, lambda e: len(e.text) < 9) is None
