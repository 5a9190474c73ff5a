"""From what a reader extracted to everything the store keeps of a document."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chapterhouse.chunking.analysis import analyse_body
from chapterhouse.chunking.build import build_chunks, embedding_text
from chapterhouse.chunking.fingerprint import formats_of
from chapterhouse.claims.dates import dateline
from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.errors import RejectedError
from chapterhouse.reading.ocr import ENGINES
from chapterhouse.text.canonical import choose_title, compose
from chapterhouse.text.front_matter import front_matter
from chapterhouse.text.naming import document_id
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import (
    BENIGN_NOTICES,
    Body,
    Chunk,
    Document,
    Extraction,
    Notice,
    Status,
)
from chapterhouse.types.engines import Chunker, Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document ready to be stored. ``vectors`` has shape (chunks, dimensions) or is None."""

    document: Document
    body: Body
    chunks: tuple[Chunk, ...]
    vectors: "NDArray[np.float32] | None"
    fingerprint: str


def prepare(
    extraction: Extraction,
    file: SourceFile,
    content: Content,
    *,
    chunker: Chunker,
    embedder: Embedder | None,
    count_tokens: Callable[[str], int],
    cut_by: Callable[[Sequence[str]], str] = lambda _: "",
) -> Prepared:
    """Clean, cut and embed what was extracted from ``content``.

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
    chunks = build_chunks(identifier, known, chunker(known), count_tokens)
    vectors = None
    if embedder is not None and chunks and embedder.serves(language):
        vectors = embedder.embed_passages([embedding_text(title, chunk) for chunk in chunks])
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
        metadata=_clean_metadata(_stated_metadata(extraction, body.text, language)),
        characters=len(body.text),
        chunks=len(chunks),
        cut_by=cut_by(formats),
    )
    fingerprint = embedder.fingerprint if embedder is not None else ""
    return Prepared(document, body, chunks, vectors, fingerprint)


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
    in_text = dateline(text, language)
    dated = {"date": in_text} if in_text else {}
    return {**dated, **extraction.metadata, **front_matter(text)}


def _clean_metadata(stated: Mapping[str, str]) -> dict[str, str]:
    """Return what the file states of itself, as harmless as its text."""
    cleaned = {sanitise_line(name): sanitise_line(value) for name, value in stated.items()}
    return {name: value for name, value in cleaned.items() if name and value}
