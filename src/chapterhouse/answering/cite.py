"""Citations: made from spans, checked against the stored text before anyone sees them."""

import hashlib
from dataclasses import replace

from chapterhouse.answering.provenance import link_of, marker_of, year_of
from chapterhouse.text.markdown import table_header
from chapterhouse.types import Body, Citation, Document, Quotation, Support


def text_hash(text: str) -> str:
    """Return the SHA-256 of canonical text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def cite(
    document: Document, span: Quotation, number: int, status: Support = Support.QUOTED
) -> Citation:
    """Return the citation of a span, not yet verified: it has no section and page before."""
    return Citation(
        number=number,
        document_id=document.id,
        title=document.title,
        source=document.source,
        section_path=(),
        page=None,
        page_kind=document.page_kind,
        page_label="",
        start=span.start,
        end=span.end,
        quote=span.quote,
        text_sha256=document.text_sha256,
        year=year_of(document),
        status=status,
    )


def header_of(quote: str, text: str, start: int) -> str:
    """Return the heading row above a table's row that is quoted from ``start``; else nothing."""
    return table_header(text, start) if quote.startswith("|") and 0 <= start < len(text) else ""


def verify(citation: Citation, document: Document | None, body: Body | None) -> Citation:
    """Return the citation with its section, page and header from the text, marked if it holds.

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
    path = section.path if section else ()
    return replace(
        citation,
        section_path=path,
        page=page.number if page else None,
        page_label=page.label if page else "",
        marker=marker_of(document, path),
        link=link_of(document, path),
        verified=holds,
        header=header_of(citation.quote, body.text, citation.start),
    )
