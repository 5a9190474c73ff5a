import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.agents.council import Council, check_council, check_parsed, council_schema
from chapterhouse.agents.council_checks import circle
from chapterhouse.agents.council_model import Corpus, DeclaredTool, Member, Round
from chapterhouse.agents.definition import (
    MAXIMUM_BYTES,
    ParsedDefinition,
    parse_definition,
    parsed_in_folder,
    read_definition,
)
from chapterhouse.agents.problems import (
    Code,
    CouncilConfigError,
    Problem,
    References,
    Severity,
    errors,
)
from chapterhouse.store.definitions import COUNCIL_MARKS, Definitions
from chapterhouse.types import Tool

WHOLE = (
    Council.new("berths")
    .add_tool("search_knowledge")
    .add_member("maria")
    .add_member(name="Sceptic", instructions="Doubt.")
    .add_round("independent_analysis")
    .add_round("cross_examination")
    .add_round("synthesis")
    .chair(name="Chair")
)
AROUND = References(
    personas={"maria": True, "tom": False},
    councils={"berths": (), "finance": ("audit",), "audit": (), "torn": ()},
    broken=frozenset(("torn",)),
    models=frozenset(("big", "small")),
    shelves=frozenset(("library", "maria", "council_berths")),
    tools=frozenset(("search_knowledge", "semantic_search")),
)
Change = Callable[[Council], Council]


def changed(**values: Any) -> Change:
    return lambda council: replace(council, **values)


def with_member(**values: Any) -> Change:
    return lambda council: council.add_member(**values)


def with_round(number: int, **values: Any) -> Change:
    def change(council: Council) -> Council:
        rounds = list(council.rounds)
        rounds[number] = replace(rounds[number], **values)
        return replace(council, rounds=tuple(rounds))

    return change


def corpus(**values: Any) -> Change:
    made = Corpus(**{"folder": "docs", **values})
    return changed(tools=("search_knowledge", DeclaredTool(corpus=made)))


def call(_: Mapping[str, object]) -> str:
    return "nothing"


PAPERS = Tool("papers", "Searches papers.", {"type": "object"}, call)
INDEPENDENT, CROSS, SYNTHESIS = map(Round, ("independent_analysis", "rebuttal", "synthesis"))
OWN = Round("cost_check", "Count.")
LATE = ("members", 2)
CORPUS = ("tools", 1, "corpus")
SCEPTIC = Member(name="Sceptic", instructions="Doubt.")

