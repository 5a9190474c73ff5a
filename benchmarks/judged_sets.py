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
from typing import Any, Final

_LONGEST: Final = 10_000  # characters of a question that the library takes


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
    """Read a BEIR folder; questions without a relevant document are left out."""
    judgements = folder / "qrels.tsv"
    relevant = _read_relevant(judgements if judgements.exists() else folder / "qrels" / "test.tsv")
    questions: dict[str, str] = {}
    answers: dict[str, tuple[str, ...]] = {}
    for record in _records(folder / "queries.jsonl"):
        identifier = str(record["_id"])
        if identifier in relevant:
            questions[identifier] = str(record["text"]).strip()[:_LONGEST]
            answers[identifier] = _answers(record.get("metadata") or {})
    documents = tuple(
        CorpusDocument(str(record["_id"]), str(record.get("title") or ""), record["text"])
        for record in _records(folder / "corpus.jsonl")
    )
    judged = {identifier: relevant[identifier] for identifier in questions}
    return Dataset(folder.name, documents, questions, answers, judged)


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open(encoding="utf-8", newline="\n") as stream:
        yield from (json.loads(line) for line in stream if line.strip())


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
    for number, line in enumerate(path.read_text("utf-8").splitlines()):
        row = line.split("\t") if "\t" in line else line.split()
        if not row or (number == 0 and not row[-1].replace(".", "").isdecimal()):
            continue  # the heading, which files in TREC's own form do not have
        if float(row[-1]) > 0:
            relevant.setdefault(row[0], {})[row[-2]] = max(1, round(float(row[-1])))
    return relevant
