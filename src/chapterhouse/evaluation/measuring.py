"""Ask every question of a task and score what comes back.

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
import time
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from chapterhouse.errors import ChapterhouseError
from chapterhouse.evaluation.collection import Case, Task
from chapterhouse.evaluation.measures import RANKING_MEASURES, Estimate, Measure, estimate
from chapterhouse.evaluation.runs import Ranked, Run
from chapterhouse.library import Library
from chapterhouse.retrieval.method import Method
from chapterhouse.types import Answer, Hit, Progress

DEPTH: Final = 100  # documents ranked
FIRST: Final = 10  # of which so many are looked at, as of the passages
CHECKS: Final = ("required@10", "absent", "passage@10", "context", "answer", "corrected", "refusal")
_NAMED: Final = 3  # of the documents found, as examples
_DIGITS: Final = 6  # of the scores in a ranking
_SCORE_DIGITS: Final = 12  # of a measure
_STEP: Final = 1e-6  # what scores differ by at least; also where they are read as 32-bit numbers
_EMPHASIS = re.compile(r"[*_`]+")  # may stand inside a word or before a full stop
_WORD = re.compile(r"\w+(?:[.,:/'’-]\w+)*|[^\w\s.,;:!?]")

OnProgress = Callable[[Progress], None]
_Text = tuple[str, str]  # a document's name and some text of it


@dataclass(frozen=True, slots=True)
class Scored:
    """A question with what came of it.

    Attributes:
        ranking: Documents, best first.
        scores: Measures and checks by name; those that say nothing of this question are absent.
        failures: What its file wants and it did not get, as sentences.
        instead: Names of the first documents found, for people.
        seconds: Time of one plain search.
        warnings: What did not work in that search.
    """

    case: Case
    ranking: tuple[Ranked, ...]
    scores: Mapping[str, float]
    failures: tuple[str, ...]
    instead: tuple[str, ...]
    seconds: float
    warnings: tuple[str, ...] = ()


def measure_task(
    task: Task,
    measures: Sequence[Measure] = RANKING_MEASURES,
    on_progress: OnProgress | None = None,
) -> tuple[Scored, ...]:
    """Ask and score every question, in the order of the task.

    Raises:
        ChapterhouseError: the library refuses a question; the message says which.
    """
    scored: list[Scored] = []
    for number, case in enumerate(task.cases, start=1):
        try:
            scored.append(_measure(task, case, measures))
        except ChapterhouseError as error:
            error.message = f"{case.question.place or case.question.id}: {error.message}"
            error.args = (error.message,)
            raise
        if on_progress:
            on_progress(Progress(number, len(task.cases), case.question.text))
    return tuple(scored)


def rank_task(task: Task, method: Method, on_progress: OnProgress | None = None) -> Run:
    """Rank the documents for every question by one method, and do nothing else."""
    run: dict[str, Sequence[Ranked]] = {}
    for number, case in enumerate(task.cases, start=1):
        run[case.question.id] = _ranking(task, _document_hits(task.library, case, method))
        if on_progress:
            on_progress(Progress(number, len(task.cases), case.question.text))
    return run


def estimates(scored: Sequence[Scored]) -> dict[str, Estimate]:
    """Return the mean of every measure with its interval, in a fixed order of names."""
    names = dict.fromkeys(name for entry in scored for name in entry.scores)
    ordered = [name for name in names if name not in CHECKS]
    ordered += [name for name in CHECKS if name in names]
    return {
        name: estimate([entry.scores[name] for entry in scored if name in entry.scores])
        for name in ordered
    }


def as_run(scored: Sequence[Scored]) -> Run:
    """Return the rankings as a run."""
    return {entry.case.question.id: entry.ranking for entry in scored}


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


@dataclass(frozen=True, slots=True)
class _Response:
    """What the library says to a question: texts, each with the document it comes from."""

    found: bool
    passages: Sequence[_Text]
    packed: Sequence[_Text]
    answer_texts: Sequence[_Text]
    shown: Sequence[str]


def _measure(task: Task, case: Case, measures: Sequence[Measure]) -> Scored:
    question = case.question
    hits = _document_hits(task.library, case)
    ranking = _ranking(task, hits)
    began = time.perf_counter()
    found = task.library.search.hits(question.text, shelves=question.shelves, limit=FIRST)
    seconds = time.perf_counter() - began
    names = [entry.document for entry in ranking]
    scores = {}
    if case.relevant:
        scores = {measure.name: measure.of(names, case.relevant) for measure in measures}
    checks = _required(case, names)
    if question.answers or case.forbidden or question.wrong or not question.answerable:
        checks |= _checks(case, names, _ask(task, case, found.hits))
    scores |= {name: float(not failure) for name, failure in checks.items()}
    return Scored(
        case,
        ranking,
        {name: round(value, _SCORE_DIGITS) for name, value in scores.items()},
        tuple(failure for failure in checks.values() if failure),
        tuple(_label(task, hit) for hit in hits[:_NAMED]),
        seconds,
        found.warnings,
    )


def _ask(task: Task, case: Case, passages: Sequence[Hit]) -> _Response:
    question = case.question
    answer = task.library.answers.ask(question.text, shelves=question.shelves, remember=False)
    packed: Sequence[_Text] = ()
    if question.answers:
        context = task.library.search.context(question.text, shelves=question.shelves)
        packed = [(_name(task, e.hit.document.id), e.text) for e in context.excerpts]
    return _Response(
        answer.found,
        [(_name(task, hit.document.id), hit.chunk.header + hit.chunk.text) for hit in passages],
        packed,
        _answer_texts(task, answer),
        [*(entry.quote for entry in answer.citations), *(one.text for one in answer.sentences)],
    )


def _document_hits(library: Library, case: Case, method: Method | None = None) -> Sequence[Hit]:
    question = case.question
    return library.search.hits(
        question.text, shelves=question.shelves, limit=DEPTH, per_document=1, method=method
    ).hits


def _ranking(task: Task, hits: Sequence[Hit]) -> tuple[Ranked, ...]:
    """Return the documents of hits in their order.

    What holds a quoted phrase comes first whatever its score; scores are lowered to fall strictly,
    so that whoever sorts by them has the order in which the library gave them.
    """
    ranked: list[Ranked] = []
    score = float("inf")
    for hit in hits:
        score = round(min(hit.score, score - _STEP), _DIGITS)
        ranked.append(Ranked(_name(task, hit.document.id), score))
    return tuple(ranked)


def _label(task: Task, hit: Hit) -> str:
    """Return what people call a document: its source, or the collection's id and title."""
    name = task.names.get(hit.document.id)
    return hit.document.source if name is None else f"{name} {hit.document.title}"


