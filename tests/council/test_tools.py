"""Which tools whom: every rule of merging, telling apart and leaving out."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import CHAIR, Member, ToolRef
from chapterhouse.agents.problems import CouncilConfigError, Problem
from chapterhouse.council.tools import participant_tools
from chapterhouse.types import Tool


def tool(name: str) -> Tool:
    return Tool(name, f"Call this for {name}.", {"type": "object"}, lambda _: name)


TIDES, TARIFFS, CASES = tool("tides"), tool("tariffs"), tool("cases")
REGISTRY = {"tides": TIDES, "tariffs": TARIFFS, "cases": CASES, "rates": TARIFFS}


def member(name: str = "Maria", *tools: ToolRef) -> Member:
    return Member(name=name, instructions="Speak.", tools=tools)


def board(of_all: Sequence[ToolRef], own: Sequence[ToolRef] = ()) -> Council:
    return Council("harbour", tools=tuple(of_all), members=(member("Maria", *own),))


def wrong(council: Council, registry: Mapping[str, Tool] = REGISTRY) -> tuple[Problem, ...]:
    with pytest.raises(CouncilConfigError) as caught:
        participant_tools(council, registry)
    return caught.value.problems


def places(problems: Sequence[Problem]) -> list[tuple[str, str]]:
    return [(problem.place, problem.code) for problem in problems]


REFERENCES = st.lists(st.sampled_from(["tides", "tariffs", "rates", "cases", TIDES, CASES]))


@given(REFERENCES, REFERENCES)
def test_every_tool_is_there_once_in_the_order_of_its_first_mention_the_councils_first(
    of_council: list[ToolRef], own: list[ToolRef]
) -> None:
    found = participant_tools(board(of_council, own), REGISTRY)["maria"]
    mentioned = [REGISTRY[r] if isinstance(r, str) else r for r in [*of_council, *own]]
    firsts = [t for n, t in enumerate(mentioned) if all(t is not s for s in mentioned[:n])]
    assert [id(t) for t in found] == [id(t) for t in firsts]


def test_equal_tools_are_not_one_tool_whatever_names_they_are_registered_by() -> None:
    twin = Tool(TIDES.name, TIDES.description, TIDES.parameters, TIDES.call)
    assert twin == TIDES
    for council, registry in (
        (board([TIDES], [twin]), {}),
        (board(["mine"], ["yours"]), {"mine": TIDES, "yours": twin}),
    ):
        (problem,) = wrong(council, registry)
        assert "another tool called 'tides'" in problem.sentence
        assert places([problem]) == [("members[0].tools[0]", "duplicate")]


def test_an_unknown_name_is_told_with_the_one_that_was_meant() -> None:
    problems = wrong(board(["tides", "cases", "tarifs"], ["currents"]))
    assert places(problems) == [("tools[2]", "unknown"), ("members[0].tools[0]", "unknown")]
    assert problems[0].hint == "Did you mean 'tariffs'?"


def test_a_tool_that_no_model_could_be_offered_is_told_before_anything_runs() -> None:
    assert places(wrong(board([Tool("two words", "", {"type": "object"}, str)]))) == [
        ("tools[0]", "type")
    ]


def test_everyone_has_what_is_theirs_and_a_council_inherits_nothing() -> None:
    council = Council(
        "harbour",
        tools=("tides",),
        members=(member("Maria", "tariffs"), member("Olof"), Member(council="pilots")),
        chaired_by=member("Maria", CASES),
    )
    assert participant_tools(council, REGISTRY) == {
        "maria": (TIDES, TARIFFS),
        "olof": (TIDES,),
        "pilots": (),
        CHAIR: (TIDES, CASES),
    }
    assert participant_tools(board(())) == {"maria": ()}


def test_all_problems_of_a_council_are_told_at_once_and_each_once() -> None:
    council = Council(
        "harbour",
        tools=("tides", TARIFFS, "nothing"),
        members=(
            member("Maria", "nowhere"),
            Member(council="pilots"),
            member("Olof", tool("tides"), "tides"),
        ),
        chaired_by=member("Ada", "never"),
    )
    problems = wrong(council)
    assert places(problems) == [
        ("tools[2]", "unknown"),
        ("members[0].tools[0]", "unknown"),
        ("members[2].tools[0]", "duplicate"),
        ("chair.tools[0]", "unknown"),
    ]
    assert {problem.slug for problem in problems} == {"harbour"}


def test_a_name_may_stand_for_another_tool_with_every_member() -> None:
    council = Council(
        "harbour",
        tools=("search_knowledge",),
        members=(member("Maria", "search_knowledge", "tides"), member("Olof")),
        chaired_by=member("Ada"),
    )
    theirs = {name: tool("search_knowledge") for name in ("maria", "olof", "ada")}
    found = participant_tools(council, REGISTRY, lambda of: {"search_knowledge": theirs[of.key]})
    assert {key: [id(t) for t in tools] for key, tools in found.items()} == {
        "maria": [id(theirs["maria"]), id(TIDES)],
        "olof": [id(theirs["olof"])],
        CHAIR: [id(theirs["ada"])],
    }


def test_tools_that_nobody_would_get_are_checked_all_the_same() -> None:
    for members in ((), (Member(council="pilots"),)):
        council = Council("harbour", tools=("tarifs",), members=members)
        assert places(wrong(council)) == [("tools[0]", "unknown")]
