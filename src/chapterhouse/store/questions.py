"""Questions in a table of their own: what they came to, and which documents they had to do with.

Only documents that are in the library are named: who removes one removes it here, in the same
transaction (``writing.remove_document``).
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import apsw

from chapterhouse.store.connections import Connections
from chapterhouse.store.statements import Row, first, run, run_many
from chapterhouse.types import (
    AskedFigures,
    DayFigures,
    ModelFigures,
    OutcomeCounts,
    QuestionFigures,
    QuestionOutcome,
    QuestionRecord,
)
from chapterhouse.types.analytics import DAY, WEAK, day_of

_ALL: Final = -1  # the limit of SQLite for none


class QuestionStore:
    """The questions of one workspace."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def record(self, record: QuestionRecord, drop_before: int) -> None:
        """Record a question, and drop those asked before a time; see ``Questions``."""
        named = tuple(dict.fromkeys((*record.cited, *record.nearest)))
        with self._connections.write(durable=False) as connection:
            run(connection, "drop_old_questions", drop_before)
            found = {one for (one,) in run(connection, "existing_documents", json.dumps(named))}
            text = record.text if len(found) == len(named) else ""
            ((key,),) = run(connection, "put_question", *_values(record), text or None)
            run_many(
                connection,
                "put_question_document",
                (
                    (key, one, place, int(one in record.cited))
                    for place, one in enumerate(named, 1)
                    if one in found
                ),
            )

    def first(self) -> int | None:
        """Return when the first question was asked, in seconds; None where there is none."""
        with self._connections.read() as connection:
            found = first(connection, "first_question")
        return found[0] if found else None

    def clear(self) -> int:
        """Delete every question; return how many there were."""
        with self._connections.write() as connection:
            found = first(connection, "count_questions", 0)
            run(connection, "drop_every_question_document")
            run(connection, "drop_every_question")
        return int(found[0]) if found else 0

    def figures(self, since: int, now: int, limit: int) -> QuestionFigures:
        """Return what the questions asked since a time come to; see ``Questions``."""
        most = limit or _ALL
        with self._connections.read() as connection:
            ((cited_documents,),) = run(connection, "count_cited_documents", since)
            days = _by_day(run(connection, "questions_by_day", since))
            return QuestionFigures(
                outcomes=_total(day.outcomes for day in days),
                by_interface=_counts(run(connection, "questions_by_interface", since)),
                by_day=days,
                asked=_by_asked(connection, since),
                models=_by_model(connection, since),
                weak=tuple(map(_weak, run(connection, "weak_questions", since, WEAK))),
                cited=_counts(run(connection, "cited_documents", since, most)),
                never_cited=tuple(
                    one for (one,) in run(connection, "never_cited_documents", since, most)
                ),
                cited_documents=cited_documents,
                ages={int(age): int(one) for age, one in run(connection, "document_ages", now)},
            )


def _values(record: QuestionRecord) -> tuple[str | int | float | None, ...]:
    return (
        record.asked,
        record.interface,
        record.persona,
        record.council,
        record.outcome.value,
        record.confidence,
        record.milliseconds,
        record.model,
        int(record.cached),
        record.input_tokens,
        record.output_tokens,
        record.cost,
    )


def _counts(rows: Iterable[Row]) -> Mapping[str, int]:
    return {str(name): int(number) for name, number in rows}


def _outcomes(counted: Mapping[str, int]) -> OutcomeCounts:
    return OutcomeCounts(
        sum(counted.values()),
        counted.get(QuestionOutcome.ANSWER, 0),
        counted.get(QuestionOutcome.PASSAGES, 0),
        counted.get(QuestionOutcome.NOT_FOUND, 0),
        counted.get(QuestionOutcome.OUT_OF_SCOPE, 0),
    )


def _total(days: Iterable[OutcomeCounts]) -> OutcomeCounts:
    return sum(days, OutcomeCounts())


def _by_day(rows: Iterable[Row]) -> tuple[DayFigures, ...]:
    counted: dict[int, Counter[str]] = {}
    for day, outcome, number in rows:
        counted.setdefault(day, Counter())[outcome] += number
    return tuple(DayFigures(day_of(day * DAY), _outcomes(own)) for day, own in counted.items())


def _by_model(connection: apsw.Connection, since: int) -> tuple[ModelFigures, ...]:
    times: dict[str, tuple[int, int]] = {}
    for model, is_high, milliseconds in run(connection, "times_by_model", since):
        median = times.get(model, (milliseconds, 0))[0]
        times[model] = (median, milliseconds if is_high else 0)
    return tuple(
        ModelFigures(
            model=model,
            questions=questions,
            cached=cached,
            median=times.get(model, (0, 0))[0],
            percentile_95=times.get(model, (0, 0))[1],
            input_tokens=read,
            output_tokens=written,
            cost=cost if priced else None,
            unpriced=questions - priced,
        )
        for model, questions, cached, read, written, cost, priced in run(
            connection, "questions_by_model", since
        )
    )


def _by_asked(connection: apsw.Connection, since: int) -> tuple[AskedFigures, ...]:
    medians = {(one, two): time for one, two, time in run(connection, "times_by_asked", since)}
    counted: dict[tuple[str, str], Counter[str]] = {}
    costs: dict[tuple[str, str], float] = {}
    for persona, council, outcome, number, cost, priced in run(
        connection, "questions_by_asked", since
    ):
        name = persona, council
        counted.setdefault(name, Counter())[outcome] += number
        if priced:
            costs[name] = costs.get(name, 0.0) + cost
    return tuple(
        AskedFigures(*name, _outcomes(own), medians[name], costs.get(name))
        for name, own in counted.items()
    )


def _weak(row: Row) -> QuestionRecord:
    _, asked, outcome, persona, council, confidence, text, documents = row
    return QuestionRecord(
        asked=asked,
        outcome=QuestionOutcome(outcome),
        persona=persona,
        council=council,
        confidence=confidence,
        text=text,
        nearest=tuple(json.loads(documents)),
    )
