"""Collections in the layout of BEIR: documents, questions, and which answer which.

::

    corpus.jsonl    {"_id", "title", "text"} a line
    queries.jsonl   {"_id", "text", "metadata"} a line
    qrels.tsv       query-id, corpus-id, score, mostly with a heading row (or qrels/test.tsv)

Source: Thakur and others, BEIR, NeurIPS 2021.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.evaluation.questions import LONGEST_QUESTION


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
