"""Files inside a file, within limits; and long texts in parts that are documents of their own.

A path is a label here: it cannot lead anywhere, but it is cleaned all the same, so that nobody who
reads it is led astray.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from chapterhouse.errors import RejectedError
from chapterhouse.reading.limits import Limits
from chapterhouse.types import ExtractedPage, Extraction, Member, Notice

_WINDOWS_DRIVE: Final = 2  # characters, as in C:
Pages = tuple[ExtractedPage, ...]


def clean_path(path: str) -> str:
    """Return the path of a file in an archive, relative and without ways up; never empty."""
    parts = path.replace("\\", "/").split("/")
    if len(parts[0]) == _WINDOWS_DRIVE and parts[0][1] == ":":
        parts = parts[1:]
    return "/".join(part for part in parts if part not in {"", ".", ".."}) or "file"


def limit_members(found: Iterable[Member], limits: Limits) -> Iterator[Member]:
    """Yield members with paths of their own, and stop at the limits."""
    seen: dict[str, int] = {}
    total = 0
    for count, member in enumerate(found, start=1):
        total += len(member.data)
        if count > limits.archive_files:
            raise too_many(limits)
        if total > limits.archive_bytes:
            raise too_large(limits.archive_bytes)
        path = clean_path(member.path)
        seen[path] = seen.get(path, 0) + 1
        yield replace(member, path=_numbered(path, seen[path]) if seen[path] > 1 else path)


def too_many(limits: Limits) -> RejectedError:
    """Return why an archive with too many files is not read."""
    return RejectedError(
        "archive-too-many-entries",
        f"The archive holds more than {limits.archive_files:,} files.",
        hint="Unpack it and add the folder.",
    )


def _numbered(path: str, number: int) -> str:
    folder, slash, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    name = f"{stem} ({number}).{suffix}" if stem and dot else f"{name} ({number})"
    return f"{folder}{slash}{name}"


def too_large(most: int) -> RejectedError:
    """Return why a file with too much in it is not read."""
    return RejectedError(
        "archive-too-large", f"It unpacks to more than {most:,} bytes.", hint="Unpack it."
    )


def damaged(error: object) -> RejectedError:
    """Return why an archive that contradicts itself is not read."""
    reason = " ".join(str(error).split()).rstrip(".")[:200]
    return RejectedError("archive-damaged", f"The archive is damaged: {reason}.")


def problem(path: str, code: str, sentence: str) -> Member:
    """Return what stands in the place of a file that cannot be had."""
    return Member(path, b"", problem=Notice(code, sentence))


def over(path: str, size: int, limits: Limits) -> Member:
    """Return what stands in the place of a file that is too large."""
    sentence = f"It has {size:,} bytes; the limit is {limits.archive_entry_bytes:,}."
    return problem(path, "too-large", sentence)


def in_parts(extraction: Extraction, name: str, limits: Limits) -> Extraction:
    """Return an extraction that is no longer than the limit, the rest as files in it."""
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
