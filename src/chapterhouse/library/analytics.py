"""What was asked, how well it was answered, and what the documents lack."""

from collections.abc import Mapping
from typing import Final

from chapterhouse.answering.runtime import Runtime
from chapterhouse.errors import UsageError
from chapterhouse.types import (
    Analytics,
    CorpusCounts,
    Document,
    DocumentFigures,
    DocumentUse,
    QuestionFigures,
    Scope,
)
from chapterhouse.types.analytics import DAY, day_of

_ALL: Final = Scope.everything()
_NOT_KNOWN: Final = "not known"
# Days since the file was changed, at most.
_AGES: Final = (
    ("up to 30 days", 30),
    ("31 to 90 days", 90),
    ("91 days to 1 year", 365),
    ("1 to 3 years", 3 * 365),
    ("over 3 years", 2**62),
)


class LibraryAnalytics:
    """What the questions to a workspace came to."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def report(self, days: int = 30, *, limit: int = 20) -> Analytics:
        """Return what was asked in the last days, and what that says about the documents.

        Args:
            days: How many, today included, in UTC; 0 for all that is recorded.
            limit: Questions and documents of each list at most; 0 for all.
        """
        if days < 0 or limit < 0:
            raise UsageError("Days and limit are 0 or more.")
        runtime, now = self._runtime, self._runtime.now()
        questions = runtime.store.questions()
        since = (now // DAY - days + 1) * DAY if days else (questions.first() or now) // DAY * DAY
        figures = questions.figures(since, now, limit)
        census = runtime.store.census(_ALL)
        named = {*figures.cited, *figures.never_cited}
        known = runtime.store.documents_among(named, _ALL)
        return Analytics(
            days=days,
            first_day=day_of(since),
            last_day=day_of(now),
            documents=self._documents(figures, census),
            outcomes=figures.outcomes,
            by_day=figures.by_day,
            by_interface=figures.by_interface,
            unanswered=figures.unanswered,
            most_cited=_uses(figures.cited, known),
            never_cited=_uses(dict.fromkeys(figures.never_cited, 0), known),
        )

    def clear(self) -> int:
        """Delete all that is counted of questions; return of how many."""
        return self._runtime.store.questions().clear()

    def _documents(self, figures: QuestionFigures, census: CorpusCounts) -> DocumentFigures:
        counts = self._runtime.store.counts(_ALL)
        return DocumentFigures(
            documents=census.documents,
            chunks=census.chunks,
            by_status=counts["status"],
            by_format=counts["format"],
            by_shelf=counts["shelf"],
            by_age=_by_age(figures.ages),
            cited=figures.cited_documents,
        )


def _by_age(ages: Mapping[int, int]) -> Mapping[str, int]:
    counted = {name: 0 for name, _ in _AGES}
    for age, number in ages.items():
        if age >= 0:
            counted[next(name for name, most in _AGES if age <= most)] += number
    unknown = ages.get(-1, 0)
    return {**counted, _NOT_KNOWN: unknown} if unknown else counted


def _uses(counts: Mapping[str, int], known: Mapping[str, Document]) -> tuple[DocumentUse, ...]:
    """Return documents with their counts, in order; one that was removed just now is left out."""
    return tuple(
        DocumentUse(name, one.title, one.source, one.modified, number)
        for name, number in counts.items()
        if (one := known.get(name))
    )