TABLE: list[tuple[Change, tuple[str | int, ...], Code, str]] = [
    # names
    (changed(slug=""), ("slug",), Code.EMPTY, "berth-tariffs"),
    (changed(slug="Berths"), ("slug",), Code.NAME, "folder is called"),
    (changed(slug="council"), ("slug",), Code.RESERVED, "folder is called"),
    (changed(display_name="a" * 81), ("display_name",), Code.RANGE, "docs"),
    # tools and models
    (changed(tools=("search_knowledge", "semantic_search", "search_knowlege")), ("tools", 2),
     Code.UNKNOWN, "Did you mean 'search_knowledge'?"),
    (changed(tools=("",)), ("tools", 0), Code.EMPTY, "Name a tool"),
    # tools that are declared
    (changed(tools=(DeclaredTool(),)), ("tools", 0), Code.MISSING, "Declare one"),
    (corpus(folder=""), (*CORPUS, "folder"), Code.EMPTY, "Name a folder"),
    (corpus(folder="gone"), (*CORPUS, "folder"), Code.FOLDER_MISSING, "spelling"),
    (corpus(name="find rules"), (*CORPUS, "name"), Code.NAME, "underscores"),
    (corpus(name="search_knowledge"), (*CORPUS, "name"), Code.RESERVED, "another"),
    (corpus(description="a\u200bb"), (*CORPUS, "description"), Code.INVISIBLE, "anew"),
    (corpus(top_k=21), (*CORPUS, "top_k"), Code.RANGE, "docs"),
    (changed(model="bigg"), ("model",), Code.MODEL_UNKNOWN, "[models.bigg]"),
    # who sits
    (changed(members=()), ("members",), Code.NO_MEMBERS, "--member"),
    (with_member(persona="marya"), (*LATE, "persona"), Code.UNKNOWN, "'maria'"),
    (with_member(persona="tom"), (*LATE, "persona"), Code.PERSONA_BROKEN, "persona validate tom"),
    (with_member(persona="maria"), LATE, Code.DUPLICATE, "Leave one"),
    (with_member(name="sceptic!", instructions="x"), LATE, Code.DUPLICATE, "Leave one"),
    (with_member(), LATE, Code.MISSING, "'persona'"),
    (with_member(name="Judge"), (*LATE, "instructions"), Code.MISSING, "'folders'"),
    (with_member(name="J", folders=("gone",)), (*LATE, "folders", 0), Code.FOLDER_MISSING, "spel"),
    (with_member(name="J", folders=("docs", "docs")), (*LATE, "folders", 1), Code.DUPLICATE, "L"),
    (with_member(name="…", instructions="x"), (*LATE, "name"), Code.NAME, "said"),
    (with_member(name="Chair", instructions="x"), LATE, Code.RESERVED, "another"),
    (with_member(persona="maria", council="audit"), LATE, Code.AMBIGUOUS, "two members"),
    (with_member(council="audits"), (*LATE, "council"), Code.UNKNOWN, "'audit'"),
    (with_member(council="torn"), (*LATE, "council"), Code.COUNCIL_BROKEN, "validate torn"),
    (with_member(council="berths"), (*LATE, "council"), Code.CYCLE, "out of another"),
    (with_member(persona="x", grounding="injcet"), (*LATE, "grounding"), Code.UNKNOWN, "docs"),
    (with_member(persona="x", model="bg"), (*LATE, "model"), Code.MODEL_UNKNOWN, "'big'"),
    (with_member(persona="x", tools=["y"]), (*LATE, "tools", 0), Code.UNKNOWN, "There are"),
    (with_member(persona="x", timeout_seconds=901), (*LATE, "timeout_seconds"), Code.UNUSED,
     "Raise"),
    (with_member(persona="x", shelves=["librari"]), (*LATE, "shelves", 0), Code.UNKNOWN, "library"),
    (with_member(persona="x", shelves=["a b"]), (*LATE, "shelves", 0), Code.NAME, "status"),
    (with_member(persona="x", shelves=["x"]), (*LATE, "shelves", 0), Code.UNUSED, "Leave it out"),
    (with_member(persona="x", shelves=["council_berths"]), (*LATE, "shelves", 0), Code.UNUSED,
     "Leave it out"),
    (changed(chaired_by=None), ("chair",), Code.NO_CHAIR, '"chair"'),
    (changed(chaired_by=Member()), ("chair",), Code.MISSING, "'persona'"),
    (changed(chaired_by=Member(council="audit")), ("chair", "council"), Code.MISPLACED, "preside"),
    (changed(chaired_by=Member(name="C", folders=("docs",))), ("chair", "folders"), Code.MISPLACED,
     "a member"),
    (changed(chaired_by=Member(persona="x")), ("chair", "persona"), Code.UNKNOWN, "maria"),
    (changed(chaired_by=Member(name="C", tools=("x",))), ("chair", "tools", 0), Code.UNKNOWN,
     "There are"),
    # rounds
    (changed(rounds=()), ("rounds",), Code.NO_ROUNDS, "independent_analysis"),
    (changed(rounds=(INDEPENDENT,)), ("rounds",), Code.NO_SYNTHESIS, "at the end"),
    (changed(rounds=(INDEPENDENT,)), ("chair",), Code.UNUSED, "leave the chair out"),
    (changed(rounds=(CROSS, SYNTHESIS)), ("rounds", 0), Code.ORDER, "Begin with"),
    (changed(rounds=(replace(OWN, sees_statements=True), SYNTHESIS)), ("rounds", 0), Code.ORDER,
     "Begin with"),
    (changed(rounds=(INDEPENDENT, SYNTHESIS, CROSS)), ("rounds", 1), Code.ORDER, "Put it last"),
    (with_round(1, name="cross_examinaton"), ("rounds", 1, "name"), Code.UNKNOWN, "Did you mean"),
    (with_round(1, name=""), ("rounds", 1, "name"), Code.EMPTY, "rebuttal"),
    (with_round(1, name="Cost check", instructions="x"), ("rounds", 1, "name"), Code.NAME,
     "cost_check"),
    (with_round(1, name="own", instructions="x"), ("rounds", 1, "name"), Code.RESERVED, "happens"),
    (with_round(1, sees_statements=True), ("rounds", 1, "sees_statements"), Code.MISPLACED,
     "your own"),
    (with_round(1, speakers=("mario",)), ("rounds", 1, "speakers", 0), Code.UNKNOWN, "'maria'"),
    (with_round(2, speakers=("maria",)), ("rounds", 2, "speakers"), Code.MISPLACED, "Leave"),
    (changed(rounds=(replace(INDEPENDENT, speakers=("chair",)),), chaired_by=None),
     ("rounds", 0, "speakers", 0), Code.MISSING, "'chair'"),
    # the rest
    (changed(folders=(" ",)), ("folders", 0), Code.EMPTY, "Name a folder"),
    (changed(folders=("gone",)), ("folders", 0), Code.FOLDER_MISSING, "spelling"),
    (changed(folders=("~no-such-user/x",)), ("folders", 0), Code.FOLDER_MISSING, "whole path"),
    (changed(options=("yes",)), ("options",), Code.RANGE, "Add another"),
    (changed(options=("yes", "")), ("options", 1), Code.EMPTY, "Write"),
]  # fmt: skip


