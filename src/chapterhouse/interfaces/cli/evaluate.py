"""Commands that measure: eval and feedback."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse import lazy
from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.cli.options import (
    Shelves,
    argument,
    option,
    readable,
    require_path,
)
from chapterhouse.interfaces.cli.progress import show_progress
from chapterhouse.interfaces.cli.session import FAILED, OK, Outcome, opened_library
from chapterhouse.presenting.blocks import Columns, Style, TerminalBlock, verbatim
from chapterhouse.presenting.styled import cut, one_line
from chapterhouse.text.counting import counted

if TYPE_CHECKING:
    from chapterhouse.evaluation import measuring, questions, readers
    from chapterhouse.interfaces.api import routing
    from chapterhouse.library import Library, opening
else:
    opening = lazy("chapterhouse.library.opening")
    routing = lazy("chapterhouse.interfaces.api.routing")
    readers = lazy("chapterhouse.evaluation.readers")
    measuring = lazy("chapterhouse.evaluation.measuring")
    questions = lazy("chapterhouse.evaluation.questions")

_WORST = 5
_LABELS = 3  # documents named of each question
_LABEL = 60  # characters of a name or title
_QUESTION = 100
_DIGITS = 6
_RANKED = 10  # documents of a ranking


def evaluate(
    path: Annotated[
        str | None, argument("FILE", "A file of questions; else the workspace's own.")
    ] = None,
    *,
    fail_below: Annotated[
        list[str] | None,
        option(
            "--fail-below",
            "MEASURE=FIGURE",
            "End with 1 where a measure is below a figure; repeatable.",
        ),
    ] = None,
    persona: Annotated[
        list[str] | None,
        option("--persona", "SLUG", "Say what their documents answer, and lack; repeatable."),
    ] = None,
    council: Annotated[
        str, option("--council", "SLUG", "Say whose documents answer what, member by member.")
    ] = "",
    key: Annotated[
        list[str] | None,
        option("--key", "ID", "Say what a key does not see that would answer; repeatable."),
    ] = None,
) -> Outcome:
    """Measure how well questions are answered, or whose documents answer them.

    Without FILE: the workspace's questions.jsonl, which feedback writes. Exit code 1 says that a
    --fail-below was not reached.
    """
    if (persona or council or key) and fail_below:
        raise typer.BadParameter("--persona, --council and --key measure nothing: leave out gates.")
    floors = [measuring.parse_floor(text) for text in fail_below or ()]
    measures = measuring.measures_for(floors)
    named = None if path is None else Path(require_path(path)).expanduser()
    with opened_library() as library:
        own = questions.question_file(library)
        file = named or own
        if not (named or own.exists()):
            raise NotFoundError(
                f"There are no questions in {own}.",
                hint="Judge answers with chapterhouse feedback, or name a file of questions.",
            )
        asked = questions.read_questions(file)
        if persona or council or key:
            return _compared(library, asked, tuple(persona or ()), council, tuple(key or ()))
        with show_progress() as on_progress:
            found = measuring.evaluate(asked, library, str(file), measures, on_progress)
    held = measuring.gates(floors, found)
    return Outcome(
        _evaluation_data(found, held),
        _evaluation(found, held),
        OK if all(gate.passed for gate in held) else FAILED,
    )


def _compared(
    library: "Library",
    asked: Sequence["questions.Question"],
    personas: Sequence[str],
    council: str,
    keys: Sequence[str],
) -> Outcome:
    """Say what each reader's documents answer, and what they lack that others have."""
    found = [
        *readers.persona_readers(library, personas),
        *(readers.member_readers(library, council) if council else ()),
        *_key_readers(library, keys),
    ]
    with show_progress() as on_progress:
        compared = readers.compare_readers(asked, library, found, on_progress)
    return Outcome({"questions": compared}, _readers([one.name for one in found], compared))


def _key_readers(library: "Library", keys: Sequence[str]) -> Iterator["readers.Reader"]:
    if not keys:
        return
    with closing(opening.open_access(library.home)) as opened:
        for name in keys:
            grant = opened.find_key(name).grant
            yield readers.Reader(name, library.within(*routing.permitted(grant, library)))


