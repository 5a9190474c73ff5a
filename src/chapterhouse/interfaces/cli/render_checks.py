"""What people see of checked answers and of memories."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from chapterhouse.interfaces.cli.terminal import columns, indented, one_line, styled
from chapterhouse.types import Memory, MemoryHit

if TYPE_CHECKING:
    from rich.console import Console

    from chapterhouse.answering.cite import CitationCheck
    from chapterhouse.interfaces.cli.bundles import Examined

_SOURCES: Final = {
    "same": "is as it was cited",
    "changed": "has changed since",
    "moved": "has another name now",
    "gone": "is gone",
}
_QUOTES: Final = {
    "stands": ("the quotation stands", "green"),
    "moved": ("the quotation stands at another place", "yellow"),
    "lost": ("the quotation is not there any more", "bold red"),
}
_SHOWN: Final = 70  # characters of a question in a list


def rechecked(target: "Console", question: str, found: "Sequence[CitationCheck]") -> None:
    """Show what has become of the citations of an answer or of minutes."""
    target.print(styled((one_line(question), "bold")))
    for one in found:
        citation = one.citation
        verdict = _QUOTES[one.quote.value]
        name = one_line(citation.title or citation.source)
        target.print(styled((f"[{citation.number}] ", "bold"), (name, "bold cyan")))
        moved = f" ({one_line(one.source_now)})" if one.source.value == "moved" else ""
        indented(
            target,
            styled(f"{one_line(citation.source)} {_SOURCES[one.source.value]}{moved}; ", verdict),
        )
        if one.holds:
            span = f"{one.start}:{one.end}"
            opens = f"chapterhouse docs show {one.document_id} --span {span}"
            indented(target, styled((opens, "dim")))
    if not found:
        target.print(styled("It cites nothing."))


def verified(
    target: "Console", examined: "Examined", found: "Sequence[CitationCheck] | None"
) -> None:
    """Show what was found of a bundle."""
    for check in examined.checks:
        mark = ("ok  ", "green") if check.passed else ("BAD ", "bold red")
        target.print(styled(mark, f"{check.name}: {one_line(check.sentence)}"))
        if check.hint:
            indented(target, styled((one_line(check.hint), "dim")))
    if found is None:
        target.print(styled(("Checked by itself: the documents were not looked at.", "dim")))
        return
    rechecked(target, examined.held.question, found)


def memories(target: "Console", found: Sequence[Memory]) -> None:
    """List memories, newest first."""
    if not found:
        target.print(styled("Nothing is remembered."))
        return
    rows = [("id", "asked", "of", "answered", "question")]
    rows += [
        (
            memory.id,
            _day(memory.asked),
            _owner(memory),
            "yes" if memory.found else "no",
            _cut(memory.question),
        )
        for memory in found
    ]
    columns(target, rows)


def memory_hits(target: "Console", found: Sequence[MemoryHit]) -> None:
    """Show memories that fit some words, with their answers."""
    if not found:
        target.print(styled("Nothing that is remembered fits."))
    for hit in found:
        memory = hit.memory
        owner = _owner(memory)
        target.print(
            styled(
                (f"{memory.id} ", "bold"),
                (one_line(memory.question), "bold cyan"),
                (f"  {owner}, {_day(memory.asked)}, {memory.method}", "dim"),
            )
        )
        indented(target, memory.answer.strip() or "(no answer was found)")
        if memory.sources:
            indented(target, styled((f"from {', '.join(memory.sources)}", "dim")))


def _owner(memory: Memory) -> str:
    """Return whose a memory is as people are told: ``council ferry/maria`` for a member's."""
    return memory.persona.replace("council_", "council ", 1) or "library"


def _day(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
