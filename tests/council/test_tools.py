import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.council.conftest import Hall, council, markers, position, turn

from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import CHAIR, Corpus, DeclaredTool, Member, ToolRef
from chapterhouse.agents.problems import CouncilConfigError, Problem
from chapterhouse.answering.bundle import bundle_json, examine, read_bundle
from chapterhouse.answering.runtime import Runtime
from chapterhouse.council import tools as corpora
from chapterhouse.council.minutes.bundle import MINUTES
from chapterhouse.council.tools import corpus_tool, installed_tools, participant_tools
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.models.scripted import Call, Scripted
from chapterhouse.types import Minutes, Scope, Tool


def tool(name: str) -> Tool:
    return Tool(name, f"Call this for {name}.", {"type": "object"}, lambda _: name)


TIDES, TARIFFS, CASES = tool("tides"), tool("tariffs"), tool("cases")
REGISTRY = {"tides": TIDES, "tariffs": TARIFFS, "cases": CASES, "rates": TARIFFS}


def member(name: str = "Maria", *tools: ToolRef) -> Member:
    return Member(name=name, instructions="Speak.", tools=tools)


def board(of_all: Sequence[ToolRef], own: Sequence[ToolRef] = ()) -> Council:
    return Council("harbour", tools=tuple(of_all), members=(member("Maria", *own),))


def wrong(made: Council, registry: Mapping[str, Tool] = REGISTRY) -> tuple[Problem, ...]:
    with pytest.raises(CouncilConfigError) as caught:
        participant_tools(made, registry)
    return caught.value.problems


def places(problems: Sequence[Problem]) -> list[tuple[str, str]]:
    return [(problem.place, problem.code) for problem in problems]


REFERENCES = st.lists(st.sampled_from(["tides", "tariffs", "rates", "cases", TIDES, CASES]))


@given(REFERENCES, REFERENCES)
def test_every_tool_is_there_once_in_order(of_council: list[ToolRef], own: list[ToolRef]) -> None:
    found = participant_tools(board(of_council, own), REGISTRY)["maria"]
    mentioned = [REGISTRY[r] if isinstance(r, str) else r for r in [*of_council, *own]]
    firsts = [t for n, t in enumerate(mentioned) if all(t is not s for s in mentioned[:n])]
    assert [id(t) for t in found] == [id(t) for t in firsts]


def test_equal_tools_are_not_one_tool_whatever_names_they_are_registered_by() -> None:
    twin = Tool(TIDES.name, TIDES.description, TIDES.parameters, TIDES.call)
    assert twin == TIDES
    for made, registry in (
        (board([TIDES], [twin]), {}),
        (board(["mine"], ["yours"]), {"mine": TIDES, "yours": twin}),
    ):
        (problem,) = wrong(made, registry)
        assert "another tool called 'tides'" in problem.sentence
        assert places([problem]) == [("members[0].tools[0]", "duplicate")]


def test_a_tool_that_no_model_could_be_offered_is_told_before_anything_runs() -> None:
    assert places(wrong(board([Tool("two words", "", {"type": "object"}, str)]))) == [
        ("tools[0]", "type")
    ]


def test_everyone_has_what_is_theirs_and_a_council_inherits_nothing() -> None:
    made = Council(
        "harbour",
        tools=("tides",),
        members=(member("Maria", "tariffs"), member("Olof"), Member(council="pilots")),
        chaired_by=member("Maria", CASES),
    )
    assert participant_tools(made, REGISTRY) == {
        "maria": (TIDES, TARIFFS),
        "olof": (TIDES,),
        "pilots": (),
        CHAIR: (TIDES, CASES),
    }
    assert participant_tools(board(())) == {"maria": ()}


def test_all_problems_of_a_council_are_told_at_once_and_each_once() -> None:
    made = Council(
        "harbour",
        tools=("tides", TARIFFS, "nothing"),
        members=(
            member("Maria", "nowhere"),
            Member(council="pilots"),
            member("Olof", tool("tides"), "tides"),
        ),
        chaired_by=member("Ada", "never"),
    )
    problems = wrong(made)
    assert places(problems) == [
        ("tools[2]", "unknown"),
        ("members[0].tools[0]", "unknown"),
        ("members[2].tools[0]", "duplicate"),
        ("chair.tools[0]", "unknown"),
    ]
    assert {problem.slug for problem in problems} == {"harbour"}


def test_a_name_may_stand_for_another_tool_with_every_member() -> None:
    made = Council(
        "harbour",
        tools=("search_knowledge",),
        members=(member("Maria", "search_knowledge", "tides"), member("Olof")),
        chaired_by=member("Ada"),
    )
    theirs = {name: tool("search_knowledge") for name in ("maria", "olof", CHAIR)}
    own = {name: {"search_knowledge": one} for name, one in theirs.items()}
    found = participant_tools(made, REGISTRY, own)
    assert {key: [id(t) for t in tools] for key, tools in found.items()} == {
        "maria": [id(theirs["maria"]), id(TIDES)],
        "olof": [id(theirs["olof"])],
        CHAIR: [id(theirs[CHAIR])],
    }


