"""What people see of evaluations: figures with their intervals, and what went wrong first."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass

from chapterhouse.evaluation.chunking import StrategyScores
from chapterhouse.evaluation.comparing import Comparison, Evaluation
from chapterhouse.evaluation.feedback import Feedback
from chapterhouse.evaluation.gates import Gate
from chapterhouse.evaluation.measures import Estimate
from chapterhouse.evaluation.measuring import Scored
from chapterhouse.evaluation.spans import GoldSpans
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.terminal import cut, one_line
from chapterhouse.presenting.blocks import Block, Columns, Style, verbatim
from chapterhouse.text.counting import counted

_WORST = 5
_LABELS = 3  # documents named of each question
_CHANGES = 5  # questions named that lost, and as many that gained
_LABEL = 60  # characters of a name or title
_QUESTION = 100
_SURE = 0.05
_DIGITS = 6
_RANKED = 10  # documents of a ranking; all of them are in the run
_COLUMNS = ("gain", "95 % interval", "p", "better", "worse", "same")
_REAL = "To judge real answers: chapterhouse feedback good|bad …"


@dataclass(frozen=True, slots=True)
class Result:
    """Everything that one ``eval`` has to show."""

    found: Evaluation
    gates: tuple[Gate, ...]
    comparison: Comparison | None
    ablation: tuple[Comparison, ...]


def evaluation(value: Result) -> Iterator[Block]:
    """Show figures, comparisons, the worst questions and whether the gates held."""
    found = value.found
    yield _headline(found)
    yield verbatim()
    yield from _measures(found)
    yield verbatim((_latency(found), Style.QUIET))
    if value.comparison:
        yield from _comparison(value.comparison)
    if value.ablation:
        yield from _ablation(value.ablation)
    yield from _worst(found.scored)
    for warning in found.warnings:
        yield verbatim(("warning  ", Style.WARNING), one_line(warning))
    for gate in value.gates:
        yield from _gate(gate)
    if found.note:
        yield verbatim((f"{found.note} {_REAL}", Style.QUIET))


def chunking(name: str, gold: GoldSpans, found: Sequence[StrategyScores]) -> Iterator[Block]:
    """Show how well each way of cutting serves retrieval."""
    count = f"{counted(len(gold.questions), 'question')} of {one_line(name)}"
    yield verbatim((count, Style.STRONG), ", gold spans among the tokens of the first 5 chunks")
    yield verbatim()
    header = ("strategy", "chunks", "characters", "recall", "IoU", "precision", "precision-omega")
    rows = [header, *map(_strategy, found)]
    yield Columns(rows)
    yield verbatim(("Mean and half of the 95 % interval, in percent.", Style.QUIET))
    yield verbatim()
    averages = (
        (one.strategy, *(f"{value:.2f}" for value in astuple(one.quality))) for one in found
    )
    yield Columns([("strategy", "entropy", "coherence", "density", "importance"), *averages])
    yield verbatim(("Means of the measures of the chunks' words.", Style.QUIET))


def _strategy(entry: StrategyScores) -> tuple[str, ...]:
    measures = ("recall", "iou", "precision", "precision_omega")
    figures = (_percent(entry.measures[measure]) for measure in measures)
    return (entry.strategy, f"{entry.chunks:,}", f"{entry.characters:,.0f}", *figures)


def feedback(value: Feedback) -> Iterator[Block]:
    """Say what a verdict asks for from now on."""
    question = value.question
    words = {"added": "Added to", "replaced": "Replaced in", "unchanged": "Already in"}
    yield verbatim((words[value.change.value], Style.STRONG), f" {one_line(str(value.path))}")
    yield verbatim(f"  {question.id}  {cut(question.text, _QUESTION)}")
    several = "one of: " if len(question.answers) > 1 else ""
    wanted = (
        *(f"find: {one_line(name)}" for name in question.required),
        *(f"not rest on: {one_line(name)}" for name in question.forbidden),
        *(f"quote {several}{cut(answer, _QUESTION)}" for answer in question.answers),
        *(f"not show: {cut(text, _QUESTION)}" for text in question.wrong),
        *(() if question.answerable else ("find no answer",)),
    )
    for text in wanted:
        yield verbatim(f"  must {text}")
    yield verbatim(("Evaluate with: chapterhouse eval", Style.QUIET))


def _headline(found: Evaluation) -> Block:
    count = len(found.scored)
    questions = counted(count, "question")
    searched = f"{counted(found.documents, 'document')}, {counted(found.chunks, 'chunk')}"
    where = "made from the documents" if found.kind == "synthetic" else f"of {found.name}"
    return verbatim((f"{questions} {where}", Style.STRONG), f", asked of {searched}")


def _measures(found: Evaluation) -> Iterator[Block]:
    rows = [("measure", "mean", "95 % interval", "questions")]
    for name, value in found.measures.items():
        interval = f"{value.low:.3f}–{value.high:.3f}" if value.count > 1 else "not known"
        rows.append((name, f"{value.mean:.3f}", interval, f"{value.count:,}"))
    yield Columns(rows)


def _latency(found: Evaluation) -> str:
    times = found.latency
    shown = ", ".join(
        f"{1000 * seconds:.1f} ms ({name})"
        for name, seconds in (("median", times.p50), ("p95", times.p95), ("p99", times.p99))
    )
    return f"one search took {shown}"


def _comparison(value: Comparison) -> Iterator[Block]:
    yield verbatim()
    yield verbatim((f"Against {one_line(value.name)}", Style.STRONG))
    rows = (_row(name, value, name) for name in value.differences)
    yield Columns([("measure", "there", *_COLUMNS), *rows])
    if value.unranked:
        text = counted(value.unranked, "question is", "questions are")
        yield verbatim(f"{text} not ranked there; each scores 0.")
    yield from _changes(value)
    sure = {name: entry.gain.mean for name, entry in value.differences.items() if entry.p < _SURE}
    better = ", ".join(name for name, gain in sure.items() if gain > 0)
    worse = ", ".join(name for name, gain in sure.items() if gain < 0)
    verdicts = (better and f"better: {better}", worse and f"worse: {worse}")
    text = "; ".join(filter(None, verdicts)) or "no difference beyond chance"
    yield verbatim(f"At p < {_SURE:g}: {text}.")


def _changes(value: Comparison) -> Iterator[Block]:
    """Name the questions that lost and gained most in the first measure."""
    lost = [entry for entry in value.changes if entry[1] < 0][:_CHANGES]
    gained = [entry for entry in reversed(value.changes) if entry[1] > 0][:_CHANGES]
    name = next(iter(value.differences))
    for word, entries in (("lost", lost), ("gained", gained)):
        if entries:
            named = ", ".join(f"{one_line(question)} {gain:+.3f}" for question, gain in entries)
            yield verbatim(f"{word} most in {name}: {named}")


def _ablation(stages: Sequence[Comparison]) -> Iterator[Block]:
    name = next(iter(stages[0].differences))
    yield verbatim()
    yield verbatim((f"What the stages are worth, in {name}", Style.STRONG))
    rows = (_row(stage.name, stage, name) for stage in stages)
    yield Columns([("left out", name, "worth", *_COLUMNS[1:]), *rows])


def _row(label: str, value: Comparison, name: str) -> tuple[str, ...]:
    difference = value.differences[name]
    gain = difference.gain
    return (
        label,
        f"{value.others[name].mean:.3f}",
        f"{gain.mean:+.3f}",
        f"{gain.low:+.3f} to {gain.high:+.3f}",
        f"{difference.p:.4f}",
        f"{difference.wins:,}",
        f"{difference.losses:,}",
        f"{difference.ties:,}",
    )


def _worst(scored: Sequence[Scored]) -> Iterator[Block]:
    """Show the questions that went most wrong: what was wanted, and what was found instead."""
    wrong = [entry for entry in scored if _badness(entry)]
    worst = sorted(wrong, key=lambda entry: (_badness(entry), entry.case.question.id), reverse=True)
    if not worst:
        yield verbatim(("Every question got all it wants.", Style.GOOD))
        return
    yield verbatim()
    yield verbatim((f"Worst {min(_WORST, len(worst))} of {len(worst):,} not perfect", Style.STRONG))
    for entry in worst[:_WORST]:
        yield from _question(entry)


def _badness(entry: Scored) -> float:
    """Return what is missing to perfection: in order, then in checks."""
    checks = len(entry.failures)
    return round(1 - entry.scores.get("nDCG@10", 1.0), 6) + checks


def _question(entry: Scored) -> Iterator[Block]:
    question = entry.case.question
    figure = entry.scores.get("nDCG@10")
    shown = "     " if figure is None else f"{figure:.3f}"
    yield verbatim(
        (shown, Style.BAD), f"  {one_line(question.id)}  {cut(question.text, _QUESTION)}"
    )
    if entry.case.relevant:
        places = {ranked.document: place for place, ranked in enumerate(entry.ranking, start=1)}
        names = sorted(entry.case.relevant, key=lambda name: (places.get(name, 1_000), name))
        labels = [_wanted(entry, name, places.get(name)) for name in names[:_LABELS]]
        more = f", and {len(names) - _LABELS} more" if len(names) > _LABELS else ""
        yield verbatim(f"wanted: {'; '.join(labels)}{more}", indent=7)
    if entry.instead:
        yield verbatim(f"found: {'; '.join(map(_middle_cut, entry.instead))}", indent=7)
    for failure in entry.failures:
        yield verbatim(cut(failure, 2 * _QUESTION), indent=7)


def _wanted(entry: Scored, name: str, place: int | None) -> str:
    label = _middle_cut(entry.case.labels.get(name) or name)
    return f"{label} (place {place})" if place else f"{label} (not found)"


def _gate(gate: Gate) -> Iterator[Block]:
    verdict = ("passed  ", Style.GOOD) if gate.passed else ("FAILED  ", Style.BAD)
    sign = "≥" if gate.passed else "<"
    yield verbatim(verdict, f" {gate.measure} {gate.figure:.4f} {sign} {gate.floor:g}")


def _percent(value: Estimate) -> str:
    return f"{100 * value.mean:.1f} ± {50 * (value.high - value.low):.1f}"


def _middle_cut(name: str) -> str:
    """Shorten a path or title; its end tells it from its neighbours as much as its beginning."""
    line = one_line(name)
    head = _LABEL // 3
    return line if len(line) <= _LABEL else f"{line[:head]}…{line[head - _LABEL + 1 :]}"


# --- what --json shows --------------------------------------------------------------------------


def evaluation_data(value: Result, *, latency: bool) -> dict[str, object]:
    """Shape an evaluation. Times only where they were asked for: they differ on every run."""
    found = value.found
    shaped: dict[str, object] = {
        "name": found.name,
        "kind": found.kind,
        "searched": {"documents": found.documents, "chunks": found.chunks},
        "measures": found.measures,
        "questions": [_question_data(entry) for entry in found.scored],
        "gates": value.gates,
        "comparison": _comparison_data(value.comparison) if value.comparison else None,
        "ablation": [_comparison_data(entry) for entry in value.ablation],
        "warnings": found.warnings,
        "note": found.note,
    }
    if latency:
        shaped["latency"] = found.latency
    return shaped


def _question_data(entry: Scored) -> dict[str, object]:
    case = entry.case
    return {
        "id": case.question.id,
        "question": case.question.text,
        "required": sorted(case.relevant),
        "scores": {name: round(value, _DIGITS) for name, value in entry.scores.items()},
        "failures": entry.failures,
        "ranking": entry.ranking[:_RANKED],
    }


def _comparison_data(value: Comparison) -> dict[str, object]:
    return {
        "name": value.name,
        "unranked": value.unranked,
        "changes": dict(value.changes),
        "measures": {
            name: {"other": value.others[name], **plain(difference)}
            for name, difference in value.differences.items()
        },
    }
