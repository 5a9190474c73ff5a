import json
from pathlib import Path

import pytest

from chapterhouse.errors import UsageError
from chapterhouse.evaluation.questions import Question, question_id, question_line, read_questions

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
        answer=("80 euros", "eighty euros"),
        shelves=("harbour",),
        note="asked at the desk",
        place=f"{path}, line 1",
    )
    assert (second.question, second.answerable) == ("Who won?", False)
    assert second.id == question_id("Who won?")


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
