"""The tables of the natural collection."""

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence

from folders import PARTS
from gold_sets import SetScore
from marking import HITS, Mark, calibration_error, median, share
from measuring import Bar, Row, Table
from questions import KINDS

Marks = Sequence[Mark]
# Facts in the first 3 and 8 hits, and in what the first screen quotes, in percent.
_LEAST = {"built-in": (64, 77, 55), "folder all-MiniLM-L6-v2": (70, 82, 62)}
_FRAGMENTS_SHOWN = 20

FOUND = (
    "questions", "readable", "facts in 3", "facts in 8", "in 250 words", "in 700 words",
    "documents in 3", "documents in 8", "shown", "further", "as an answer", "wrong", "refused",
    "words shown",
)  # fmt: skip


def answerable(marks: Marks) -> list[Mark]:
    """Return the marks of answerable questions."""
    return [mark for mark in marks if mark.question.answerable]


def found(marks: Marks) -> Row:
    """Return the cells of ``FOUND`` over the answerable questions among the marks."""
    own = answerable(marks)
    words = [mark.reply_words for mark in own if mark.reply_words]
    return (
        len(own),
        f"{100 * share([mark.readable for mark in own]).value:.1f}",
        *(str(share([mark.in_hits[place] for mark in own])) for place in (0, 1)),
        *(str(share([mark.in_words[place] for mark in own])) for place in (0, 1)),
        *(str(share([mark.documents[place] for mark in own])) for place in (0, 1)),
        str(share([mark.right for mark in own])),
        str(share([mark.further for mark in own])),
        str(share([mark.outcome == "answer" for mark in own])),
        str(share([wrong(mark) for mark in own])),
        str(share([mark.outcome == "not-found" for mark in own])),
        f"{median(words):.0f}, {max(words)}" if words else "–",
    )


def wrong(mark: Mark) -> bool:
    """Whether what is called an answer lacks a fact."""
    return mark.outcome == "answer" and not mark.right


def calibration(marks: Marks) -> float:
    """Return the expected calibration error over everything shown."""
    shown = [mark for mark in marks if mark.outcome != "not-found"]
    return calibration_error([mark.confidence for mark in shown], [mark.right for mark in shown])


def main_table(runs: Mapping[str, Marks]) -> Table:
    """Return the main figures: a row for each embedder and part."""
    rows: list[Row] = []
    for label, marks in runs.items():
        for part in ("open", "test"):
            own = [mark for mark in marks if PARTS[mark.question.folder] == part]
            if own:
                rows.append((label, part, *found(own), f"{calibration(own):.3f}"))
    return Table(
        "Embedder and part", ("embedder", "part", *FOUND, "calibration error"), tuple(rows)
    )


def bars(runs: Mapping[str, Marks], scores: Mapping[str, Sequence[SetScore]]) -> Iterator[Bar]:
    """Yield what the test folders and the sets must reach, in percent, for runs that have them."""
    for label, marks in runs.items():
        own = [mark for mark in marks if PARTS[mark.question.folder] == "test"]
        if own and label in _LEAST:
            yield from _found_bars(answerable(own), label)
            yield from _shown_bars(own, label)
        typed = [mark for mark in answerable(marks) if mark.again is not None]
        if label in _LEAST and typed:
            lost = [bool(mark.again) - mark.in_hits[1] for mark in typed]
            yield Bar(f"lost by misspelling, {label}", 100 * statistics.fmean(lost), most=6)
        fragments = sum(len(mark.fragments) for mark in marks)
        yield Bar(f"fragments in all replies, {label}", fragments, most=0)
    for label, own_scores in scores.items():
        for score in own_scores:
            if score.name == "2wiki-open":
                yield Bar(f"2wiki-open, {score.measure}, {label}", 100 * score.share.value, 80)


def _found_bars(own: Marks, label: str) -> Iterator[Bar]:
    in_3, in_8, shown = _LEAST[label]
    for count, place, least in zip(HITS, (0, 1), (in_3, in_8), strict=True):
        found = [mark.in_hits[place] for mark in own]
        yield Bar(f"facts in {count}, test folders, {label}", percent(found), least)
    yield Bar(f"shown, test folders, {label}", percent([mark.right for mark in own]), shown)
    yield Bar(f"further, test folders, {label}", percent([mark.further for mark in own]), 75)
    yield Bar(f"wrong, test folders, {label}", percent([wrong(mark) for mark in own]), most=8)
    refused = [mark.outcome == "not-found" for mark in own]
    yield Bar(f"refused, test folders, {label}", percent(refused), most=8)


def _shown_bars(own: Marks, label: str) -> Iterator[Bar]:
    end = f"test folders, {label}"
    for miss, most in (("far", 3), ("near", 15)):
        shown = [mark.outcome == "answer" for mark in own if mark.question.miss == miss]
        yield Bar(f"{miss} misses shown as an answer, {end}", percent(shown), most=most)
    yield Bar(f"calibration error, {end}", calibration(own), most=0.08)
    yield Bar(f"sure and right, {end}", percent([mark.right for mark in own if mark.sure]), 88)
    strayed = [bool(mark.strayed) for mark in _naming(own) if mark.outcome == "answer"]
    yield Bar(f"named, and another document quoted, {end}", percent(strayed), most=3)
    yield Bar(f"lists: facts shown of those in the context, {end}", _listed(own), 80)