def _required(case: Case, names: Sequence[str]) -> dict[str, str]:
    if not case.question.required:
        return {}
    missing = [name for name in case.relevant if name not in names[:FIRST]]
    return {"required@10": _listed("not among the first ten", case, missing)}


def _checks(case: Case, names: Sequence[str], response: _Response) -> dict[str, str]:
    """Return each check that applies, with what failed, or nothing."""
    checks: dict[str, str] = {}
    if case.forbidden:
        checks["absent"] = _shown(case, names, {name for name, _ in response.answer_texts})
    if case.question.answers:
        checks |= {
            "passage@10": _unheld("no passage holds the expected text", case, response.passages),
            "context": _unheld(
                "the context does not hold the expected text", case, response.packed
            ),
            "answer": _unheld(
                "the answer does not quote the expected text", case, response.answer_texts
            ),
        }
    if case.question.wrong:
        again = any(shows(text, case.question.wrong) for text in response.shown)
        checks["corrected"] = "the answer still shows what was called wrong" if again else ""
    if not case.question.answerable:
        checks["refusal"] = "an answer was given where there is none" if response.found else ""
    return checks


def _answer_texts(task: Task, answer: Answer) -> list[_Text]:
    """Return what an answer says and quotes, each with a document that it cites for it."""
    names = {entry.number: _name(task, entry.document_id) for entry in answer.citations}
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
    return "" if any(holds(text, case.question.answers) for text in counted) else failure


def _leads(name: str, case: Case, names: Sequence[str]) -> bool:
    """Whether a forbidden document stands above every required one, or first without any."""
    first = next((found for found in names if found in case.relevant or found == name), None)
    return first == name and (bool(case.relevant) or names[0] == name)


def _listed(what: str, case: Case, names: Sequence[str]) -> str:
    return f"{what}: {', '.join(case.labels.get(name, name) for name in names)}" if names else ""


def _name(task: Task, document_id: str) -> str:
    return task.names.get(document_id, document_id)
