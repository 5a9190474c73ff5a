"""What every index derived from the store must do."""

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest
from tests.embedders import LetterEmbedder

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.index import lexical as lexical_module
from chapterhouse.index import vectors as vectors_module
from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.index.ranking import entry_of
from chapterhouse.index.state import read_state, write_state
from chapterhouse.index.vectors import VectorIndex
from chapterhouse.store.connections import Connections
from chapterhouse.store.sqlite import Store
from chapterhouse.text.analyse import analyse
from chapterhouse.types import Scope, Scored, WeightedTerm

EVERYTHING = Scope.everything()

Put = Callable[..., str]
WORDS = ("harbour", "gate", "wind", "ferry", "ticket", "crew", "storm", "berth")


class Searchable(Protocol):
    def sequence(self) -> int: ...
    def catch_up(self, store: Store) -> int: ...
    def rebuild(self, store: Store) -> int: ...
    def size(self, scope: Scope) -> int: ...
    def differing(self, store: Store, *, thorough: bool) -> Collection[str]: ...


def lexical(folder: Path) -> Searchable:
    return LexicalIndex(folder)


def vector(folder: Path) -> Searchable:
    return VectorIndex(folder, LetterEmbedder())


def find(
    index: Searchable, text: str, shelves: Sequence[str] = (), limit: int = 10
) -> Sequence[Scored]:
    if isinstance(index, LexicalIndex):
        return index.search(
            [WeightedTerm(term) for term in analyse(text, "en")],
            Scope(tuple(shelves) or None),
            limit,
        )
    assert isinstance(index, VectorIndex)
    return index.search(LetterEmbedder().embed_question(text), Scope(tuple(shelves) or None), limit)


Make = Callable[[str], Searchable]


@pytest.fixture(params=[lexical, vector])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    return lambda name="index": request.param(tmp_path / name)  # type: ignore[misc]  # a lambda has no overloads


def documents(index: Searchable, store: Store, text: str, shelves: Sequence[str] = ()) -> list[str]:
    chunks = store.chunks([hit.key for hit in find(index, text, shelves)], EVERYTHING)
    return [chunks[hit.key].document_id for hit in find(index, text, shelves) if hit.key in chunks]


def test_it_follows_documents_and_shelves(make: Make, store: Store, put: Put) -> None:
    index = make("index")
    assert index.catch_up(store) == index.size(EVERYTHING) == 0
    assert not find(index, "harbour")
    put("a", "The harbour gate closes.\n\nThe wind rises.", shelves=("crew",))
    put("b", "The harbour wall, sold by the crew.", shelves=("guests", "crew"))
    assert index.catch_up(store) == store.sequence() == 2
    assert documents(index, store, "harbour gate")[0] == "a"
    assert index.size(EVERYTHING) == 3
    assert documents(index, store, "harbour", ["guests"]) == ["b"]
    assert set(documents(index, store, "harbour", ["crew"])) == {"a", "b"}
    assert documents(index, store, "harbour", ["nobody"]) == []
    store.set_shelves("b", ["office"])
    put("a", "Tickets are sold.", shelves=("crew",))  # what was there leaves nothing behind
    index.catch_up(store)
    assert index.size(EVERYTHING) == 2
    assert documents(index, store, "harbour", ["guests"]) == []
    assert documents(index, store, "harbour", ["office"]) == ["b"]
    store.remove("b")
    assert index.catch_up(store) == store.sequence()
    assert set(documents(index, store, "harbour")) <= {"a"}
    assert index.size(EVERYTHING) == 1


def test_ties_are_in_order_of_key_and_the_cut_does_not_matter(
    make: Make, store: Store, put: Put
) -> None:
    for number in range(60):
        put(f"d{number:02}", "The same words everywhere.", title="same")
    index = make("index")
    index.catch_up(store)
    everything = find(index, "words", (), 60)
    assert [hit.key for hit in everything] == sorted(hit.key for hit in everything)
    for limit in (1, 7, 20):
        assert list(find(index, "words", (), limit)) == list(everything[:limit])