def found(council: Council, folder: Path | None = None) -> tuple[Problem, ...]:
    return check_council(council, replace(AROUND, folder=folder))


def test_roles_that_read_the_same_need_a_model(tmp_path: Path) -> None:
    (tmp_path / "paper.md").touch()
    roles = Council.new("berths").add_round("independent_analysis").add_round("synthesis")
    roles = roles.chair(name="Chair").add_member(name="A", instructions="x")
    alike = roles.add_member(name="B", instructions="y")

    def codes(council: Council, around: References) -> list[Code]:
        return [one.code for one in check_council(council, replace(around, folder=tmp_path))]

    without = replace(AROUND, models=frozenset())
    assert codes(alike, without) == [Code.NEEDS_MODEL]
    assert codes(alike, AROUND) == codes(roles, without) == []
    assert codes(roles.add_member(name="B", folders=["paper.md"]), without) == []


def test_a_council_may_be_right(tmp_path: Path) -> None:
    assert found(WHOLE, tmp_path) == ()
    assert WHOLE.problems == ()
    assert found(WHOLE.add_member(council="finance").default_model("none")) == ()
    (tmp_path / "docs").mkdir()
    assert found(corpus(description="For rules.\nOften.", top_k=20)(WHOLE), tmp_path) == ()
    several = WHOLE.add_member(persona="maria", name="Maria as devil's advocate", model="big")
    assert found(several.decide_between("yes", "no")) == ()
    spoken = (INDEPENDENT, replace(OWN, speakers=("chair", "sceptic")), SYNTHESIS)
    assert found(replace(WHOLE, rounds=spoken)) == ()


@pytest.mark.parametrize(("change", "path", "code", "hint"), TABLE)
def test_each_fault_has_its_path_and_code(
    tmp_path: Path, change: Change, path: tuple[str | int, ...], code: Code, hint: str
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "file").touch()
    council = change(WHOLE)
    fitting = [
        problem
        for problem in found(council, tmp_path)
        if (problem.path, problem.code) == (path, code)
    ]
    assert len(fitting) == 1, found(council, tmp_path)
    assert hint in fitting[0].hint
    assert fitting[0].sentence.endswith(".")
    assert fitting[0].file == council.slug


def test_all_is_told_at_once_and_errors_come_first() -> None:
    broken = replace(
        WHOLE,
        tools=("a", "semantic_search", "b"),
        members=(*WHOLE.members, Member(persona="x", timeout_seconds=999)),
        parallel=0,
        rounds=(Round("independent_analysis"),),
    )
    problems = found(broken)
    assert [problem.place for problem in problems] == [
        "parallel", "tools[0]", "tools[2]", "members[2].persona", "members[2].timeout_seconds",
        "rounds", "chair",
    ]  # fmt: skip
    assert [problem.severity for problem in problems[4:]] == [Severity.WARNING] * 3
    assert errors(problems) == problems[:4]
    assert len({(problem.path, problem.code) for problem in problems}) == len(problems)


