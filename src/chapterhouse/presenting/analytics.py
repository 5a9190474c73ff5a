"""Analytics for people."""

from collections.abc import Iterator, Mapping, Sequence

from chapterhouse.presenting.blocks import Block, Columns, Style, verbatim
from chapterhouse.text.counting import counted
from chapterhouse.types import Analytics, DocumentUse, UnansweredQuestion
from chapterhouse.types.analytics import day_of


def analytics_blocks(report: Analytics) -> Iterator[Block]:
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


def _title(text: str) -> Iterator[Block]:
    yield verbatim("")
    yield verbatim((text, Style.TITLE))


def _unanswered(questions: Sequence[UnansweredQuestion]) -> Iterator[Block]:
    if not questions:
        return
    yield from _title("Unanswered")
    rows: list[tuple[str, ...]] = [("asked", "not found", "last", "of", "question", "nearest")]
    for one in questions:
        whose = f"council {one.council}" if one.council else one.persona or "library"
        numbers = (f"{one.questions:,}", f"{one.not_found:,}", day_of(one.last))
        rows.append((*numbers, whose, one.text or "(not recorded)", one.nearest or "none"))
    yield Columns(rows, wrap=True)


def _uses(title: str, uses: Sequence[DocumentUse], unit: str) -> Iterator[Block]:
    if not uses:
        return
    yield from _title(title)
    first = (unit,) if unit else ()
    rows = [(*first, "changed", "document", "source")]
    for one in uses:
        number = (f"{one.questions:,}",) if unit else ()
        rows.append((*number, day_of(one.modified), one.title, one.source))
    yield Columns(rows)
