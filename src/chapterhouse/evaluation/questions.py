"""Questions with known answers, in a file of one JSON object a line."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from chapterhouse.errors import UsageError
from chapterhouse.files import lock_folder, write_output
from chapterhouse.library import Library
from chapterhouse.types import Answer, AnswerOutcome

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
        answer: Texts of which a passage and the answer must hold one; empty: not judged.
        wrong: Texts of which the answer must show none.
        answerable: False where an honest library finds no answer.
        place: File and line, for messages.
    """

    id: str
    question: str
    required: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
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
    """Read a file of questions; an error names file and line, and says what to write."""
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
    record: dict[str, object] = {"id": question.id, "question": question.question}
    for name, values in (("required", question.required), ("forbidden", question.forbidden)):
        if values:
            record[name] = list(values)
    if question.answer:
        several = len(question.answer) > 1
        record["answer"] = list(question.answer) if several else question.answer[0]
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
    """Return the text of a file in UTF-8, with or without a byte order mark."""
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
        answer=lists["answer"],
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
    wanted = question.required or question.answer
    unwanted = question.forbidden or question.wrong
    if not (wanted or unwanted) and question.answerable:
        raise UsageError(
            f"{question.place}: nothing says what the question must find.",
            hint="Add required, forbidden, answer or wrong, or answerable: false.",
        )
    if question.answer and not question.answerable:
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


class Verdict(StrEnum):
    """What a person thinks of an answer."""

    GOOD = "good"
    BAD = "bad"


