"""Commands about what was asked: memory list, search, forget; analytics show, clear."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse import lazy
from chapterhouse.interfaces.cli.options import DryRun, Yes, argument, flag, group, option, readable
from chapterhouse.interfaces.cli.search import forget_last
from chapterhouse.interfaces.cli.session import NO_ANSWER, OK, Outcome, opened_library, require_yes
from chapterhouse.presenting.blocks import Columns, Style, TerminalBlock, table, verbatim
from chapterhouse.presenting.styled import cut, one_line
from chapterhouse.text.counting import counted
from chapterhouse.types import Analytics, DocumentUse, Memory, MemoryHit, UnansweredQuestion
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


# --- what is shown ------------------------------------------------------------------------------


def _table(found: Sequence[Memory]) -> Iterator[TerminalBlock]:
    return table(
        found,
        "id",
        ("asked", lambda one: day_of(one.asked)),
        ("of", _owner),
        ("answered", lambda one: one.found),
        ("question", lambda one: cut(one.question, _SHOWN)),
        none="Nothing is remembered.",
    )


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


# --- analytics ----------------------------------------------------------------------------------

analytics = group("Show what was asked, how well it was answered, and what the documents lack.")

Days = Annotated[
    int, option("--days", "N", "The last days, today included; 0: all.", least=0, most=36_500)
]
MostOfEach = Annotated[
    int, option("--limit", "N", "Questions and documents of each list at most; 0: all.", least=0)
]


@analytics.command()
def show(*, days: Days = 30, limit: MostOfEach = 10) -> Outcome:
    """Show what was asked, and what the documents lack."""
    with opened_library(background=False) as library:
        report = library.analytics.report(days, limit=limit)
        return Outcome(report, _report(report))


@analytics.command()
def clear(*, yes: Yes = False) -> Outcome:
    """Delete everything that was counted of questions.

    Exit code 10 says that it has to be confirmed with --yes.
    """
    with opened_library(background=False) as library:
        count = library.analytics.report(0).outcomes.questions
        if count and not yes:
            what = counted(count, "counted question")
            require_yes(
                f"Delete {what}",
                needed=f"Deleting {what} needs to be confirmed.",
                refused="Nothing was deleted.",
            )
        deleted = library.analytics.clear()
        sentence = f"Deleted {counted(deleted, 'counted question')}."
        return Outcome({"deleted": deleted}, [verbatim(sentence)])


def _report(report: Analytics) -> Iterator[TerminalBlock]:
    """Yield a report from what matters most to what matters least."""
    counts = report.outcomes
    period = f"{report.first_day} to {report.last_day}"
    yield verbatim((counted(counts.questions, "question"), Style.STRONG), f", {period}")
    if counts.questions:
        parts = (
            (counts.answered, "answered"),
            (counts.passages, "with the closest passages only"),
            (counts.not_found, "without an answer"),
            (counts.out_of_scope, "out of scope"),
        )
        yield verbatim(", ".join(f"{number:,} {text}" for number, text in parts if number))
        ways = (f"{number:,} by {name}" for name, number in report.by_interface.items())
        yield verbatim((", ".join(ways), Style.QUIET))
    if report.unanswered:
        yield from _unanswered(report.unanswered)
    if report.most_cited:
        yield from _uses("Most cited documents", report.most_cited, "answers")
    never = report.documents.documents - report.documents.cited
    if counts.questions and never and report.never_cited:
        title = f"Never cited: {never:,} of {counted(report.documents.documents, 'document')}"
        yield from _uses(title, report.never_cited, "")
    yield from _title("Documents")
    documents: Mapping[str, Mapping[str, int]] = {
        "status": report.documents.by_status,
        "format": report.documents.by_format,
        "shelf": report.documents.by_shelf,
        "age": report.documents.by_age,
    }
    rows = [
        (kind, ", ".join(f"{name} {number:,}" for name, number in by.items() if number))
        for kind, by in documents.items()
    ]
    yield Columns(rows, header=False, wrap=True)


def _title(text: str) -> Iterator[TerminalBlock]:
    yield verbatim("")
    yield verbatim((text, Style.TITLE))


def _unanswered(questions: Sequence[UnansweredQuestion]) -> Iterator[TerminalBlock]:
    yield from _title("Unanswered")
    yield from table(
        questions,
        ("asked", lambda one: one.questions),
        "not found",
        ("last", lambda one: day_of(one.last)),
        ("of", lambda one: f"council {one.council}" if one.council else one.persona or "library"),
        ("question", lambda one: one.text or "(not recorded)"),
        ("nearest", lambda one: one.nearest or "none"),
        wrap=True,
    )


def _uses(title: str, uses: Sequence[DocumentUse], unit: str) -> Iterator[TerminalBlock]:
    yield from _title(title)
    yield from table(
        uses,
        *([(unit, lambda one: one.questions)] if unit else []),
        ("changed", lambda one: day_of(one.modified)),
        ("document", lambda one: one.title),
        "source",
    )
