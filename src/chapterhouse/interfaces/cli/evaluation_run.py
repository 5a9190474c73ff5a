"""One evaluation from what was asked on the command line to its outcome."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.evaluation.chunking import score_strategies
from chapterhouse.evaluation.collection import (
    Task,
    collection_task,
    fixture_file,
    limited,
    open_collection,
    question_task,
)
from chapterhouse.evaluation.comparing import ablate, compare_with_run, evaluate
from chapterhouse.evaluation.datasets import (
    Question,
    is_collection,
    load_dataset,
    question_line,
    read_questions,
)
from chapterhouse.evaluation.feedback import (
    JudgedAnswer,
    Verdict,
    Wrong,
    as_question,
    parse_answer,
    save_feedback,
    to_judged_answer,
)
from chapterhouse.evaluation.gates import gates, junit, measures_for, parse_floor
from chapterhouse.evaluation.measures import RANKING_MEASURES
from chapterhouse.evaluation.measuring import OnProgress, as_run
from chapterhouse.evaluation.runs import read_run, read_text, require_writable, write_run
from chapterhouse.evaluation.spans import load_gold
from chapterhouse.evaluation.synthetic import MADE, QUESTIONS, own_questions, synthetic_questions
from chapterhouse.files import write_output
from chapterhouse.interfaces.cli import render_evaluation
from chapterhouse.interfaces.cli.options import common, require_path
from chapterhouse.interfaces.cli.progress import show_progress
from chapterhouse.interfaces.cli.render_evaluation import Result
from chapterhouse.interfaces.cli.session import FAILED, OK, Outcome, named_home, open_library
from chapterhouse.library import Library
from chapterhouse.settings import Settings
from chapterhouse.wiring import resolve_settings


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the options of ``eval`` came to."""

    path: str | None
    synthetic: bool
    limit: int | None
    shelves: tuple[str, ...]
    write: str | None
    run: str | None
    compare: str | None
    ablation: bool
    floors: tuple[str, ...]
    junit: str | None
    latency: bool


def evaluation(wanted: Wanted) -> Outcome:
    """Evaluate and write what was to be written.

    Raises:
        UsageError: a file cannot be used; found out before the work where that can be.
    """
    floors = [parse_floor(text) for text in wanted.floors]
    measures = measures_for(floors)
    before = None if wanted.compare is None else read_run(_path(wanted.compare))
    targets = {name: _target(name) for name in (wanted.run, wanted.junit, wanted.write) if name}
    with show_progress() as on_progress, _task(wanted, on_progress) as task:
        found = evaluate(task, measures, on_progress)
        held = gates(floors, found)
        comparison = None
        if before is not None:
            comparison = compare_with_run(found, before, wanted.compare or "", measures)
        stages = ablate(task, found, measures, on_progress) if wanted.ablation else ()
    if wanted.run:
        write_run(targets[wanted.run], as_run(found.scored))
    if wanted.junit:
        write_output(targets[wanted.junit], junit(found, held))
    result = render_evaluation.Result(found, held, comparison, stages)
    return Outcome(
        render_evaluation.evaluation_data(result, latency=wanted.latency),
        render_evaluation.evaluation(result),
        OK if all(gate.passed for gate in held) else FAILED,
    )


