"""Commands that measure: eval and feedback."""

from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.interfaces.cli.options import Shelves, readable, require_path
from chapterhouse.interfaces.cli.session import Outcome, run, with_library

if TYPE_CHECKING:
    from chapterhouse.library import Library


def evaluate(
    path: Annotated[
        str | None,
        typer.Argument(
            metavar="PATH",
            help="A folder in BEIR layout or a file of questions; else the workspace's own.",
        ),
    ] = None,
    *,
    synthetic: Annotated[
        bool, typer.Option("--synthetic", help="Ask questions made from the library's documents.")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="At most so many questions."),
    ] = None,
    shelf: Annotated[
        list[str] | None,
        typer.Option(
            "--shelf", metavar="NAME", help="Make questions only from this shelf; repeatable."
        ),
    ] = None,
    write: Annotated[
        str | None,
        typer.Option("--write", metavar="FILE", help="Keep the questions that were made."),
    ] = None,
    run_file: Annotated[
        str | None,
        typer.Option("--run", metavar="FILE", help="Write the rankings as a TREC run."),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option("--compare", metavar="FILE", help="Compare with the rankings of a TREC run."),
    ] = None,
    ablation: Annotated[
        bool, typer.Option("--ablation", help="Say what each stage of retrieval is worth.")
    ] = False,
    fail_below: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-below",
            metavar="MEASURE=FIGURE",
            help="End with 1 where a measure is below a figure; repeatable.",
        ),
    ] = None,
    junit: Annotated[
        str | None,
        typer.Option("--junit", metavar="FILE", help="Write JUnit XML: a case a gate or question."),
    ] = None,
    latency: Annotated[
        bool, typer.Option("--latency", help="Put times into --json, which then differ each run.")
    ] = False,
    chunking: Annotated[
        bool,
        typer.Option("--chunking", help="Score the ways of cutting on a folder with gold spans."),
    ] = False,
) -> None:
    """Measure how well questions are answered.

    Without PATH: the workspace's questions.jsonl, which feedback writes; without that, questions
    made from the documents. Exit code 1 says that a --fail-below was not reached.
    """
    if path is not None and synthetic:
        raise typer.BadParameter("--synthetic takes no PATH; the number of questions is --limit N.")
    others = (synthetic, shelf, write, run_file, compare, ablation, fail_below, junit, latency)
    if chunking and (path is None or any(others)):
        raise typer.BadParameter("--chunking takes a folder and, of the rest, only --limit.")

    def work() -> Outcome:
        from chapterhouse.interfaces.cli import evaluation_run  # noqa: PLC0415 - brings the engines

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

    run(work)


def feedback(
    verdict: Annotated[
        str, typer.Argument(metavar="VERDICT", help="What the answer was: good or bad.")
    ],
    answer: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="What ask --json printed; - for standard input."),
    ] = None,
    *,
    question: Annotated[
        str | None,
        typer.Option("--question", metavar="TEXT", help="Ask this now and judge its answer."),
    ] = None,
    required: Annotated[
        list[str] | None,
        typer.Option(
            "--required",
            metavar="NAME",
            help="The document that is right, instead of those cited; repeatable.",
        ),
    ] = None,
    sentence: Annotated[
        list[str] | None,
        typer.Option(
            "--sentence",
            metavar="N",
            help="The sentence that is wrong, by number or words; repeatable.",
        ),
    ] = None,
    passage: Annotated[
        list[str] | None,
        typer.Option(
            "--passage",
            metavar="N",
            help="The quoted passage that is wrong, by number or words; repeatable.",
        ),
    ] = None,
    document: Annotated[
        list[str] | None,
        typer.Option(
            "--document",
            metavar="NAME",
            help="A document that the answer must not rest on at all; repeatable.",
        ),
    ] = None,
    shelf: Shelves = None,
) -> None:
    """Keep a good or bad answer as a question to evaluate.

    It goes to questions.jsonl in the workspace's folder, which eval asks by itself. Say what was
    wrong with --sentence, --passage or --document; without them, the sentences and passages of a
    bad answer must not be shown again. A later verdict on the same question replaces the earlier.
    """
    if verdict not in {"good", "bad"}:
        raise typer.BadParameter(f"An answer is good or bad, not '{verdict}'.")
    if (answer is None) == (question is None):
        raise typer.BadParameter("Name a FILE with an answer, - for standard input, or --question.")

    def work(library: "Library") -> Outcome:
        from chapterhouse.interfaces.cli import evaluation_run  # noqa: PLC0415 - brings the engines

        shelves, marked = tuple(shelf or ()), (sentence, passage, document)
        if answer is not None:
            judged = evaluation_run.read_answer(answer)
        else:
            judged = evaluation_run.ask_now(library, readable(question or ""), shelves)
        wrong = [tuple(names or ()) for names in marked]
        return evaluation_run.save_verdict(
            library, verdict, judged, tuple(required or ()), shelves, wrong
        )

    with_library(work)
