"""How a document is named, dated and linked where it is cited.

All of it comes from the document or its metadata, so none of it is trusted: a name that does not
look like one is replaced by the document's id, a link must be a plain web address.
"""

import re
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from chapterhouse.text.document_dates import stated_date
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.text.view import neutralise
from chapterhouse.types import Document

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
