"""Reading collections in BEIR layout."""

import json
from pathlib import Path

import pytest

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.evaluation.datasets import load_dataset


def write(folder: Path, qrels: str = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n") -> Path:
    folder.mkdir(exist_ok=True)
    documents = [{"_id": "d1", "title": "T", "text": "one"}, {"_id": "d2", "text": "two"}]
    metadata = {"answers": [{"text": "one"}]}
    questions = [{"_id": "q1", "text": "which?", "metadata": metadata}, {"_id": "q2", "text": "no"}]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)))
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, questions)))
    (folder / "qrels.tsv").write_text(qrels)
    return folder


def test_a_collection_is_read(tmp_path: Path) -> None:
    dataset = load_dataset(write(tmp_path / "set"))
    assert [document.title for document in dataset.documents] == ["T", ""]
    assert dataset.questions == {"q1": "which?"}
    assert dataset.answers == {"q1": ("one",)}
    assert dataset.relevant == {"q1": {"d1": 2}}


def test_the_other_place_of_the_judgements_is_found(tmp_path: Path) -> None:
    folder = write(tmp_path / "set")
    (folder / "qrels").mkdir()
    (folder / "qrels.tsv").rename(folder / "qrels" / "test.tsv")
    assert load_dataset(folder).relevant == {"q1": {"d1": 2}}


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"qrels\.tsv"):
        load_dataset(tmp_path)
    folder = write(tmp_path / "set", "heading\nq1\td1\n")
    with pytest.raises(UsageError, match=r"qrels\.tsv, line 2"):
        load_dataset(folder)
    folder = write(tmp_path / "set")
    (folder / "corpus.jsonl").write_text('{"_id": 1, "text": "x"}\nnot json\n')
    with pytest.raises(UsageError, match=r"corpus\.jsonl, line 2"):
        load_dataset(folder)
