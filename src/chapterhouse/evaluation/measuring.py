"""Ask a library every question of a file and score what comes back.

Beside the measures of rankings, these say whether a question got what its file wants, each 1 or 0:

=============  ====================================================================================
required@10    every required document stands among the first ten
absent         no forbidden document is cited, or ranked above what is required (else, first)
passage@10     one of the ten passages of a plain search holds the expected text
context        what is packed for a reader within the library's budget of tokens holds it
answer         the answer quotes the expected text
corrected      the answer shows none of the text that was called wrong
refusal        the library says that it finds no answer, where there is none
=============  ====================================================================================

With required documents, passage, context and answer count only where they come from one of these.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from chapterhouse.errors import ChapterhouseError, NotFoundError, UsageError
from chapterhouse.evaluation.measures import (
    RANKING_MEASURES,
    Estimate,
    Grades,
    Measure,
    estimate,
    measure_named,
)
from chapterhouse.evaluation.questions import Question
from chapterhouse.library import Library
from chapterhouse.types import Answer, Hit, Progress

DEPTH: Final = 100  # documents ranked
FIRST: Final = 10  # of which so many are looked at, as of the passages
CHECKS: Final = ("required@10", "absent", "passage@10", "context", "answer", "corrected", "refusal")
_NAMED: Final = 3  # of the documents found, as examples
_SCORE_DIGITS: Final = 12  # of a measure
_EMPHASIS = re.compile(r"[*_`]+")  # may stand inside a word or before a full stop
_WORD = re.compile(r"\w+(?:[.,:/'’-]\w+)*|[^\w\s.,;:!?]")

_WARNINGS: Final = 5  # names listed one by one

OnProgress = Callable[[Progress], None]
_Text = tuple[str, str]  # a document's id and some text of it


@dataclass(frozen=True, slots=True)
class Case:
    """A question as it is measured; documents go by their ids.

    Attributes:
        relevant: Grades above 0 of the documents that should be found.
        labels: What people call the documents above.
    """

    question: Question
    relevant: Grades = field(default_factory=dict)
    forbidden: frozenset[str] = frozenset()
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """A question with what came of it.

    Attributes:
        ranking: Ids of documents, best first.
        scores: Measures and checks by name; those that say nothing of this question are absent.
        failures: What its file wants and it did not get, as sentences.
        instead: Names of the first documents found, for people.
    """

    case: Case
    ranking: tuple[str, ...]
    scores: Mapping[str, float]
    failures: tuple[str, ...]
    instead: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What came of asking questions.

    Attributes:
        measures: Means with intervals, by name.
        warnings: What does not fit together, and what did not work in the searches.
    """

    name: str
    documents: int
    chunks: int
    measures: Mapping[str, Estimate]
    scored: tuple[QuestionScore, ...]
    warnings: tuple[str, ...] = ()


