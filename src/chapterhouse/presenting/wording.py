"""How numbers, models and disagreements are put into words, in every format."""

from collections.abc import Sequence
from typing import Final

from chapterhouse.types import Conflict, Side, Support, Usage

_MARKS: Final = {
    Support.PARTLY: "partly supported",
    Support.MISATTRIBUTED: "supported by another document than it named",
    Support.FRANKENQUOTE: "stitched from separate quotations",
    Support.UNSUPPORTED: "not supported by the documents",
    Support.FABRICATED: "cites what does not exist",
}
_WORD, _WORDS = 60, 40  # longest word of a list that is shown, and most of them


def support_mark(support: Support) -> str:
    """Return what a reader is warned of where something is supported so far; or empty."""
    return _MARKS.get(support, "")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def searched(documents: int, chunks: int) -> str:
    """Return what was looked through."""
    return f"{counted(documents, 'document')}, {counted(chunks, 'chunk')}"


def method(name: str) -> str:
    """Return how something was composed."""
    return "quoted, without a model" if name == "extractive" else f"written by {name}"


def used(usage: Usage) -> str:
    """Return what was used of models."""
    tokens = f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens"
    price = "" if usage.cost is None else f", {usage.cost:.4f} US dollars"
    return f"{counted(usage.calls, 'call')}, {tokens}{price}"


def listed(words: Sequence[str], most: int = _WORDS) -> str:
    """Join words for people: what was pasted by mistake may be as long as a book."""
    cut = [word if len(word) <= _WORD else f"{word[:_WORD]}…" for word in words[:most]]
    rest = f", and {len(words) - most:,} more" if len(words) > most else ""
    return ", ".join(cut) + rest


def conflict_lines(conflict: Conflict) -> tuple[str, str]:
    """Return who says what and when, the older side before the newer where the dates tell."""
    newer, older = conflict.sides
    return _side(older), _side(newer, ", newer" if conflict.newer else "")


def _side(side: Side, mark: str = "") -> str:
    quote = " ".join(side.span.quote.split())
    value = f"{side.value} — " if side.value else ""
    return f"{side.title} ({side.date or 'undated'}{mark}): {value}“{quote}”"