def _readers(
    names: Sequence[str], compared: Sequence["readers.ReaderQuestion"]
) -> Iterator[TerminalBlock]:
    rows = [("", *names)]
    rows += [
        (cut(one_line(one.question), _LABEL), *(one.reach[name].value for name in names))
        for one in compared
    ]
    yield Columns(rows, wrap=True)
    for name in names:
        reached = [one.reach[name] for one in compared]
        answered = reached.count(readers.Reach.ANSWERS)
        yield verbatim("")
        yield verbatim((name, Style.STRONG), f": answers {answered} of {len(compared)}")
        lacking = [source for one in compared for source in one.lacking.get(name, ())]
        for source, number in Counter(lacking).most_common(_WORST):
            lacks = f"lacks {one_line(source)}, which answers {counted(number, 'question')}"
            yield verbatim(lacks, indent=2)


def feedback(
    verdict: Annotated[str, argument("VERDICT", "What the answer was: good or bad.")],
    answer: Annotated[
        str | None, argument("FILE", "What ask --json printed; - for standard input.")
    ] = None,
    *,
    question: Annotated[
        str | None, option("--question", "TEXT", "Ask this now and judge its answer.")
    ] = None,
    required: Annotated[
        list[str] | None,
        option(
            "--required", "NAME", "The document that is right, instead of those cited; repeatable."
        ),
    ] = None,
    sentence: Annotated[
        list[str] | None,
        option("--sentence", "N", "The sentence that is wrong, by number or words; repeatable."),
    ] = None,
    passage: Annotated[
        list[str] | None,
        option(
            "--passage", "N", "The quoted passage that is wrong, by number or words; repeatable."
        ),
    ] = None,
    document: Annotated[
        list[str] | None,
        option(
            "--document", "NAME", "A document that the answer must not rest on at all; repeatable."
        ),
    ] = None,
    shelf: Shelves = None,
) -> Outcome:
    """Keep a good or bad answer as a question to evaluate.

    It goes to questions.jsonl in the workspace's folder, which eval asks by itself. Say what was
    wrong with --sentence, --passage or --document; without them, the sentences and passages of a
    bad answer must not be shown again. A later verdict on the same question replaces the earlier.
    """
    if verdict not in {"good", "bad"}:
        raise typer.BadParameter(f"An answer is good or bad, not '{verdict}'.")
    if (answer is None) == (question is None):
        raise typer.BadParameter("Name a FILE with an answer, - for standard input, or --question.")

    shelves = tuple(shelf or ())
    with opened_library() as library:
        if answer is not None:
            judged = _read_answer(answer)
        else:
            asked = readable(question or "")
            reply = library.answers.ask(asked, shelves=shelves or None, remember=False)
            judged = questions.to_judged_answer(reply)
        wrong = questions.Wrong(*(tuple(names or ()) for names in (sentence, passage, document)))
        judgement = questions.as_question(
            questions.Verdict(verdict), judged, tuple(required or ()), shelves or None, wrong
        )
        found = questions.save_feedback(library, judgement)
        return Outcome(found, _feedback(found))


def _read_answer(name: str) -> "questions.JudgedAnswer":
    """Return an answer that was printed as JSON: of a file, or "-" of standard input."""
    if name == "-":
        return questions.parse_answer(
            sys.stdin.buffer.read().decode("utf-8", "replace"), "standard input"
        )
    return questions.parse_answer(questions.read_text(Path(require_path(name))), name)


# --- what is shown ------------------------------------------------------------------------------


def _evaluation(
    found: "measuring.Evaluation", held: "Sequence[measuring.Gate]"
) -> Iterator[TerminalBlock]:
    yield _headline(found)
    yield verbatim()
    yield from _measures(found)
    yield from _worst(found.scored)
    for warning in found.warnings:
        yield verbatim(("warning  ", Style.WARNING), one_line(warning))
    for gate in held:
        yield from _gate(gate)