def test_nothing_is_compared_with_what_is_not_known() -> None:
    council = WHOLE.default_model("x").add_tool("y").add_member("z", shelves=["w"]).link("v")
    assert council.problems == ()
    assert council.add_member(council="berths").problems[0].code is Code.CYCLE


def test_circles_are_found_wherever_they_are_in_work_in_proportion() -> None:
    def cycle(inner: Mapping[str, tuple[str, ...]], *subs: str) -> list[str]:
        council = replace(WHOLE, members=tuple(Member(council=sub) for sub in subs))
        around = replace(AROUND, councils=inner)
        return [p.sentence for p in check_council(council, around) if p.code is Code.CYCLE]

    told = "Councils contain each other: a → berths → a."
    assert cycle({"berths": (), "a": ("berths",)}, "a") == [told]
    # What its own file said before counts no longer.
    assert cycle({"berths": ("a",), "a": ()}, "a") == []
    assert len(cycle({"a": ("b",), "b": ("c",), "c": ("b",)}, "a", "b", "c")) == 3
    assert cycle({"a": ("b", "c"), "b": ("d",), "c": ("d",), "d": ()}, "a") == []
    assert cycle({"a": ("gone",)}, "a") == []
    diamonds = {
        f"{level}{side}": (f"{level + 1}a", f"{level + 1}b")
        for level in range(2_000)
        for side in "ab"
    }
    assert circle("0a", diamonds) == ()
    assert circle("0a", {**diamonds, "2000b": ("1999a",)}) == ("1999a", "2000b", "1999a")


def told(council: Council, path: tuple[str | int, ...], code: Code) -> bool:
    """Whether this fault is found there."""
    return (path, code) in {(problem.path, problem.code) for problem in found(council)}


MISPLACED: dict[str, Any] = {
    "instructions": "x", "model": "big", "tools": ("search_knowledge",), "grounding": "tool",
    "shelves": ("library",),
}  # fmt: skip


@given(st.sets(st.sampled_from(list(MISPLACED))))
def test_a_council_within_is_told_nothing_that_its_own_file_says(given: set[str]) -> None:
    council = WHOLE.add_member(Member(council="audit", **{name: MISPLACED[name] for name in given}))
    misplaced = {problem.path for problem in found(council) if problem.code is Code.MISPLACED}
    assert misplaced == {(*LATE, name) for name in given}


TEXTS: dict[str, tuple[Callable[[str], Change], tuple[str | int, ...]]] = {
    "display name": (lambda text: changed(display_name=text), ("display_name",)),
    "purpose": (lambda text: changed(purpose=text), ("purpose",)),
    "name": (lambda text: with_member(name=text, instructions="x"), (*LATE, "name")),
    "instructions": (lambda text: with_member(name="a", instructions=text),
                     (*LATE, "instructions")),
    "round": (lambda text: with_round(1, instructions=text), ("rounds", 1, "instructions")),
    "option": (lambda text: changed(options=("yes", text)), ("options", 1)),
}  # fmt: skip


@pytest.mark.parametrize("place", TEXTS)
@given(hidden=st.sampled_from(["", "\x00", "\x07", "\u200b", "\u202e"]))
def test_no_text_holds_what_nobody_sees(place: str, hidden: str) -> None:
    change, path = TEXTS[place]
    assert told(change(f"no{hidden}where")(WHOLE), path, Code.INVISIBLE) == bool(hidden)


