"""Reading collections in BEIR layout."""

import json
from pathlib import Path

import pytest

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.evaluation.datasets import (
    Question,
    load_dataset,
    question_id,
    question_line,
    read_questions,
)


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


def test_judgements_in_the_form_of_trec_have_no_heading(tmp_path: Path) -> None:
    folder = write(tmp_path / "set", "q1 0 d1 1\n\nq1 0 d2 1.0\r\n")
    assert load_dataset(folder).relevant == {"q1": {"d1": 1, "d2": 1}}


def test_what_does_not_fit_together_is_told(tmp_path: Path) -> None:
    folder = write(tmp_path / "set", "q\td\ts\nq1\td1\t1\nq1\td9\t1\nq7\td1\t1\nq8\td1\t1\n")
    assert load_dataset(folder).warnings == (
        "2 judged questions are not in queries.jsonl.",
        "1 relevant document is not in corpus.jsonl.",
    )
    folder = write(tmp_path / "set", "q\td\ts\nq7\td1\t1\n")
    with pytest.raises(UsageError, match="has a relevant document"):
        load_dataset(folder)


@pytest.mark.parametrize(
    ("corpus", "what"),
    [
        (b'{"_id": "d1", "text": "a"}\n\n{"_id": "d1", "text": "b"}', "line 3: the _id 'd1'"),
        (b'{"_id": "d1", "text": null}', "line 1: it needs _id and text"),
        (b"[]", "line 1: it needs _id and text"),
        (b"3", "line 1: "),
        (b"\n", "holds no documents"),
        (b'{"_id": "d1", "text": "\xff"}', "not text in UTF-8"),
    ],
)
def test_a_wrong_corpus_is_named(tmp_path: Path, corpus: bytes, what: str) -> None:
    folder = write(tmp_path / "set")
    (folder / "corpus.jsonl").write_bytes(corpus)
    with pytest.raises(UsageError, match=rf"corpus\.jsonl.*{what}"):
        load_dataset(folder)


def test_questions_are_asked_as_the_library_takes_them(tmp_path: Path) -> None:
    folder = write(tmp_path / "set")
    for text, taken in ((" which? ", "which?"), ("a" * 20_000, "a" * 10_000)):
        (folder / "queries.jsonl").write_text(json.dumps({"_id": "q1", "text": text}), "utf-8")
        assert load_dataset(folder).questions == {"q1": taken}
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": " "}', "utf-8")
    with pytest.raises(UsageError, match=r"queries\.jsonl: question 'q1' has no text"):
        load_dataset(folder)


# --- files of questions: read, written, and refused with file and line

FULL = {
    "id": "berth",
    "question": "What does a guest berth cost?",
    "required": ["tariffs.md"],
    "forbidden": "tariffs-2019.md",
    "answer": ["80 euros", "eighty euros"],
    "shelves": ["harbour"],
    "note": "asked at the desk",
}


def made(path: Path, *records: object) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), "utf-8")
    return path


def test_a_file_of_lines_is_read(tmp_path: Path) -> None:
    path = made(tmp_path / "q.jsonl", FULL, {"question": " Who won? ", "answerable": False})
    first, second = read_questions(path)
    assert first == Question(
        "berth",
        "What does a guest berth cost?",
        required=("tariffs.md",),
        forbidden=("tariffs-2019.md",),
        answers=("80 euros", "eighty euros"),
        shelves=("harbour",),
        note="asked at the desk",
        place=f"{path}, line 1",
    )
    assert (second.text, second.answerable) == ("Who won?", False)
    assert second.id == question_id("Who won?")


def test_a_list_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    path.write_text(json.dumps([FULL], indent=2), "utf-8")
    (question,) = read_questions(path)
    assert question.place.endswith("entry 1")


def test_a_line_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = made(tmp_path / "q.jsonl", FULL, {"question": "Who won?", "answerable": False})
    questions = read_questions(path)
    path.write_text("".join(question_line(question) + "\n" for question in questions), "utf-8")
    assert read_questions(path) == questions


def test_an_id_is_that_of_what_is_asked_and_where() -> None:
    assert question_id("Who  won?\n") == question_id("Who won?")
    assert question_id("Who won?", ("a", "b")) == question_id("Who won?", ("b", "a"))
    assert question_id("Who won?", ("a",)) != question_id("Who won?")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "holds no questions"),
        ("[]", "holds no questions"),
        ("{", r"line 1, column 2: not JSON"),
        ("[1]", "entry 1: not a JSON object"),
        ('"text"', "line 1: not a JSON object"),
        ('\n{"question": "a", "answer": "b"}\nx', r"line 3, column 1: not JSON"),
        ('{"question": "a", "require": ["b"]}', "there is no field 'require'"),
        ('{"required": ["b"]}', "a question has 1 to"),
        ('{"question": 5, "answer": "b"}', "'question' must be text"),
        ('{"question": "a"}', "nothing says what the question must find"),
        ('{"question": "a", "answer": [""]}', "'answer' must be a text or a list of texts"),
        ('{"question": "a", "required": {"b": 1}}', "'required' must be a text or a list"),
        ('{"question": "a", "answerable": "no"}', "must be true or false"),
        ('{"question": "a", "answer": "b", "answerable": false}', "yet is not answerable"),
        ('{"question": "a", "required": "b", "forbidden": "b"}', "both required and forbidden"),
        ('{"question": "a", "id": "b c", "answer": "d"}', "white space"),
        ('{"question": "a", "answer": "b"}\n{"question": "a", "answer": "c"}', "line 2: the id"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_what_is_wrong_with_questions_is_named(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=what) as caught:
        read_questions(path)
    assert str(path) in caught.value.message


def test_a_misspelt_field_is_guessed(tmp_path: Path) -> None:
    path = made(tmp_path / "q.jsonl", {"question": "a", "require": "b"})
    with pytest.raises(UsageError) as caught:
        read_questions(path)
    assert caught.value.hint == "Do you mean 'required'?"
