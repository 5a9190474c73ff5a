"""Analytics for people, and as tables that a spreadsheet reads."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from chapterhouse.presenting.blocks import Block, Columns, Style, verbatim
from chapterhouse.text.counting import counted
from chapterhouse.types import Analytics, AskedFigures, DocumentUse, OutcomeCounts
from chapterhouse.types.analytics import day_of

Cell = str | int | float | None
Table = tuple[tuple[str, ...], Sequence[Sequence[Cell]]]  # names of columns, and rows

# What a spreadsheet takes for a formula, also behind quotes that say it is none.
_FORMULA: Final = re.compile(r"'*[=+\-@＝＋－＠\t\r\n]")
_OUTCOMES: Final = ("questions", "answered", "passages", "not found", "out of scope")
_DAYS: Final = 14  # that are shown, the latest
_BETWEEN: Final = "; "


# --- CSV ------------------------------------------------------------------------------------------


def safe_cell(text: str) -> str:
    """Return a cell that no spreadsheet runs: a quote is put before what could be a formula.

    Taking one quote away from such a cell gives the text back (``original_cell``).

    Source: OWASP, CSV Injection.
    """
    return f"'{text}" if _FORMULA.match(text) else text


def original_cell(cell: str) -> str:
    """Return the text of which ``safe_cell`` made a cell."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def csv_text(table: Table) -> str:
    """Return a table as CSV (RFC 4180); nothing in it is a formula."""
    columns, rows = table
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    for row in (columns, *rows):
        writer.writerow("" if one is None else safe_cell(str(one)) for one in row)
    return stream.getvalue()


def tables(report: Analytics) -> Mapping[str, Table]:
    """Return all of a report as tables by name: letters and hyphens."""
    used = ("document", "title", "source", "modified", "questions")
    return {
        "days": (("day", *_OUTCOMES), [(one.day, *_row(one.outcomes)) for one in report.by_day]),
        "gaps": (
            (*_OUTCOMES, "last", "words", "examples", "nearest documents"),
            [
                (
                    *_row(gap.outcomes),
                    day_of(gap.last),
                    _BETWEEN.join(gap.terms),
                    _BETWEEN.join(gap.examples),
                    _BETWEEN.join(one.document_id for one in gap.nearest),
                )
                for gap in report.gaps
            ],
        ),
        "most-cited": (used, list(map(_use, report.most_cited))),
        "never-cited": (used, list(map(_use, report.never_cited))),
        "models": (
            (
                *("model", "questions", "cached", "median ms", "95th percentile ms"),
                *("input tokens", "output tokens", "dollars", "price not known"),
            ),
            [
                (
                    *(one.model, one.questions, one.cached, one.median, one.percentile_95),
                    *(one.input_tokens, one.output_tokens, one.cost, one.unpriced),
                )
                for one in report.models
            ],
        ),
        "asked": (
            ("persona", "council", *_OUTCOMES, "median ms", "dollars"),
            [(one.persona, one.council, *_row(one.outcomes), *_more(one)) for one in report.asked],
        ),
        "interfaces": (("interface", "questions"), list(report.by_interface.items())),
        "documents": (
            ("by", "name", "documents"),
            [
                (kind, name, number)
                for kind, counts in _documents(report)
                for name, number in counts.items()
            ],
        ),
    }


def _row(counts: OutcomeCounts) -> tuple[int, ...]:
    return (
        *(counts.questions, counts.answered),
        *(counts.passages, counts.not_found, counts.out_of_scope),
    )


def _more(one: AskedFigures) -> tuple[Cell, ...]:
    return one.median, one.cost


def _use(one: DocumentUse) -> tuple[Cell, ...]:
    return one.document_id, one.title, one.source, day_of(one.modified), one.questions


def _documents(report: Analytics) -> Iterator[tuple[str, Mapping[str, int]]]:
    documents = report.documents
    yield "status", documents.by_status
    yield "format", documents.by_format
    yield "shelf", documents.by_shelf
    yield "age", documents.by_age


# --- for people -----------------------------------------------------------------------------------


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
        yield from _gaps(report)
    yield from _uses("Most cited documents", report.most_cited, "answers")
    never = report.documents.documents - report.documents.cited
    if counts.questions and never:
        title = f"Never cited: {never:,} of {counted(report.documents.documents, 'document')}"
        yield from _uses(title, report.never_cited, "")
    if counts.questions:
        yield from _costs(report)
        yield from _days(report)
    yield from _title("Documents")
    rows = [
        (kind, ", ".join(f"{name} {number:,}" for name, number in by.items() if number))
        for kind, by in _documents(report)
    ]
    yield Columns(rows, header=False, wrap=True)


def _title(text: str) -> Iterator[Block]:
    yield verbatim("")
    yield verbatim((text, Style.TITLE))


def _gaps(report: Analytics) -> Iterator[Block]:
    if not report.gaps:
        return
    yield from _title("Content gaps: what was answered weakly or not at all")
    rows: list[tuple[str, ...]] = [("questions", "weak", "not found", "about", "nearest document")]
    below = [""]
    for gap in report.gaps:
        counts = gap.outcomes
        nearest = gap.nearest[0].title if gap.nearest else "none"
        weak = counts.answered + counts.passages
        about = ", ".join(gap.terms)
        numbers = (f"{number:,}" for number in (counts.questions, weak, counts.not_found))
        rows.append((*numbers, about or "-", nearest))
        below.append(_BETWEEN.join(gap.examples))
    yield Columns(rows, below=below)
    if report.gap_count > len(report.gaps):
        more = report.gap_count - len(report.gaps)
        yield verbatim((f"and {counted(more, 'smaller gap')}", Style.QUIET))


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


def _costs(report: Analytics) -> Iterator[Block]:
    yield from _title("Time and cost")
    rows: list[tuple[str, ...]] = [
        ("model", "questions", "cached", "median", "95 % within", "tokens", "cost")
    ]
    rows += [
        (
            one.model or "no model",
            f"{one.questions:,}",
            f"{one.cached:,}",
            _time(one.median),
            _time(one.percentile_95),
            f"{one.input_tokens + one.output_tokens:,}",
            _cost(one.cost, one.unpriced),
        )
        for one in report.models
    ]
    yield Columns(rows)
    yield from _title("Who was asked")
    rows = [("who", "questions", "answered", "median", "cost")]
    rows += [
        (
            _who(one),
            f"{one.outcomes.questions:,}",
            f"{one.outcomes.answered:,}",
            _time(one.median),
            _cost(one.cost, 0),
        )
        for one in report.asked
    ]
    yield Columns(rows)
    yield verbatim(
        ", ".join(f"{number:,} by {name}" for name, number in report.by_interface.items())
    )


def _who(one: AskedFigures) -> str:
    return f"council {one.council}" if one.council else one.persona or "library"


def _time(milliseconds: int) -> str:
    return f"{milliseconds / 1_000:.2f} s"


def _cost(cost: float | None, unpriced: int) -> str:
    if cost is None:
        return "not known"
    return (f"${cost:,.4f}" if cost else "$0") + (f", {unpriced:,} not known" if unpriced else "")


def _days(report: Analytics) -> Iterator[Block]:
    days = [one for one in report.by_day if one.outcomes.questions][-_DAYS:]
    yield from _title("Questions per day")
    rows: list[tuple[str, ...]] = [("day", *_OUTCOMES)]
    rows += [(one.day, *(f"{number:,}" for number in _row(one.outcomes))) for one in days]
    yield Columns(rows)
