"""Collections in the layout of BEIR: documents, questions, and which answer which.

::

    corpus.jsonl    {"_id", "title", "text"} a line
    queries.jsonl   {"_id", "text", "metadata"} a line
    qrels.tsv       query-id, corpus-id, score, with a heading row (or qrels/test.tsv)

Source: Thakur and others, BEIR, NeurIPS 2021.
"""

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chapterhouse.errors import NotFoundError, UsageError


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
    """

    name: str
    documents: tuple[CorpusDocument, ...]
    questions: Mapping[str, str]
    answers: Mapping[str, tuple[str, ...]]
    relevant: Mapping[str, Mapping[str, int]]


def load_dataset(folder: Path) -> Dataset:
    """Read a BEIR folder; questions without a relevant document are left out.

    Raises:
        NotFoundError: a file is missing.
        UsageError: a file is not what it should be; the message names file and line.
    """
    relevant = _read_relevant(_first_existing(folder, "qrels.tsv", "qrels/test.tsv"))
    questions: dict[str, str] = {}
    answers: dict[str, tuple[str, ...]] = {}
    for record in _records(_first_existing(folder, "queries.jsonl")):
        identifier = str(record["_id"])
        if identifier in relevant:
            questions[identifier] = str(record["text"])
            answers[identifier] = _answers(record.get("metadata") or {})
    documents = tuple(
        CorpusDocument(str(record["_id"]), str(record.get("title") or ""), str(record["text"]))
        for record in _records(_first_existing(folder, "corpus.jsonl"))
    )
    judged = {identifier: relevant[identifier] for identifier in questions}
    return Dataset(folder.name, documents, questions, answers, judged)


def _first_existing(folder: Path, *names: str) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise NotFoundError(
        f"{folder} has no {' or '.join(names)}.", hint="It should be a folder in BEIR layout."
    )


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                record = json.loads(line)
                if "_id" not in record or "text" not in record:
                    raise ValueError("it needs _id and text")  # noqa: TRY301 - one message for both
            except (ValueError, TypeError) as error:
                raise UsageError(f"{path}, line {number}: {error}") from None
            yield record


def _answers(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    found = metadata.get("answers")
    if not isinstance(found, list):
        return ()
    return tuple(str(answer["text"]) for answer in found if "text" in answer)


def _read_relevant(path: Path) -> dict[str, dict[str, int]]:
    relevant: dict[str, dict[str, int]] = {}
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.reader(stream, delimiter="\t")
        next(rows, None)
        for number, row in enumerate(rows, start=2):
            try:
                question, document, grade = row[0], row[-2], int(float(row[-1]))
            except (IndexError, ValueError):
                raise UsageError(f"{path}, line {number}: not question, document, score") from None
            if grade > 0:
                relevant.setdefault(question, {})[document] = grade
    return relevant
