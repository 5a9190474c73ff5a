"""Minutes as a decision record, to be put beside the work that follows from them."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from chapterhouse.council.minutes import wording
from chapterhouse.council.minutes.contents import all_citations
from chapterhouse.council.minutes.outline import meeting, point_line
from chapterhouse.council.minutes.wording import Reader, reader_of
from chapterhouse.presenting.blocks import Part
from chapterhouse.presenting.markdown import (
    block_text,
    footnotes,
    heading,
    line_text,
    words,
)
from chapterhouse.types import Minutes, Point

_CITED: Final = re.compile(r"\[\^([0-9-]+)\]")


def decision_record(minutes: Minutes, number: int = 1, date: str = "") -> str:
    """Return a decision record in Markdown, after MADR (https://adr.github.io/madr/).

    Args:
        minutes: The minutes.
        number: Of the record, in its title.
        date: Day of the decision; none is stated where it is empty.
    """
    reader = reader_of(minutes, names_claims=False)  # what was claimed stands in the minutes
    whole = meeting(reader)
    parts = [
        heading(f"{number}. {minutes.question}", 1),
        "\n".join(_about(reader, date)),
        *_context(minutes),
        *_options(minutes, whole),
        *_outcome(reader),
        *_consequences(reader, whole),
        *_below(whole, "missing", "## Missing evidence"),
    ]
    used = frozenset(
        _CITED.findall("\n".join(parts))
    )  # in what was quoted the brackets are escaped
    cited = ((name, one) for name, one in all_citations(minutes) if name in used)
    return "\n\n".join((*parts, *footnotes(cited))) + "\n"


def _about(reader: Reader, date: str) -> Iterator[str]:
    minutes = reader.minutes
    spoke = {statement.member for statement in minutes.statements}
    absent = (
        f"{reader.title(one.member)}, {wording.round_title(one.round)}: {one.reason}"
        for one in minutes.absences
    )
    undecided = not minutes.decision or (minutes.options and not minutes.decided)
    fields = {
        "Status": "open" if undecided else "proposed",
        "Date": date,
        "Deciders": minutes.chair,
        "Consulted": reader.titles(
            participant.key for participant in minutes.members if participant.key in spoke
        ),
        "Absent": "; ".join(absent),
        "Council": minutes.title or minutes.council,
        "Made": wording.summed_up(minutes),
    }
    yield from (f"- {name}: {words(value)}" for name, value in fields.items() if value)


def _context(minutes: Minutes) -> Iterator[str]:
    yield "## Context and problem statement"
    yield words(minutes.question, begins=True)
    if minutes.purpose:
        yield words(minutes.purpose, begins=True)


def _options(minutes: Minutes, whole: Part) -> Iterator[str]:
    if minutes.options:
        yield "## Considered options"
        yield "\n".join(f"- {words(option, begins=True)}" for option in minutes.options)
        yield from _below(whole, "matrix", "")


def _outcome(reader: Reader) -> Iterator[str]:
    yield "## Decision outcome"
    minutes = reader.minutes
    if minutes.options:
        yield f"Chosen: **{words(minutes.decided)}**" if minutes.decided else "It stays open."
    yield from (line_text(point_line(reader, one), begins=True) for one in minutes.decision)
    if not minutes.decision and not minutes.options:
        yield "Nothing was decided."
    if minutes.grounds:
        yield "### Grounds"
        yield _listed(reader, minutes.grounds)


def _consequences(reader: Reader, whole: Part) -> Iterator[str]:
    """Yield what stands against it and what is left to do."""
    minutes = reader.minutes
    if minutes.dissent or minutes.open_questions or minutes.map.disputes:
        yield "## Consequences"
    if minutes.dissent:
        yield "### Dissent"
        yield _listed(reader, minutes.dissent, holders_first=True)
    if minutes.map.disputes:
        yield from _below(whole, "disputes", "### Disputes")
    if minutes.open_questions:
        yield "### Open questions"
        yield _listed(reader, minutes.open_questions)


def _listed(reader: Reader, points: Iterable[Point], *, holders_first: bool = False) -> str:
    lines = (point_line(reader, one, holders_first=holders_first) for one in points)
    return "\n".join(f"- {line_text(line, begins=True)}" for line in lines)


def _below(whole: Part, key: str, title: str) -> Iterator[str]:
    """Yield a part of the minutes under another title, if there is one."""
    for part in whole.parts:
        if part.key == key:
            if title:
                yield title
            yield from map(block_text, part.blocks)