def _feedback(value: "questions.Feedback") -> Iterator[TerminalBlock]:
    question = value.question
    words = {"added": "Added to", "replaced": "Replaced in", "unchanged": "Already in"}
    yield verbatim((words[value.change.value], Style.STRONG), f" {one_line(str(value.path))}")
    yield verbatim(f"  {question.id}  {cut(question.question, _QUESTION)}")
    several = "one of: " if len(question.answer) > 1 else ""
    wanted = (
        *(f"find: {one_line(name)}" for name in question.required),
        *(f"not rest on: {one_line(name)}" for name in question.forbidden),
        *(f"quote {several}{cut(answer, _QUESTION)}" for answer in question.answer),
        *(f"not show: {cut(text, _QUESTION)}" for text in question.wrong),
        *(() if question.answerable else ("find no answer",)),
    )
    for text in wanted:
        yield verbatim(f"  must {text}")
    yield verbatim(("Evaluate with: chapterhouse eval", Style.QUIET))


def _headline(found: "measuring.Evaluation") -> TerminalBlock:
    count = len(found.scored)
    questions = counted(count, "question")
    searched = f"{counted(found.documents, 'document')}, {counted(found.chunks, 'chunk')}"
    return verbatim(
        (f"{questions} of {one_line(found.name)}", Style.STRONG), f", asked of {searched}"
    )


def _measures(found: "measuring.Evaluation") -> Iterator[TerminalBlock]:
    rows = [("measure", "mean", "95 % interval", "questions")]
    for name, value in found.measures.items():
        interval = f"{value.low:.3f}–{value.high:.3f}" if value.count > 1 else "not known"
        rows.append((name, f"{value.mean:.3f}", interval, f"{value.count:,}"))
    yield Columns(rows)


def _worst(scored: "Sequence[measuring.QuestionScore]") -> Iterator[TerminalBlock]:
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


def _badness(entry: "measuring.QuestionScore") -> float:
    """Return what is missing to perfection: in order, then in checks."""
    checks = len(entry.failures)
    return round(1 - entry.scores.get("nDCG@10", 1.0), 6) + checks


def _question(entry: "measuring.QuestionScore") -> Iterator[TerminalBlock]:
    question = entry.case.question
    figure = entry.scores.get("nDCG@10")
    shown = "     " if figure is None else f"{figure:.3f}"
    yield verbatim(
        (shown, Style.BAD), f"  {one_line(question.id)}  {cut(question.question, _QUESTION)}"
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


def _wanted(entry: "measuring.QuestionScore", name: str, place: int | None) -> str:
    label = _middle_cut(entry.case.labels.get(name) or name)
    return f"{label} (place {place})" if place else f"{label} (not found)"


def _gate(gate: "measuring.Gate") -> Iterator[TerminalBlock]:
    verdict = ("passed  ", Style.GOOD) if gate.passed else ("FAILED  ", Style.BAD)
    sign = "≥" if gate.passed else "<"
    yield verbatim(verdict, f" {gate.measure} {gate.figure:.4f} {sign} {gate.floor:g}")


def _middle_cut(name: str) -> str:
    """Shorten a path or title; its end tells it from its neighbours as much as its beginning."""
    line = one_line(name)
    head = _LABEL // 3
    return line if len(line) <= _LABEL else f"{line[:head]}…{line[head - _LABEL + 1 :]}"


def _evaluation_data(
    found: "measuring.Evaluation", held: "Sequence[measuring.Gate]"
) -> dict[str, object]:
    return {
        "name": found.name,
        "searched": {"documents": found.documents, "chunks": found.chunks},
        "measures": found.measures,
        "questions": [_question_data(entry) for entry in found.scored],
        "gates": held,
        "warnings": found.warnings,
    }


def _question_data(entry: "measuring.QuestionScore") -> dict[str, object]:
    case = entry.case
    return {
        "id": case.question.id,
        "question": case.question.question,
        "required": sorted(case.relevant),
        "scores": {name: round(value, _DIGITS) for name, value in entry.scores.items()},
        "failures": entry.failures,
        "ranking": entry.ranking[:_RANKED],
    }
