"""Scores inside a scope come from that scope alone."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.embedders import LetterEmbedder

from chapterhouse.index.aliases import AliasIndex
from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.index.scoped import ScopedIndex
from chapterhouse.index.vectors import VectorIndex
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Scope, Scored, WeightedTerm

Put = Callable[..., str]
CREW = Scope.of(("crew",))
EVERYTHING = Scope.everything()
SEEDS = 40 if "CHAPTERHOUSE_LARGE" in os.environ else 3
WORDS = ("harbour", "gate", "wind", "ferry", "ticket", "crew", "storm", "berth", "crane", "quay")
QUESTIONS = (("harbour",), ("gate", "wind"), ("ferry", "ticket", "storm", "quay"), WORDS, ("none",))


def fill(put: Put, chance: random.Random, shelf: str, documents: int, longest: int) -> None:
    for number in range(documents):
        texts = [
            " ".join(chance.choices(WORDS[: chance.randint(3, 10)], k=chance.randint(1, longest)))
            for _ in range(chance.randint(1, 6))
        ]
        title = " ".join(chance.choices(WORDS, k=chance.randint(1, longest // 4 + 1)))
        put(f"{shelf}-{number}", "\n\n".join(texts), shelves=(shelf,), title=title)


def weighted(words: tuple[str, ...]) -> list[WeightedTerm]:
    return [WeightedTerm(word, 1.0 + place / 3) for place, word in enumerate(words)]


def seen(index: LexicalIndex, limit: int) -> list[object]:
    """Return all that a lexical index gives a reader who may see one shelf."""
    found: list[object] = [index.size(CREW), index.document_frequencies(WORDS, CREW)]
    for words in QUESTIONS:
        found += [index.search(weighted(words), CREW, limit)]
        found += [index.search(weighted(words), CREW, limit, ["crew-1", "guests-1"])]
        found += [index.search_phrase(words, CREW, limit)]
    return found


@pytest.mark.large
@pytest.mark.parametrize("seed", range(SEEDS))
def test_another_shelf_changes_nothing(tmp_path: Path, store: Store, put: Put, seed: int) -> None:
    chance = random.Random(seed)
    fill(put, chance, "crew", 12, 12)
    index, vectors = LexicalIndex(tmp_path / "l"), VectorIndex(tmp_path / "v", LetterEmbedder())
    names = AliasIndex(tmp_path / "n")
    question = LetterEmbedder().embed_question("the harbour gate in a storm")

    def all_seen() -> list[object]:
        for one in (index, vectors, names):
            one.catch_up(store)
        keys = range(1, 80)
        return [
            *(seen(index, limit) for limit in (1, 3, 200)),
            vectors.search(question, CREW, 5, also=keys),
            names.near_words("harbor", CREW),
            store.census(CREW),
            store.counts(CREW),
        ]

    alone = all_seen()
    fill(put, chance, "guests", 40, 60)  # much longer, and it holds more of every word
    put("mixed", "harbours arbour", shelves=("guests",))
    assert all_seen() == alone
    store.remove("guests-3")
    store.set_shelves("guests-4", ("other",))
    assert all_seen() == alone
    names.close()


@pytest.mark.parametrize("seed", range(3))
def test_a_scope_of_all_there_is_scores_as_everything_does(
    tmp_path: Path, store: Store, put: Put, seed: int
) -> None:
    fill(put, random.Random(seed), "crew", 30, 90)
    index = LexicalIndex(tmp_path / "index")
    index.catch_up(store)

    def close(found: list[Scored], expected: list[Scored]) -> None:
        scores = {hit.key: hit.score for hit in expected}
        assert {hit.key for hit in found} == set(scores)
        assert [hit.score for hit in found] == pytest.approx([scores[h.key] for h in found], 1e-5)

    for words in QUESTIONS:
        terms = weighted(words)
        close([*index.search(terms, CREW, 500)], [*index.search(terms, EVERYTHING, 500)])
        close([*index.search_phrase(words[:2], CREW, 500)],
              [*index.search_phrase(words[:2], EVERYTHING, 500)])  # fmt: skip


def test_the_best_are_found_however_few_are_fetched(
    tmp_path: Path, store: Store, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(7)
    fill(put, chance, "crew", 30, 12)
    fill(put, chance, "guests", 30, 90)
    index = LexicalIndex(tmp_path / "index")
    index.catch_up(store)
    terms = weighted(WORDS[:5])
    everything = index.search(terms, CREW, 500)
    monkeypatch.setattr("chapterhouse.index.scoped._FETCHED", 1)
    for limit in (1, 2, 5, 20):
        assert index.search(terms, CREW, limit) == everything[:limit]


def test_an_empty_scope_sees_nothing_and_what_is_outside_has_no_terms(
    tmp_path: Path, store: Store, put: Put
) -> None:
    put("a", "The harbour gate.", shelves=("crew",))
    put("b", "The harbour wall.", shelves=("guests",))
    index = LexicalIndex(tmp_path / "index")
    index.catch_up(store)
    keys = [store.chunks_of(name, EVERYTHING)[0].key for name in ("a", "b")]
    starts = index.terms_of(keys, CREW).starts
    assert 0 < starts[1] == starts[2]
    nothing = Scope.of(())
    assert (index.size(nothing), index.document_frequencies(["harbour"], nothing)) == (0, [0])
    assert not index.search([WeightedTerm("harbour")], nothing, 10)
    assert not index.search([WeightedTerm("harbour")], nothing, 10, ["a"])
    assert not index.search_phrase(["harbour", "gate"], nothing, 10)


def test_a_scope_is_looked_at_once_until_something_changes(
    tmp_path: Path, store: Store, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Scope] = []

    def counting(*parts: object) -> ScopedIndex:
        made.append(parts[-1])  # type: ignore[arg-type]  # the scope comes last
        return ScopedIndex(*parts)  # type: ignore[arg-type]

    monkeypatch.setattr("chapterhouse.index.lexical.ScopedIndex", counting)
    put("a", "The harbour gate.", shelves=("crew",))
    index = LexicalIndex(tmp_path / "index")
    index.catch_up(store)
    assert [index.size(CREW), index.size(Scope.of(("crew", "crew")))] == [1, 1]
    assert made == [CREW]
    put("b", "The wall.", shelves=("crew",))
    index.catch_up(store)
    assert index.size(CREW) == 2
    assert made == [CREW, CREW]
