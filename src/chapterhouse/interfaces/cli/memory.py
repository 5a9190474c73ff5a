"""Commands about what was asked and answered: memory list, search, forget."""

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.interfaces.cli.options import DryRun, argument, flag, group, option, readable
from chapterhouse.interfaces.cli.session import NO_ANSWER, OK, Outcome, opened_library, require_yes
from chapterhouse.interfaces.cli.sources import forget_last
from chapterhouse.interfaces.cli.terminal import cut, one_line
from chapterhouse.loading import lazy
from chapterhouse.presenting.blocks import Style, TerminalBlock, table, verbatim
from chapterhouse.text.counting import counted
from chapterhouse.types import Memory, MemoryHit
from chapterhouse.types.analytics import day_of

if TYPE_CHECKING:
    from chapterhouse.interfaces import memory_owners as whose
    from chapterhouse.library import Library
else:
    whose = lazy("chapterhouse.interfaces.memory_owners")

app = group("List, search and forget what was asked and answered.")

_DAY = 86_400
_FAR_FUTURE = 2**62  # seconds
_SHOWN = 70  # characters of a question in a list

Persona = Annotated[
    str, option("--persona", "NAME", "A persona's memories; “library” for no persona's; else all.")
]
Council = Annotated[
    str, option("--council", "NAME", "What a council decided and its members said.")
]
Member = Annotated[str, option("--member", "KEY", "Only what this member of the council said.")]
Limit = Annotated[int, option("--limit", "N", "At most so many.", least=1, most=10000)]


@app.command("list")
def list_memories(
    *, persona: Persona = "", council: Council = "", member: Member = "", limit: Limit = 50
) -> Outcome:
    """List what is remembered, the newest first."""
    with opened_library() as library:
        owners = _owners(library, persona, council, member)
        found = library.memory.memories(owners, limit, _now())
        return Outcome(found, _table(found))


@app.command("search")
def search_memories(
    text: Annotated[list[str], argument("TEXT...", "Words of a question or answer.")],
    *,
    persona: Persona = "",
    council: Council = "",
    member: Member = "",
    limit: Limit = 10,
) -> Outcome:
    """Find earlier questions and answers by their words, best first.

    Exit code 6 says that there are none.
    """
    with opened_library() as library:
        owners = _owners(library, persona, council, member)
        found = library.memory.search(readable(*text), owners, limit, _now())
        return Outcome(found, _show_hits(found), OK if found else NO_ANSWER)


@app.command("forget")
def forget(
    ids: Annotated[list[str] | None, argument("[ID]...", "Ids, as memory list shows them.")] = None,
    *,
    persona: Persona = "",
    council: Council = "",
    member: Member = "",
    everything: Annotated[
        bool, flag("--all", "All of the persona's or the council's memories, or everyone's.")
    ] = False,
    older: Annotated[
        int | None,
        option("--older-than", "DAYS", "Only what was asked more than so many days ago.", least=0),
    ] = None,
    dry_run: DryRun = False,
    yes: Annotated[bool, flag("--yes", "Do not ask before forgetting many.")] = False,
) -> Outcome:
    """Forget memories for good, by id or many at once.

    Exit code 10 says that it has to be confirmed with --yes.
    """
    many = everything or older is not None
    if bool(ids) == many:
        raise typer.BadParameter("Name ids, or use --all or --older-than.")
    if ids and (persona or council):
        raise typer.BadParameter("Ids are someone's already: leave --persona and --council out.")
    with opened_library() as library:
        memories = library.memory
        if ids:
            count = len(set(ids)) if dry_run else memories.forget(ids)
        else:
            owners = _owners(library, persona, council, member)
            # All of them, whatever the clock said when they were kept.
            before = _FAR_FUTURE if older is None else _now() - older * _DAY + (not older)
            count = memories.count(owners, before)
            if count and not dry_run:
                if not yes:
                    what = counted(count, "memory", "memories")
                    require_yes(
                        f"Forget {what} for good",
                        needed=f"Forgetting {what} needs to be confirmed.",
                        refused="Nothing was forgotten.",
                    )
                memories.forget_all(owners, before)
            if everything and not dry_run and not (persona or council):
                forget_last(library.folder)
        would = "Would forget" if dry_run else "Forgot"
        sentence = f"{would} {counted(count, 'memory', 'memories')}."
        return Outcome(
            {"forgotten": 0 if dry_run else count, "would_forget": count, "dry_run": dry_run},
            [verbatim(sentence)],
        )


def _owners(library: "Library", persona: str, council: str, member: str) -> tuple[str, ...]:
    """Return whose memories the options mean; errors as for ``memory_owners``."""
    return whose.memory_owners(
        library, *(readable(one) if one else "" for one in (persona, council, member))
    )


def _now() -> int:
    return int(time.time())


# --- what people see ------------------------------------------------------------------------------


def _table(found: Sequence[Memory]) -> Iterator[TerminalBlock]:
    rows = (
        (
            one.id,
            day_of(one.asked),
            _owner(one),
            "yes" if one.found else "no",
            cut(one.question, _SHOWN),
        )
        for one in found
    )
    header = ("id", "asked", "of", "answered", "question")
    return table(header, rows, none="Nothing is remembered.")


def _show_hits(found: Sequence[MemoryHit]) -> Iterator[TerminalBlock]:
    if not found:
        yield verbatim("Nothing that is remembered fits.")
    for hit in found:
        memory = hit.memory
        owner = _owner(memory)
        yield verbatim(
            (f"{memory.id} ", Style.STRONG),
            (one_line(memory.question), Style.TITLE),
            (f"  {owner}, {day_of(memory.asked)}, {memory.method}", Style.QUIET),
        )
        yield verbatim(memory.answer.strip() or "(no answer was found)", indent=4)
        if memory.sources:
            yield verbatim((f"from {', '.join(memory.sources)}", Style.QUIET), indent=4)


def _owner(memory: Memory) -> str:
    """Return whose a memory is as people are told: ``council ferry/maria`` for a member's."""
    return memory.persona.replace("council_", "council ", 1) or "library"
