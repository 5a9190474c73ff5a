"""Excerpts as a page of Markdown.

Documents stand in the order of their most relevant excerpt, because a reader and a model take in
best what comes first; inside a document excerpts stand in reading order, because later sentences
lean on earlier ones, and its title is paid for once. Every excerpt has a line of its own that
says where it stands: section, page, and the id of the chunk.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from chapterhouse.text.naming import page_name
from chapterhouse.types import Document, Excerpt

_SECTION_MARK = " › "


def document_line(document: Document) -> str:
    """Return the heading of a document: title and source, or the source alone if they agree."""
    title, source = (" ".join(text.split()) for text in (document.title, document.source))
    name = source.rpartition("/")[2]
    stem = name.rpartition(".")[0]
    if title.casefold() in {"", source.casefold(), name.casefold(), stem.casefold()}:
        return f"## {source}"
    return f"## {title} ({source})"


def place_line(excerpt: Excerpt) -> str:
    """Return where an excerpt stands: section path, page, and the id of the chunk."""
    document, chunk = excerpt.hit.document, excerpt.hit.chunk
    sections = [" ".join(title.split()) for title in chunk.section_path]
    if sections[:1] == [" ".join(document.title.split())]:
        sections = sections[1:]
    parts = [f"**{_SECTION_MARK.join(sections)}**"] if sections else []
    page = page_name(document.page_kind, chunk.page, chunk.page_label)
    parts += [" ".join(page.split())] if page else []
    return ", ".join([*parts, chunk.id])


def piece(excerpt: Excerpt) -> str:
    """Return an excerpt under its line, with the blank lines that it brings."""
    return f"{place_line(excerpt)}\n\n{visible(excerpt.text)}\n\n"


def opening(document: Document) -> str:
    """Return a document's heading with the blank line that it brings."""
    return f"{document_line(document)}\n\n"


def visible(text: str) -> str:
    """Return a text as the document has it, less blank lines around it."""
    return text.strip("\n").rstrip()


def arrange(excerpts: Sequence[Excerpt]) -> Sequence[Excerpt]:
    """Return excerpts in the order in which they should be read."""
    best: dict[str, tuple[float, int]] = {}
    for excerpt in excerpts:
        name = excerpt.hit.document.id
        best[name] = min(best.get(name, (1.0, 0)), (-excerpt.relevance, excerpt.hit.rank))
    return sorted(
        excerpts, key=lambda e: (best[e.hit.document.id], e.hit.document.id, e.start, e.end)
    )


@dataclass(frozen=True, slots=True)
class Layout:
    """How excerpts become a page: what a document brings, and each of its excerpts."""

    opening: Callable[[Document], str]
    piece: Callable[[Excerpt], str]

    def page(self, excerpts: Sequence[Excerpt]) -> str:
        """Return arranged excerpts as one page."""
        page = "".join(
            self.opening(document) + "".join(map(self.piece, group))
            for document, group in groupby(excerpts, key=lambda excerpt: excerpt.hit.document)
        )
        return page.rstrip("\n") + "\n" if page else ""


MARKDOWN = Layout(opening, piece)


def markdown(excerpts: Sequence[Excerpt]) -> str:
    """Return arranged excerpts as Markdown, their text as the documents have it."""
    return MARKDOWN.page(excerpts)
