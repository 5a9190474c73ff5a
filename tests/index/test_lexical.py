"""What only the lexical index does."""

import json
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from chapterhouse.index.comparing import require_whole_segments
from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.index.ranking import rank_in_memory
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Change, Scope, WeightedTerm

EVERYTHING = Scope.everything()


def test_phrases_are_found_in_order_and_titles_count(
    tmp_path: Path, store: Store, put: Callable[..., str]
) -> None:
    put("a", "The harbour gate closes.", title="Storm")
    put("b", "The gate of the harbour closes.")
    index = LexicalIndex(tmp_path / "index")
    index.catch_up(store)
    (hit,) = index.search_phrase(["harbour", "gate"], EVERYTHING, 10)
    assert store.chunks([hit.key], EVERYTHING)[hit.key].document_id == "a"
    assert index.search([WeightedTerm("storm")], EVERYTHING, 10)[0].key == hit.key
    assert index.document_frequencies(["storm"], EVERYTHING) == [1]
    assert len(index.search_phrase(["gate"], EVERYTHING, 10)) == 2
    assert index.search_phrase([], EVERYTHING, 10) == ()


def test_what_a_killed_commit_leaves_does_not_stop_the_next(
    tmp_path: Path, store: Store, put: Callable[..., str]
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
    tmp_path: Path, store: Store, put: Callable[..., str]
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
    store: Store,
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


TEXTS = {
    "a": "The gate of the harbour closes at dusk, and the harbour is dark.",
    "b": "A harbour master keeps the log.",
    "c": "Wind and rain.",
    "d": "Harbour dues are paid at the gate.",
}


def test_it_ranks_as_the_index_of_a_library_does(
    tmp_path: Path, store: Store, put: Callable[..., str]
) -> None:
    for name, text in TEXTS.items():
        put(name, text)
    index = LexicalIndex(tmp_path / "index")
    index.catch_up(store)
    documents = list(store.documents(EVERYTHING))
    entries = [(one, store.chunks_of(one.id, EVERYTHING)) for one in documents]
    chunks = [chunk for _, own in entries for chunk in own]
    rank = rank_in_memory(entries)
    for terms in ([WeightedTerm("harbour")], [WeightedTerm("harbour"), WeightedTerm("gate", 2.5)]):
        wanted = [(hit.key, hit.score) for hit in index.search(terms, EVERYTHING, 3)]
        assert [(chunks[hit.key].key, hit.score) for hit in rank(terms, 3)] == wanted
    assert rank([WeightedTerm("submarine")], 3) == []
    assert rank([], 3) == ()


SEGMENT = "0" * 32


def _segment(folder: Path, body: bytes = b"postings") -> None:
    names = [f"{SEGMENT}.{part}" for part in ("fast", "fieldnorm", "idx", "pos", "store", "term")]
    for name in names:
        footer = json.dumps({"version": {}, "crc": zlib.crc32(body)}).encode()
        end = len(footer).to_bytes(4, "little") + (1337).to_bytes(4, "little")
        (folder / name).write_bytes(body + footer + end)
    (folder / "meta.json").write_text(json.dumps({"segments": [{"segment_id": SEGMENT}]}))
    (folder / ".managed.json").write_text(json.dumps([*names, "meta.json"]))


def test_a_segment_is_compared_with_its_checksums(tmp_path: Path) -> None:
    _segment(tmp_path)
    (tmp_path / ".tmpX6Xwom").write_bytes(b"{")  # what a kill leaves
    require_whole_segments(tmp_path)
    path = tmp_path / f"{SEGMENT}.idx"
    whole = path.read_bytes()
    for data in (b"Postings" + whole[8:], whole[:-1], b"", whole[:-1] + b"\x06"):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=f"{SEGMENT}.idx is damaged"):
            require_whole_segments(tmp_path)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        require_whole_segments(tmp_path)
    (tmp_path / "meta.json").write_text('{"segments": 3}')
    with pytest.raises(TypeError):
        require_whole_segments(tmp_path)
