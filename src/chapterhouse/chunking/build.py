"""From spans to chunks that know their section, page and cost."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TypeVar

from chapterhouse.types import Body, Chunk, Page, Section, Span

_SETEXT = re.compile(r"\A {0,3}(?:=+|-{2,})[ \t]*(?:\n|\Z)")  # the line below a title
Place = TypeVar("Place", Section, Page)


def build_chunks(
    document_id: str,
    body: Body,
    spans: Sequence[Span],
    count_tokens: Callable[[str], int],
) -> tuple[Chunk, ...]:
    """Return a chunk for every span that holds more than white space.

    Chunks are numbered from 0. A chunk belongs to the section in which its first word outside
    headings stands, and to the page on which it starts.
    """
    section_starts = [section.start for section in body.sections]
    page_starts = [page.start for page in body.pages]
    chunks: list[Chunk] = []
    for span in spans:
        text = body.text[span.start : span.end]
        if not text.strip():
            continue
        section = _section(body, section_starts, span)
        page = _at(body.pages, page_starts, _first_visible(text, span.start))
        chunks.append(
            Chunk(
                document_id=document_id,
                ordinal=len(chunks),
                start=span.start,
                end=span.end,
                text=text,
                kind=span.kind,
                header=span.header,
                section_path=section.path if section else (),
                page=page.number if page else None,
                page_label=page.label if page else "",
                tokens=count_tokens(span.header + text),
                parents=span.parents,
            )
        )
    return tuple(chunks)


def embedding_text(title: str, chunk: Chunk) -> str:
    """Return what is embedded for a chunk: where it stands, then what it says."""
    place = " ".join((title, *chunk.section_path))
    return f"{place}\n{chunk.header}{chunk.text}"


def _section(body: Body, starts: list[int], span: Span) -> Section | None:
    """Return the section of a span's first text outside headings, or of its last heading."""
    first, last = (bisect_right(starts, at) - 1 for at in (span.start, span.end - 1))
    for number in range(max(first, 0), last):
        section = body.sections[number]
        text = body.text[max(section.start, span.start) : section.end]
        if section.start >= span.start and section.level:
            text = _SETEXT.sub("", text.partition("\n")[2], count=1)
        if text and not text.isspace():
            return section
    return body.sections[last] if last >= 0 else None


def _first_visible(text: str, start: int) -> int:
    return start + len(text) - len(text.lstrip())


def _at(places: Sequence[Place], starts: list[int], position: int) -> Place | None:
    index = bisect_right(starts, position) - 1
    return places[index] if index >= 0 else None
