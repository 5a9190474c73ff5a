"""From what a reader extracted to everything the store keeps of a document."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.chunking.build import build_chunks, formats_of
from chapterhouse.chunking.units import AnalysedBody, analyse_body
from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.errors import RejectedError
from chapterhouse.reading.ocr import ENGINES
from chapterhouse.store.sqlite import Store
from chapterhouse.text.canonical import choose_title, compose, front_matter
from chapterhouse.text.naming import document_id
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import (
    BENIGN_NOTICES,
    Body,
    Chunk,
    Document,
    Extraction,
    Notice,
    Progress,
    Scope,
    Status,
)
from chapterhouse.types.engines import Chunker

if TYPE_CHECKING:
    from chapterhouse.text import dates
else:
    dates = lazy("chapterhouse.text.dates")


@dataclass(frozen=True, slots=True)
class Cutter:
    """What cuts documents.

    Attributes:
        cut_by: Returns the fingerprint of all this for a document of these formats.
    """

    chunker: Chunker
    count_tokens: Callable[[str], int]
    cut_by: Callable[[Sequence[str]], str] = lambda _: ""

    def is_right(self, document: Document) -> bool:
        """Whether a document was cut as it would be now."""
        return document.cut_by == self.cut_by(formats_of(document.source, document.format))

    def cut(self, identifier: str, known: AnalysedBody) -> tuple[Chunk, ...]:
        """Return the chunks of a text."""
        return build_chunks(identifier, known, self.chunker(known), self.count_tokens)


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document ready to be stored."""

    document: Document
    body: Body
    chunks: tuple[Chunk, ...]


def prepare(
    extraction: Extraction,
    file: SourceFile,
    content: Content,
    *,
    cutter: Cutter,
) -> PreparedDocument:
    """Clean and cut what was extracted from ``content``.

    The document is partial when any notice says that text is missing. Its shelves are the
    default ones; the caller knows better.

    Raises:
        RejectedError: there is no text (``no-text``).
    """
    body, notices = compose(extraction)
    if not body.text.strip():
        raise _no_text(extraction, file)
    notices = (*map(_clean_notice, extraction.notices), *notices)
    title = choose_title(extraction, body, file.name.rpartition(".")[0] or file.name)
    formats = formats_of(file.name, extraction.format)
    known = analyse_body(body, formats)
    language = known.language
    identifier = document_id(file.source)
    chunks = cutter.cut(identifier, known)
    metadata = _clean_metadata(_stated_metadata(extraction, body.text, language))
    document = Document(
        id=identifier,
        source=file.source,
        location=file.location,
        title=title,
        format=extraction.format,
        method=extraction.method,
        sha256=content.sha256,
        text_sha256=hashlib.sha256(body.text.encode()).hexdigest(),
        size=content.size,
        modified=content.modified,
        status=Status.PARTIAL if _missing_text(notices) else Status.READY,
        page_kind=extraction.page_kind,
        language=language,
        notices=notices,
        metadata=metadata,
        author=metadata.get("author", ""),
        characters=len(body.text),
        chunks=len(chunks),
        cut_by=cutter.cut_by(formats),
    )
    return PreparedDocument(document, body, chunks)


def _missing_text(notices: tuple[Notice, ...]) -> bool:
    return any(notice.code not in BENIGN_NOTICES for notice in notices)


def _no_text(extraction: Extraction, file: SourceFile) -> RejectedError:
    """Explain why there is nothing to search: better no document than one that finds nothing."""
    reasons = [_clean_notice(n).sentence for n in extraction.notices if n.code != "no-text"][:3]
    if any(engine in extraction.method for engine in ENGINES):
        reasons.append("Text recognition found nothing in it.")
    return RejectedError("no-text", " ".join((f"{file.name} holds no text.", *reasons)))


def _clean_notice(notice: Notice) -> Notice:
    return Notice(notice.code, sanitise_line(notice.sentence), notice.page)


def _stated_metadata(extraction: Extraction, text: str, language: str) -> dict[str, str]:
    """Return what the document says of itself: front matter first, then its file, then its text."""
    in_text = dates.dateline(text, language)
    dated = {"date": in_text} if in_text else {}
    return {**dated, **extraction.metadata, **front_matter(text)}


def _clean_metadata(stated: Mapping[str, str]) -> dict[str, str]:
    """Return what the file states of itself, as harmless as its text."""
    cleaned = {sanitise_line(name): sanitise_line(value) for name, value in stated.items()}
    return {name: value for name, value in cleaned.items() if name and value}


# --- cut again: texts stay, and chunks and index entries are new ---------------------------------

_ALL: Final = Scope.everything()


def count_others(store: Store, cutter: Cutter) -> int:
    """Count the documents that were cut otherwise than they would be now."""
    return sum(
        number
        for by, kind, ending, number in store.cuttings(_ALL)
        if by != cutter.cut_by(formats_of(ending, kind))
    )


def cut_all(store: Store, cutter: Cutter, on_progress: Callable[[Progress], None]) -> int:
    """Cut every document again that was cut otherwise; return how many.

    What is done is safe: after an interrupt, or the end of the process, the same call does the
    rest.
    """
    waiting = [document for document in store.documents(_ALL) if not cutter.is_right(document)]
    done = 0
    for number, document in enumerate(waiting, start=1):
        done += _cut(document, store, cutter)
        on_progress(Progress(number, len(waiting), document.source))
    return done


def _cut(document: Document, store: Store, cutter: Cutter) -> bool:
    """Cut a document again; say whether that was done: it may be removed or read anew meanwhile."""
    body = store.body(document.id, _ALL)
    if body is None:
        return False
    formats = formats_of(document.source, document.format)
    known = analyse_body(body, formats)
    chunks = cutter.cut(document.id, known)
    marked = replace(document, cut_by=cutter.cut_by(formats))
    with store.together():  # nobody writes between the look and the write
        if store.document(document.id, _ALL) != document:
            return False
        return store.cut_anew(marked, chunks)