def chunking(wanted: Wanted) -> Outcome:
    """Score the ways of cutting on a folder with gold spans."""
    folder = _path(wanted.path or "")
    gold = load_gold(folder)
    step = max(1, len(gold.questions) // (wanted.limit or len(gold.questions)))
    gold = replace(gold, questions=gold.questions[::step][: wanted.limit])
    with show_progress() as on_progress:
        found = score_strategies(gold, _settings(), on_progress=on_progress)
    return Outcome(
        {"name": folder.name, "questions": len(gold.questions), "strategies": found},
        render_evaluation.chunking(folder.name, gold, found),
    )


@contextmanager
def _task(wanted: Wanted, on_progress: OnProgress) -> Iterator[Task]:
    """Open what is to be asked, and the questions."""
    path = None if wanted.path is None else _path(wanted.path)
    if path is not None and not path.exists():
        raise NotFoundError(
            f"There is no folder or file {path}.",
            hint="Name a folder in BEIR layout or a file of questions; the number is --limit N.",
        )
    if path is not None and path.is_dir():
        if not is_collection(path):
            raise UsageError(
                f"{path} is no collection: it has no corpus.jsonl and no queries.jsonl.",
                hint="For gold spans add --chunking; for your own documents name a questions file.",
            )
        dataset = load_dataset(path)
        with open_collection(
            dataset.documents, settings=_settings(), on_progress=on_progress
        ) as collection:
            yield limited(collection_task(dataset, collection), wanted.limit)
        return
    with open_library(create=False) as library:
        yield _own(library, path, wanted)


def _own(library: "Library", path: Path | None, wanted: Wanted) -> Task:
    """Return the task of a library of one's own: a file's, the workspace's or made questions."""
    fixtures = fixture_file(library)
    if path is None and not wanted.synthetic and fixtures.exists():
        path = fixtures
    if path is not None:
        if wanted.shelves or wanted.write:
            raise UsageError(
                f"--shelf and --write are for questions that are made, not those of {path}.",
                hint="Add --synthetic, or leave them out.",
            )
        return limited(question_task(read_questions(path), library, str(path)), wanted.limit)
    made = synthetic_questions(library, wanted.limit or QUESTIONS, wanted.shelves or None)
    if wanted.write:
        write_output(_path(wanted.write), _lines(made))
    return question_task(made, library, MADE, "synthetic")


def _lines(questions: tuple[Question, ...]) -> str:
    return "".join(f"{question_line(question)}\n" for question in questions)


def _settings() -> Settings:
    """Return the settings of the library that was named, whether it exists or not."""
    return resolve_settings(named_home(), common().workspace).settings


def _path(name: str) -> Path:
    return Path(require_path(name)).expanduser()


def _target(name: str) -> Path:
    path = _path(name)
    require_writable(path)
    return path


def compare_encoders(library: Library, questions: str | None) -> Result:
    """Return what came of the questions now, compared with the previous encoder.

    Args:
        library: Open.
        questions: A file of questions; the workspace's own when None.

    Raises:
        NotFoundError: there are no questions, or there is no previous encoder.
        UsageError: the file is not one of questions.
    """
    path = fixture_file(library) if questions is None else Path(questions).expanduser()
    if not path.exists():
        raise NotFoundError(
            f"There are no questions in {path}.",
            hint="Collect some: chapterhouse feedback, or chapterhouse eval --synthetic --write.",
        )
    task = question_task(read_questions(path), library, str(path))
    with show_progress() as on_progress:
        with library.encoders.using_previous():
            name = library.status().embedder
            before = as_run(evaluate(task, RANKING_MEASURES, on_progress).scored)
        found = evaluate(task, RANKING_MEASURES, on_progress)
    return Result(found, (), compare_with_run(found, before, name, RANKING_MEASURES), ())


def compare_libraries(old: Library, new: Library, *, make: bool) -> Result | None:
    """Return what came of the questions in the new library, compared with the old one.

    Args:
        old: Open; its own questions are asked.
        new: Another library of the same documents.
        make: Whether questions are made from the documents where it has none.
    """
    if not make and not fixture_file(old).exists():
        return None
    own = own_questions(old)
    with show_progress() as on_progress:
        first = question_task(own.questions, old, own.name, own.kind)
        before = as_run(evaluate(first, RANKING_MEASURES, on_progress).scored)
        second = question_task(own.questions, new, own.name, own.kind)
        found = evaluate(second, RANKING_MEASURES, on_progress)
    return Result(found, (), compare_with_run(found, before, "the library before"), ())


# --- feedback -----------------------------------------------------------------------------------


def ask_now(library: Library, question: str, shelves: tuple[str, ...]) -> JudgedAnswer:
    """Return what a question is answered with now."""
    return to_judged_answer(library.answers.ask(question, shelves=shelves or None, remember=False))


def read_answer(name: str) -> JudgedAnswer:
    """Return an answer that was printed as JSON: of a file, or "-" of standard input."""
    if name == "-":
        return parse_answer(sys.stdin.buffer.read().decode("utf-8", "replace"), "standard input")
    return parse_answer(read_text(Path(require_path(name))), name)


def save_verdict(
    library: Library,
    verdict: str,
    answer: JudgedAnswer,
    required: tuple[str, ...],
    shelves: tuple[str, ...],
    wrong: Sequence[tuple[str, ...]],
) -> Outcome:
    """Keep a verdict as a question; ``wrong`` are sentences, passages and documents."""
    question = as_question(Verdict(verdict), answer, required, shelves or None, Wrong(*wrong))
    found = save_feedback(library, question)
    return Outcome(found, render_evaluation.feedback(found))
