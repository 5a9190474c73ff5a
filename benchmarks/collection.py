"""A judged collection in a library of its own, through everything but the file reader.

Cleaning, chunks, vectors, the store and both indexes are those of the product; the library lies in
a temporary folder and is removed in the end.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from chapterhouse.answering.extractive import Reference
from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.search import reference_of, sources_of
from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.errors import RejectedError
from chapterhouse.ingest.look import Prepare
from chapterhouse.ingest.prepare import Cutter, PreparedDocument, prepare
from chapterhouse.library import Library
from chapterhouse.library.opening import open_runtime, preparer
from chapterhouse.retrieval.pipeline import Sources
from chapterhouse.settings import Settings
from chapterhouse.store.sqlite import Store
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import ExtractedPage, Extraction, FileRecord, Scope, Status
from chapterhouse.types.engines import Chunker, LexicalSearch
from judged_sets import CorpusDocument

_WORKSPACE: Final = "collection"


@dataclass(frozen=True, slots=True)
class Collection:
    """An indexed collection.

    Attributes:
        library: The library that holds it.
        runtime: What that library is made of.
        names: The collection's document id for ours.
        left_out: The collection's ids of documents that have neither text nor title.
    """

    library: Library
    runtime: Runtime
    names: dict[str, str]
    left_out: tuple[str, ...] = ()

    @property
    def store(self) -> Store:
        """Return its store."""
        return self.runtime.store

    @property
    def lexical(self) -> LexicalSearch:
        """Return its lexical index."""
        return self.runtime.lexical

    def sources(self) -> Sources:
        """Return what retrieval looks into."""
        return sources_of(self.runtime)

    def reference(self) -> Reference:
        """Return what answering looks up."""
        return reference_of(self.runtime, Scope.everything())


@contextmanager
def open_collection(
    documents: Sequence[CorpusDocument],
    chunker: Chunker | None = None,
    *,
    settings: Settings | None = None,
    markdown: bool = False,
) -> Iterator[Collection]:
    """Put documents into a temporary library and remove it all in the end.

    Args:
        documents: The collection. A document without text is found by its title; one that has
            neither is left out.
        chunker: How to cut them; as the settings say when None.
        settings: The library's settings; the defaults when None.
        markdown: Whether the texts are Markdown, with headings.
    """
    settings = settings or Settings()
    with TemporaryDirectory(prefix="chapterhouse-") as name:
        home = Path(name)
        own = home / "workspaces" / _WORKSPACE
        own.mkdir(parents=True)
        runtime = open_runtime(home, _WORKSPACE, settings)
        with Library(runtime) as library:
            make = _preparing(chunker, settings)
            names: dict[str, str] = {}
            left_out: list[str] = []
            ending = "md" if markdown else "txt"
            for number, document in enumerate(documents):
                if identifier := _store(runtime.store, document, f"{number:06}.{ending}", make):
                    names[identifier] = document.id
                else:
                    left_out.append(document.id)
            library.encoders.embed_pending()
            yield Collection(library, runtime, names, tuple(left_out))


def _preparing(chunker: Chunker | None, settings: Settings) -> Prepare:
    if chunker is None:
        return preparer(settings)
    return partial(prepare, cutter=Cutter(chunker, estimate_tokens))


def _store(store: Store, document: CorpusDocument, name: str, make: Prepare) -> str:
    """Store a document and return our id, empty where it has neither text nor title."""
    data = f"{document.title}\n{document.text}".encode("utf-8", "replace")
    # The name of a file says something in a folder of one's own; here it must say nothing.
    number, ending = name.split(".")
    path = f"set/{number}/text.{ending}"
    file = SourceFile(Path("/set"), (number, f"text.{ending}"), f"/{path}", path, len(data))
    sha256 = hashlib.sha256(data).hexdigest()
    content = Content(data, sha256, len(data), mtime_ns=0, modified=0)
    prepared = _prepare(document, file, content, make)
    if prepared is None:
        return ""
    stored = replace(prepared.document, title=sanitise_line(document.title))
    record = FileRecord(
        file.location,
        file.source,
        len(data),
        0,
        sha256,
        Status.READY,
        document_id=stored.id,
        format=ending,
    )
    store.put(stored, prepared.body, prepared.chunks, record, data)
    return stored.id


def _prepare(
    document: CorpusDocument, file: SourceFile, content: Content, make: Prepare
) -> PreparedDocument | None:
    """Prepare a document by its text, else by its title; None where it has neither."""
    ending = file.location.rpartition(".")[2]
    for text in (document.text, document.title):
        page = (ExtractedPage(text),)
        extraction = Extraction(
            page, ending, "collection", markdown=ending == "md", title=document.title
        )
        try:
            return make(extraction, file, content)
        except RejectedError:
            continue
    return None
