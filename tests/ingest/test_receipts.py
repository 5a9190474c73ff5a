"""Every path finds what is left of a removed document, and nothing that others say, too."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from chapterhouse import Library
from chapterhouse.ingest.probes import choose_probes
from chapterhouse.ingest.receipts import take_receipt
from chapterhouse.ingest.remove import AT_ONCE, prove, remove_documents


def test_before_the_indexes_have_followed_every_path_but_files_finds_it(library: Library) -> None:
    runtime = library._runtime
    document = next(iter(library.documents.list()))
    removal = remove_documents([document.id], store=runtime.store, grace_seconds=AT_ONCE, now=0)
    receipt = take_receipt(removal.probes, runtime.searches())
    for name in ("phrases", "terms", "vectors", "names", "ids"):
        assert receipt.paths[name].found, name
        assert receipt.paths[name].places, name
    runtime.catch_up()
    receipt = take_receipt(removal.probes, runtime.searches())
    assert receipt.phrases.found == receipt.terms.found == receipt.vectors.found == 0


def test_a_document_that_is_there_is_found_by_its_id_and_its_keys(library: Library) -> None:
    runtime = library._runtime
    document = next(iter(library.documents.list()))
    probes = choose_probes([document], runtime.store)
    receipt = take_receipt(probes, runtime.searches())
    assert receipt.ids.found == 1
    assert set(receipt.ids.places) >= {"chunks", "documents", "files", "lexical index"}
    assert receipt.passages.found == 0  # it is the text of a document that is there


def test_text_that_another_document_has_is_not_found(library: Library, folder: Path) -> None:
    first = next(folder.glob("*.md"))
    copy = folder / "copy-of-it.md"
    copy.write_bytes(first.read_bytes())
    library.documents.add(folder)
    receipt = library.documents.remove("copy-of-it.md", grace_days=0).receipt
    assert receipt is not None
    assert receipt.found == 0, receipt


class Cache:
    """A cache of vectors that may forget to forget."""

    def __init__(self, *, forgets: bool) -> None:
        self.keys: set[bytes] = set()
        self._forgets = forgets

    def forget(self, keys: Sequence[bytes]) -> None:
        if self._forgets:
            self.keys -= set(keys)

    def count(self, keys: Sequence[bytes]) -> int:
        return len(self.keys & set(keys))


def test_cached_vectors_go_and_are_looked_for(library: Library) -> None:
    runtime = library._runtime
    good, bad = Cache(forgets=True), Cache(forgets=False)
    searches = replace(runtime.searches(), caches=[good, bad])
    document = next(iter(library.documents.list()))
    chunks = len(library.documents.chunks(document.id))
    removal = remove_documents([document.id], store=runtime.store, grace_seconds=AT_ONCE, now=0)
    assert len(removal.probes.cached) == chunks
    good.keys |= set(removal.probes.cached)
    bad.keys |= set(removal.probes.cached)
    receipt = prove(removal, searches)
    assert good.keys == set()
    assert receipt.vectors.found == chunks
    assert receipt.vectors.places == ("cache of embeddings",)
