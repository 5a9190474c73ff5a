"""What people see of evaluations: figures with their intervals, and what went wrong first."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from chapterhouse.evaluation.chunking import StrategyScores
from chapterhouse.evaluation.comparing import Comparison, Evaluation
from chapterhouse.evaluation.feedback import Feedback
from chapterhouse.evaluation.gates import Gate
from chapterhouse.evaluation.measures import Estimate
from chapterhouse.evaluation.measuring import Scored
from chapterhouse.evaluation.spans import GoldSpans
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.terminal import columns, indented, one_line, say, styled
from chapterhouse.text.counting import counted

if TYPE_CHECKING:
    from rich.console import Console


_WORST = 5
_LABELS = 3  # documents named of each question
_CHANGES = 5  # questions named that lost, and as many that gained
_LABEL = 60  # characters of a name or title
_QUESTION = 100
_SURE = 0.05
_DIGITS = 6
_RANKED = 10  # documents of a ranking; all of them are in the run
_REAL = "To judge real answers: chapterhouse feedback good|bad …"


@dataclass(frozen=True, slots=True)
class Result:
    """Everything that one ``eval`` has to show."""

    found: Evaluation
    gates: tuple[Gate, ...]
    comparison: Comparison | None
    ablation: tuple[Comparison, ...]


def evaluation(target: "Console", value: Result) -> None:
    """Show figures, comparisons, the worst questions and whether the gates held."""
    found = value.found
    target.print(_headline(found))
    target.print()
    _measures(target, found)
    say(target, (_latency(found), "dim"))
    if value.comparison:
        _comparison(target, value.comparison)
    if value.ablation:
        _ablation(target, value.ablation)
    _worst(target, found.scored)
    for warning in found.warnings:
        say(target, ("warning  ", "yellow"), one_line(warning))
    for gate in value.gates:
        _gate(target, gate)
    if found.note:
        say(target, (f"{found.note} {_REAL}", "dim"))


def chunking(
    target: "Console", name: str, gold: GoldSpans, found: Sequence[StrategyScores]
) -> None:
    """Show how well each way of cutting serves retrieval."""
    count = f"{counted(len(gold.questions), 'question')} of {one_line(name)}"
    say(target, (count, "bold"), ", gold spans among the tokens of the first 5 chunks")
    target.print()
    rows: list[tuple[str, ...]] = [
        ("strategy", "chunks", "characters", "recall", "IoU", "precision", "precision-omega")
    ]
    qualities: list[tuple[str, ...]] = [
        ("strategy", "entropy", "coherence", "density", "importance")
    ]
    for entry in found:
        measures = ("recall", "iou", "precision", "precision_omega")
        figures = [_percent(entry.measures[measure]) for measure in measures]
        rows.append((entry.strategy, f"{entry.chunks:,}", f"{entry.characters:,.0f}", *figures))
        qualities.append((entry.strategy, *(f"{value:.2f}" for value in astuple(entry.quality))))
    columns(target, rows)
    say(target, ("Mean and half of the 95 % interval, in percent.", "dim"))
    target.print()
    columns(target, qualities)
    say(target, ("Means of the measures of the chunks' words.", "dim"))


def feedback(target: "Console", value: Feedback) -> None:
    """Say what a verdict asks for from now on."""
    question = value.question
    words = {"added": "Added to", "replaced": "Replaced in", "unchanged": "Stands already in"}
    say(target, (words[value.change.value], "bold"), f" {one_line(str(value.path))}")
    say(target, f"  {question.id}  {_cut(question.text, _QUESTION)}")
    for name in question.required:
        say(target, f"  must find: {one_line(name)}")
    for name in question.forbidden:
        say(target, f"  must not rest on: {one_line(name)}")
    several = "one of: " if len(question.answers) > 1 else ""
    for answer in question.answers:
        say(target, f"  must quote {several}{_cut(answer, _QUESTION)}")
    for text in question.wrong:
        say(target, f"  must not show: {_cut(text, _QUESTION)}")
    if not question.answerable:
        say(target, "  must find no answer")
    say(target, ("Evaluate with: chapterhouse eval", "dim"))


def _headline(found: Evaluation) -> object:
    count = len(found.scored)
    questions = counted(count, "question")
    searched = f"{counted(found.documents, 'document')}, {counted(found.chunks, 'chunk')}"
    where = {
        "collection": f"of {found.name}",
        "questions": f"of {found.name}",
        "synthetic": "made from the documents",
    }[found.kind]
    return styled((f"{questions} {where}", "bold"), f", asked of {searched}")


def _measures(target: "Console", found: Evaluation) -> None:
    rows = [("measure", "mean", "95 % interval", "questions")]
    rows += [
        (name, f"{value.mean:.3f}", _interval(value), f"{value.count:,}")
        for name, value in found.measures.items()
    ]
    columns(target, rows)


def _interval(value: Estimate) -> str:
    return f"{value.low:.3f}–{value.high:.3f}" if value.count > 1 else "not known"


def _latency(found: Evaluation) -> str:
    times = found.latency
    shown = ", ".join(
        f"{1000 * seconds:.1f} ms ({name})"
        for name, seconds in (("median", times.p50), ("p95", times.p95), ("p99", times.p99))
    )
    return f"one search took {shown}"


def _comparison(target: "Console", value: Comparison) -> None:
    target.print()
    say(target, (f"Against {one_line(value.name)}", "bold"))
    rows: list[tuple[str, ...]] = [
        ("measure", "there", "gain", "95 % interval", "p", "better", "worse", "same")
    ]
    rows += [_row(name, value, name) for name in value.differences]
    columns(target, rows)
    if value.unranked:
        text = counted(value.unranked, "question is", "questions are")
        say(target, f"{text} not ranked there; each scores 0.")
    gained = [
        name for name, entry in value.differences.items() if entry.p < _SURE and entry.gain.mean > 0
    ]
    lost = [
        name for name, entry in value.differences.items() if entry.p < _SURE and entry.gain.mean < 0
    ]
    verdicts = [
        f"{word}: {', '.join(names)}"
        for word, names in (("better", gained), ("worse", lost))
        if names
    ]
    _changes(target, value)
    text = "; ".join(verdicts) or "no difference beyond chance"
    say(target, f"At p < {_SURE:g}: {text}.")


def _changes(target: "Console", value: Comparison) -> None:
    """Name the questions that lost and gained most in the first measure."""
    lost = [entry for entry in value.changes if entry[1] < 0][:_CHANGES]
    gained = [entry for entry in reversed(value.changes) if entry[1] > 0][:_CHANGES]
    name = next(iter(value.differences))
    for word, entries in (("lost", lost), ("gained", gained)):
        if entries:
            named = ", ".join(f"{one_line(question)} {gain:+.3f}" for question, gain in entries)
            say(target, f"{word} most in {name}: {named}")


def _ablation(target: "Console", stages: Sequence[Comparison]) -> None:
    name = next(iter(stages[0].differences))
    target.print()
    say(target, (f"What the stages are worth, in {name}", "bold"))
    rows: list[tuple[str, ...]] = [
        ("left out", name, "worth", "95 % interval", "p", "better", "worse", "same")
    ]
    rows += [_row(stage.name, stage, name) for stage in stages]
    columns(target, rows)


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


def _worst(target: "Console", scored: Sequence[Scored]) -> None:
    """Show the questions that went most wrong: what was wanted, and what was found instead."""
    wrong = [entry for entry in scored if _badness(entry)]
    worst = sorted(wrong, key=lambda entry: (_badness(entry), entry.case.question.id), reverse=True)
    if not worst:
        say(target, ("Every question got all it wants.", "green"))
        return
    target.print()
    say(target, (f"Worst {min(_WORST, len(worst))} of {len(worst):,} not perfect", "bold"))
    for entry in worst[:_WORST]:
        _question(target, entry)


def _badness(entry: Scored) -> float:
    """Return what is missing to perfection: in order, then in checks."""
    checks = len(entry.failures)
    return round(1 - entry.scores.get("nDCG@10", 1.0), 6) + checks


def _question(target: "Console", entry: Scored) -> None:
    question = entry.case.question
    figure = entry.scores.get("nDCG@10")
    shown = "     " if figure is None else f"{figure:.3f}"
    say(target, (shown, "red"), f"  {one_line(question.id)}  {_cut(question.text, _QUESTION)}")
    if entry.case.relevant:
        places = {ranked.document: place for place, ranked in enumerate(entry.ranking, start=1)}
        names = sorted(entry.case.relevant, key=lambda name: (places.get(name, 1_000), name))
        labels = [_wanted(entry, name, places.get(name)) for name in names[:_LABELS]]
        more = f", and {len(names) - _LABELS} more" if len(names) > _LABELS else ""
        indented(target, f"wanted: {'; '.join(labels)}{more}", 7)
    if entry.instead:
        indented(target, f"found: {'; '.join(map(_middle_cut, entry.instead))}", 7)
    for failure in entry.failures:
        indented(target, _cut(failure, 2 * _QUESTION), 7)


def _wanted(entry: Scored, name: str, place: int | None) -> str:
    label = _middle_cut(entry.case.labels.get(name) or name)
    return f"{label} (place {place})" if place else f"{label} (not found)"


def _gate(target: "Console", gate: Gate) -> None:
    verdict = ("passed  ", "green") if gate.passed else ("FAILED  ", "bold red")
    sign = "≥" if gate.passed else "<"
    say(target, verdict, f" {gate.measure} {gate.figure:.4f} {sign} {gate.floor:g}")


def _percent(value: Estimate) -> str:
    return f"{100 * value.mean:.1f} ± {50 * (value.high - value.low):.1f}"


def _cut(text: str, most: int) -> str:
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


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
