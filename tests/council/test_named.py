"""What a model is told of a name, and what it may cite of that."""

import re
from dataclasses import replace

import pytest
from tests.council.conftest import Hall, council, position, turn

from chapterhouse.agents.council_model import Member
from chapterhouse.council.named import GRAPH_TOOL, graph_tool
from chapterhouse.errors import UsageError
from chapterhouse.models.scripted import Call, Scripted
from chapterhouse.text.sanitise import LINE_MARK
from chapterhouse.types import Scope

MET = "Ingrid Tolle met Marcus Webb in Kiel."
MOVED = "Ingrid Tolle moved to Hamburg."
NOTES = f"# Notes\n\n{MET} Fees are due in May.\n\n{MOVED}\n"
SECRET = "# Secret\n\nIngrid Tolle met Helena Brandt in Berlin. Helena Brandt left.\n"


@pytest.fixture
def named_hall(own_hall: Hall) -> Hall:
    own_hall.library.documents.add_bytes(NOTES.encode(), "notes.md", shelf="open")
    own_hall.library.documents.add_bytes(SECRET.encode(), "secret.md", shelf="shut")
    return own_hall


def told(hall: Hall, name: str, *shelves: str) -> str:
    return graph_tool(hall.runtime, Scope.of(shelves))[GRAPH_TOOL].call({"name": name})


def test_sentences_and_names_are_those_of_the_shelves(named_hall: Hall) -> None:
    found = told(named_hall, "INGRID tolle", "open")
    assert found.startswith('[Sentences that name "Ingrid Tolle"]\n\n1. ')
    lines = [line.removeprefix(LINE_MARK).strip() for line in found.splitlines()]
    assert MET in lines
    assert MOVED in lines
    assert "Fees" not in found
    assert "Marcus Webb (person)" in found
    assert "Helena" not in found
    assert "Berlin" in told(named_hall, "tolle", "open", "shut")
    assert told(named_hall, "Helena Brandt", "open").startswith('[Not among the names "Helena')
    assert "Helena" not in told(named_hall, "Brandt", "open").removeprefix("[Not among the names")
    assert told(named_hall, "ingrid", "open") == found  # nobody else is called so
    assert "(Names that have it: Hamburg (location)" in told(named_hall, "Hambu", "open")
    with pytest.raises(UsageError):
        told(named_hall, "  ", "open")


def test_what_it_finds_can_be_cited_and_is_verified(named_hall: Hall) -> None:
    def script(_: str, __: str) -> Scripted:
        if not model.tool_results:
            return [Call(GRAPH_TOOL, {"name": "Marcus Webb"})]
        found = re.search(r"cite as (\[\d+\])\n[^\[]*Kiel", model.tool_results[0].result)
        return turn(positions=[position(f"{MET}{found[1] if found else ''}")])

    made = council("harbour-board", rounds=("independent_analysis",)).add_tool(GRAPH_TOOL)
    made = replace(
        made,
        members=(
            Member(name="Clerk", instructions="Keep order.", shelves=("open",), grounding="tool"),
        ),
        chaired_by=None,
    )
    model = named_hall.says(script)
    minutes = named_hall.convene(made)
    assert minutes.statements[0].citations == (1,)
    assert minutes.citations[0].quote == MET
    (made_turn,) = minutes.turns
    assert made_turn.tool_calls[0].result == ""  # it is text of documents
    (check,) = named_hall.library.councils.recheck(minutes)
    assert (check.source, check.quote) == ("same", "stands")
