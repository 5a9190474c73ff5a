"""From what a reader extracted to the canonical text of a document, its title and its date."""

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from chapterhouse.text.front_matter import front_matter
from chapterhouse.text.markdown import blocks, sections
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import Body, Document, Extraction, Notice, Page, Section

_TITLE_MAXIMUM = 200
_DATE: Final = re.compile(r"((?:1[5-9]|20|21)\d\d)(?:-(\d\d)(?:-(\d\d))?)?(?=T\d|(?![\w-]))")
_DATE_IN_NAME: Final = re.compile(
    r"(?<![^\W_])(?:19|20)\d\d"
    r"(?:([-_])(?:0[1-9]|1[0-2])(?:\1(?:0[1-9]|[12]\d|3[01]))?)?(?!\d)"
)


def compose(extraction: Extraction) -> tuple[Body, tuple[Notice, ...]]:
    """Join cleaned pages into one text, and find its sections and the removed characters.

    Pages follow one another and cover the text where the format has pages.
    """
    parts: list[str] = []
    pages: list[Page] = []
    position = removed = unknown = 0
    for extracted in extraction.pages:
        clean = sanitise(extracted.text)
        removed += clean.removed
        unknown += clean.unknown
        text = clean.text.strip("\n")
        if parts and text:
            text = "\n\n" + text
        if extracted.number is not None:
            label = sanitise_line(extracted.label)
            pages.append(Page(extracted.number, label, position, position + len(text)))
        parts.append(text)
        position += len(text)
    text = "".join(parts)
    body = Body(text, _sections(text, markdown=extraction.markdown), tuple(pages))
    return body, tuple(_notices(removed - unknown, unknown))


def _sections(text: str, *, markdown: bool) -> tuple[Section, ...]:
    if not text:
        return ()
    if not markdown:
        return (Section(0, 0, (), 0, len(text)),)
    return sections(text, blocks(text))


def _notices(invisible: int, unknown: int) -> Iterator[Notice]:
    found = (
        (invisible, "invisible"),
        (unknown, "control or private"),
    )
    counts = " and ".join(f"{number:,} {kind}" for number, kind in found if number)
    if counts:
        was = "character was" if invisible + unknown == 1 else "characters were"
        shown = " Fonts may show control and private ones as signs." if unknown else ""
        yield Notice("invisible-characters", f"{counts} {was} removed.{shown}")


def choose_title(extraction: Extraction, body: Body, stem: str) -> str:
    """Return the best title: front matter, the file's own, its only top heading, its name."""
    if named := _shorten(front_matter(body.text).get("title", "")):
        return named
    if stated := _shorten(extraction.title):
        return stated
    top = [section for section in body.sections if section.level == 1]
    if len(top) == 1 or (top and top[0].start == 0):
        return _shorten(top[0].path[-1])
    return _shorten(re.sub(r"[_\-\s]+", " ", stem)) or stem


def _shorten(title: str) -> str:
    return sanitise_line(title)[:_TITLE_MAXIMUM].rstrip()


def stated_date(document: Document) -> str:
    """Return the day that a document states for itself, ``YYYY-MM-DD`` or a part; or empty.

    Where its metadata state none, the one date in its file's name counts.
    """
    for name in ("date", "published", "modified", "created"):
        stated = document.metadata.get(name, "").strip()
        match = _DATE.match(stated)
        if match and _is_a_day(match):
            return match.group()
        if name == "date" and stated and document.format == "eml":
            return _mail_date(stated)
    in_name = {
        found.group() for found in _DATE_IN_NAME.finditer(document.source.rpartition("/")[2])
    }
    return in_name.pop().replace("_", "-") if len(in_name) == 1 else ""


def written_at(document: Document) -> int:
    """Return when a document was written, seconds since 1970.

    That is the stated day, the last day of a stated month or year, or where it states none the time
    of its file.
    """
    stated = stated_date(document)
    if not stated:
        return document.modified
    year, month, day = (*map(int, stated.split("-")), 0, 0)[:3]
    month = month or 12
    day = day or monthrange(year, month)[1]
    return int(datetime(year, month, day, tzinfo=UTC).timestamp())


def _is_a_day(match: re.Match[str]) -> bool:
    year, month, day = match.groups()
    try:
        date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return False
    return True


def _mail_date(stated: str) -> str:
    try:
        return parsedate_to_datetime(stated).date().isoformat()
    except ValueError:
        return ""
