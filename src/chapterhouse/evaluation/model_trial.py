"""One question to a language model, about a document of three lines, with a plain verdict.

It goes the way of every question, in a library made for it, so what works there works with a
user's documents as far as the model is concerned.
"""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from chapterhouse.errors import UsageError
from chapterhouse.library import Library
from chapterhouse.library.opening import make_home, open_runtime
from chapterhouse.models.opening import open_language_model
from chapterhouse.settings import (
    AnswerSettings,
    EmbeddingSettings,
    ExpansionSettings,
    LanguageModelSettings,
    MemorySettings,
    Settings,
)
from chapterhouse.types import Answer

QUESTION: Final = "When does the ferry to Osk leave, and from which pier?"
_DOCUMENT: Final = """\
# Harbour notes

The ferry to Osk leaves at 07:40 from pier 3.

The crane on the north quay lifts 12 tonnes.

The café opens at nine on Sundays.
"""
_LINE: Final = "The ferry to Osk leaves at 07:40 from pier 3."


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of it.

    Attributes:
        passed: Whether the model answered, and from the right line.
        verdict: The same as a sentence.
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


def _ask(chosen: LanguageModelSettings, folder: Path) -> Answer:
    """Ask the question of the three lines, in a library of its own."""
    settings = Settings(
        language_model=chosen,
        embedding=EmbeddingSettings(engine="static", background=False),
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