class _Names:
    """Documents by everything they may be called; remembers the names that fit none."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._ids: dict[str, str] = {}
        self.sources: dict[str, str] = {}
        for document in library.documents.list():
            self.sources[document.id] = document.source
            self._ids |= {document.location: document.id, document.source: document.id}
        self._ids |= {identifier: identifier for identifier in self.sources}
        self.unknown: dict[str, str] = {}
        if not self.sources:
            raise UsageError(
                "The library is empty: there is nothing to ask.",
                hint="Add documents: chapterhouse add PATH",
            )

    def id_of(self, name: str, place: str) -> str:
        """Return the id of the document called ``name``; the name itself where there is none."""
        if name not in self._ids:
            try:
                self._ids[name] = self._library.documents.get(name).id
            except NotFoundError:
                self.unknown.setdefault(name, place)
                self._ids[name] = name
            except UsageError as error:
                raise UsageError(f"{place}: {error.message}", hint=error.hint) from None
        return self._ids[name]


def _case(question: Question, known: _Names) -> Case:
    required = {known.id_of(name, question.place): name for name in question.required}
    forbidden = {known.id_of(name, question.place): name for name in question.forbidden}
    both = required.keys() & forbidden.keys()
    if both:
        raise UsageError(
            f"{question.place}: '{required[min(both)]}' is both required and forbidden."
        )
    labels = required | forbidden
    return Case(
        question,
        relevant=dict.fromkeys(required, 1),
        forbidden=frozenset(forbidden),
        labels={name: known.sources.get(name, label) for name, label in labels.items()},
    )


def _unknown(names: Mapping[str, str]) -> Iterator[str]:
    for name, place in list(names.items())[:_WARNINGS]:
        yield f"{place}: no document is called '{name}'."
    if len(names) > _WARNINGS:
        yield f"{len(names) - _WARNINGS:,} more names fit no document."


def evaluate(
    questions: Sequence[Question],
    library: Library,
    name: str,
    measures: Sequence[Measure] = RANKING_MEASURES,
    on_progress: OnProgress | None = None,
) -> Evaluation:
    """Ask every question of a file, in its order, and measure what comes back.

    A required document that the library does not have counts as not found, with a warning; where
    it has none of them, or refuses a question, an error says so. ``name`` is where the questions
    are from.
    """
    known = _Names(library)
    cases = [_case(question, known) for question in questions]
    named = {required for question in questions for required in question.required}
    if named and named <= set(known.unknown):
        raise NotFoundError(
            f"None of the {len(named)} documents that {name} requires is in this library.",
            hint="Is it the right --home and --workspace? See: chapterhouse docs list",
        )
    state = library.status()
    scored: list[QuestionScore] = []
    for number, case in enumerate(cases, start=1):
        try:
            scored.append(_measure(library, case, measures))
        except ChapterhouseError as error:
            error.message = f"{case.question.place or case.question.id}: {error.message}"
            error.args = (error.message,)
            raise
        if on_progress:
            on_progress(Progress(number, len(cases), case.question.question))
    return Evaluation(
        name=name,
        documents=state.documents,
        chunks=state.chunks,
        measures=_estimates(scored),
        scored=tuple(scored),
        warnings=(*_unknown(known.unknown), *_of_the_searches(scored)),
    )


def _of_the_searches(scored: Sequence[QuestionScore]) -> tuple[str, ...]:
    """Return each warning once: figures of a search by words alone must not pass for others."""
    counts = Counter(warning for entry in scored for warning in dict.fromkeys(entry.warnings))
    return tuple(
        f"{warning} (in {count:,} of {len(scored):,} searches)" for warning, count in counts.items()
    )


def _estimates(scored: Sequence[QuestionScore]) -> dict[str, Estimate]:
    """Return the mean of every measure with its interval, in a fixed order of names."""
    names = dict.fromkeys(name for entry in scored for name in entry.scores)
    ordered = [name for name in names if name not in CHECKS]
    ordered += [name for name in CHECKS if name in names]
    return {
        name: estimate([entry.scores[name] for entry in scored if name in entry.scores])
        for name in ordered
    }


def holds(text: str, wanted: Sequence[str]) -> bool:
    """Whether ``text`` holds one of ``wanted``: case, white space and Markdown's marks aside."""
    plain = _plain(text)
    return any(_plain(entry) in plain for entry in wanted)


def shows(text: str, wrong: Sequence[str]) -> bool:
    """Whether ``text`` has one of ``wrong`` in it, word for word: of "84 euros", not "4 euros"."""
    words = _words(text)
    return any(_words(entry) in words for entry in wrong)


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(_plain(text)))} "


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_EMPHASIS.sub("", folded).replace("|", " ").split())


def _measure(library: Library, case: Case, measures: Sequence[Measure]) -> QuestionScore:
    question = case.question
    asked = partial(library.search.hits, question.question, shelves=question.shelves)
    hits, found = asked(limit=DEPTH, per_document=1).hits, asked(limit=FIRST)
    names = tuple(hit.document.id for hit in hits)
    scores = {}
    if case.relevant:
        scores = {measure.name: measure.of(names, case.relevant) for measure in measures}
    checks = _required(case, names)
    if question.answer or case.forbidden or question.wrong or not question.answerable:
        checks |= _checks(library, case, names, found.hits)
    scores |= {name: float(not failure) for name, failure in checks.items()}
    return QuestionScore(
        case,
        names,
        {name: round(value, _SCORE_DIGITS) for name, value in scores.items()},
        tuple(failure for failure in checks.values() if failure),
        tuple(hit.document.source for hit in hits[:_NAMED]),
        found.warnings,
    )


def _required(case: Case, names: Sequence[str]) -> dict[str, str]:
    if not case.question.required:
        return {}
    missing = [name for name in case.relevant if name not in names[:FIRST]]
    return {"required@10": _listed("not among the first ten", case, missing)}


