import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter
from tests.council.conftest import NAMES, OWN, QUESTION, Hall, council, honest, phase, turn, whose

from chapterhouse import Library
from chapterhouse.agents.council_model import Round
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.council.minutes.outline import minutes_markdown
from chapterhouse.errors import EngineError, NotFoundError, UsageError
from chapterhouse.types import Minutes

_MINUTES = TypeAdapter(Minutes)


def as_json(minutes: Minutes) -> bytes:
    return _MINUTES.dump_json(minutes)


_ELSEWHERE = """
import sys
from chapterhouse import Library
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.library.councils import LibraryCouncils
from chapterhouse.types import Minutes
from dataclasses import replace
from pydantic import TypeAdapter
from pathlib import Path
with Library.open(sys.argv[1]) as library:
    options = MeetingOptions(transcript=Path(sys.argv[2]), remember=False)
    then = replace(library._runtime, now=lambda: 1_700_000_000)  # the same day as here
    minutes = LibraryCouncils(then).convene("harbour-board", sys.argv[3], options=options)
    sys.stdout.buffer.write(TypeAdapter(Minutes).dump_json(minutes))
"""


def test_another_process_gives_the_same(harbour: Library, hall: Hall, tmp_path: Path) -> None:
    there, here = tmp_path / "there.ndjson", tmp_path / "here.ndjson"
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    ran = subprocess.run(
        [sys.executable, "-c", _ELSEWHERE, str(harbour.home), str(there), QUESTION],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        check=True,
    )
    assert ran.stdout == as_json(hall.convene("harbour-board", transcript=here))
    keys = [json.loads(path.read_text("utf-8").splitlines()[0])["key"] for path in (there, here)]
    assert keys[0] == keys[1]


def test_a_document_that_came_and_went_changes_nothing(own_hall: Hall) -> None:
    before = own_hall.convene("harbour-board")
    folder = own_hall.library.personas.load("maria").rag
    (folder / "bells.md").write_text("# Bells\n\nThe bells of the church ring at noon.\n", "utf-8")
    own_hall.library.sources.sync()
    between = own_hall.convene("harbour-board")
    (folder / "bells.md").unlink()
    own_hall.library.sources.sync()
    after = own_hall.convene("harbour-board")
    assert between.members[0].documents == before.members[0].documents + 1
    assert as_json(after) == as_json(before)


def test_a_council_without_documents_says_so(hall: Hall) -> None:
    made = council("empty-board", rounds=("independent_analysis", "synthesis"))
    shelves = (("council_till",), ("council_town",), ())  # who reads the same is read once
    roles = tuple(
        replace(member, persona="", name=member.persona, instructions="Speak.", shelves=own)
        for member, own in zip(made.members, shelves, strict=True)
    )
    minutes = hall.convene(replace(made, members=roles))
    assert minutes.statements == ()
    assert minutes.citations == ()
    assert [seat.documents for seat in minutes.members] == [0, 0, 0]
    assert minutes.decision == ()  # no choice was asked for
    assert not any(cell.text for row in minutes.table for cell in row.cells)
    assert minutes_markdown(minutes).count("there are no documents") == 3


def test_what_cannot_be_convened_says_why(hall: Hall) -> None:
    with pytest.raises(NotFoundError, match="no council"):
        hall.convene("nobody")
    with pytest.raises(UsageError, match="empty"):
        hall.convene("harbour-board", "   ")
    with pytest.raises(UsageError, match="model"):
        hall.library.councils.convene(
            "harbour-board", QUESTION, options=MeetingOptions(model="unknown")
        )


@pytest.mark.parametrize("options", [("one",), ("one", "one"), ("one", "")])
def test_options_that_are_none_are_refused(hall: Hall, options: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="cannot be decided between"):
        hall.convene("harbour-board", options=options)


def region() -> Any:
    rounds = ("independent_analysis", "cross_examination", "rebuttal", "synthesis")
    return council("region", "maria", rounds=rounds).add_member(council="town")


def test_a_council_speaks_as_one_and_its_minutes_are_kept_within(hall: Hall) -> None:
    hall.says(honest)
    minutes = hall.convene(region())
    town = next(one for one in minutes.turns if one.member == "town")
    assert town.inner is not None
    assert [seat.key for seat in town.inner.members] == ["nina", "till"]
    till = next(one for one in town.inner.turns if one.member == "till")
    assert till.inner is not None
    assert [seat.key for seat in till.inner.members] == ["jonas"]
    assert till.inner.statements[0].label == "6 knots"
    assert till.statements[0].position == "Inside the harbour no vessel may exceed 6 knots."
    assert minutes.members[1].kind == "council"
    assert _MINUTES.validate_json(as_json(minutes)) == minutes