def test_writers_at_once_do_not_disturb_one_another(make: Make, store: Store, put: Put) -> None:
    for number in range(20):
        put(f"d{number}", f"{WORDS[number % len(WORDS)]} number {number}")
    indexes = [make("index") for _ in range(4)]
    threads = [threading.Thread(target=index.catch_up, args=(store,)) for index in indexes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {index.sequence() for index in indexes} == {20}
    assert indexes[0].size(EVERYTHING) == 20


def test_any_history_ranks_like_a_fresh_build_after_rebuild(
    make: Make, store: Store, put: Put
) -> None:
    worn = make("worn")
    for number in range(30):
        put(f"d{number % 11}", " ".join(WORDS[number % 8 : number % 8 + 3]) + f" {number}")
        if number % 4 == 0:
            worn.catch_up(store)
        if number % 7 == 6:
            store.remove(f"d{(number - 3) % 11}")
    worn.rebuild(store)
    fresh = make("fresh")
    fresh.catch_up(store)
    for word in WORDS:
        assert list(find(worn, word)) == list(find(fresh, word))


def test_a_torn_state_is_rebuilt(make: Make, store: Store, put: Put, tmp_path: Path) -> None:
    index = make("index")
    put("a", "The harbour gate.")
    index.catch_up(store)
    (tmp_path / "index" / "state.json").write_text('{"sequence": ')
    again = make("index")
    assert again.sequence() == 0
    again.catch_up(store)
    assert documents(again, store, "harbour") == ["a"]
    assert again.size(EVERYTHING) == 1


def test_changes_applied_twice_change_nothing(
    make: Make, store: Store, put: Put, tmp_path: Path
) -> None:
    """A process that dies between the index's commit and its state applies them again."""
    index = make("index")
    put("a", "The harbour gate.\n\nThe harbour wall.")
    index.catch_up(store)
    before = (tmp_path / "index" / "state.json").read_bytes()
    put("b", "The harbour bell.")
    index.catch_up(store)
    (tmp_path / "index" / "state.json").write_bytes(before)
    again = make("index")
    again.catch_up(store)
    assert again.size(EVERYTHING) == 3
    assert len(find(again, "harbour")) == 3


def test_readers_are_not_disturbed_by_files_written_anew(
    make: Make,
    store: Store,
    put: Put,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (lexical_module, vectors_module):
        monkeypatch.setattr(module, "_COMPACT_FROM", 4)
    put("a", "The harbour gate.")
    make("index").catch_up(store)
    failures: list[BaseException] = []
    done = threading.Event()

    def read(reader: Searchable) -> None:
        try:
            while not done.is_set():
                hits = find(reader, "harbour")
                if isinstance(reader, LexicalIndex):
                    reader.terms_of([hit.key for hit in hits], EVERYTHING)
        except Exception as error:  # noqa: BLE001 - whatever it is, the main thread must tell
            failures.append(error)

    shared = make("index")
    readers = [shared, shared, make("index")]
    threads = [threading.Thread(target=read, args=(reader,)) for reader in readers]
    for thread in threads:
        thread.start()
    writer = make("index")
    for number in range(10):
        put("a", f"The harbour gate {number}.\n\nThe harbour wall.")
        writer.catch_up(store)
        if number % 8 == 0:
            writer.rebuild(store)
    done.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(find(shared, "harbour")) == 2


def _unnoticed(store: Store, *statements: str) -> None:
    """Change the store without a change that an index could follow."""
    assert isinstance(store._connections, Connections)
    writer = store._connections._writer
    writer.pragma("foreign_keys", 0)
    for statement in statements:
        writer.execute(statement)
    writer.pragma("foreign_keys", 1)
    store._known_documents = (-1, {})


@pytest.mark.parametrize(
    "statements",
    [
        ("UPDATE chunk SET key = key + 1000 WHERE document = 1",),
        ("DELETE FROM chunk WHERE document = 1",),
        ("DELETE FROM document WHERE key = 1", "DELETE FROM chunk WHERE document = 1",
         "DELETE FROM embedding WHERE document = 1"),
        ("UPDATE membership SET shelf = 'odd' WHERE document = 1",),
        ("UPDATE document SET id = 'odd' WHERE key = 1",),
    ],
)  # fmt: skip
def test_what_differs_from_the_store_is_found_until_it_is_rebuilt(
    make: Make, store: Store, put: Put, statements: tuple[str, ...]
) -> None:
    index = make("index")
    put("a", "The ferry waits for the storm.\n\nThe gate.")
    put("b", "The berth is empty.")
    index.catch_up(store)
    _unnoticed(store, *statements)
    assert index.differing(store, thorough=True)
    index.rebuild(store)
    assert not index.differing(store, thorough=True)


def test_every_byte_of_the_files_is_looked_at(
    make: Make, store: Store, put: Put, tmp_path: Path
) -> None:
    """Flip one bit in the middle of each file in turn; a fresh object looks, as a process would."""
    index = make("index")
    for number in range(20):
        put(f"d{number}", f"The ferry waits {number} times for the storm.\n\nThe gate {number}.")
    index.catch_up(store)
    names = {"state.json", "lock", "meta.json", ".managed.json"}
    for path in sorted((tmp_path / "index").rglob("*")):
        if path.is_dir() or path.name in names or path.name.endswith(".lock"):
            continue
        data = path.read_bytes()
        at = len(data) // 2
        _exchange(path, data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        try:
            found = set(make("index").differing(store, thorough=True))
        except CorruptLibraryError as error:
            found = {error.message}
        assert found, path.name
        _exchange(path, data)
    assert not make("index").differing(store, thorough=True)


def _exchange(path: Path, data: bytes) -> None:
    """Put another file in its place: one that is cut while it is mapped ends the process."""
    other = path.parent.parent.parent / "other"
    other.write_bytes(data)
    other.replace(path)


def test_a_chunk_may_lack_a_vector_and_not_its_words(
    tmp_path: Path, store: Store, put: Put
) -> None:
    put("a", "The ferry waits for the storm.")
    _unnoticed(store, "DELETE FROM embedding")
    index = vector(tmp_path / "vector")
    index.catch_up(store)
    assert not index.differing(store, thorough=True)


def test_vectors_that_the_store_lost_or_spoilt_are_found(
    tmp_path: Path, store: Store, put: Put
) -> None:
    put("a", "The ferry waits for the storm.")
    index = vector(tmp_path / "vector")
    index.catch_up(store)
    _unnoticed(store, "UPDATE embedding SET vectors = CAST(x'0014' || substr(vectors, 3) AS BLOB)")
    assert index.differing(store, thorough=True) == {"a"}
    _unnoticed(store, "DELETE FROM embedding")
    assert index.differing(store, thorough=True) == {"a"}


def test_terms_of_another_text_and_doubled_entries_are_found(
    tmp_path: Path, store: Store, put: Put
) -> None:
    put("a", "The ferry waits for the storm.")
    put("b", "The berth is empty.")
    index = LexicalIndex(tmp_path / "lexical")
    index.catch_up(store)
    _unnoticed(store, "UPDATE chunk SET text = 'The gull.' WHERE document = 1")
    assert index.differing(store, thorough=False) == set()
    assert index.differing(store, thorough=True) == {"a"}
    state = read_state(tmp_path / "lexical")
    write_state(tmp_path / "lexical", replace(state, sequence=state.sequence - 1))
    writer = index._open(state.generation).writer(16_000_000, num_threads=1)
    document = store.document("b", EVERYTHING)
    assert document is not None
    writer.add_document(entry_of(document, 2, (["berth"], [], [])))
    writer.commit()
    assert "b" in LexicalIndex(tmp_path / "lexical").differing(store, thorough=False)
