import json
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.agents.council import Council, check_council
from chapterhouse.agents.council_model import (
    BUILT_IN,
    Corpus,
    DeclaredTool,
    Member,
    MemberKind,
    Round,
    RoundKind,
)
from chapterhouse.agents.definition import COUNCIL_TEMPLATES, Grounding
from chapterhouse.agents.problems import Code
from chapterhouse.errors import UsageError
from chapterhouse.types import Tool


def call(_: Mapping[str, object]) -> str:
    return "nothing"


PAPERS = Tool("search_papers", "Searches papers.", {"type": "object"}, call)


def test_every_call_gives_a_new_council() -> None:
    steps = [Council.new("policy-debate")]
    calls: tuple[Callable[[Council], Council], ...] = (
        lambda council: council.default_model("big"),
        lambda council: council.add_tool("search_knowledge", PAPERS),
        lambda council: council.add_member("maria"),
        lambda council: council.add_member(name="Sceptic", instructions="Doubt.", tools=[PAPERS]),
        lambda council: council.add_member(council="finance"),
        lambda council: council.add_round("independent_analysis").add_round("cross_examination"),
        lambda council: council.add_round("synthesis").chair(name="Chair", model="big"),
        lambda council: council.link("/papers").decide_between("yes", "no"),
        lambda council: council.limits(parallel=2),
    )
    for call in calls:
        before = replace(steps[-1])
        steps.append(call(steps[-1]))
        assert steps[-2] == before != steps[-1]
    whole = steps[-1]
    assert [(member.key, member.kind) for member in whole.members] == [
        ("maria", MemberKind.PERSONA),
        ("sceptic", MemberKind.ROLE),
        ("finance", MemberKind.COUNCIL),
    ]
    assert (whole.parallel, whole.round_timeout_seconds) == (2, 900)
    assert whole.limits(round_timeout_seconds=9).parallel == 2
    assert whole.chaired_by == Member(name="Chair", model="big")
    assert whole.problems == ()


def test_members_and_rounds_may_come_ready_made() -> None:
    member, entry = Member(persona="maria", shelves=("rules",)), Round("rebuttal")
    built = Council.new("berths").add_member(member).add_round(entry).chair(member)
    assert (built.members, built.rounds, built.chaired_by) == ((member,), (entry,), member)
    assert Council.new("x").add_member("maria", shelves=["rules"]).members == (member,)
    with pytest.raises(UsageError, match="not both"):
        Council.new("berths").add_member(member, model="big")
    with pytest.raises(UsageError, match="not both"):
        Council.new("berths").add_round(entry, sees_statements=True)
    with pytest.raises(UsageError, match="persona="):
        Council.new("berths").chair("maria", persona="tom")


@pytest.mark.parametrize(
    ("entry", "kind", "shows"),
    [
        (Round("independent_analysis"), RoundKind.INDEPENDENT_ANALYSIS, False),
        (Round("cross_examination"), RoundKind.CROSS_EXAMINATION, True),
        (Round("rebuttal"), RoundKind.REBUTTAL, True),
        (Round("synthesis"), RoundKind.SYNTHESIS, True),
        (Round("cost_check", "Count."), RoundKind.OWN, False),
        (Round("cost_check", "Count.", sees_statements=True), RoundKind.OWN, True),
        (Round("own", "Count."), RoundKind.OWN, False),
    ],
)
def test_rounds_know_what_they_are(entry: Round, kind: RoundKind, *, shows: bool) -> None:
    assert (entry.kind, entry.shows_statements) == (kind, shows)