@given(
    st.integers() | st.sampled_from([0, 1, 64, 65]),
    st.floats() | st.integers(-5, 10_000) | st.sampled_from([0, 0.0]),
)
def test_numbers_are_within_what_a_machine_can_bear(parallel: int, seconds: float) -> None:
    whole = replace(WHOLE, parallel=parallel, round_timeout_seconds=seconds)
    member = WHOLE.add_member(persona="maria", name="Other", timeout_seconds=seconds)
    fits = 0 < seconds <= 86_400
    assert told(whole, ("parallel",), Code.RANGE) != (1 <= parallel <= 64)
    assert told(whole, ("round_timeout_seconds",), Code.RANGE) != fits
    assert told(member, (*LATE, "timeout_seconds"), Code.RANGE) != fits


@pytest.mark.parametrize("number", [32, 33, 36, 64, 65])
def test_there_is_room_for_so_many_and_no_more(number: int) -> None:
    members = tuple(replace(SCEPTIC, name=f"Sceptic {place}") for place in range(number))
    rounds = (INDEPENDENT,) * (number - 1) + (SYNTHESIS,)
    options = tuple(map(str, range(number - 15)))
    council = replace(WHOLE, members=members, rounds=rounds, options=options)
    assert told(council, ("members",), Code.RANGE) == (number > 64)
    assert told(council, ("rounds",), Code.RANGE) == (number > 32)
    assert told(council, ("options",), Code.RANGE) == (number > 35)


LISTS: dict[str, tuple[Callable[[Any], Change], tuple[str | int, ...], tuple[Any, ...]]] = {
    "tools": (lambda names: changed(tools=names), ("tools",), ("search_knowledge", PAPERS)),
    "shelves": (lambda names: with_member(name="a", instructions="x", shelves=names),
                (*LATE, "shelves"), ("library", "maria")),
    "speakers": (lambda names: with_round(1, speakers=names), ("rounds", 1, "speakers"),
                 ("maria", "sceptic")),
    "folders": (lambda names: changed(folders=names), ("folders",), ("docs", "more")),
    "options": (lambda names: changed(options=names), ("options",), ("yes", "no", "YES")),
}  # fmt: skip


def fold(name: Any) -> Any:
    return name.casefold() if isinstance(name, str) else name


@pytest.mark.parametrize("place", LISTS)
@given(data=st.data())
def test_nothing_is_named_twice_in_one_list(place: str, data: st.DataObject) -> None:
    change, path, names = LISTS[place]
    given = tuple(data.draw(st.lists(st.sampled_from(names), max_size=4)))
    twice = [number for number, name in enumerate(given) if fold(name) in map(fold, given[:number])]
    council = change(given)(WHOLE)
    assert [
        number for number in range(4) if told(council, (*path, number), Code.DUPLICATE)
    ] == twice


KEYS = '"slug": "berths", "members": [{"persona": "maria"}], "rounds": ["independent_analysis"]'


def parse(text: str) -> ParsedDefinition[Council]:
    return parse_definition(text, council_schema())


