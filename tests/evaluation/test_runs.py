"""TREC runs: written, read, and refused with file and line."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import UsageError
from chapterhouse.evaluation.runs import (
    Ranked,
    in_order,
    read_run,
    read_text,
    require_writable,
    write_run,
)

names = st.text("abcÄ中-_:.0", min_size=1, max_size=5)
runs = st.dictionaries(
    names,
    st.dictionaries(names, st.floats(allow_nan=False), min_size=1, max_size=6),
    min_size=1,
    max_size=4,
)


@given(runs)
def test_a_run_comes_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, given_run: dict[str, dict[str, float]]
) -> None:
    path = tmp_path_factory.mktemp("run") / "a.trec"
    run = {
        question: in_order([Ranked(*entry) for entry in scores.items()])
        for question, scores in given_run.items()
    }
    write_run(path, run)
    assert read_run(path) == run


def test_ties_are_in_order_of_the_document_and_stated_ranks_mean_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.trec"
    path.write_text("q Q0 b 1 2 x\nq Q0 a 2 2 x\n\nq Q0 c 3 5.5e0 x\n")
    assert [entry.document for entry in read_run(path)["q"]] == ["c", "a", "b"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("q Q0 a 1 2 x\nq Q0 a 1\n", r"line 2: 4 fields instead of 6"),
        ("q Q0 a 1 two x\n", r"line 1: 'two' is no score"),
        ("q Q0 a 1 nan x\n", r"line 1: 'nan' is no score"),
        ("q Q0 a 1 2 x\nq Q0 a 2 1 x\n", r"line 2: document 'a' is ranked twice for 'q'"),
        ("", "is empty"),
        ("\n \n", "is empty"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "a.trec"
    path.write_text(text)
    with pytest.raises(UsageError, match=what) as caught:
        read_run(path)
    assert str(path) in caught.value.message
    assert caught.value.hint


def test_what_is_no_text_or_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.trec").write_bytes(b"q Q0 \xff 1 2 x")
    with pytest.raises(UsageError, match="UTF-8"):
        read_run(tmp_path / "a.trec")
    with pytest.raises(UsageError, match="no file"):
        read_run(tmp_path / "b.trec")
    with pytest.raises(UsageError, match="is a folder"):
        read_run(tmp_path)


@pytest.mark.parametrize("name", ["a b", "", "a\u2003b", "\t"])
def test_ids_that_the_format_cannot_say_are_refused_and_nothing_is_written(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / "a.trec"
    with pytest.raises(UsageError, match="white space"):
        write_run(path, {"q": (Ranked("fine", 2.0), Ranked(name, 1.0))})
    assert list(tmp_path.iterdir()) == []


# --- files that are written whole or not at all


def test_places_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    require_writable(tmp_path / "new")
    with pytest.raises(UsageError, match="is a folder"):
        require_writable(tmp_path)
    with pytest.raises(UsageError, match="is not there"):
        require_writable(tmp_path / "none" / "a")
    require_writable(Path(os.devnull))


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfhello")
    assert read_text(tmp_path / "a") == "hello"
