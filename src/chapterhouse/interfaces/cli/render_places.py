"""A place in a document, and what people see of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chapterhouse.interfaces.cli.terminal import one_line, say, shown, styled
from chapterhouse.presenting.citing import page_name, without_title
from chapterhouse.types import Body, Document

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

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


def place(target: "Console", value: Place) -> None:
    """Show a span of a document with what surrounds it."""
    facts = [
        value.document.source,
        page_name(value.document.page_kind, value.page, value.page_label),
        f"characters {value.start}–{value.end}",
        f"sha256 {value.document.text_sha256[:_HASH_DIGITS]}",
    ]
    title = value.document.title
    path = " › ".join((title, *without_title(title, value.section_path)))
    say(target, (one_line(path), "bold cyan"))
    say(target, (" · ".join(map(one_line, filter(None, facts))), "dim"))
    target.print()
    target.print(_framed(target, value))


def _framed(target: "Console", value: Place) -> "Text":
    """Set the span off by colour, or by marks where there is none."""
    opening, closing = ("", "") if target.is_terminal and not target.no_color else ("»", "«")
    return styled(
        (value.before, "dim"),
        (f"{opening}{value.text}{closing}", "bold reverse" if not opening else ""),
        (value.after, "dim"),
    )


def text(target: "Console", body: Body) -> None:
    """Print the whole canonical text, safe to show."""
    target.out(shown(body.text), highlight=False, end="" if body.text.endswith("\n") else "\n")
