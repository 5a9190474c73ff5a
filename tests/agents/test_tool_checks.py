"""Everything wrong with the tools of a council, by path and code."""

from pathlib import Path

import pytest

from chapterhouse.agents.declared_tools import Corpus, DeclaredTool, ToolRef
from chapterhouse.agents.problems import Code, References, Severity
from chapterhouse.agents.tool_checks import tool_problems


def corpus(folder: str = "papers", *more: object, **words: object) -> DeclaredTool:
    return DeclaredTool(corpus=Corpus(folder, *more, **words))  # type: ignore[arg-type]


def wrong(*tools: ToolRef, folder: Path | None = None) -> list[tuple[str, Code]]:
    references = References(folder=folder, tools=frozenset(("tides",)))
    return [(one.place, one.code) for one in tool_problems(("tools",), tools, references)]


def test_what_is_right_has_no_problem(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    whole = corpus("papers", "search_rules", "Call this for rules.\nOften.", 20)
    assert wrong("tides", corpus(), whole, folder=tmp_path) == []


@pytest.mark.parametrize(
    ("tool", "place", "code"),
    [
        (DeclaredTool(), "tools[1]", Code.MISSING),
        (corpus(""), "tools[1].corpus.folder", Code.EMPTY),
        (corpus("gone"), "tools[1].corpus.folder", Code.FOLDER_MISSING),
        (corpus("file"), "tools[1].corpus.folder", Code.FOLDER_MISSING),
        (corpus(name="find rules"), "tools[1].corpus.name", Code.NAME),
        (corpus(name="search_knowledge"), "tools[1].corpus.name", Code.RESERVED),
        (corpus(description="a\u200bb"), "tools[1].corpus.description", Code.INVISIBLE),
        (corpus(top_k=0), "tools[1].corpus.top_k", Code.RANGE),
        (corpus(top_k=21), "tools[1].corpus.top_k", Code.RANGE),
        ("tidez", "tools[1]", Code.UNKNOWN),
        ("", "tools[1]", Code.EMPTY),
    ],
)
def test_what_is_wrong_is_named_at_its_place(
    tmp_path: Path, tool: ToolRef, place: str, code: Code
) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "file").touch()
    assert wrong("tides", tool, folder=tmp_path) == [(place, code)]


def test_what_is_there_twice_is_a_warning() -> None:
    tools = ("tides", corpus(), corpus(), "tides", corpus("other"))
    references = References()
    found = list(tool_problems(("tools",), tools, references))
    assert [(one.place, one.code, one.severity) for one in found] == [
        (f"tools[{number}]", Code.DUPLICATE, Severity.WARNING) for number in (2, 3)
    ]


def test_without_a_folder_to_look_in_none_is_missing() -> None:
    assert wrong(corpus("gone")) == []
