"""What has become of the sources of an old answer."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from chapterhouse.answering.cite import header_of, text_hash
from chapterhouse.types import Answer, Body, Citation, Document


class SourceState(StrEnum):
    """What has become of a document since it was cited."""

    SAME = "same"
    CHANGED = "changed"  # its text is another one
    MOVED = "moved"  # the same text has another name
    GONE = "gone"


class QuoteState(StrEnum):
    """What has become of a quotation."""

    STANDS = "stands"  # at its span, to the character
    MOVED = "moved"  # word for word at another place of the document
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """What has become of one citation.

    Attributes:
        citation: As the answer has it.
        document_id: The document that holds it now, or empty.
        source_now: Its file now, or empty.
        start: Where the quotation stands now; -1 where it is lost.
    """

    citation: Citation
    source: SourceState
    quote: QuoteState
    document_id: str = ""
    source_now: str = ""
    start: int = -1
    end: int = -1

    @property
    def holds(self) -> bool:
        """Whether the quotation still stands somewhere in the document."""
        return self.quote is not QuoteState.LOST


@dataclass(frozen=True, slots=True)
class Holdings:
    """What checking looks up in a library."""

    document: Callable[[str], Document | None]
    documents: Callable[[], Iterable[Document]]
    body: Callable[[str], Body | None]


def recheck(answer: Answer, holdings: Holdings) -> tuple[CitationCheck, ...]:
    """Look every citation of an answer up again; nothing that the answer says is believed."""
    return recheck_citations(answer.citations, holdings)


def recheck_citations(
    citations: Sequence[Citation], holdings: Holdings
) -> tuple[CitationCheck, ...]:
    """Look citations up again; nothing that they say is believed."""
    by_text: dict[str, Document] = {}
    if any(not _is_same(citation, holdings) for citation in citations):
        for document in holdings.documents():
            by_text.setdefault(document.text_sha256, document)
    return tuple(_recheck(citation, holdings, by_text) for citation in citations)


def _recheck(citation: Citation, holdings: Holdings, by_text: dict[str, Document]) -> CitationCheck:
    document = holdings.document(citation.document_id)
    if not _is_same(citation, holdings):  # its text may have another name now
        document = by_text.get(citation.text_sha256, document)
    body = holdings.body(document.id) if document else None
    if document is None or body is None:
        return CitationCheck(citation, SourceState.GONE, QuoteState.LOST)
    quote, start = _find(citation, body.text)
    end = start + len(citation.quote) if start >= 0 else -1
    state = _state(citation, document, body)
    return CitationCheck(citation, state, quote, document.id, document.source, start, end)


def _is_same(citation: Citation, holdings: Holdings) -> bool:
    document = holdings.document(citation.document_id)
    return document is not None and document.text_sha256 == citation.text_sha256


def _state(citation: Citation, document: Document, body: Body) -> SourceState:
    if text_hash(body.text) != citation.text_sha256:
        return SourceState.CHANGED
    same_name = (document.id, document.source) == (citation.document_id, citation.source)
    return SourceState.SAME if same_name else SourceState.MOVED


def _find(citation: Citation, text: str) -> tuple[QuoteState, int]:
    """Return how the quotation stands in a text, and where it starts there, or -1.

    A row of a table says the same only under the same heading row.
    """
    state, start = _find_quote(citation, text)
    if citation.header and header_of(citation.quote, text, start) != citation.header:
        return QuoteState.LOST, -1
    return state, start


def _find_quote(citation: Citation, text: str) -> tuple[QuoteState, int]:
    """Return where the quotation stands; of several places the nearest to the old one is meant."""
    quote, start = citation.quote, citation.start
    if not quote.strip():
        return QuoteState.LOST, -1
    if (
        start >= 0
        and text[start : start + len(quote)] == quote
        and citation.end - start == len(quote)
    ):
        return QuoteState.STANDS, start
    before = text.rfind(quote, 0, max(start, 0) + len(quote))
    behind = text.find(quote, max(start, 0))
    found = [place for place in (before, behind) if place >= 0]
    if not found:
        return QuoteState.LOST, -1
    return QuoteState.MOVED, min(found, key=lambda place: (abs(place - start), place))
