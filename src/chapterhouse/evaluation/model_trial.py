"""One question to a language model, about a document of three lines, with a plain verdict.

It goes the way of every question, in a library made for it, so what works there works with a
user's documents as far as the model is concerned.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from chapterhouse.errors import ChapterhouseError, UsageError
from chapterhouse.library import Library
from chapterhouse.library.opening import make_home, open_runtime
from chapterhouse.models.opening import open_language_model, open_reranker
from chapterhouse.settings import (
    AnswerSettings,
    EmbeddingSettings,
    ExpansionSettings,
    LanguageModelSettings,
    MemorySettings,
    Settings,
)
from chapterhouse.types import Answer, Check
from chapterhouse.types.engines import Reranker

QUESTION: Final = "When does the ferry to Osk leave, and from which pier?"
_DOCUMENT: Final = """\
# Harbour notes

The ferry to Osk leaves at 07:40 from pier 3.

The crane on the north quay lifts 12 tonnes.

The café opens at nine on Sundays.
"""
_LINE: Final = "The ferry to Osk leaves at 07:40 from pier 3."

# A question with a passage that answers it and one that does not.
_RERANKED: Final = (
    "When does the ferry to Osk leave?",
    ("The ferry to Osk leaves at 07:40.", "The crane on the north quay lifts 12 tonnes."),
)


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of it.

    Attributes:
        passed: Whether the model answered, and from the right line.
        context_size: Tokens that it takes as it is served; 0 where nobody says.
        slots: Requests that its server works on at once; 0 where nobody says.
    """

    model: str
    answer: Answer
    passed: bool
    verdict: str
    context_size: int
    slots: int


def try_model(chosen: LanguageModelSettings, folder: Path) -> Trial:
    """Try a language model out, in a library that is made in ``folder`` and deleted in the end.

    Raises ``EngineError`` where the model cannot be reached, or does not write at all.
    """
    model = open_language_model(chosen)
    if model is None:
        raise UsageError("No language model is chosen.", hint="Choose one: chapterhouse model use")
    model.complete("", "Say: ready")  # it may have to be loaded first
    limits = model.limits()
    answer = _ask(chosen, folder)
    passed, verdict = _judge(answer, model.fingerprint)
    return Trial(model.fingerprint, answer, passed, verdict, limits.context, limits.at_once)


def try_engine(section: str, library: Library) -> Check:
    """Call the model that a section of a library's settings names; say how that went, and how long.

    Args:
        section: ``language_model``, ``embedding`` or ``rerank``.
    """
    began = time.perf_counter()
    try:
        passed, sentence = _TRIALS[section](library)
        hint = ""
    except ChapterhouseError as error:
        passed, sentence, hint = False, error.message, error.hint
    seconds = time.perf_counter() - began
    return Check(section, passed, f"{sentence} It took {seconds:.1f} seconds.", hint)


def _try_language_model(library: Library) -> tuple[bool, str]:
    trial = try_model(library.settings.language_model, library.home)
    return trial.passed, trial.verdict


def _try_embedder(library: Library) -> tuple[bool, str]:
    (vector,) = library.encoders.embed([QUESTION])
    return bool(vector.any()), f"It made a vector of {len(vector)} numbers."


def _try_reranker(library: Library) -> tuple[bool, str]:
    reranker = open_reranker(library.settings.rerank)
    if reranker is None:
        return True, "Passages are put in order without a model."
    if try_reranker(reranker):
        return True, "It put the passage that answers a question first."
    return False, "It put a passage that answers a question behind one that does not."


_TRIALS: Final[Mapping[str, Callable[[Library], tuple[bool, str]]]] = {
    "language_model": _try_language_model,
    "embedding": _try_embedder,
    "rerank": _try_reranker,
}


def try_reranker(reranker: Reranker) -> bool:
    """Whether a reranker puts a passage that answers a question before one that does not."""
    right, wrong = reranker.score(*_RERANKED)
    return bool(right > wrong)


def _ask(chosen: LanguageModelSettings, folder: Path) -> Answer:
    """Ask the question of the three lines, in a library of its own."""
    settings = Settings(
        language_model=chosen,
        embedding=EmbeddingSettings(engine="none"),
        expansion=ExpansionSettings(rewrite="never"),
        answer=AnswerSettings(cache=False),
        memory=MemorySettings(enabled=False),
    )
    with TemporaryDirectory(prefix=".model-test-", dir=folder) as place:
        home = Path(place)
        make_home(home, home / "workspaces" / "default")
        document = home / "harbour-notes.md"
        document.write_text(_DOCUMENT, "utf-8")
        with Library(open_runtime(home, "default", settings)) as library:
            library.documents.add(document)
            return library.answers.ask(QUESTION)


def _judge(answer: Answer, fingerprint: str) -> tuple[bool, str]:
    """Say whether the model answered, and from the right line."""
    if answer.method != fingerprint:  # the documents are quoted instead
        why = [*answer.warnings, answer.notice, "it was not asked"]
        return False, f"It gave no answer: {next(filter(None, why))}"
    right = any(_LINE in citation.quote or citation.quote in _LINE for citation in answer.citations)
    if answer.found and right and "7:40" in answer.text:
        return True, "It answered and cited the right line."
    what = "cited no line that carries it" if answer.text else "found no answer"
    return False, f"It wrote something, and {what}: expect quotations instead of its answers."
