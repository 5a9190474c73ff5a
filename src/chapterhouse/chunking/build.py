"""From spans to chunks that know their section, page and cost; and by what a document is cut."""

import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final

from chapterhouse.settings import LONGEST, ChunkingSettings
from chapterhouse.types import Body, Chunk, Section, Span

_SETEXT = re.compile(r"\A {0,3}(?:=+|-{2,})[ \t]*(?:\n|\Z)")  # the line below a title


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
        first_visible = span.start + len(text) - len(text.lstrip())
        page_number = bisect_right(page_starts, first_visible) - 1
        page = body.pages[page_number] if page_number >= 0 else None
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


# Raise it when the same settings cut a text otherwise, or count its tokens otherwise.
VERSION: Final = 2
_DIGITS: Final = 10


def cut_by(formats: Sequence[str], chunking: ChunkingSettings) -> str:
    """Return the fingerprint of what cuts a document: its strategy, and a hash of all that counts.

    ``formats`` has the closest name first: the file's extension, its format.
    """
    by_format = {name.lower().removeprefix("."): one for name, one in chunking.by_format.items()}
    chosen = (by_format[name] for name in formats if name in by_format)
    strategy = next(chosen, chunking.strategy)
    if strategy == "fixed":
        sizes = [chunking.maximum or LONGEST, chunking.overlap]
    elif strategy == "sentence":
        sizes = [chunking.maximum]
    else:
        sizes = [chunking.target, chunking.minimum, chunking.maximum]
    facts = json.dumps([VERSION, strategy, sizes, "estimate"])  # of tokens
    return f"{strategy}-{hashlib.sha256(facts.encode()).hexdigest()[:_DIGITS]}"


def formats_of(name: str, kind: str) -> tuple[str, ...]:
    """Return what a document is called for its chunker: the extension of its file, its format."""
    extension = name.rpartition("/")[2].rpartition(".")[2].lower()
    return tuple(dict.fromkeys((extension, kind)))