def councils(*, right: bool) -> st.SearchStrategy[Council]:
    """Councils of values that a file may have; else of any."""
    wild = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
    words = st.text("abcö7", max_size=4) if right else wild
    names = st.text("abc7", min_size=1, max_size=4) if right else wild
    seconds: st.SearchStrategy[float] = (
        st.floats(1, 86_400) | st.integers(1, 86_400)
        if right
        else st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 10**6)
    )
    lists = st.lists(names, max_size=2).map(tuple)
    corpora = st.builds(Corpus, words, words, words, st.integers(1, 20) if right else st.integers())
    declared = corpora.map(lambda corpus: DeclaredTool(corpus=corpus))
    tools = st.lists(words | declared, max_size=2).map(tuple)
    members = st.builds(
        Member,
        *[words] * 5,
        tools=tools,
        grounding=st.none() | st.sampled_from(get_args(Grounding)),
        timeout_seconds=st.none() | seconds,
        shelves=lists,
    )
    rounds = st.builds(Round, st.sampled_from(BUILT_IN) | names, words, lists, st.booleans())
    return st.builds(
        Council,
        names,
        *[words] * 3,
        tools=tools,
        members=st.lists(members, max_size=2).map(tuple),
        rounds=st.lists(rounds, max_size=2).map(tuple),
        chaired_by=st.none() | members,
        folders=lists,
        options=lists,
        parallel=st.integers(1, 64) if right else st.integers(),
        round_timeout_seconds=seconds,
    )


@given(councils(right=True))
def test_any_council_comes_back_from_json_as_it_was(council: Council) -> None:
    text = council.to_json()
    again = Council.from_json(text)
    assert again == council
    assert again.to_json() == text


@given(councils(right=False))
def test_what_is_wrong_with_any_council_has_a_place_in_its_json(council: Council) -> None:
    for problem in council.problems:
        assert problem.sentence.endswith(".")
        assert problem.hint
        value: Any = json.loads(council.to_json())
        for part in problem.path[:-1]:  # the last may be what is missing
            if isinstance(value, str):
                assert part == "name"  # a round written as its name alone
                break
            value = value[part] if isinstance(part, int) else value.get(part, {})
            assert isinstance(value, (dict, list, str))


def test_json_is_short_and_keeps_its_order() -> None:
    council = (
        Council.new("berths", purpose="Tariffs – 2027")
        .add_tool(PAPERS, "search_knowledge", DeclaredTool(corpus=Corpus("rules", top_k=2)))
        .add_member("maria", grounding="both", timeout_seconds=30)
        .add_round("independent_analysis")
        .add_round("cost_check", instructions="Count.", speakers=["maria"])
        .chair(name="Chair")
    )
    assert json.loads(council.to_json()) == {
        "slug": "berths",
        "purpose": "Tariffs – 2027",
        "tools": ["search_papers", "search_knowledge", {"corpus": {"folder": "rules", "top_k": 2}}],
        "members": [{"persona": "maria", "grounding": "both", "timeout_seconds": 30}],
        "rounds": [
            "independent_analysis",
            {"name": "cost_check", "instructions": "Count.", "speakers": ["maria"]},
        ],
        "chair": {"name": "Chair"},
    }  # fmt: skip
    assert "Tariffs – 2027" in council.to_json()
    assert council.to_json().endswith("}\n")


PAGE = (Path(__file__).parents[2] / "docs" / "councils.md").read_text("utf-8")


def first_cells(heading: str, until: str) -> list[str]:
    part = PAGE.partition(heading)[2].partition(until)[0]
    return re.findall(r"^\| `([a-z_-]+)`", part, re.MULTILINE)


def test_every_code_key_and_template_is_documented() -> None:
    def named(kind: type) -> list[str]:
        return ["chair" if f.name == "chaired_by" else f.name for f in fields(kind)]

    shown = first_cells("## See what is wrong", "## Every key")
    assert sorted(shown) == sorted(code.value for code in Code)
    assert first_cells("## Every key", "Of a member") == named(Council)
    assert first_cells("Of a member", "Of a round") == named(Member)
    assert first_cells("Of a round", "## From Python") == named(Round)
    assert first_cells("## Make one by hand", "## Choose the members") == list(COUNCIL_TEMPLATES)


def test_the_council_shown_can_meet() -> None:
    shown = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert shown
    council = Council.from_json(shown[1])
    assert check_council(council) == ()
    assert json.loads(council.to_json()) == json.loads(shown[1])
