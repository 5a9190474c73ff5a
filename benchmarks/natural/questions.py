"""The questions of the natural collection: what one holds, and how its file is read."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

KINDS = (
    "who", "when", "how-much", "how-long", "yes-no", "how-to", "why", "table", "list", "compare",
    "several-documents", "definition", "condition", "not-allowed", "current", "misspelled", "short",
)  # fmt: skip
"""The kinds: ``misspelled`` and ``short`` say how it is asked, the rest what is asked."""

CHANGES = (
    "number", "entity", "date", "negation", "roles", "quantifier", "over-generalisation", "unit",
    "conflation",
)  # fmt: skip
"""What is changed to make a false statement of a true one."""

Miss = Literal["", "near", "far"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quotation of a document, character by character but for spaces and marks of Markdown."""

    document: str
    quote: str


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A second turn: as it is asked ("and in winter?"), and as it would be asked by itself."""

    question: str
    standalone: str
    evidence: tuple[Evidence, ...]
    facts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a reader with what an answer must hold.

    ``facts`` are all to be found in an answer; each is a list of alternatives, short strings of
    which one suffices. ``miss`` is empty where the folder answers the question; ``near`` where it
    speaks of the thing but does not say what is asked, ``far`` where it does not speak of it.
    ``correct`` is the question without its misspellings, where it has any.
    """

    id: str
    folder: str
    kind: str
    question: str
    other_words: bool
    miss: Miss = ""
    evidence: tuple[Evidence, ...] = ()
    facts: tuple[tuple[str, ...], ...] = ()
    true_statement: str = ""
    false_statement: str = ""
    change: str = ""
    correct: str = ""
    second: FollowUp | None = field(default=None)

    @property
    def answerable(self) -> bool:
        """Whether the folder answers it."""
        return not self.miss

    @property
    def documents(self) -> tuple[str, ...]:
        """The documents of its evidence, each once, in order."""
        return tuple(dict.fromkeys(evidence.document for evidence in self.evidence))


def read_questions(folder: str, root: Path | None = None) -> tuple[Question, ...]:
    """Return the questions of a folder.

    Raises:
        ValueError: a line is not a question; the message names file and line.
    """
    path = (root or Path(__file__).parent / "questions") / f"{folder}.jsonl"
    questions = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            questions.append(_question(folder, json.loads(line)))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path.name}, line {number}: {error!r}") from error
    return tuple(questions)


def _question(folder: str, row: Mapping[str, Any]) -> Question:
    second = row.get("second")
    return Question(
        id=row["id"],
        folder=folder,
        kind=row["kind"],
        question=row["question"],
        other_words=row["other_words"],
        miss=row.get("miss", ""),
        evidence=_evidence(row),
        facts=_facts(row),
        true_statement=row.get("true_statement", ""),
        false_statement=row.get("false_statement", ""),
        change=row.get("change", ""),
        correct=row.get("correct", ""),
        second=second
        and FollowUp(second["question"], second["standalone"], _evidence(second), _facts(second)),
    )


def _evidence(row: Mapping[str, Any]) -> tuple[Evidence, ...]:
    return tuple(Evidence(each["document"], each["quote"]) for each in row.get("evidence", ()))


def _facts(row: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(alternatives) for alternatives in row.get("facts", ()))
