"""What was asked or searched last in a workspace, for ``open`` and ``more``.

A small file beside the library: the question, and where each source stands. No text of a document
is in it, so that nothing outlives a document that was removed.
"""

from contextlib import suppress
from dataclasses import asdict, dataclass
from json import dumps
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from chapterhouse.errors import NotFoundError
from chapterhouse.files import write_whole
from chapterhouse.types import Answer, SearchResult

_NAME: Final = "last.json"
_ASK: Final = "Ask first: chapterhouse ask QUESTION"


@dataclass(frozen=True, slots=True)
class LastSource:
    """Where a source stands: characters ``start`` to ``end`` of a text with this checksum."""

    number: int
    document_id: str
    text_sha256: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Last:
    """A question, to whom and where it was asked, and the sources that were shown."""

    question: str
    persona: str
    shelves: tuple[str, ...]
    tags: tuple[str, ...]
    sources: tuple[LastSource, ...]


def remember_answer(
    folder: Path, answer: Answer, shelves: tuple[str, ...], tags: tuple[str, ...]
) -> None:
    """Remember an answer's question and sources."""
    sources = tuple(
        LastSource(one.number, one.document_id, one.text_sha256, one.start, one.end)
        for one in answer.citations
    )
    _write(folder, Last(answer.question, answer.persona, shelves, tags, sources))


def remember_hits(folder: Path, result: SearchResult, persona: str = "") -> None:
    """Remember a search and its hits, by rank."""
    sources = tuple(
        LastSource(
            hit.rank, hit.document.id, hit.document.text_sha256, hit.chunk.start, hit.chunk.end
        )
        for hit in result.hits
    )
    query = result.query
    _write(folder, Last(query.text, persona, query.shelves, query.tags, sources))


def _write(folder: Path, last: Last) -> None:
    with suppress(OSError):  # a library that cannot be written to still answers
        write_whole(folder / _NAME, dumps(asdict(last), ensure_ascii=True))


def history_of(folder: Path) -> Path:
    """Return the file that holds what was typed into conversations."""
    return folder / "chat_history"


def forget_last(folder: Path) -> None:
    """Forget what was asked last, and what was typed into conversations.

    Raises:
        OSError: a file cannot be removed.
    """
    (folder / _NAME).unlink(missing_ok=True)
    history_of(folder).unlink(missing_ok=True)


def read_last(folder: Path) -> Last:
    """Return what was asked or searched last.

    Raises:
        NotFoundError: nothing was, or its file is damaged.
    """
    try:
        return TypeAdapter(Last).validate_json((folder / _NAME).read_bytes())
    except FileNotFoundError:
        raise NotFoundError("Nothing was asked here yet.", hint=_ASK) from None
    except ValidationError:
        message = f"What was asked last cannot be read: {folder / _NAME}."
        raise NotFoundError(message, hint=_ASK) from None


def source_numbered(last: Last, number: int) -> LastSource:
    """Return a source of the last answer or search.

    Raises:
        NotFoundError: there is none of that number.
    """
    found = next((source for source in last.sources if source.number == number), None)
    if found is None:
        numbers = [source.number for source in last.sources]
        known = f"1 to {max(numbers)}" if numbers else "none"
        raise NotFoundError(
            f"There is no source {number}. Sources of the last question: {known}.", hint=_ASK
        )
    return found
