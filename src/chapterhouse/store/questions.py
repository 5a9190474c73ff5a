"""Questions in a table of their own: what they came to, and which documents they had to do with.

Only documents that are in the library are named: who removes one removes it here, in the same
transaction (``writing.remove_document``).
"""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from chapterhouse.store.rows import Database, Row, first, repeatable, run, run_many
from chapterhouse.types import (
    OutcomeCounts,
    QuestionFigures,
    QuestionOutcome,
    QuestionRecord,
    UnansweredQuestion,
)
from chapterhouse.types.analytics import DAY, day_of

_ALL: Final = 2**62  # more than there can be


@repeatable
class QuestionStore:
    """The questions of one workspace: counts for those who look after all of its documents.

    A document that is removed is no longer named by any, and their texts are gone with it.
    """

    def __init__(self, connections: Database) -> None:
        self._connections = connections

    def record(self, record: QuestionRecord, drop_before: int) -> None:
        """Record a question, and drop those asked before a time. It need not survive a power cut.

        Documents that are no longer there are left out, and with them the text.
        """
        named = tuple(dict.fromkeys((*record.cited, *record.nearest)))
        with self._connections.write(durable=False) as connection:
            run(connection, "drop_old_questions", drop_before)
            found = {one for (one,) in run(connection, "existing_documents", json.dumps(named))}
            text = record.text if len(found) == len(named) else ""
            own = (record.asked, record.interface, record.persona, record.council)
            ((key,),) = run(connection, "put_question", *own, record.outcome.value, text or None)
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
        """Return what the questions asked since a time come to, read in one moment.

        Args:
            since: In seconds.
            now: In seconds; ages of documents are counted to it.
            limit: Documents of each list at most; 0 for all.
        """
        most = limit or _ALL
        with self._connections.read() as connection:
            ((cited_documents,),) = run(connection, "count_cited_documents", since)
            never = run(connection, "never_cited_documents", since, most)
            return QuestionFigures(
                outcomes=_outcomes(_counts(run(connection, "questions_by_outcome", since))),
                by_day=_by_day(run(connection, "questions_by_day", since)),
                by_interface=_counts(run(connection, "questions_by_interface", since)),
                unanswered=tuple(
                    UnansweredQuestion(*row)
                    for row in run(connection, "unanswered_questions", since, most)
                ),
                cited=_counts(run(connection, "cited_documents", since, most)),
                never_cited=tuple(one for (one,) in never),
                cited_documents=cited_documents,
                ages={int(age): int(one) for age, one in run(connection, "document_ages", now)},
            )


def _counts(rows: Iterable[Row]) -> Mapping[str, int]:
    return {str(name): int(number) for name, number in rows}


def _by_day(rows: Iterable[Row]) -> Mapping[str, OutcomeCounts]:
    days: dict[str, dict[str, int]] = {}
    for day, outcome, number in rows:
        days.setdefault(day_of(int(day) * DAY), {})[str(outcome)] = int(number)
    return {day: _outcomes(counted) for day, counted in days.items()}


def _outcomes(counted: Mapping[str, int]) -> OutcomeCounts:
    return OutcomeCounts(sum(counted.values()), *(counted.get(one, 0) for one in QuestionOutcome))