def test_a_council_within_reads_the_shelves_of_its_members_and_no_other(hall: Hall) -> None:
    model = hall.says(honest)
    minutes = hall.convene(region())
    shelves = {seat.key: set(seat.shelves) for seat in minutes.members}
    assert shelves["town"] == {"nina", "jonas", "council_town", "council_till"}
    assert "maria" not in shelves["town"]
    own = [(i, p) for i, p in model.asked if whose(i) in {"jonas", "nina"}]
    assert {whose(i) for i, _ in own} == {"jonas", "nina"}
    for instructions, prompt in own:
        for slug, word in OWN.items():
            assert (word in prompt) is (slug == whose(instructions))


def test_a_council_within_meets_once_whatever_rounds_follow(hall: Hall) -> None:
    made = replace(
        region(),
        rounds=(
            Round("independent_analysis"),
            Round("berths", instructions="What does a berth in the marina cost?"),
        ),
    )
    hall.says(lambda i, p: turn() if phase(i) == "own" else honest(i, p))
    minutes = hall.convene(made)
    first, second = [one for one in minutes.turns if one.member == "town"]
    assert first.inner is not None
    assert second.inner is None


def test_a_model_that_is_down_within_sinks_nothing(hall: Hall) -> None:
    hall.says([EngineError("Down.")] * 20)
    minutes = hall.convene(region())
    assert "maria" in {one.member for one in minutes.absences}
    assert any("Down." in warning for warning in minutes.warnings)
    assert {one.member for one in minutes.turns} == {"town"}


ROUNDS = (
    "independent_analysis",
    "cross_examination",
    Round("opening", instructions="Say what the traffic is like.", speakers=("chair", "nina")),
    "rebuttal",
    "synthesis",
)


def test_no_model_is_asked_and_nothing_is_kept(hall: Hall) -> None:
    model = hall.says(honest)
    folder = hall.library.councils.load("harbour-board").path
    before = sorted(path.name for path in folder.rglob("*"))
    hall.plan("harbour-board")
    assert model.asked == []
    assert sorted(path.name for path in folder.rglob("*")) == before


def test_every_turn_is_there_in_the_order_of_rounds_and_seats(hall: Hall) -> None:
    hall.says(honest, fingerprint="modest")
    plan = hall.plan(council("harbour-board", rounds=ROUNDS))
    everyone = ("maria", "jonas", "nina")
    assert [(turn.round, turn.member) for turn in plan.turns] == [
        *(("independent_analysis", slug) for slug in everyone),
        *(("cross_examination", slug) for slug in everyone),
        ("opening", "nina"),
        ("opening", "chair"),
        *(("rebuttal", slug) for slug in everyone),
        ("synthesis", "chair"),
    ]
    assert [(seat.key, seat.title) for seat in plan.participants] == [
        *NAMES.items(),
        ("chair", "Agnes Merrow"),
    ]
    assert {turn.model for turn in plan.turns} == {"modest"}
    assert (plan.council, plan.title, plan.question) == ("harbour-board", "Harbour Board", QUESTION)


def test_a_turn_says_what_is_read_and_called_and_told(hall: Hall) -> None:
    made = council("harbour-board", "maria", rounds=("independent_analysis",))
    member = replace(made.members[0], grounding="tool", instructions="Think of rowers.")
    made = replace(made, members=(member,)).add_tool("search_knowledge")
    hall.says(honest)
    (turn,) = hall.plan(made).turns
    assert turn.model == "scripted"
    assert turn.grounding == "tool"
    assert turn.shelves == ("maria", "council_harbour-board")
    assert turn.tools == ("search_knowledge", "search_documents")
    assert turn.instructions.startswith("You are Maria Keller.\n\n")
    assert "You sit in the council “Harbour Board”. Keep the harbour safe." in turn.instructions
    assert "Your part in it: Think of rowers." in turn.instructions
    assert turn.prompt.endswith(f"QUESTION\n¦ {QUESTION}")


def test_a_plan_is_what_a_meeting_tells_but_for_its_nonces(hall: Hall) -> None:
    model = hall.says(honest)
    plan = hall.plan(council("harbour-board", rounds=("independent_analysis",)))
    hall.convene(council("harbour-board", rounds=("independent_analysis",)).limits(parallel=1))

    def bare(prompt: str) -> str:
        return re.sub(r"\b(?:nonce\d+|xxxxxx)\b", "nonce", prompt)

    assert [(t.instructions, bare(t.prompt)) for t in plan.turns] == [
        (instructions, bare(prompt)) for instructions, prompt in model.asked
    ]
