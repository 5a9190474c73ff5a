"""Citations: made from spans, checked against the stored text, and looked up again later.

How a document is named, dated and linked comes from the document or its metadata, so none of it is
trusted: a name that does not look like one is replaced by the document's id, a link must be a plain
web address.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from chapterhouse.text.canonical import stated_date
from chapterhouse.text.markdown import table_header
from chapterhouse.text.sanitise import neutralise, sanitise_line
from chapterhouse.types import Body, Citation, Document, Quotation

_NAME: Final = re.compile(r"[^\W_](?:[\w.\-]{0,98}[^\W_])?")
_LONGEST_LINK: Final = 2_000
_LONGEST_SECTION: Final = 120
_PATH_MARK: Final = " › "
_NOT_IN_LINK: Final = re.compile(r"[<>\"\\`{}|^]")  # no address has them, and they would end one
_NOT_IN_ANCHOR: Final = re.compile(r"[^\w\- ]")


def citation_name(document: Document) -> str:
    """Return the name by which prompts and footnotes cite a document.

    It is the ``id`` of its front matter where that is a plain name, else the document's id.
    """
    own = document.metadata.get("id", "").strip()
    plain = _NAME.fullmatch(own) and sanitise_line(own) == own  # some letters cannot be seen
    return own if plain else document.id


def section_name(section_path: tuple[str, ...]) -> str:
    """Return how a place in a document is cited: its headings, outermost first; or empty."""
    path = _PATH_MARK.join(" ".join(title.split()) for title in section_path)
    return neutralise(sanitise_line(path))[:_LONGEST_SECTION].strip()


def marker_of(document: Document, section_path: tuple[str, ...]) -> str:
    """Return the marker of a place: ``document:section``, the innermost section."""
    section = section_name(section_path[-1:])
    return f"{citation_name(document)}:{section}" if section else citation_name(document)


def year_of(document: Document) -> str:
    """Return the year of a document's stated date, or empty."""
    return stated_date(document)[:4]


def link_of(document: Document, section_path: tuple[str, ...]) -> str:
    """Return the web address of a section, where the document states its source; or empty.

    The anchor is the heading's as GitHub and most generators make it: lower case, punctuation
    dropped, spaces as hyphens. A source that has an anchor of its own keeps it.
    """
    stated = document.metadata.get("source_url", "").strip() or document.location
    if not is_web_address(stated):
        return ""
    parts = urlsplit(stated)
    fragment = parts.fragment or _anchor(section_path[-1] if section_path[1:] else "")
    return urlunsplit((*parts[:4], fragment))


def is_web_address(text: str) -> bool:
    """Whether a text is a plain web address, safe to be made a link of."""
    if len(text) > _LONGEST_LINK or any(character.isspace() for character in text):
        return False
    if sanitise_line(text) != text or _NOT_IN_LINK.search(text):
        return False
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc


def _anchor(heading: str) -> str:
    words = _NOT_IN_ANCHOR.sub("", heading.strip().lower())
    return "-".join(words.split())[:_LONGEST_SECTION]


