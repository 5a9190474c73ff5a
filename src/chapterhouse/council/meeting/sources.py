"""What a meeting looks up in a library: citations made and checked, evidence with its context."""

from collections.abc import Mapping, Sequence
from functools import partial

from chapterhouse.answering.cite import cite, verify
from chapterhouse.council.map.disagreement import Facts
from chapterhouse.council.map.shared_sources import Known
from chapterhouse.ports.store import Store
from chapterhouse.text.canonical import stated_date
from chapterhouse.text.front_matter import LONGEST, body_start
from chapterhouse.types import (
    Citation,
    Document,
    Evidence,
    Hit,
    Quotation,
    Reading,
    Support,
)


def checked_citation(
    span: Quotation, store: Store, status: Support = Support.QUOTED
) -> Citation | None:
    """Return the citation of a span, unnumbered; None where it does not stand there."""
    document = store.document(span.document_id)
    if document is None:
        return None
    checked = verify(cite(document, span, 0, status), document, store.body(span.document_id))
    return checked if checked.verified else None


def evidence_of(hits: Sequence[Hit], store: Store) -> tuple[Evidence, ...]:
    """Return the text of hits as evidence, without what only describes a curated document."""
    return tuple(filter(None, (_own_text(hit, store) for hit in hits)))


def _own_text(hit: Hit, store: Store) -> Evidence | None:
    document, chunk = hit.document, hit.chunk
    begin = chunk.start
    if document.format == "md" and chunk.start < LONGEST:
        body = store.body(document.id)
        begin = max(begin, body_start(body.text) if body else 0)
    if begin >= chunk.end:
        return None
    return Evidence(
        document.id,
        begin,
        chunk.end,
        chunk.text[begin - chunk.start :],
        language=document.language,
        title=document.title,
        section_path=chunk.section_path,
        date=stated_date(document),
    )


def quoted(citation: Citation, store: Store) -> Evidence:
    """Return what a citation quotes as evidence, with what is known of its document."""
    document = store.document(citation.document_id)
    return Evidence(
        citation.document_id,
        citation.start,
        citation.end,
        citation.quote,
        language=document.language if document else "",
        title=citation.title,
        section_path=citation.section_path,
        date=stated_date(document) if document else citation.year,
    )


def around(citation: Citation, store: Store) -> str:
    """Return the chunk in which a citation stands."""
    return next(
        (
            chunk.text
            for chunk in store.chunks_of(citation.document_id)
            if chunk.start <= citation.start < chunk.end
        ),
        citation.quote,
    )


def reading_of(hits: Sequence[Hit]) -> tuple[Reading, ...]:
    """Return the stretches of documents that hits show."""
    return tuple(Reading(hit.document.id, hit.chunk.start, hit.chunk.end) for hit in hits)


def facts_of(citations: Mapping[int, Citation], shelves: Sequence[str], store: Store) -> Facts:
    """Return what the disagreement map must know.

    Args:
        citations: Of the meeting, by number.
        shelves: What its members read.
        store: Where documents are looked up.
    """
    return Facts(
        evidence={number: quoted(citation, store) for number, citation in citations.items()},
        documents={document.id: _known(document) for document in store.documents(shelves)},
        text_of=partial(_text, store),
    )


def _known(document: Document) -> Known:
    return Known(
        id=document.id,
        title=document.title,
        source=document.source,
        text_sha256=document.text_sha256,
        date=stated_date(document),
        language=document.language,
    )


def _text(store: Store, document_id: str) -> str:
    body = store.body(document_id)
    return body.text if body else ""