@pytest.mark.parametrize(
    ("text", "path", "code", "said"),
    [
        ("{", (), Code.NOT_JSON, "line 1, column 2"),
        ('{"slug": "x",}', (), Code.NOT_JSON, "line 1"),
        ('"x"', (), Code.NOT_JSON, "no object"),
        ('{"parallel": NaN}', (), Code.NOT_JSON, "NaN"),
        ('{"round_timeout_seconds": 1e999}', (), Code.NOT_JSON, "too large"),
        ('{"parallel": ' + "1" * 5_000 + "}", (), Code.NOT_JSON, "digits"),
        ("[" * 100_000, (), Code.NOT_JSON, "recursion"),
        ("{}", ("slug",), Code.MISSING, "'slug' is missing"),
        ('{"slug": 1}', ("slug",), Code.TYPE, "text in double quotes, not 1"),
        ('{"slug": "x", "tools": "y"}', ("tools",), Code.TYPE, "a list"),
        ('{"slug": "x", "tools": ["y", 2]}', ("tools", 1), Code.TYPE, "not 2"),
        ('{"slug": "x", "members": ["maria"]}', ("members", 0), Code.TYPE, "persona"),
        ('{"slug": "x", "rounds": [{}]}', ("rounds", 0, "name"), Code.MISSING, "missing"),
        ('{"slug": "x", "parallel": 1.5}', ("parallel",), Code.TYPE, "a whole number"),
        ('{"slug": "x", "members": [{"timeout_seconds": "9"}]}', ("members", 0, "timeout_seconds"),
         Code.TYPE, "a number"),
        ('{"slug": "x", "tools": [{"corpus": "p"}]}', ("tools", 0, "corpus"), Code.TYPE, "object"),
        ('{"slug": "x", "chair": {"tools": [{"corpus": {"top_k": "3"}}]}}',
         ("chair", "tools", 0, "corpus", "top_k"), Code.TYPE, "whole number"),
        ('{"slug": "x", "members": [{"tools": [{"corpus": {"folder": 3}}]}]}',
         ("members", 0, "tools", 0, "corpus", "folder"), Code.TYPE, "text in double quotes"),
        ('{"slug": "x", "membres": []}', ("membres",), Code.UNKNOWN, "no key 'membres'"),
        ('{"slug": "x", "members": [{"personna": "m"}]}', ("members", 0, "personna"), Code.UNKNOWN,
         "no key 'personna'"),
        ('{"slug": "x", "slug": "y"}', ("slug",), Code.DUPLICATE, "twice"),
        ('{"slug": "x", "members": [{}, {"name": "a", "name": "a"}]}', ("members", 1, "name"),
         Code.DUPLICATE, "twice"),
        (r'{"slug": "x", "purpose": "\ud800"}', ("purpose",), Code.TYPE, "half"),
        (r'{"slug": "x", "\ud800": 1}', (), Code.TYPE, "half"),
    ],
)  # fmt: skip
def test_a_fault_has_a_place(text: str, path: tuple[str | int, ...], code: Code, said: str) -> None:
    problem = parse(text).problems[0]
    assert (problem.path, problem.code) == (path, code)
    assert said in problem.sentence
    assert problem.hint
    with pytest.raises(CouncilConfigError):
        parse(text).required()


@pytest.mark.parametrize(
    ("rest", "hint"),
    [
        ('"membres": []', "Did you mean 'members'?"),
        ('"members": [{"timeout_second": 9}]', "Did you mean 'timeout_seconds'?"),
        ('"tools": [{"corpse": {}}]', "Did you mean 'corpus'?"),
        ('"tools": [{"corpus": {"topk": 3}}]', "'top_k'"),
        ('"rounds": [{"name": "y", "speaker": ["x"]}]', "speakers"),
        ('"zzz": 1', "There are: "),
    ],
)
def test_the_nearest_key_is_suggested(rest: str, hint: str) -> None:
    assert hint in parse(f'{{"slug": "x", {rest}}}').problems[0].hint


def test_all_of_the_form_is_told_before_the_meaning() -> None:
    for rest, expected in (
        ('"parallel": 0, "colour": "red", "chair": {"name": 3}',
         [("parallel", Code.RANGE), ("colour", Code.UNKNOWN), ("chair.name", Code.TYPE)]),
        ('"options": ["yes"]', [("options", Code.RANGE), ("rounds", Code.NO_SYNTHESIS)]),
    ):  # fmt: skip
        parsed = parsed_in_folder(parse(f"{{{KEYS}, {rest}}}"), "berths")
        found = check_parsed(parsed, "berths", References())
        assert [(one.place, one.code) for one in found] == expected


def test_files_that_are_no_text(tmp_path: Path) -> None:
    def read() -> ParsedDefinition[Council]:
        return read_definition(Definitions(tmp_path, COUNCIL_MARKS), "berths", council_schema())

    path = tmp_path / "berths" / "council.json"
    path.parent.mkdir()
    assert read().problems[0].code is Code.UNREADABLE
    path.write_bytes(b'{"slug":\n "\xff"}')
    assert "line 2" in read().problems[0].sentence
    path.write_bytes(b"\xef\xbb\xbf{" + KEYS.encode() + b"}")
    assert read().required().slug == "berths"
    path.write_bytes(b" " * (MAXIMUM_BYTES + 1))
    assert "more than" in read().problems[0].sentence
    path.unlink()
    path.mkdir()
    assert read().problems[0].code is Code.UNREADABLE
    path.rmdir()
    os.mkfifo(path)  # it would keep a reader waiting
    assert read().problems[0].code is Code.UNREADABLE
