"""A library's own questions, asked with the encoder in use and with the previous one."""

from pathlib import Path

from chapterhouse.errors import NotFoundError
from chapterhouse.evaluation.collection import fixture_file, question_task
from chapterhouse.evaluation.comparing import compared, evaluate
from chapterhouse.evaluation.datasets import read_questions
from chapterhouse.evaluation.measures import RANKING_MEASURES
from chapterhouse.evaluation.measuring import as_run
from chapterhouse.interfaces.cli.evaluation_run import Result
from chapterhouse.interfaces.cli.progress import told_to
from chapterhouse.library import Library


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
    with told_to() as tell:
        with library.using_previous_encoder():
            name = library.status().embedder
            before = as_run(evaluate(task, RANKING_MEASURES, tell).scored)
        found = evaluate(task, RANKING_MEASURES, tell)
    return Result(found, (), compared(found, before, name, RANKING_MEASURES), ())
