"""Documents cut again from their stored texts."""

from threading import Event
from typing import Any

from chapterhouse.chunking.sentence import chunk_by_size
from chapterhouse.ingest.recut import Cutter, count_others, cut_all
from chapterhouse.models.static import static_embedder
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.types import Body, Progress, Scope, Span

EVERYTHING = Scope.everything()
EMBEDDER = static_embedder()


def small(body: Body) -> "tuple[Span, ...]":
    return tuple(chunk_by_size(body, size=20, overlap=0))


def test_only_chunks_vectors_and_the_fingerprint_are_new(home: Any) -> None:
    home.write("a.md", "# A\n\nSlack water lasts eleven minutes at the harbour gate.\n")
    home.write("b.md", "# B\n\nThe ferry leaves at eight and at five in the evening.\n")
    home.add()
    before = {one.id: one for one in home.store.documents(EVERYTHING)}
    bodies = {name: home.store.body(name, EVERYTHING) for name in before}
    cutter = Cutter(small, estimate_tokens, lambda formats: f"small-{formats[0]}")
    assert count_others(home.store, cutter) == 2
    seen: list[Progress] = []
    assert cut_all(home.store, cutter, EMBEDDER, seen.append, Event()) == 2
    assert [progress.done for progress in seen] == [1, 2]
    for document in home.store.documents(EVERYTHING):
        assert document.cut_by == "small-md"
        assert document.chunks > before[document.id].chunks
        assert home.store.body(document.id, EVERYTHING) == bodies[document.id]
        keys, vectors = home.store.vectors_of(document.id, EMBEDDER.fingerprint)
        chunks = home.store.chunks_of(document.id, EVERYTHING)
        assert keys == [chunk.key for chunk in chunks]
        assert len(vectors) == len(chunks) == document.chunks
        assert not home.store.examination().row_fault(document.id)
    assert count_others(home.store, cutter) == 0
    assert cut_all(home.store, cutter, EMBEDDER, seen.append, Event()) == 0


def test_a_stop_leaves_the_rest_as_it_was(home: Any) -> None:
    home.write("a.md", "# A\n\nSlack water lasts eleven minutes at the harbour gate.\n")
    home.add()
    stop = Event()
    stop.set()
    cutter = Cutter(small, estimate_tokens, lambda _: "small")
    assert cut_all(home.store, cutter, EMBEDDER, lambda _: None, stop) == 0
    assert count_others(home.store, cutter) == 1
