"""What people see of evaluations: figures with their intervals, and what went wrong first."""

from collections.abc import Iterator, Sequence

from chapterhouse.evaluation.feedback import Feedback
from chapterhouse.evaluation.gates import Gate
from chapterhouse.evaluation.measuring import Evaluation, Scored
from chapterhouse.interfaces.cli.terminal import cut, one_line
from chapterhouse.presenting.blocks import Block, Columns, Style, verbatim
from chapterhouse.text.counting import counted

_WORST = 5
_LABELS = 3  # documents named of each question
_LABEL = 60  # characters of a name or title
_QUESTION = 100
_DIGITS = 6
_RANKED = 10  # documents of a ranking


def evaluation(found: Evaluation, held: Sequence[Gate]) -> Iterator[Block]:
    """Show figures, the worst questions and whether the gates held."""
    yield _headline(found)
    yield verbatim()
    yield from _measures(found)
    yield from _worst(found.scored)
    for warning in found.warnings:
        yield verbatim(("warning  ", Style.WARNING), one_line(warning))
    for gate in held:
        yield from _gate(gate)


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
    return verbatim(
        (f"{questions} of {one_line(found.name)}", Style.STRONG), f", asked of {searched}"
    )


def _measures(found: Evaluation) -> Iterator[Block]:
    rows = [("measure", "mean", "95 % interval", "questions")]
    for name, value in found.measures.items():
        interval = f"{value.low:.3f}–{value.high:.3f}" if value.count > 1 else "not known"
        rows.append((name, f"{value.mean:.3f}", interval, f"{value.count:,}"))
    yield Columns(rows)


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
        places = {name: place for place, name in enumerate(entry.ranking, start=1)}
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


def _middle_cut(name: str) -> str:
    """Shorten a path or title; its end tells it from its neighbours as much as its beginning."""
    line = one_line(name)
    head = _LABEL // 3
    return line if len(line) <= _LABEL else f"{line[:head]}…{line[head - _LABEL + 1 :]}"


# --- what --json shows --------------------------------------------------------------------------


def evaluation_data(found: Evaluation, held: Sequence[Gate]) -> dict[str, object]:
    """Shape an evaluation."""
    return {
        "name": found.name,
        "searched": {"documents": found.documents, "chunks": found.chunks},
        "measures": found.measures,
        "questions": [_question_data(entry) for entry in found.scored],
        "gates": held,
        "warnings": found.warnings,
    }


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
