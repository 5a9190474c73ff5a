"""Texts too long for one document, in parts that are documents of their own."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from chapterhouse.reading.limits import Limits
from chapterhouse.types import ExtractedPage, Extraction, Member, Notice

Pages = tuple[ExtractedPage, ...]


def in_parts(extraction: Extraction, name: str, limits: Limits) -> Extraction:
    """Return an extraction that is no longer than the limit, the rest as files in it.

    Args:
        extraction: Of a whole file.
        name: The file's.
        limits: ``text_characters`` is how much one document holds.
    """
    if sum(len(page.text) for page in extraction.pages) <= limits.text_characters:
        return extraction
    first, *further = _parts(extraction.pages, limits.text_characters)
    stem, ending = name.rpartition(".")[0] or name, "md" if extraction.markdown else "txt"
    count = len(further) + 1
    members = tuple(
        Member(
            f"{stem} part {number} of {count}.{ending}",
            "\n\n".join(page.text for page in pages).encode("utf-8", "replace"),
        )
        for number, pages in enumerate(further, start=2)
    )
    sentence = f"It is very long: this is part 1 of {count}; the others are documents of their own."
    return replace(
        extraction,
        pages=first,
        members=(*extraction.members, *members),
        notices=(*extraction.notices, Notice("text-in-parts", sentence)),
    )


def _parts(pages: Sequence[ExtractedPage], most: int) -> Iterator[Pages]:
    """Yield whole pages together as far as they go; a page that is too long by itself is cut."""
    own: list[ExtractedPage] = []
    size = 0
    for page in pages:
        for piece in _pieces(page.text, most):
            if own and size + len(piece) > most:
                yield tuple(own)
                own, size = [], 0
            own.append(replace(page, text=piece))
            size += len(piece)
    yield tuple(own)


def _pieces(text: str, most: int) -> Iterator[str]:
    """Yield a text in pieces that end behind a line where there is one in the second half."""
    start = 0
    while len(text) - start > most:
        end = text.rfind("\n", start + most // 2, start + most) + 1 or start + most
        yield text[start:end]
        start = end
    yield text[start:]