class FeedbackChange(StrEnum):
    """What became of a verdict."""

    ADDED = "added"
    REPLACED = "replaced"  # the question had another verdict
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """What has to be known of an answer: what was asked, and what it says and cites."""

    question: str
    found: bool
    citations: tuple[tuple[str, str], ...]  # source and quote
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wrong:
    """What was wrong in a bad answer; nothing: all that it showed.

    Attributes:
        sentences: Numbers from 1, or words, of sentences that should not be said.
        passages: Numbers of citations, or words of their quotations, that should not be quoted.
        documents: Names of documents on which the answer must not rest at all.
    """

    sentences: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything is named."""
        return bool(self.sentences or self.passages or self.documents)


@dataclass(frozen=True, slots=True)
class Feedback:
    """A verdict as it was kept."""

    question: Question
    change: FeedbackChange
    path: Path


_DIGITS: Final = 9  # of a number of a sentence or passage; more are words
_ALL_SHOWN: Final = Wrong()


def to_judged_answer(answer: Answer) -> JudgedAnswer:
    """Return what has to be known of an answer."""
    cited = tuple((citation.source, citation.quote) for citation in answer.citations)
    sentences = tuple(sentence.text for sentence in answer.sentences)
    return JudgedAnswer(answer.question, answer.found, cited, sentences)


def parse_answer(text: str, name: str) -> JudgedAnswer:
    """Read an answer as ``ask --json`` prints it, whole or its ``data`` alone."""
    hint = "It should hold what this prints: chapterhouse ask QUESTION --json"
    try:
        record = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise UsageError(f"{name} is not JSON: {error}.", hint=hint) from None
    if isinstance(record, dict) and record.get("ok") is False:
        raise UsageError(f"{name} holds an error, not an answer.", hint=hint)
    if isinstance(record, dict) and "ok" in record:
        record = record.get("data")
    try:
        return _parse_record(record)
    except (KeyError, TypeError, ValueError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise UsageError(f"{name} is no answer: {what}.", hint=hint) from None


def as_question(
    verdict: Verdict,
    answer: JudgedAnswer,
    required: Sequence[str] = (),
    shelves: Sequence[str] | None = None,
    wrong: Wrong = _ALL_SHOWN,
) -> Question:
    """Return the question that a verdict makes of an answer.

    ``required`` are the documents that are right, instead of those cited. An error says where
    nothing follows from the verdict, or what is named as wrong was not shown.
    """
    if verdict is Verdict.GOOD and wrong:
        raise UsageError("Only of a bad answer can be said what was wrong.")
    made = Question(
        question_id(answer.question, shelves),
        answer.question.strip(),
        required=tuple(required),
        shelves=None if shelves is None else tuple(shelves),
        note=f"feedback: {verdict.value}",
    )
    if verdict is Verdict.BAD:
        return _correct(made, answer, wrong)
    if required:
        return made
    if answer.found and not answer.citations:
        raise _nothing_follows("good")
    return replace(
        made,
        required=tuple(dict.fromkeys(source for source, _ in answer.citations)),
        answer=tuple(dict.fromkeys(quote for _, quote in answer.citations)),
        answerable=bool(answer.citations),
    )


def _correct(question: Question, answer: JudgedAnswer, wrong: Wrong) -> Question:
    """Return the question with what its answer must not show or rest on."""
    quotes = [quote for _, quote in answer.citations]
    if wrong:
        found = [_named(name, answer.sentences, "sentence") for name in wrong.sentences]
        found += [_named(name, quotes, "passage") for name in wrong.passages]
    else:
        found = [] if question.required else [*answer.sentences, *quotes]
    if not (found or wrong.documents or question.required):
        raise _nothing_follows("bad")
    return replace(
        question,
        forbidden=tuple(dict.fromkeys(wrong.documents)),
        wrong=tuple(dict.fromkeys(filter(None, map(str.strip, found)))),
    )


def _nothing_follows(verdict: str) -> UsageError:
    return UsageError(
        f"The answer cites nothing, so nothing follows from calling it {verdict}.",
        hint="Name the document that answers it: --required SOURCE",
    )


def _named(name: str, shown: Sequence[str], what: str) -> str:
    """Return the one text that is meant by its number, from 1, or by words of it."""
    if name.strip().isdecimal() and len(name) <= _DIGITS:
        found = list(shown[int(name) - 1 : int(name)]) if int(name) else []
    else:
        plain = " ".join(name.split()).casefold()
        found = [text for text in shown if plain and plain in " ".join(text.split()).casefold()]
    if len(set(found)) == 1:
        return found[0]
    raise UsageError(
        f"{len(set(found)) or 'None'} of the {what}s shown is meant by “{name}”, not one.",
        hint=f"Name one by its number, 1 to {len(shown)}, or by words that only it has."
        if shown
        else f"The answer shows no {what}.",
    )


def save_feedback(library: Library, question: Question) -> Feedback:
    """Put a question into the workspace's file; safe where other processes do the same.

    The file is replaced as a whole: whoever reads it sees it before or after. The documents that
    it names must be in the library.
    """
    for name in (*question.required, *question.forbidden):
        library.documents.get(name)
    path = question_file(library)
    with lock_folder(path.parent):
        lines, before = _lines(path)
        line = question_line(question)
        if before.get(question.id) == line:
            return Feedback(question, FeedbackChange.UNCHANGED, path)
        change = FeedbackChange.REPLACED if question.id in before else FeedbackChange.ADDED
        rest = [entry for entry in lines if entry != before.get(question.id)]
        write_output(path, "".join(f"{entry}\n" for entry in (*rest, line)))
    return Feedback(question, change, path)


def _parse_record(record: Any) -> JudgedAnswer:
    if not isinstance(record, dict):
        raise TypeError("it is not a JSON object")
    question, outcome = record["question"], record["outcome"]
    if not isinstance(question, str) or not question.strip() or outcome not in set(AnswerOutcome):
        raise ValueError("its question or outcome is of the wrong kind")
    citations = [(citation["source"], citation["quote"]) for citation in record["citations"]]
    if not all(isinstance(part, str) for citation in citations for part in citation):
        raise ValueError("a citation's source or quote is no text")
    sentences = tuple(sentence["text"] for sentence in record.get("sentences", ()))
    if not all(isinstance(text, str) for text in sentences):
        raise ValueError("a sentence's text is no text")
    return JudgedAnswer(question, outcome == AnswerOutcome.ANSWER, tuple(citations), sentences)


def _lines(path: Path) -> tuple[list[str], dict[str, str]]:
    """Return the lines of the file and, of each question, its line in the form that we write."""
    if not path.exists():
        return [], {}
    questions = read_questions(path)
    if path.read_text("utf-8-sig").lstrip().startswith("["):  # a list, as a person may write it
        lines = [question_line(question) for question in questions]
    else:
        lines = [line for line in path.read_text("utf-8-sig").split("\n") if line.strip()]
    return lines, {question.id: line for question, line in zip(questions, lines, strict=True)}