def text_hash(text: str) -> str:
    """Return the SHA-256 of canonical text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def cite(document: Document, span: Quotation, number: int) -> Citation:
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
        trust=document.trust,
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
        trust=document.trust,
        header=header_of(citation.quote, body.text, citation.start),
    )


@dataclass(frozen=True, slots=True)
class Lookup:
    """What checking looks up.

    Attributes:
        document: By its id; None where it is gone.
        current: A document and its text as its file is now; None where it is as it was read.
    """

    document: Callable[[str], Document | None]
    body: Callable[[str], Body | None]
    documents: Callable[[], Iterable[Document]] = tuple
    current: Callable[[Document], tuple[Document, Body] | None] = lambda _: None


def verify_in(lookup: Lookup, citation: Citation) -> Citation:
    """Return what ``verify`` does of a citation whose document is looked up."""
    name = citation.document_id
    return verify(citation, lookup.document(name), lookup.body(name))


def verified_now(lookup: Lookup, citations: Sequence[Citation]) -> tuple[Citation, ...]:
    """Return old citations, verified where their quotations still stand in their places."""
    return tuple(
        one if one.tool else replace(one, verified=verify_in(lookup, one).verified)
        for one in citations
    )


class Citations:
    """Numbers quotations in the order in which they are first used, each looked up once."""

    def __init__(self, lookup: Lookup, known: Sequence[Citation] = ()) -> None:
        """Go on behind the citations that are known."""
        self._lookup = lookup
        self._bodies: dict[str, Body | None] = {}
        self._numbers = {(one.document_id, one.start, one.end): one.number for one in known}
        self._found = list(known)

    @property
    def found(self) -> tuple[Citation, ...]:
        """Return all of them, in order."""
        return tuple(self._found)

    def number(self, span: Quotation) -> int:
        """Return the number of a quotation; 0 where it is not in the stored text."""
        place = (span.document_id, span.start, span.end)
        if place not in self._numbers:
            citation = self._verified(span)
            self._numbers[place] = citation.number if citation else 0
            self._found += [citation] if citation else []
        return self._numbers[place]

    def _verified(self, span: Quotation) -> Citation | None:
        document = self._lookup.document(span.document_id)
        if document is None:
            return None
        if document.id not in self._bodies:
            self._bodies[document.id] = self._lookup.body(document.id)
        cited = cite(document, span, len(self._found) + 1)
        checked = verify(cited, document, self._bodies[document.id])
        return checked if checked.verified else None


class SourceState(StrEnum):
    """What has become of a document since it was cited."""

    SAME = "same"
    CHANGED = "changed"  # its text is another one
    UNREAD = "changed-on-disk"  # its file has another text, which the library has not read
    MOVED = "moved"  # the same text has another name
    GONE = "gone"


class QuoteState(StrEnum):
    """What has become of a quotation."""

    FOUND = "stands"  # at its span, to the character
    MOVED = "moved"  # word for word at another place of the document
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """What has become of one citation: which document and file hold it now, and where.

    Names are empty where it is in none, and places are -1 where it is lost.
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


def recheck(citations: Sequence[Citation], lookup: Lookup) -> tuple[CitationCheck, ...]:
    """Look citations up again; nothing that they say is believed."""
    by_text: dict[str, Document] = {}
    if any(not _is_same(citation, lookup) for citation in citations):
        for document in lookup.documents():
            by_text.setdefault(document.text_sha256, document)
    return tuple(_recheck(citation, lookup, by_text) for citation in citations)


def _recheck(citation: Citation, lookup: Lookup, by_text: dict[str, Document]) -> CitationCheck:
    document = lookup.document(citation.document_id)
    if document is not None and (now := lookup.current(document)):
        return _against(citation, *now, changed=SourceState.UNREAD)
    if not _is_same(citation, lookup):  # its text may have another name now
        document = by_text.get(citation.text_sha256, document)
    body = lookup.body(document.id) if document else None
    if document is None or body is None:
        return CitationCheck(citation, SourceState.GONE, QuoteState.LOST)
    return _against(citation, document, body, changed=SourceState.CHANGED)


def _against(
    citation: Citation, document: Document, body: Body, changed: SourceState
) -> CitationCheck:
    """Compare a citation with a text of its document; ``changed`` where that is another one."""
    quote, start = _find(citation, body.text)
    end = start + len(citation.quote) if start >= 0 else -1
    state = _state(citation, document, body, changed)
    return CitationCheck(citation, state, quote, document.id, document.source, start, end)


def _is_same(citation: Citation, lookup: Lookup) -> bool:
    document = lookup.document(citation.document_id)
    return document is not None and document.text_sha256 == citation.text_sha256


def _state(citation: Citation, document: Document, body: Body, changed: SourceState) -> SourceState:
    if text_hash(body.text) != citation.text_sha256:
        return changed
    same_name = (document.id, document.source) == (citation.document_id, citation.source)
    return SourceState.SAME if same_name else SourceState.MOVED


def _find(citation: Citation, text: str) -> tuple[QuoteState, int]:
    """Return how the quotation stands in a text, and where it starts there, or -1.

    Of several places the nearest to the old one is meant. A row of a table says the same only
    under the same heading row.
    """
    quote, start = citation.quote, citation.start
    is_found = start >= 0 and citation.end - start == len(quote) and text.startswith(quote, start)
    places = [text.rfind(quote, 0, max(start, 0) + len(quote)), text.find(quote, max(start, 0))]
    found = [start] if is_found else [place for place in places if place >= 0]
    place = min(found, key=lambda place: (abs(place - start), place), default=-1)
    is_other_row = citation.header and header_of(quote, text, place) != citation.header
    if place < 0 or not quote.strip() or is_other_row:
        return QuoteState.LOST, -1
    return QuoteState.FOUND if is_found else QuoteState.MOVED, place
