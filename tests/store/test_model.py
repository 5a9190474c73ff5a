"""Any sequence of writes leaves what a dictionary would hold, and the feed replays to it."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine
from tests.databases import NewPlace

from chapterhouse.types import Document, Scope, Status

EVERYTHING = Scope.everything()

NAMES = st.sampled_from(["a", "b", "c", "d"])
TEXTS = st.text(alphabet="xyé\n𝔘", min_size=1, max_size=12)
SHELVES = st.lists(st.sampled_from(["s", "t", "u"]), max_size=2).map(tuple)


class Machine(RuleBasedStateMachine):
    make_parts: ClassVar[Callable[..., Any]]
    put_vectors: ClassVar[Callable[..., bool]]
    new_place: ClassVar[NewPlace]

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.open = self.new_place(Path(self.folder.name))
        self.store = self.open()
        self.model: dict[str, tuple[Document, str]] = {}
        self.mirror: dict[str, Document] = {}
        self.applied = 0

    @rule(name=NAMES, text=TEXTS, shelves=SHELVES)
    def put(self, name: str, text: str, shelves: tuple[str, ...]) -> None:
        parts = self.make_parts(name, text, shelves=shelves)
        before = self.store.sequence()
        self.store.put(*parts)
        assert self.store.sequence() == before + 1
        stored = replace(parts.document, shelves=tuple(sorted(set(shelves))) or ("library",))
        self.model[stored.id] = (stored, text)

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        removed = self.store.remove(f"{name}-0001")
        assert (removed is not None) == (self.model.pop(f"{name}-0001", None) is not None)

    @rule(name=NAMES)
    def reject(self, name: str) -> None:
        record = self.make_parts(name).record
        self.store.record_file(replace(record, status=Status.REJECTED, document_id=""))
        self.model.pop(f"{name}-0001", None)

    @rule(name=NAMES, shelves=SHELVES)
    def shelve(self, name: str, shelves: tuple[str, ...]) -> None:
        sequence = self.store.set_shelves(f"{name}-0001", shelves)
        assert (sequence is not None) == (f"{name}-0001" in self.model)
        if sequence is not None:
            document, text = self.model[f"{name}-0001"]
            shelves = tuple(sorted(set(shelves))) or ("library",)
            self.model[document.id] = (replace(document, shelves=shelves), text)

    @rule(name=NAMES)
    def embed(self, name: str) -> None:
        if (identifier := f"{name}-0001") in self.model:
            assert self.put_vectors(self.store, identifier)
            assert self.store.fingerprints_of(identifier) == ("test:8",)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.open()

    @rule(limit=st.integers(1, 3))
    def follow(self, limit: int) -> None:
        while page := self.store.changes(self.applied, limit):
            for change in page:
                assert change.sequence > self.applied
                self.applied = change.sequence
                if change.document is None:
                    self.mirror.pop(change.document_id, None)
                else:
                    self.mirror[change.document_id] = change.document
        assert self.mirror == {key: value[0] for key, value in self.model.items()}
        assert self.applied == self.store.sequence()

    @invariant()
    def agrees(self) -> None:
        documents = {document.id: document for document in self.store.documents(EVERYTHING)}
        assert documents == {key: value[0] for key, value in self.model.items()}
        for identifier, (document, text) in self.model.items():
            body = self.store.body(identifier, EVERYTHING)
            assert body is not None
            assert body.text == text
            chunks = self.store.chunks_of(identifier, EVERYTHING)
            assert "".join(chunk.text for chunk in chunks) == text
            assert self.store.vectors_of(identifier, "test:8")[0] in ([], [c.key for c in chunks])
            assert self.store.content(document.sha256, EVERYTHING) is not None

    def teardown(self) -> None:
        assert not list(self.store.examination().faults(thorough=True))
        self.store.close()
        self.folder.cleanup()


def test_the_store_is_a_dictionary_with_a_memory(
    make_parts: Callable[..., Any], put_vectors: Callable[..., bool], new_place: NewPlace
) -> None:
    class WithParts(Machine):
        pass

    WithParts.make_parts = staticmethod(make_parts)
    WithParts.put_vectors = staticmethod(put_vectors)
    WithParts.new_place = staticmethod(new_place)
    run_machine(
        WithParts,
        settings=settings(stateful_step_count=25),
    )
