"""Finding passages: what search and context print and how they end."""

from pathlib import Path
from typing import Any

import pytest

SPAN = "53:84"  # where it stands in tariffs.pdf


def test_search_explains_only_when_asked(chapterhouse: Any, home: Path) -> None:
    assert "bm25: " not in chapterhouse("search", "berth").out
    assert "bm25: " in chapterhouse("search", "berth", "--explain").out
    assert "stages" not in chapterhouse("search", "berth", "--json").data["hits"][0]
    explained = chapterhouse("search", "berth", "--json", "--explain").data["hits"][0]
    assert {"bm25", "bm25_rank", "cosine"} <= explained["stages"].keys()
    assert explained["chunk"]["id"].endswith(":0")


@pytest.mark.parametrize("command", ["search", "context"])
def test_without_hits_a_search_ends_with_6(chapterhouse: Any, home: Path, command: str) -> None:
    result = chapterhouse(command, "zeppelin")
    assert (result.code, "Nothing found." in result.out) == (6, True)


@pytest.mark.parametrize("option", ["--limit=3", "--per-document=1", "--tag=x"])
def test_all_documents_cannot_be_fewer(chapterhouse: Any, option: str) -> None:
    result = chapterhouse("search", "x", "--all", option)
    assert result.code == 2
    assert "--all lists every document" in result.err


def test_a_context_that_is_too_small_says_so(chapterhouse: Any, home: Path) -> None:
    assert "1 excerpt of 1 document " in chapterhouse("context", "berth").out
    assert "fits into 5 tokens" in chapterhouse("context", "berth", "--tokens", "5").out


def test_bytes_in_a_question_that_are_no_text_are_replaced(chapterhouse: Any, home: Path) -> None:
    found = chapterhouse("search", "\udcff berth", "--json").data
    assert found["query"]["text"] == "\ufffd berth"


def documents_of(chapterhouse: Any, *options: object) -> list[str]:
    hits = chapterhouse("search", "ferry timetable fares", *options, "--json").data["hits"]
    return [hit["document"]["id"] for hit in hits]


def test_as_many_passages_come_as_are_asked_for(chapterhouse: Any, ferry: Path) -> None:
    home = ("--home", ferry)
    usual = documents_of(chapterhouse, *home)
    assert len(usual) > len(set(usual))
    assert documents_of(chapterhouse, "--limit", 1, *home) == usual[:1]
    several = documents_of(chapterhouse, "--per-document", 1, *home)
    assert len(several) == len(set(several)) > 1
    every = documents_of(chapterhouse, "--all", *home)
    assert len(every) == len(set(every))
    assert not set(several) <= set(every)  # which has all of the words


def test_a_context_is_markdown_that_keeps_to_its_tokens(chapterhouse: Any, home: Path) -> None:
    question = ("context", "What does a berth cost, and how long does slack water last?")
    whole = chapterhouse(*question, "--json").data
    assert len(whole["excerpts"]) == 2
    for tokens in (whole["tokens"], whole["tokens"] - 1, 60):
        packed = chapterhouse(*question, "--tokens", tokens, "--json").data
        assert packed["tokens"] <= packed["maximum"] == tokens
        shown = chapterhouse(*question, "--tokens", tokens).out
        assert shown.startswith(f"{packed['markdown']}\n")
        assert f"{packed['tokens']:,} of {tokens:,} tokens · " in shown.splitlines()[-1]
