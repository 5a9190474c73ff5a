"""What only the lexical index does."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.types import Change, Scope, WeightedTerm

EVERYTHING = Scope.everything()


def test_phrases_are_found_in_order(
    tmp_path: Path, store: SqliteStore, put: Callable[..., str]
) -> None:
    put("a", "The harbour gate closes.")
    put("b", "The gate of the harbour closes.")
    index = LexicalIndex(tmp_path / "index")
    index.catch_up(store)
    (hit,) = index.search_phrase(["harbour", "gate"], EVERYTHING, 10)
    assert store.chunks([hit.key], EVERYTHING)[hit.key].document_id == "a"
    assert len(index.search_phrase(["gate"], EVERYTHING, 10)) == 2
    assert index.search_phrase([], EVERYTHING, 10) == ()


def test_the_title_counts(tmp_path: Path, store: SqliteStore, put: Callable[..., str]) -> None:
    put("a", "The rules are here and nowhere else.", title="Storm")
    put("b", "The rules about a storm.", title="Other")
    index = LexicalIndex(tmp_path / "index")
    index.catch_up(store)
    hits = index.search([WeightedTerm("storm")], EVERYTHING, 10)
    assert len(hits) == 2
    assert index.document_frequencies(["storm"], EVERYTHING) == [2]


def test_a_heavier_term_weighs_more(
    tmp_path: Path, store: SqliteStore, put: Callable[..., str]
) -> None:
    put("a", "harbour")
    put("b", "wind")
    index = LexicalIndex(tmp_path / "index")
    index.catch_up(store)
    heavy = index.search([WeightedTerm("harbour", 2.0), WeightedTerm("wind")], EVERYTHING, 10)
    assert [store.chunks([hit.key], EVERYTHING)[hit.key].document_id for hit in heavy] == [
        "a",
        "b",
    ]
    assert heavy[0].score > heavy[1].score


def test_what_a_killed_commit_leaves_does_not_stop_the_next(
    tmp_path: Path, store: SqliteStore, put: Callable[..., str]
) -> None:
    put("a", "The harbour gate closes.\n\nThe wind rises.")
    LexicalIndex(tmp_path / "index").catch_up(store)
    (segment,) = {path.stem for path in (tmp_path / "index").glob("tantivy.*/*.term")}
    (folder,) = (tmp_path / "index").glob("tantivy.*")
    for stamp in range(100):
        (folder / f"{segment}.{stamp}.del").touch()
    put("b", "The harbour wall stands.")
    store.remove("a")
    put("a", "The ferry sails.\n\nThe harbour bell rings.")
    index = LexicalIndex(tmp_path / "index")
    assert index.catch_up(store) == store.sequence()
    assert len(index.search([WeightedTerm("harbour")], EVERYTHING, 10)) == 2
    assert index.size(EVERYTHING) == 3


def test_words_are_counted_on_the_shelves_that_are_asked_for(
    tmp_path: Path, store: SqliteStore, put: Callable[..., str]
) -> None:
    put("a", "The harbour gate.\n\nThe harbour master.", shelves=("maria",))
    put("b", "The harbour tariff.", shelves=("jonas", "shared"))
    put("c", "The tide.", shelves=("shared",))
    index = LexicalIndex(tmp_path / "index")
    index.catch_up(store)

    def counted(*shelves: str) -> int:
        return index.document_frequencies(["harbour"], Scope.of(shelves))[0]

    assert index.document_frequencies(["harbour"], EVERYTHING) == [3]
    assert counted() == 0
    assert (counted("maria"), counted("jonas"), counted("shared")) == (2, 1, 1)
    assert counted("maria", "shared") == 3
    assert counted("jonas", "shared") == 1
    assert counted("nobody") == 0
    assert index.document_frequencies(["tariff"], Scope.of(("maria",))) == [0]
    store.remove("a")
    index.catch_up(store)
    assert counted("maria") == 0


def test_what_changes_while_the_index_reads_is_indexed_as_it_is_then(
    tmp_path: Path,
    store: SqliteStore,
    put: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put("note", "The keeper wrote at night.", title="Lantern")
    index = LexicalIndex(tmp_path / "index")
    read = store.changes

    def changed_meanwhile(after: int, limit: int) -> Sequence[Change]:
        found = read(after, limit)
        if after == 0:
            put("note", "The keeper wrote by day.", title="Beacon")
        return found

    monkeypatch.setattr(store, "changes", changed_meanwhile)
    index.catch_up(store)
    assert not index.differing(store, thorough=True)