def test_tools_that_nobody_would_get_are_checked_all_the_same() -> None:
    for members in ((), (Member(council="pilots"),)):
        made = Council("harbour", tools=("tarifs",), members=members)
        assert places(wrong(made)) == [("tools[0]", "unknown")]


POLICIES = {
    "refunds.md": "# Refunds\n\nRefunds are paid within 30 days of delivery.\n",
    "warranty.txt": "The warranty lasts for twelve months.\n",
    "deep/shipping.html": "<h1>Shipping</h1><p>Parcels above 50 crowns travel free.</p>",
}


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    for name, text in POLICIES.items():
        path = tmp_path / "policies" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path / "policies"


def test_the_best_passages_come_first_with_their_places(hall: Hall, policies: Path) -> None:
    tool, problems = corpus_tool(Corpus("policies"), policies, hall.runtime)
    assert tool.find is not None
    assert problems == ()
    (found,) = tool.find({"query": "How long does the warranty last?"})
    assert found.place == "policies/warranty.txt (chunk 1)"
    assert found.text.strip() == "The warranty lasts for twelve months."
    (found,) = tool.find({"query": "free parcel"})
    assert found.place == "policies/deep/shipping.html (chunk 1, section Shipping)"
    assert tool.find({"query": "submarines"}) == []  # what shares no word is never a passage
    told = tool.call({"query": "warranty"})
    assert told.startswith('[Results for "warranty"]\n\n1. policies/warranty.txt (chunk 1)\n¦ The')
    assert tool.call({"query": "[sub]"}) == '[Nothing was found for "⟦sub⟧"]'


def test_names_and_descriptions(hall: Hall, policies: Path) -> None:
    tool, _ = corpus_tool(Corpus("policies"), policies, hall.runtime)
    assert (tool.name, "policies" in tool.description) == ("search_policies", True)
    assert "Call this whenever" in tool.description
    named = Corpus("policies", name="rules", description="Call this for rules.")
    tool, _ = corpus_tool(named, policies, hall.runtime)
    assert (tool.name, tool.description) == ("rules", "Call this for rules.")
    assert Corpus("../Our Papers (2024)/").tool_name == "search_our_papers_2024"
    assert Corpus("港口").tool_name == "search_corpus"


