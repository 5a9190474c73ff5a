"""Commands that measure: eval and feedback."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.errors import NotFoundError
from chapterhouse.files import write_output
from chapterhouse.interfaces.cli.options import (
    Shelves,
    argument,
    option,
    readable,
    require_path,
)
from chapterhouse.interfaces.cli.progress import show_progress
from chapterhouse.interfaces.cli.session import FAILED, OK, Outcome, opened_library
from chapterhouse.loading import lazy

if TYPE_CHECKING:
    from chapterhouse.evaluation import feedback as verdicts
    from chapterhouse.evaluation import gates, measuring, questions
    from chapterhouse.interfaces.cli import render_evaluation
else:
    verdicts = lazy("chapterhouse.evaluation.feedback")
    gates = lazy("chapterhouse.evaluation.gates")
    measuring = lazy("chapterhouse.evaluation.measuring")
    questions = lazy("chapterhouse.evaluation.questions")
    render_evaluation = lazy("chapterhouse.interfaces.cli.render_evaluation")


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
    junit: Annotated[
        str | None, option("--junit", "FILE", "Write JUnit XML, a case for each gate or question.")
    ] = None,
) -> Outcome:
    """Measure how well questions are answered.

    Without FILE: the workspace's questions.jsonl, which feedback writes. Exit code 1 says that a
    --fail-below was not reached.
    """
    floors = [gates.parse_floor(text) for text in fail_below or ()]
    measures = gates.measures_for(floors)
    target = None if junit is None else Path(require_path(junit)).expanduser()
    named = None if path is None else Path(require_path(path)).expanduser()
    if target:
        gates.require_writable(target)
    with opened_library() as library:
        own = questions.question_file(library)
        file = named or own
        if not (named or own.exists()):
            raise NotFoundError(
                f"There are no questions in {own}.",
                hint="Judge answers with chapterhouse feedback, or name a file of questions.",
            )
        asked = questions.read_questions(file)
        with show_progress() as on_progress:
            found = measuring.evaluate(asked, library, str(file), measures, on_progress)
    held = gates.gates(floors, found)
    if target:
        write_output(target, gates.junit(found, held))
    return Outcome(
        render_evaluation.evaluation_data(found, held),
        render_evaluation.evaluation(found, held),
        OK if all(gate.passed for gate in held) else FAILED,
    )


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
            judged = verdicts.to_judged_answer(reply)
        wrong = verdicts.Wrong(*(tuple(names or ()) for names in (sentence, passage, document)))
        judgement = verdicts.as_question(
            verdicts.Verdict(verdict), judged, tuple(required or ()), shelves or None, wrong
        )
        found = verdicts.save_feedback(library, judgement)
        return Outcome(found, render_evaluation.feedback(found))


def _read_answer(name: str) -> "verdicts.JudgedAnswer":
    """Return an answer that was printed as JSON: of a file, or "-" of standard input."""
    if name == "-":
        return verdicts.parse_answer(
            sys.stdin.buffer.read().decode("utf-8", "replace"), "standard input"
        )
    return verdicts.parse_answer(questions.read_text(Path(require_path(name))), name)