def _checks(
    library: Library, case: Case, names: Sequence[str], passages: Sequence[Hit]
) -> dict[str, str]:
    """Ask a question; return each check that applies, with what failed, or nothing."""
    question, checks = case.question, dict[str, str]()
    answer = library.answers.ask(question.question, shelves=question.shelves, remember=False)
    texts = _answer_texts(answer)
    if case.forbidden:
        checks["absent"] = _shown(case, names, {name for name, _ in texts})
    if question.answer:
        context = library.search.context(question.question, shelves=question.shelves)
        packed = [(e.hit.document.id, e.text) for e in context.excerpts]
        found = [(hit.document.id, hit.chunk.header + hit.chunk.text) for hit in passages]
        checks |= {
            "passage@10": _unheld("no passage holds the expected text", case, found),
            "context": _unheld("the context does not hold the expected text", case, packed),
            "answer": _unheld("the answer does not quote the expected text", case, texts),
        }
    if question.wrong:
        shown = (*(c.quote for c in answer.citations), *(one.text for one in answer.sentences))
        again = any(shows(text, question.wrong) for text in shown)
        checks["corrected"] = "the answer still shows what was called wrong" if again else ""
    if not question.answerable:
        checks["refusal"] = "an answer was given where there is none" if answer.found else ""
    return checks


def _answer_texts(answer: Answer) -> list[_Text]:
    """Return what an answer says and quotes, each with a document that it cites for it."""
    names = {entry.number: entry.document_id for entry in answer.citations}
    quotes = [(names[entry.number], entry.quote) for entry in answer.citations]
    sentences = [
        (names[number], sentence.text)
        for sentence in answer.sentences
        for number in sentence.citations
    ]
    return [*quotes, *sentences]


def _shown(case: Case, names: Sequence[str], cited: Collection[str]) -> str:
    shown = [name for name in sorted(case.forbidden) if name in cited or _leads(name, case, names)]
    return _listed("forbidden, yet first or cited", case, shown)


def _unheld(failure: str, case: Case, texts: Sequence[_Text]) -> str:
    """Return the failure unless a text of a document that counts holds what is expected."""
    counted = [text for name, text in texts if not case.relevant or name in case.relevant]
    return "" if any(holds(text, case.question.answer) for text in counted) else failure


def _leads(name: str, case: Case, names: Sequence[str]) -> bool:
    """Whether a forbidden document stands above every required one, or first without any."""
    first = next((found for found in names if found in case.relevant or found == name), None)
    return first == name and (bool(case.relevant) or names[0] == name)


def _listed(what: str, case: Case, names: Sequence[str]) -> str:
    return f"{what}: {', '.join(case.labels.get(name, name) for name in names)}" if names else ""


Floor = tuple[str, float]  # name of a measure and the least it may be


@dataclass(frozen=True, slots=True)
class Gate:
    """A measure held to a floor: ``figure`` is what it reached."""

    measure: str
    floor: float
    figure: float
    passed: bool


def parse_floor(text: str) -> Floor:
    """Read ``nDCG@10=.45``: a known measure, an equals sign and a number from 0 to 1."""
    name, _, figure = text.partition("=")
    try:
        floor = float(figure)
    except ValueError:
        floor = -1.0
    if not 0.0 <= floor <= 1.0:
        raise UsageError(
            f"'{text}' is not a measure and a figure from 0 to 1.",
            hint="Write it like: --fail-below nDCG@10=.45",
        )
    name = name.strip()
    return (name if name in CHECKS else measure_named(name).name), floor


def measures_for(floors: Sequence[Floor]) -> tuple[Measure, ...]:
    """Return the measures of every report and those that only a floor names."""
    names = {measure.name for measure in RANKING_MEASURES} | set(CHECKS)
    asked = dict.fromkeys(name for name, _ in floors if name not in names)
    return (*RANKING_MEASURES, *map(measure_named, asked))


def gates(floors: Sequence[Floor], found: Evaluation) -> tuple[Gate, ...]:
    """Hold measures to their floors; each must say something of these questions."""
    made: list[Gate] = []
    for name, floor in floors:
        if name not in found.measures:
            raise UsageError(
                f"'{name}' cannot be held to {floor:g}: it judges no question of {found.name}.",
                hint=f"These are measured: {', '.join(found.measures)}.",
            )
        figure = found.measures[name].mean
        made.append(Gate(name, floor, figure, passed=figure >= floor))
    return tuple(made)
