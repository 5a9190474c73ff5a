"""What people see of encoders: which there are, how far their vectors are, what was chosen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from chapterhouse.interfaces.cli.terminal import columns, styled
from chapterhouse.text.counting import counted
from chapterhouse.types import EncoderStatus

if TYPE_CHECKING:
    from rich.console import Console

    from chapterhouse.models.cards import Card

_MINUTE: Final = 60
_HOUR: Final = 3_600
_MEGABYTE: Final = 1_000_000


def vector_rows(found: Sequence[EncoderStatus], documents: int) -> list[tuple[str, str]]:
    """Return rows of ``status``: how far an encoder is that is not complete, and why.

    Args:
        found: The encoders of the library.
        documents: How many documents the library has.
    """
    rows = []
    for entry in found:
        behind = entry.role == "active" and entry.done < entry.total
        if entry.role == "building" or behind:
            rows.append((f"vectors of {entry.name}", _progress(entry)))
            if entry.done < entry.total and not entry.problem:
                rows.append(
                    ("", "The rest follows in the background; now: chapterhouse model embed")
                )
            if 0 < entry.total < documents:
                others = counted(documents - entry.total, "document is", "documents are")
                rows.append(("", f"{others} in languages that it does not serve."))
        if entry.problem:
            rows.append(("", f"They could not be made: {entry.problem}"))
    return rows


def listed(target: "Console", found: Sequence[EncoderStatus], cards: Sequence["Card"]) -> None:
    """List the encoders of a library, then those that are known."""
    rows = [("in this library", "role", "vectors of")]
    rows += [(entry.name, entry.role, _progress(entry)) for entry in found]
    columns(target, rows)
    for entry in found:
        if entry.problem:
            target.print(styled(f"{entry.name}: {entry.problem}"))
    if not cards:
        return
    target.print("")
    known = [("known", "licence", "to fetch", "what it is")]
    known += [(card.name, card.licence, megabytes(card.size), card.summary) for card in cards]
    columns(target, known)


def chosen(
    target: "Console", found: Sequence[EncoderStatus], chunks: int, speed: float, problem: str
) -> None:
    """Say what happens now that an encoder was chosen."""
    wanted = next((entry for entry in found if entry.role == "building"), found[0])
    if wanted.role == "active":
        target.print(styled(f"{wanted.name} is in use: {_progress(wanted)} have its vectors."))
        return
    target.print(styled(f"{wanted.name} is chosen: {_progress(wanted)} have its vectors."))
    if problem:
        target.print(styled(f"It cannot be used yet: {problem}"))
    if speed:
        target.print(
            styled(
                f"About {speed:,.0f} chunks a second here, {chunks:,} to go: "
                f"{duration(chunks / speed)}."
            )
        )
    target.print(
        styled(
            "Until then the library answers as before. Commands make the vectors in the "
            "background; to wait for them: chapterhouse model embed"
        )
    )


def megabytes(size: int) -> str:
    """Return bytes for people, ``-`` for none."""
    return f"{max(size / _MEGABYTE, 0.1):,.1f} MB" if size else "-"


def duration(seconds: float) -> str:
    """Return a time for people: ``about 3 minutes``."""
    if seconds < _MINUTE:
        return "less than a minute"
    if seconds < 2 * _HOUR:
        return f"about {counted(round(seconds / _MINUTE), 'minute')}"
    return f"about {counted(round(seconds / _HOUR), 'hour')}"


def _progress(entry: EncoderStatus) -> str:
    return f"{entry.done:,} of {counted(entry.total, 'document')}"
