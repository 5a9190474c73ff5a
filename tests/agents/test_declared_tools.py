"""Tools that a file declares come back as they were written, and wrong ones are named."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse import Library
from chapterhouse.agents.council import Council, as_object, parse_council
from chapterhouse.agents.declared_tools import (
    Corpus,
    DeclaredTool,
    ToolRef,
    parse_tool,
    tool_name,
)

PAPERS = DeclaredTool(corpus=Corpus("papers"))
RULES = DeclaredTool(corpus=Corpus("rules", "find_rule", top_k=2))

words = st.text(max_size=20)
declared = st.builds(
    Corpus,
    st.text(min_size=1, max_size=20),
    words,
    words,
    st.integers(min_value=1, max_value=20),
).map(lambda corpus: DeclaredTool(corpus=corpus))


def council(*tools: ToolRef) -> Council:
    return Council.new("berths").add_tool(*tools).add_member("maria", tools=tools)


def parsed(*tools: Any) -> list[tuple[object, str, str]]:
    value = {"slug": "berths", "members": [{"persona": "maria"}], "tools": list(tools)}
    found = parse_council(json.dumps(value)).problems
    return [(one.place, one.code.value, f"{one.sentence} {one.hint}") for one in found]


@given(st.lists(st.one_of(declared, st.sampled_from(["search_knowledge", "tides"])), max_size=3))
def test_every_declaration_survives_the_round_trip(tools: list[ToolRef]) -> None:
    made = council(*tools).chair(name="Agnes", tools=tools)
    assert Council.from_json(made.to_json()) == made
    assert as_object(Council.from_json(made.to_json())) == as_object(made)


def test_a_file_has_declarations_without_their_defaults() -> None:
    assert as_object(council(PAPERS, RULES, "tides"))["tools"] == [
        {"corpus": {"folder": "papers"}},
        {"corpus": {"folder": "rules", "name": "find_rule", "top_k": 2}},
        "tides",
    ]


def test_a_folder_of_a_council_keeps_them(tmp_path: Path) -> None:
    with Library.open(tmp_path / "home") as library:
        made = council(PAPERS, RULES)
        folder = library.councils.create(made)
        assert library.councils.load("berths").council == made
        (tmp_path / "more").mkdir()
        library.councils.link("berths", str(tmp_path / "more"))
        assert library.councils.load("berths").council.tools == (PAPERS, RULES)
        assert '"corpus"' in folder.file.read_text("utf-8")


def test_how_they_are_called() -> None:
    assert [tool_name(tool) for tool in ("tides", PAPERS, RULES, DeclaredTool())] == [
        "tides",
        "search_papers",
        "find_rule",
        "",
    ]
    assert parse_tool({"corpus": {"folder": "papers"}}) == PAPERS


@pytest.mark.parametrize(
    ("tool", "place", "code", "words"),
    [
        (3, "tools[0]", "type", "text in double quotes"),
        (["x"], "tools[0]", "type", "text in double quotes"),
        ({"corpse": {}}, "tools[0].corpse", "unknown", "Did you mean 'corpus'?"),
        ({"corpus": "papers"}, "tools[0].corpus", "type", 'like {"folder": "papers"}'),
        ({"mcp": {"command": "x"}}, "tools[0].mcp", "unknown", "any more. A council's file starts"),
        ({"corpus": {"folder": 3}}, "tools[0].corpus.folder", "type", "text in double quotes"),
        ({"corpus": {"topk": 3}}, "tools[0].corpus.topk", "unknown", "Did you mean 'top_k'?"),
        ({"corpus": {"top_k": "3"}}, "tools[0].corpus.top_k", "type", "whole number"),
    ],
)
def test_what_is_wrong_with_its_form_is_named_at_its_place(
    tool: object, place: str, code: str, words: str
) -> None:
    found = parsed(tool, "search_knowledge")
    assert [(one[0], one[1]) for one in found] == [(place, code)]
    assert words in found[0][2]


def test_what_is_wrong_with_one_does_not_hide_the_others() -> None:
    value = {
        "slug": "berths",
        "members": [
            {"persona": "maria", "tools": [{"corpus": {"folder": 3}}, {"corpus": {"x": 1}}]}
        ],
        "tools": [{"corpus": {"folder": "papers"}}],
    }
    read = parse_council(json.dumps(value))
    assert [one.place for one in read.problems] == [
        "members[0].tools[0].corpus.folder",
        "members[0].tools[1].corpus.x",
    ]
    assert read.council is not None
    assert read.council.tools == (PAPERS,)
