"""Questions with known answers, in a file of one JSON object a line."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from chapterhouse.errors import UsageError
from chapterhouse.library import Library

FILE: Final = "questions.jsonl"  # of a workspace, in its folder
_LISTS: Final = ("required", "forbidden", "answer", "wrong", "shelves")
_TEXTS: Final = ("id", "note", "question")
_KNOWN: Final = (*_TEXTS, *_LISTS, "answerable")
_ID_DIGITS: Final = 8
_LONGEST: Final = 10_000  # characters of a question that the library takes


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what must come of it.

    Attributes:
        id: Its name in reports, unique in its file, without white space.
        text: What is asked.
        answers: Texts of which a passage and the answer must hold one; empty: not judged.
        wrong: Texts of which the answer must show none.
        answerable: False where an honest library finds no answer.
        place: File and line, for messages.
    """

    id: str
    text: str
    required: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    answerable: bool = True
    shelves: tuple[str, ...] | None = None
    note: str = ""
    place: str = field(default="", metadata={"exclude": True})


def question_file(library: Library) -> Path:
    """Return the file of questions that belongs to a workspace; feedback writes it."""
    return library.home / "workspaces" / library.workspace / FILE


def question_id(text: str, shelves: Sequence[str] | None = None) -> str:
    """Return the id of a question that has none of its own: a hash of what is asked and where."""
    asked = "\n".join((" ".join(text.split()), *sorted(set(shelves or ()))))
    return "q-" + hashlib.sha256(asked.encode("utf-8", "replace")).hexdigest()[:_ID_DIGITS]


def read_questions(path: Path) -> tuple[Question, ...]:
    """Read a file of questions.

    Raises:
        UsageError: it is not one; the message names file and line, the hint what to write.
    """
    found: dict[str, Question] = {}
    for place, record in _question_records(path):
        question = _question(record, place)
        if question.id in found:
            raise UsageError(
                f"{place}: the id '{question.id}' stands at {found[question.id].place} already.",
                hint="Give each question another id, or none, and ask each once.",
            )
        found[question.id] = question
    if not found:
        raise UsageError(f"{path} holds no questions.", hint="See docs/evaluation.md for the form.")
    return tuple(found.values())


def question_line(question: Question) -> str:
    """Return a question as one line of a file, without the line end."""
    record: dict[str, object] = {"id": question.id, "question": question.text}
    for name, values in (("required", question.required), ("forbidden", question.forbidden)):
        if values:
            record[name] = list(values)
    if question.answers:
        several = len(question.answers) > 1
        record["answer"] = list(question.answers) if several else question.answers[0]
    if question.wrong:
        record["wrong"] = list(question.wrong)
    if not question.answerable:
        record["answerable"] = False
    if question.shelves:
        record["shelves"] = list(question.shelves)
    if question.note:
        record["note"] = question.note
    return json.dumps(record, ensure_ascii=False)


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, with or without a byte order mark.

    Raises:
        UsageError: it cannot be read, or is no text; the message names the file.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not text in UTF-8 (byte {error.start:,}).", hint="Save it as UTF-8."
        ) from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder.", hint="Name a file.") from None
    except FileNotFoundError:
        raise UsageError(f"There is no file {path}.", hint="Is the name right?") from None


def _question_records(path: Path) -> Sequence[tuple[str, Mapping[str, Any]]]:
    text = read_text(path)
    if text.lstrip().startswith("["):
        entries = _parse(text, str(path))
        records = [(f"{path}, entry {number}", entry) for number, entry in enumerate(entries, 1)]
    else:
        records = [
            (f"{path}, line {number}", _parse(line, f"{path}, line {number}"))
            for number, line in enumerate(text.split("\n"), 1)
            if line.strip()
        ]
    for place, record in records:
        if not isinstance(record, dict):
            raise UsageError(
                f"{place}: not a JSON object.",
                hint='Write one a line, like: {"question": "…", "required": ["file.md"]}',
            )
    return records


def _parse(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        what = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deep"
        where = f", column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise UsageError(
            f"{place}{where}: not JSON ({what}).",
            hint="A file of questions has one JSON object a line, or is one list of them.",
        ) from None


def _question(record: Mapping[str, Any], place: str) -> Question:
    _refuse_unknown(record, place)
    texts = {name: _text(record, name, place) for name in _TEXTS}
    lists = {name: _list(record, name, place) for name in _LISTS}
    answerable = record.get("answerable", True)
    if not isinstance(answerable, bool):
        raise UsageError(f"{place}: 'answerable' must be true or false.")
    text = texts["question"]
    if not text or len(text) > _LONGEST:
        raise UsageError(
            f"{place}: a question has 1 to {_LONGEST:,} characters, not {len(text):,}.",
            hint='Write it as "question": "…".',
        )
    identifier = texts["id"] or question_id(text, lists["shelves"])
    if identifier.split() != [identifier]:
        raise UsageError(f"{place}: the id {identifier!r} holds white space.")
    question = Question(
        identifier,
        text,
        required=lists["required"],
        forbidden=lists["forbidden"],
        answers=lists["answer"],
        wrong=lists["wrong"],
        answerable=answerable,
        shelves=lists["shelves"] or None,
        note=texts["note"],
        place=place,
    )
    _require_purpose(question)
    return question


def _refuse_unknown(record: Mapping[str, Any], place: str) -> None:
    for name in record:
        if name not in _KNOWN:
            near = get_close_matches(name, _KNOWN, n=1)
            raise UsageError(
                f"{place}: there is no field '{name}'.",
                hint=f"Do you mean '{near[0]}'?" if near else f"There are: {', '.join(_KNOWN)}.",
            )


def _require_purpose(question: Question) -> None:
    """Refuse a question that no result could fail, or none could pass."""
    wanted = question.required or question.answers
    unwanted = question.forbidden or question.wrong
    if not (wanted or unwanted) and question.answerable:
        raise UsageError(
            f"{question.place}: nothing says what the question must find.",
            hint="Add required, forbidden, answer or wrong, or answerable: false.",
        )
    if question.answers and not question.answerable:
        raise UsageError(f"{question.place}: it has an answer and yet is not answerable.")
    both = set(question.required) & set(question.forbidden)
    if both:
        raise UsageError(f"{question.place}: '{min(both)}' is both required and forbidden.")


def _text(record: Mapping[str, Any], name: str, place: str) -> str:
    value = record.get(name, "")
    if not isinstance(value, str):
        raise UsageError(f"{place}: '{name}' must be text.")
    return value.strip()


def _list(record: Mapping[str, Any], name: str, place: str) -> tuple[str, ...]:
    """Return a text, or a list of texts, as a tuple without repeats."""
    value = record.get(name, ())
    values = (value,) if isinstance(value, str) else value
    if not isinstance(values, (list, tuple)) or not all(
        isinstance(entry, str) and entry.strip() for entry in values
    ):
        raise UsageError(
            f"{place}: '{name}' must be a text or a list of texts, none of them empty."
        )
    return tuple(dict.fromkeys(entry.strip() for entry in values))