def percent(values: Sequence[bool]) -> float:
    """Return the share of true values in percent; not a number without values."""
    return 100 * share(values).value


def _naming(marks: Marks) -> list[Mark]:
    return [mark for mark in marks if mark.strayed is not None]


def _listed(marks: Marks) -> float:
    """Return the facts of lists that are shown, in percent of those that the context holds."""
    counts = [mark.listed for mark in marks if mark.listed]
    there = sum(count for _, count in counts)
    return 100 * sum(count for count, _ in counts) / there if there else math.nan


def tables(marks: Marks, label: str) -> Iterator[Table]:
    """Yield the figures of one run by folder, kind and manner of asking."""
    end = f", {label}" if label else ""
    yield _by(f"By folder{end}", marks, "folder", lambda mark: mark.question.folder, tuple(PARTS))
    yield _by(f"By kind{end}", marks, "kind", lambda mark: mark.question.kind, KINDS)
    words = ("other words", "the documents' words")
    yield _by(
        f"By words{end}", marks, "words", lambda mark: words[not mark.question.other_words], words
    )
    yield _spelling(f"Misspelled{end}", marks)
    yield _unanswerable(f"Unanswerable{end}", marks)
    yield _certainty(f"How sure{end}", marks)
    yield _binding(f"Names, lists and fragments{end}", marks)


def _by(
    title: str, marks: Marks, column: str, key: Callable[[Mark], str], order: Sequence[str]
) -> Table:
    groups = {name: [mark for mark in marks if key(mark) == name] for name in order}
    rows = [(name, *found(own)) for name, own in groups.items() if answerable(own)]
    return Table(title, (column, *FOUND), tuple(rows))


def _spelling(title: str, marks: Marks) -> Table:
    own = [mark for mark in answerable(marks) if mark.again is not None]
    rows = (
        ("as typed", len(own), str(share([mark.in_hits[1] for mark in own]))),
        ("spelled right", len(own), str(share([bool(mark.again) for mark in own]))),
    )
    return Table(title, ("question", "questions", "facts in 8"), rows)


def _unanswerable(title: str, marks: Marks) -> Table:
    rows = []
    for miss in ("near", "far"):
        own = [mark for mark in marks if mark.question.miss == miss]
        outcomes = [[mark.outcome == outcome for mark in own] for outcome in _OUTCOMES]
        rows.append((miss, len(own), *(str(share(values)) for values in outcomes)))
    return Table(title, ("miss", "questions", *_OUTCOMES), tuple(rows))


_OUTCOMES = ("answer", "passages", "not-found")


def _certainty(title: str, marks: Marks) -> Table:
    """Return what each word for the confidence is worth: over all questions, and what it says."""
    words = {
        "sure": [mark for mark in marks if mark.sure],
        "likely": [mark for mark in marks if mark.outcome == "answer" and not mark.sure],
        "passages": [mark for mark in marks if mark.outcome == "passages"],
    }
    rows = [
        (
            word,
            len(own),
            str(share([mark.right for mark in own])),
            f"{100 * statistics.fmean(mark.confidence for mark in own):.1f}" if own else "–",
        )
        for word, own in words.items()
    ]
    return Table(title, ("called", "questions", "facts shown", "stated"), tuple(rows))


def _binding(title: str, marks: Marks) -> Table:
    """Return how often another document is quoted than the one named, and parts of no use."""
    rows: list[Row] = [
        (
            f"another document quoted than the one named: {outcome}",
            len(own),
            str(share([bool(mark.strayed) for mark in own])),
        )
        for outcome in _OUTCOMES[:2]
        for own in [[mark for mark in _naming(marks) if mark.outcome == outcome]]
    ]
    lists = [mark for mark in marks if mark.listed]
    rows.append(("lists: facts shown of those in the context", len(lists), f"{_listed(marks):.1f}"))
    fragments = [(mark.question.id, text) for mark in marks for text in mark.fragments]
    rows.append(("fragments", len(fragments), "–"))
    rows += [(f"{name}: {text!r}"[:120], 1, "–") for name, text in fragments[:_FRAGMENTS_SHOWN]]
    return Table(title, ("what", "count", "share"), tuple(rows))


def set_table(runs: Mapping[str, Sequence[SetScore]]) -> Table:
    """Return the judged collections: a row for each set, measure and embedder."""
    rows = [
        (score.name, score.measure, label, score.share.count, str(score.share))
        for label, scores in runs.items()
        for score in scores
    ]
    columns = ("set", "measure", "embedder", "questions", "share")
    return Table("Judged collections", columns, tuple(sorted(rows)))
