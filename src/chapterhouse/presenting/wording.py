"""How numbers and models are put into words, in every format."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Final

from chapterhouse.text.analyse import language_name
from chapterhouse.text.counting import counted
from chapterhouse.types import (
    FileRecord,
    Mismatch,
    MismatchKind,
    Opinion,
    OpinionKind,
    Searched,
    Status,
    StayingDocuments,
    StayReason,
    Trust,
    Usage,
)

_OPINIONS: Final = {
    OpinionKind.CONFIRMS: "the sources confirm this",
    OpinionKind.CONTRADICTS: "the sources say otherwise",
    OpinionKind.SILENT: "the sources do not say this",
}
_ENDED: Final = frozenset(  # codes that say it all
    {"renamed", "unchanged", "unpacked", "would-be-read", "would-be-renamed"}
)
_NAMED: Final = 4  # languages
_CONFIRM: Final = "chapterhouse sync --yes"
_WORD, _WORDS = 60, 40  # longest word of a list that is shown, and most of them


def mismatch_mark(mismatches: Sequence[Mismatch]) -> str:
    """Return what of a sentence is in none of its sources, and what is there; or empty."""
    return "; ".join(map(_mismatch, mismatches))


def _mismatch(one: Mismatch) -> str:
    what = "quotation " if one.kind is MismatchKind.QUOTATION else ""
    there = f", “{one.instead}” is" if one.instead else ""
    return f"not in the source: {what}“{join_words([one.text])}”{there}"


def opinion_mark(opinion: Opinion | None) -> str:
    """Return what a model that was asked once more says of a sentence; or empty."""
    if opinion is None:
        return ""
    return f"{opinion.model}, asked again: {_OPINIONS[opinion.kind]}"


def trust_mark(levels: Collection[Trust]) -> str:
    """Return what a reader is told of a sentence by how far its sources are trusted; or empty.

    Something only where none is the user's own or of people who are known.
    """
    if not levels or not {Trust.EXTERNAL, Trust.WEB}.issuperset(levels):
        return ""
    return "web" if Trust.EXTERNAL not in levels else "external"


def outcome_word(record: FileRecord) -> str:
    """Return in a word how a file ended; ``skipped`` is left to what is no document."""
    is_known = record.status is Status.SKIPPED and record.code in _ENDED
    return record.code if is_known else record.status.value


def searched_text(documents: int, chunks: int) -> str:
    """Return what was looked through."""
    return f"{counted(documents, 'document')}, {counted(chunks, 'chunk')}"


def absent_sentence(words: Sequence[str]) -> str:
    """Return which words of a question no document mentions; empty where there are none."""
    quoted = join_words([f"“{word}”" for word in words])
    return f"No document searched mentions {quoted}." if words else ""


def reservations(looked: Searched) -> tuple[str, ...]:
    """Return what is not there, is read only in part, or is in another language."""
    sentences = [absent_sentence(looked.missing_terms)] if looked.missing_terms else []
    if looked.partly_read:
        names = join_words(looked.partly_read_names)
        further = looked.partly_read - len(looked.partly_read_names)
        more = f", and {further:,} more" if further else ""
        was = "was" if looked.partly_read == 1 else "were"
        sentences.append(
            f"{counted(looked.partly_read, 'document')} {was} read only in part: {names}{more}"
        )
    if looked.question_language:
        asked = language_name(looked.question_language)
        sentences.append(
            f"The documents are in {_and([*map(language_name, looked.languages)])}; "
            f"the question is in {asked}."
        )
    return tuple(sentences)


def staying_sentence(found: StayingDocuments) -> str:
    """Return which documents stay although their files are not there, and what to do."""
    confirm = f"If they are deleted: {_CONFIRM}"
    if found.reason is StayReason.AWAY:
        stay = "document stays" if found.documents == 1 else "documents stay"
        return f"{found.folder} is not there, or its disk is away: {found.documents:,} {stay}."
    number = counted(found.documents, "document")
    if found.reason is StayReason.OTHER_DISK:
        return f"Files of {number} in {found.folder} are not on the disk that is there. {confirm}"
    share = f"{found.documents:,} of {counted(found.total, 'document')} in {found.folder}"
    return f"{share} would go at once, so none does. Is a disk away, or a pattern wrong? {confirm}"


def _and(names: Sequence[str]) -> str:
    if len(names) > _NAMED:
        names = [*names[:_NAMED], "others"]
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def method(name: str) -> str:
    """Return how something was composed."""
    return "quoted, without a model" if name == "extractive" else f"written by {name}"


def usage_text(usage: Usage) -> str:
    """Return what was used of models."""
    tokens = f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens"
    return f"{counted(usage.calls, 'call')}, {tokens}"


def moment(seconds: int) -> str:
    """Return seconds since 1970 as a time for people; empty for 0."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC" if seconds else ""


def size(count: int) -> str:
    """Return a number of bytes for people: ``1.4 MB``, in powers of ten."""
    value = float(count)
    for unit in ("bytes", "kB", "MB"):
        if value < 1000:  # noqa: PLR2004 - the step between units
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def join_words(words: Sequence[str], most: int = _WORDS) -> str:
    """Join words for people: what was pasted by mistake may be as long as a book."""
    cut = [word if len(word) <= _WORD else f"{word[:_WORD]}…" for word in words[:most]]
    rest = f", and {len(words) - most:,} more" if len(words) > most else ""
    return ", ".join(cut) + rest
