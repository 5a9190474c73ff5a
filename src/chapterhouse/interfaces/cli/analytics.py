"""Commands about what was asked and what the documents lack: analytics show, clear."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from chapterhouse.interfaces.cli.options import Yes, group, option
from chapterhouse.interfaces.cli.session import Outcome, opened_library, require_yes
from chapterhouse.presenting.blocks import Columns, Style, TerminalBlock, verbatim
from chapterhouse.text.counting import counted
from chapterhouse.types import Analytics, DocumentUse, UnansweredQuestion
from chapterhouse.types.analytics import day_of

app = group("Show what was asked, how well it was answered, and what the documents lack.")

Days = Annotated[
    int, option("--days", "N", "The last days, today included; 0: all.", least=0, most=36_500)
]
Limit = Annotated[
    int, option("--limit", "N", "Questions and documents of each list at most; 0: all.", least=0)
]


@app.command()
def show(*, days: Days = 30, limit: Limit = 10) -> Outcome:
    """Show what was asked, and what the documents lack."""
    with opened_library(background=False) as library:
        report = library.analytics.report(days, limit=limit)
        return Outcome(report, _report(report))


@app.command()
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
    yield from _unanswered(report.unanswered)
    yield from _uses("Most cited documents", report.most_cited, "answers")
    never = report.documents.documents - report.documents.cited
    if counts.questions and never:
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
    if not questions:
        return
    yield from _title("Unanswered")
    rows: list[tuple[str, ...]] = [("asked", "not found", "last", "of", "question", "nearest")]
    for one in questions:
        whose = f"council {one.council}" if one.council else one.persona or "library"
        numbers = (f"{one.questions:,}", f"{one.not_found:,}", day_of(one.last))
        rows.append((*numbers, whose, one.text or "(not recorded)", one.nearest or "none"))
    yield Columns(rows, wrap=True)


def _uses(title: str, uses: Sequence[DocumentUse], unit: str) -> Iterator[TerminalBlock]:
    if not uses:
        return
    yield from _title(title)
    first = (unit,) if unit else ()
    rows = [(*first, "changed", "document", "source")]
    for one in uses:
        number = (f"{one.questions:,}",) if unit else ()
        rows.append((*number, day_of(one.modified), one.title, one.source))
    yield Columns(rows)
