"""A place in a document, and what people see of it."""

from collections.abc import Iterator
from dataclasses import dataclass

from chapterhouse.interfaces.cli.terminal import one_line
from chapterhouse.presenting.blocks import Block, Style, verbatim
from chapterhouse.presenting.citing import page_name, without_title
from chapterhouse.types import Body, Document

_HASH_DIGITS = 12
_AROUND = 200  # characters shown on each side of a citation


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a document with where it stands and what stands around it."""

    document: Document
    start: int
    end: int
    text: str
    before: str
    after: str
    section_path: tuple[str, ...]
    page: int | None
    page_label: str


def place_of(document: Document, body: Body, start: int, end: int) -> Place:
    """Find the section and page of ``text[start:end]`` by its first character."""
    section = next((s for s in body.sections if s.start <= start < s.end), None)
    page = next((p for p in body.pages if p.start <= start < p.end), None)
    return Place(
        document=document,
        start=start,
        end=end,
        text=body.text[start:end],
        before=body.text[max(0, start - _AROUND) : start],
        after=body.text[end : end + _AROUND],
        section_path=section.path if section else (),
        page=page.number if page else None,
        page_label=page.label if page else "",
    )


def place(value: Place) -> Iterator[Block]:
    """Show a span of a document with what surrounds it."""
    facts = [
        value.document.source,
        page_name(value.document.page_kind, value.page, value.page_label),
        f"characters {value.start}–{value.end}",
        f"sha256 {value.document.text_sha256[:_HASH_DIGITS]}",
    ]
    title = value.document.title
    path = " › ".join((title, *without_title(title, value.section_path)))
    yield verbatim((one_line(path), Style.TITLE))
    yield verbatim((" · ".join(map(one_line, filter(None, facts))), Style.QUIET))
    yield verbatim()
    yield verbatim((value.before, Style.QUIET), (value.text, Style.KEY), (value.after, Style.QUIET))
