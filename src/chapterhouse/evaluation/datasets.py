"""Collections in the layout of BEIR: documents, questions, and which answer which.

::

    corpus.jsonl    {"_id", "title", "text"} a line
    queries.jsonl   {"_id", "text", "metadata"} a line
    qrels.tsv       query-id, corpus-id, score, mostly with a heading row (or qrels/test.tsv)

Source: Thakur and others, BEIR, NeurIPS 2021.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.evaluation.runs import read_text

_LISTS: Final = ("required", "forbidden", "answer", "wrong", "shelves")
_TEXTS: Final = ("id", "note", "question")
_KNOWN: Final = (*_TEXTS, *_LISTS, "answerable")
_ID_DIGITS: Final = 8
LONGEST_QUESTION: Final = 10_000  # characters that the library takes


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    """One document of a collection."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """A collection with judgements.

    Attributes:
        documents: In order of the file.
        questions: Texts of the judged questions by id.
        answers: Texts that an answer must contain, by question id, where the set has them.
        relevant: Grades above 0 by question id and document id.
        warnings: What does not fit together, for whoever reads the figures.
    """

    name: str
    documents: tuple[CorpusDocument, ...]
    questions: Mapping[str, str]
    answers: Mapping[str, tuple[str, ...]]
    relevant: Mapping[str, Mapping[str, int]]
    warnings: tuple[str, ...] = ()


def is_collection(folder: Path) -> bool:
    """Whether a folder looks like a collection, whole or not."""
    return any((folder / name).exists() for name in ("corpus.jsonl", "queries.jsonl"))


def load_dataset(folder: Path) -> Dataset:
    """Read a BEIR folder; questions without a relevant document are left out.

    Raises:
        NotFoundError: a file is missing.
        UsageError: a file is not what it should be; the message names file and line.
    """
    judgements = _first_existing(folder, "qrels.tsv", "qrels/test.tsv")
    relevant = _read_relevant(judgements)
    questions: dict[str, str] = {}
    answers: dict[str, tuple[str, ...]] = {}
    for record in _records(_first_existing(folder, "queries.jsonl")):
        identifier = str(record["_id"])
        if identifier in relevant:
            questions[identifier] = _asked(record, folder)
            answers[identifier] = _answers(record.get("metadata") or {})
    if not questions:
        raise UsageError(
            f"No question of {folder / 'queries.jsonl'} has a relevant document in {judgements}.",
            hint="Do both belong to the same collection?",
        )
    documents = tuple(
        CorpusDocument(str(record["_id"]), str(record.get("title") or ""), record["text"])
        for record in _records(_first_existing(folder, "corpus.jsonl"))
    )
    if not documents:
        raise UsageError(f"{folder / 'corpus.jsonl'} holds no documents.")
    judged = {identifier: relevant[identifier] for identifier in questions}
    known = {document.id for document in documents}
    absent = {name for grades in judged.values() for name in grades if name not in known}
    warnings = (
        *_counted(len(relevant) - len(questions), "judged question is", "not in queries.jsonl"),
        *_counted(len(absent), "relevant document is", "not in corpus.jsonl"),
    )
    return Dataset(folder.name, documents, questions, answers, judged, warnings)


def _asked(record: Mapping[str, Any], folder: Path) -> str:
    """Return the text of a question, cut to what the library takes."""
    text = str(record["text"]).strip()
    if not text:
        raise UsageError(
            f"{folder / 'queries.jsonl'}: question '{record['_id']}' has no text.",
            hint="Give it one, or take its judgements out.",
        )
    return text[:LONGEST_QUESTION]


def _counted(number: int, what: str, where: str) -> tuple[str, ...]:
    words = what if number == 1 else what.replace(" is", "s are")
    return (f"{number} {words} {where}.",) if number else ()


def _first_existing(folder: Path, *names: str) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise NotFoundError(
        f"{folder} has no {' or '.join(names)}.", hint="It should be a folder in BEIR layout."
    )


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    seen: set[str] = set()
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if "_id" not in record or not isinstance(record.get("text"), str):
                raise ValueError("it needs _id and text")  # noqa: TRY301 - one message for all
        except (ValueError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{path}, line {number}: {error}",
                hint='A line looks like: {"_id": "1", "text": "…"}',
            ) from None
        if str(record["_id"]) in seen:
            raise UsageError(
                f"{path}, line {number}: the _id '{record['_id']}' was there before.",
                hint="Each _id stands once in a file.",
            )
        seen.add(str(record["_id"]))
        yield record


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8", newline="\n") as stream:
            yield from stream
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not text in UTF-8: {error.reason}.") from None


def _answers(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return answers as SQuAD and its kin write them; none where the set has something else."""
    found = metadata.get("answers")
    if not isinstance(found, list):
        return ()
    return tuple(
        str(entry["text"]) for entry in found if isinstance(entry, dict) and "text" in entry
    )


def _read_relevant(path: Path) -> dict[str, dict[str, int]]:
    relevant: dict[str, dict[str, int]] = {}
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        row = line.strip("\r\n").split("\t") if "\t" in line else line.split()
        try:
            question, document, grade = row[0], row[-2], float(row[-1])
        except (IndexError, ValueError):
            if number == 1:
                continue  # the heading, which files in TREC's own form do not have
            raise UsageError(
                f"{path}, line {number}: not question, document, score",
                hint="A line has a question's id, a document's id and a grade, with tabs between.",
            ) from None
        if grade > 0:
            relevant.setdefault(question, {})[document] = max(1, round(grade))
    return relevant


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what must come of it.

    Attributes:
        id: Its name in reports and runs, unique in its file, without white space.
        text: What is asked.
        required: Names of documents that must be found.
        forbidden: Names of documents that must not be.
        answers: Texts of which a passage and the answer must hold one; empty: not judged.
        wrong: Texts of which the answer must show none.
        answerable: False where an honest library finds no answer.
        shelves: Only documents on one of these; all when None.
        note: Where it comes from, for people.
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
    place: str = ""


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
    if not text or len(text) > LONGEST_QUESTION:
        raise UsageError(
            f"{place}: a question has 1 to {LONGEST_QUESTION:,} characters, not {len(text):,}.",
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
