"""The tables of the natural collection."""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence

from folders import PARTS
from gold_sets import SetScore
from marking import HITS, Mark, calibration_error, median, share
from measuring import Bar, Row, Table
from questions import KINDS

Marks = Sequence[Mark]
# Facts in the first 3 and 8 hits, in percent.
_LEAST = {"built-in": (64, 77), "folder all-MiniLM-L6-v2": (70, 82)}

FOUND = (
    "questions", "readable", "facts in 3", "facts in 8", "in 250 words", "in 700 words",
    "documents in 3", "documents in 8", "shown", "wrong", "refused", "words shown",
)  # fmt: skip


def answerable(marks: Marks) -> list[Mark]:
    """Return the marks of answerable questions."""
    return [mark for mark in marks if mark.question.answerable]


def found(marks: Marks) -> Row:
    """Return the cells of ``FOUND`` over the answerable questions among the marks."""
    own = answerable(marks)
    shown = [mark.answer_words for mark in own if mark.answered]
    return (
        len(own),
        f"{100 * share([mark.readable for mark in own]).value:.1f}",
        *(str(share([mark.in_hits[place] for mark in own])) for place in (0, 1)),
        *(str(share([mark.in_words[place] for mark in own])) for place in (0, 1)),
        *(str(share([mark.documents[place] for mark in own])) for place in (0, 1)),
        str(share([mark.right for mark in own])),
        str(share([mark.answered and not mark.right for mark in own])),
        str(share([not mark.answered for mark in own])),
        median(shown) if shown else "–",
    )


def calibration(marks: Marks) -> float:
    """Return the expected calibration error over the answers shown."""
    shown = [mark for mark in marks if mark.answered]
    return calibration_error([mark.evidence for mark in shown], [mark.right for mark in shown])


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
        own = [mark for mark in answerable(marks) if PARTS[mark.question.folder] == "test"]
        for place, least in enumerate(_LEAST.get(label, ())) if own else ():
            value = 100 * share([mark.in_hits[place] for mark in own]).value
            yield Bar(f"facts in {HITS[place]}, test folders, {label}", value, least)
        typed = [mark for mark in answerable(marks) if mark.again is not None]
        if label in _LEAST and typed:
            lost = [bool(mark.again) - mark.in_hits[1] for mark in typed]
            yield Bar(f"lost by misspelling, {label}", 100 * statistics.fmean(lost), most=6)
    for label, own_scores in scores.items():
        for score in own_scores:
            if score.name == "2wiki-open":
                yield Bar(f"2wiki-open, {score.measure}, {label}", 100 * score.share.value, 80)


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
    yield _turns(f"Second turns{end}", marks)
    yield _unanswerable(f"Unanswerable{end}", marks)


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


def _turns(title: str, marks: Marks) -> Table:
    turns = [mark.followed for mark in marks if mark.followed is not None]
    rows = (
        ("as a whole question", len(turns), str(share([whole for whole, _ in turns]))),
        ("as typed, by itself", len(turns), str(share([raw for _, raw in turns]))),
    )
    return Table(title, ("second turn", "questions", "facts in 8"), rows)


def _unanswerable(title: str, marks: Marks) -> Table:
    rows = []
    for miss in ("near", "far"):
        own = [mark for mark in marks if mark.question.miss == miss]
        shown = [mark.answer_words for mark in own if mark.answered]
        rows.append(
            (
                miss,
                len(own),
                str(share([mark.answered for mark in own])),
                median(shown) if shown else "–",
            )
        )
    return Table(title, ("miss", "questions", "answered", "words shown"), tuple(rows))


def set_table(runs: Mapping[str, Sequence[SetScore]]) -> Table:
    """Return the judged collections: a row for each set, measure and embedder."""
    rows = [
        (score.name, score.measure, label, score.share.count, str(score.share))
        for label, scores in runs.items()
        for score in scores
    ]
    columns = ("set", "measure", "embedder", "questions", "share")
    return Table("Judged collections", columns, tuple(sorted(rows)))
