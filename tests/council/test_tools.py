"""Which tools whom: every rule of merging, telling apart and leaving out."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import CHAIR, Member
from chapterhouse.agents.declared_tools import ToolRef
from chapterhouse.agents.problems import CouncilConfigError
from chapterhouse.council.tools import (
    merge_tools,
    participant_tools,
    register,
    tool_problems,
    tools_of,
)
from chapterhouse.errors import UsageError
from chapterhouse.types import Tool


def tool(name: str) -> Tool:
    return Tool(name, f"Call this for {name}.", {"type": "object"}, lambda _: name)


TIDES, TARIFFS, CASES = tool("tides"), tool("tariffs"), tool("cases")
REGISTRY = register(TIDES, TARIFFS, CASES, also={"rates": TARIFFS})


def member(name: str = "Maria", *tools: ToolRef) -> Member:
    return Member(name=name, instructions="Speak.", tools=tools)


def wrong(council: Council, registry: Mapping[str, Tool] = REGISTRY) -> list[tuple[object, str]]:
    return [(problem.path, problem.code) for problem in tool_problems(council, registry)]


def test_a_tool_is_given_by_its_name_or_as_it_is() -> None:
    assert merge_tools(["tides"], [TARIFFS], REGISTRY) == (TIDES, TARIFFS)


def test_the_councils_tools_come_before_a_members() -> None:
    assert merge_tools(["tides", "cases"], ["tariffs"], REGISTRY) == (TIDES, CASES, TARIFFS)
    assert merge_tools(["tariffs"], ["cases", "tides"], REGISTRY) == (TARIFFS, CASES, TIDES)


def test_a_name_and_the_tool_it_stands_for_count_once() -> None:
    assert merge_tools(["tides"], [TIDES, "cases"], REGISTRY) == (TIDES, CASES)


def test_one_tool_under_two_names_counts_once() -> None:
    assert merge_tools(["tariffs"], ["rates"], REGISTRY) == (TARIFFS,)
    assert merge_tools(["rates", "tariffs"], [], REGISTRY) == (TARIFFS,)


def test_equal_tools_are_not_one_tool() -> None:
    twin = Tool(TIDES.name, TIDES.description, TIDES.parameters, TIDES.call)
    assert twin == TIDES
    with pytest.raises(CouncilConfigError, match="another tool called 'tides'"):
        merge_tools([TIDES], [twin])


def test_two_tools_of_one_name_are_told_with_path_and_code() -> None:
    other = tool("tides")
    with pytest.raises(CouncilConfigError) as caught:
        merge_tools(["tides"], ["cases", other], REGISTRY, path=("members", 1, "tools"))
    (problem,) = caught.value.problems
    assert (problem.path, problem.code) == (("members", 1, "tools", 1), "duplicate")


def test_a_registered_name_does_not_hide_that_two_tools_call_themselves_alike() -> None:
    registry = {"mine": TIDES, "yours": tool("tides")}
    with pytest.raises(CouncilConfigError, match="another tool called 'tides'"):
        merge_tools(["mine"], ["yours"], registry)


def test_an_unknown_name_is_told_with_path_and_code() -> None:
    with pytest.raises(CouncilConfigError) as caught:
        merge_tools(["tides", "cases", "tarifs"], ["currents"], REGISTRY)
    assert [(problem.path, problem.code) for problem in caught.value.problems] == [
        (("tools", 2), "unknown"),
        (("member", "tools", 0), "unknown"),
    ]
    assert caught.value.problems[0].hint == "Did you mean 'tariffs'?"
    assert "tools[2]" in caught.value.message


def test_a_tool_that_no_model_could_be_offered_is_told_before_anything_runs() -> None:
    bad = Tool("two words", "", {"type": "object"}, str)
    with pytest.raises(CouncilConfigError) as caught:
        merge_tools([bad], [])
    assert [(problem.path, problem.code) for problem in caught.value.problems] == [
        (("tools", 0), "type")
    ]


def test_the_chair_has_the_councils_tools_too() -> None:
    council = Council.new("harbour").add_tool("tides").chair(name="Ada", instructions="Sum up.")
    assert participant_tools(council, REGISTRY)[CHAIR] == (TIDES,)


def test_a_council_that_is_a_member_does_not_inherit() -> None:
    inner = Member(council="pilots")
    assert tools_of(["tides"], inner, REGISTRY) == ()
    assert tools_of(["tides"], member(), REGISTRY) == (TIDES,)


def test_everyone_has_what_is_theirs() -> None:
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
    expected = [
        (("tools", 2), "unknown"),
        (("members", 0, "tools", 0), "unknown"),
        (("members", 2, "tools", 0), "duplicate"),
        (("chair", "tools", 0), "unknown"),
    ]
    assert wrong(council) == expected
    with pytest.raises(CouncilConfigError) as caught:
        participant_tools(council, REGISTRY)
    assert [(p.path, p.code) for p in caught.value.problems] == expected
    assert {problem.slug for problem in caught.value.problems} == {"harbour"}


def test_nothing_is_wrong_with_no_tools() -> None:
    council = Council("harbour", members=(member(),))
    assert wrong(council, {}) == []
    assert participant_tools(council) == {"maria": ()}


def test_one_name_is_registered_for_one_tool() -> None:
    assert register(TIDES, TIDES, also={"tides": TIDES}) == {"tides": TIDES}
    with pytest.raises(UsageError, match="Two tools are called 'tides'"):
        register(TIDES, tool("tides"))
    with pytest.raises(UsageError, match="Two tools are called 'tides'"):
        register(TIDES, also={"tides": CASES})


def test_a_tool_that_no_model_could_be_offered_is_not_registered() -> None:
    with pytest.raises(UsageError, match="schema of the tool a is none"):
        register(Tool("a", "", {"type": "object", "oneOf": []}, str))


REFERENCES = st.lists(st.sampled_from(["tides", "tariffs", "rates", "cases", TIDES, CASES]))


@given(REFERENCES, REFERENCES)
def test_merging_keeps_every_tool_once_in_the_order_of_its_first_mention(
    of_council: list[ToolRef], own: list[ToolRef]
) -> None:
    found = merge_tools(of_council, own, REGISTRY)
    mentioned = [REGISTRY[r] if isinstance(r, str) else r for r in [*of_council, *own]]
    firsts = [t for n, t in enumerate(mentioned) if all(t is not s for s in mentioned[:n])]
    assert [id(t) for t in found] == [id(t) for t in firsts]
    assert merge_tools(found, own, REGISTRY) == found


def test_a_name_may_stand_for_another_tool_with_every_member() -> None:
    council = Council(
        "harbour",
        tools=("search_knowledge",),
        members=(member("Maria", "search_knowledge", "tides"), member("Olof")),
        chaired_by=member("Ada"),
    )
    theirs = {name: tool("search_knowledge") for name in ("maria", "olof", "ada")}

    def own(of: Member) -> Mapping[str, Tool]:
        return {"search_knowledge": theirs[of.key]}

    found = participant_tools(council, REGISTRY, own)
    assert {key: [id(t) for t in tools] for key, tools in found.items()} == {
        "maria": [id(theirs["maria"]), id(TIDES)],
        "olof": [id(theirs["olof"])],
        CHAIR: [id(theirs["ada"])],
    }
    assert tool_problems(council, REGISTRY, own) == ()
    assert wrong(council) == [
        (("tools", 0), "unknown"),
        (("members", 0, "tools", 0), "unknown"),
    ]


def test_tools_that_nobody_would_get_are_checked_all_the_same() -> None:
    for members in ((), (Member(council="pilots"),)):
        assert wrong(Council("harbour", tools=("tarifs",), members=members)) == [
            (("tools", 0), "unknown")
        ]
