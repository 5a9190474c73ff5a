"""Commands that measure: eval and feedback."""

from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.interfaces.cli.options import (
    Shelves,
    argument,
    flag,
    option,
    readable,
    require_path,
)
from chapterhouse.interfaces.cli.session import Outcome, opened_library
from chapterhouse.loading import lazy

if TYPE_CHECKING:
    from chapterhouse.interfaces.cli import evaluation_run
else:
    evaluation_run = lazy("chapterhouse.interfaces.cli.evaluation_run")


def evaluate(
    path: Annotated[
        str | None,
        argument(
            "PATH", "A folder in BEIR layout or a file of questions; else the workspace's own."
        ),
    ] = None,
    *,
    synthetic: Annotated[
        bool, flag("--synthetic", "Ask questions made from the library's documents.")
    ] = False,
    limit: Annotated[
        int | None, option("--limit", "N", "At most so many questions.", least=1)
    ] = None,
    shelf: Annotated[
        list[str] | None,
        option("--shelf", "NAME", "Make questions only from this shelf; repeatable."),
    ] = None,
    write: Annotated[
        str | None, option("--write", "FILE", "Keep the questions that were made.")
    ] = None,
    run_file: Annotated[
        str | None, option("--run", "FILE", "Write the rankings as a TREC run.")
    ] = None,
    compare: Annotated[
        str | None, option("--compare", "FILE", "Compare with the rankings of a TREC run.")
    ] = None,
    ablation: Annotated[
        bool, flag("--ablation", "Say what each stage of retrieval is worth.")
    ] = False,
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
    latency: Annotated[
        bool, flag("--latency", "Put times into --json, which then differ each run.")
    ] = False,
    chunking: Annotated[
        bool, flag("--chunking", "Score the ways of cutting on a folder with gold spans.")
    ] = False,
) -> Outcome:
    """Measure how well questions are answered.

    Without PATH: the workspace's questions.jsonl, which feedback writes; without that, questions
    made from the documents. Exit code 1 says that a --fail-below was not reached.
    """
    if path is not None and synthetic:
        raise typer.BadParameter("--synthetic takes no PATH; the number of questions is --limit N.")
    others = (synthetic, shelf, write, run_file, compare, ablation, fail_below, junit, latency)
    if chunking and (path is None or any(others)):
        raise typer.BadParameter("--chunking takes a folder and, of the rest, only --limit.")

    wanted = evaluation_run.Wanted(
        path=None if path is None else require_path(path),
        synthetic=synthetic,
        limit=limit,
        shelves=tuple(shelf or ()),
        write=write,
        run=run_file,
        compare=compare,
        ablation=ablation,
        floors=tuple(fail_below or ()),
        junit=junit,
        latency=latency,
    )
    return (evaluation_run.chunking if chunking else evaluation_run.evaluation)(wanted)


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

    with opened_library() as library:
        shelves, marked = tuple(shelf or ()), (sentence, passage, document)
        if answer is not None:
            judged = evaluation_run.read_answer(answer)
        else:
            judged = evaluation_run.ask_now(library, readable(question or ""), shelves)
        wrong = [tuple(names or ()) for names in marked]
        return evaluation_run.save_verdict(
            library, verdict, judged, tuple(required or ()), shelves, wrong
        )
