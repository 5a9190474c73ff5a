"""From spans to chunks that know their section, page and cost."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TypeVar

from chapterhouse.types import Body, Chunk, Page, Section, Span

Place = TypeVar("Place", Section, Page)


def build_chunks(
    document_id: str,
    body: Body,
    spans: Sequence[Span],
    count_tokens: Callable[[str], int],
) -> tuple[Chunk, ...]:
    """Return a chunk for every span that holds more than white space, numbered from 0.

    A chunk belongs to the section in which its first word outside headings stands, and to the
    page on which it starts.
    """
    section_starts = [section.start for section in body.sections]
    page_starts = [page.start for page in body.pages]
    chunks: list[Chunk] = []
    for span in spans:
        text = body.text[span.start : span.end]
        if not text.strip():
            continue
        section = _at(body.sections, section_starts, span.end - 1)
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
            )
        )
    return tuple(chunks)


def embedding_text(title: str, chunk: Chunk) -> str:
    """Return what is embedded for a chunk: where it stands, then what it says."""
    place = " ".join((title, *chunk.section_path))
    return f"{place}\n{chunk.header}{chunk.text}"


def _first_visible(text: str, start: int) -> int:
    return start + len(text) - len(text.lstrip())


def _at(places: Sequence[Place], starts: list[int], position: int) -> Place | None:
    index = bisect_right(starts, position) - 1
    return places[index] if index >= 0 else None