def test_what_cannot_be_read_is_told_and_the_rest_is_searched(hall: Hall, policies: Path) -> None:
    (policies / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    (policies / "link.md").symlink_to(policies / "refunds.md")
    tool, problems = corpus_tool(Corpus("policies"), policies, hall.runtime)
    assert [problem.partition(" is not")[0] for problem in problems] == [
        "policies/broken.pdf",
        "policies/link.md",
    ]
    assert "30 days" in tool.call({"query": "refunds"})


def test_nothing_of_it_is_in_the_library(hall: Hall, policies: Path) -> None:
    before = hall.library._runtime.store.sequence()
    corpus_tool(Corpus("policies"), policies, hall.runtime)
    assert hall.library._runtime.store.sequence() == before
    assert not any(
        "polic" in document.source
        for document in hall.library._runtime.store.documents(Scope.everything())
    )


def test_a_corpus_has_limits(hall: Hall, policies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotFoundError):
        corpus_tool(Corpus("no"), policies / "no", hall.runtime)
    monkeypatch.setattr(corpora, "MOST_FILES", 2)
    with pytest.raises(UsageError, match="search_policies has 3 files, at most 2 fit"):
        corpus_tool(Corpus("policies"), policies, hall.runtime)


LIMIT = "The harbour had a limit of 3 knots in 1920."
PACKAGE = """\
from chapterhouse.types import Tool
LIMIT = "The harbour had a limit of 3 knots in 1920."
def make(name="old_letters"):
    return Tool(name, "Call this for letters.", {"type": "object"}, lambda _: LIMIT)
letters = make()
broken = 3
"""


def alone(*tools: ToolRef) -> Council:
    made = council("letters", rounds=("independent_analysis",)).add_tool(*tools)
    return replace(made, members=(Member(persona="maria"),))


@pytest.fixture
def folder(own_hall: Hall) -> Path:
    """The folder of a council with letters in it."""
    folder = own_hall.library.councils.create(alone()).path
    (folder / "letters").mkdir()
    (folder / "letters" / "may.md").write_text(f"# May\n\n{LIMIT}\n", "utf-8")
    return folder


def meet(hall: Hall, made: Council, name: str, **more: Any) -> Minutes:
    """Let Maria call a tool once and claim what it told, with the marker of its first block."""

    def script(_: str, __: str) -> Scripted:
        if not model.tool_results:
            return [Call(name, {"query": "the limit of speed"})]
        (told,) = model.tool_results
        assert not told.failed, told.result
        marker = next(iter(markers(f"{told.result}\n").values()))
        return turn(positions=[position(f"In 1920 the harbour had a limit of 3 knots.{marker}")])

    model = hall.says(script)
    return hall.convene(made, **more)


def check(hall: Hall, minutes: Minutes, name: str) -> None:
    """A claim of the minutes rests on the tool's text, and is verified again without the tool."""
    (statement,) = minutes.statements
    assert statement.citations
    (citation,) = [one for one in minutes.citations if one.tool]
    assert (citation.tool, citation.quote) == (name, LIMIT)
    assert all(one.holds for one in hall.library.councils.recheck(minutes))
    bundle = read_bundle(bundle_json(hall.library.councils.bundle(minutes)), MINUTES)
    assert all(one.passed for one in examine(bundle))


def test_a_claim_from_a_corpus_is_supported_and_verified(own_hall: Hall, folder: Path) -> None:
    made = alone(DeclaredTool(corpus=Corpus("letters")))
    minutes = meet(own_hall, made, "search_letters")
    check(own_hall, minutes, "search_letters")
    assert minutes.citations[0].title == "letters/may.md (chunk 1, section May)"


def test_a_corpus_of_a_file_is_read_again_when_it_changes(own_hall: Hall, folder: Path) -> None:
    written = json.loads((folder / "council.json").read_text("utf-8"))
    written["tools"] = [{"corpus": {"folder": "letters"}}]
    (folder / "council.json").write_text(json.dumps(written), "utf-8")
    made = own_hall.library.councils.load("letters").council
    check(own_hall, meet(own_hall, made, "search_letters", transcript=None), "search_letters")
    own_hall.events.clear()
    meet(own_hall, made, "search_letters", transcript=None)
    assert [event.kind.value for event in own_hall.events if event.member] == ["resumed"]
    (folder / "letters" / "june.md").write_text("Another letter.", "utf-8")
    own_hall.events.clear()
    meet(own_hall, made, "search_letters", transcript=None)
    assert "resumed" not in {event.kind.value for event in own_hall.events}


def test_what_of_a_corpus_cannot_be_read_is_in_the_minutes(own_hall: Hall, folder: Path) -> None:
    (folder / "letters" / "broken.pdf").write_bytes(b"%PDF-1.7")
    minutes = meet(own_hall, alone(DeclaredTool(corpus=Corpus("letters"))), "search_letters")
    assert any("broken.pdf is not searched" in warning for warning in minutes.warnings)


def test_a_corpus_that_is_gone_keeps_a_council_from_meeting(own_hall: Hall) -> None:
    with pytest.raises(CouncilConfigError) as caught:
        own_hall.convene(alone(DeclaredTool(corpus=Corpus("gone"))))
    (problem,) = caught.value.problems
    assert problem.place == "tools[0].corpus.folder"


def test_a_council_within_has_the_tools_that_it_declares(own_hall: Hall, folder: Path) -> None:
    written = json.loads((folder / "council.json").read_text("utf-8"))
    written["tools"] = [{"corpus": {"folder": "letters"}}]
    written["rounds"] = ["independent_analysis", "synthesis"]
    (folder / "council.json").write_text(json.dumps(written), "utf-8")
    outer = council("region", rounds=("independent_analysis",))
    outer = replace(outer, members=(Member(council="letters"),))
    minutes = meet(own_hall, outer, "search_letters")
    assert minutes.statements[0].citations
    assert [one.tool for one in minutes.citations if one.tool] == ["search_letters"]
    assert all(one.holds for one in own_hall.library.councils.recheck(minutes))


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that brings tools, as pip would have installed it."""
    for name, points in {
        "letters": "old_letters = archive_letters:letters\nmade = archive_letters:make\n"
        "broken = archive_letters:broken\nmissing = archive_letters:missing\n"
        "search_knowledge = archive_letters:missing\n",
        "more": "made = archive_letters:letters\nunused = archive_no_such_module:x\n",
    }.items():
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[chapterhouse.tools]\n{points}")
    (tmp_path / "archive_letters.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("package")
def test_a_claim_from_an_installed_tool_is_supported_and_verified(hall: Hall) -> None:
    assert hall.library.councils.validate(alone("old_letters", "nothing"))[0].place == "tools[1]"
    check(hall, meet(hall, alone("old_letters"), "old_letters"), "old_letters")


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("name", "words"),
    [("broken", "cannot be loaded"), ("missing", "cannot be loaded"), ("made", "Two installed")],
)
def test_an_installed_tool_that_cannot_be_used_is_told_of(name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        installed_tools(alone(name))


@pytest.mark.usefixtures("package")
def test_only_what_a_council_names_is_loaded_and_nothing_hides_the_librarys_own(hall: Hall) -> None:
    assert "archive_letters" not in sys.modules or sys.modules.pop("archive_letters")
    assert dict(installed_tools(alone("search_knowledge"))) == {}
    assert "archive_letters" not in sys.modules
    session = hall.open_session(alone("search_knowledge"))
    assert session.participants[0].own_tools
    assert isinstance(hall.runtime, Runtime)
