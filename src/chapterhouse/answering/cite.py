"""Citations: made from spans, checked against the stored text before anyone sees them."""

import hashlib
from dataclasses import replace

from chapterhouse.answering.passages import Passage
from chapterhouse.types import Body, Citation, Document


def text_hash(text: str) -> str:
    """Return the SHA-256 of canonical text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def cite(passage: Passage, number: int) -> Citation:
    """Return the citation of a passage, not yet verified."""
    document, chunk = passage.hit.document, passage.hit.chunk
    return Citation(
        number=number,
        document_id=document.id,
        title=document.title,
        source=document.source,
        section_path=chunk.section_path,
        page=chunk.page,
        page_kind=document.page_kind,
        page_label=chunk.page_label,
        start=passage.start,
        end=passage.end,
        quote=passage.text,
        text_sha256=document.text_sha256,
    )


def verify(citation: Citation, document: Document | None, body: Body | None) -> Citation:
    """Return the citation with its section and page taken from the text, marked if it holds.

    It holds when the document exists, its text has the stated hash, and the quotation stands at
    the stated span to the character.
    """
    if document is None or body is None:
        return replace(citation, verified=False)
    holds = (
        document.text_sha256 == citation.text_sha256
        and 0 <= citation.start < citation.end <= len(body.text)
        and body.text[citation.start : citation.end] == citation.quote
        and text_hash(body.text) == citation.text_sha256
    )
    section = next((s for s in body.sections if s.start <= citation.start < s.end), None)
    page = next((p for p in body.pages if p.start <= citation.start < p.end), None)
    return replace(
        citation,
        section_path=section.path if section else (),
        page=page.number if page else None,
        page_label=page.label if page else "",
        verified=holds,
    )
