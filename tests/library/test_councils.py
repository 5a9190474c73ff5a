import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.agents.council import Council
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.library.councils import LibraryCouncils, minutes_of
from chapterhouse.models.scripted import ScriptedModel
from chapterhouse.types import CouncilEvent, Minutes, MinutesEvent

QUESTION = "When does the gate of the harbour close?"
ROUNDS = ("independent_analysis", "cross_examination", "synthesis")


@pytest.fixture
def board(library: Library, folder: Path) -> Council:
    """A council, not kept, of two who read different documents."""
    newer = folder / "newer.md"
    newer.write_text("# Gate\n\nThe gate of the harbour closes at 22:30 from April to September.\n")
    library.documents.add(newer, shelf="newer")
    made = Council.new("board", purpose="Keep the harbour safe.")
    for name, shelf in (("Ada", "library"), ("Bo", "newer")):
        made = made.add_member(name=name, instructions="Speak.", shelves=(shelf,))
    for name in ROUNDS:
        made = made.add_round(name)
    return made.chair(name="Agnes", instructions="Weigh evidence.")


def test_events_end_with_the_minutes(library: Library, board: Council) -> None:
    async def followed() -> list[CouncilEvent]:
        return [event async for event in library.councils.events(board, QUESTION)]

    plan = library.councils.plan(board, QUESTION)
    assert [seat.key for seat in plan.participants] == ["ada", "bo", "chair"]
    assert library.memory.personas() == ()
    told: list[CouncilEvent] = []
    minutes = library.councils.convene(board, QUESTION, on_event=told.append)
    events = asyncio.run(followed())
    assert events[-1] == MinutesEvent(minutes)
    assert sorted(map(repr, events)) == sorted(map(repr, told))  # members speak at the same time
    assert len([event for event in events if isinstance(event, MinutesEvent)]) == 1
    (row,) = minutes.table
    assert [cell.member for cell in row.cells if cell.text] == ["ada", "bo"]


def test_convening_works_where_a_loop_runs_already(library: Library, board: Council) -> None:
    async def notebook() -> tuple[Minutes, Minutes]:
        councils = library.councils
        events = councils.events(board, QUESTION)
        return councils.convene(board, QUESTION), await minutes_of(events)

    plain, awaited = asyncio.run(notebook())
    assert plain == awaited
    assert plain.citations


def test_who_stops_reading_stops_it(library: Library, board: Council, tmp_path: Path) -> None:
    model = ScriptedModel(lambda *_: '{"position": "The gate closes."}')
    councils = LibraryCouncils(replace(library._runtime, language_model=lambda _: model))
    options = MeetingOptions(transcript=tmp_path / "held.ndjson")

    async def until_someone_spoke() -> None:
        events = councils.events(board, QUESTION, options=options)
        async for event in events:
            if getattr(event, "kind", None) == "spoke":
                break
        await events.aclose()  # type: ignore[attr-defined]  # it is a generator

    asyncio.run(until_someone_spoke())
    lines = [json.loads(line) for line in (tmp_path / "held.ndjson").read_text().splitlines()]
    assert [line["member"] for line in lines if "turn" in line]
    assert not any("minutes" in line for line in lines)


def test_minutes_are_checked_again(library: Library, board: Council, folder: Path) -> None:
    minutes = library.councils.convene(board, QUESTION)
    assert minutes.citations
    assert all(check.holds for check in library.councils.recheck(minutes))
    bundle = library.councils.bundle(minutes)
    assert bundle.held == minutes
    (folder / "newer.md").write_text("# Gate\n\nThe gate of the harbour never closes.\n")
    library.documents.add(folder / "newer.md", shelf="newer")
    broken = [check.citation for check in library.councils.recheck(minutes) if not check.holds]
    assert broken
    assert all("22:30" in citation.quote for citation in broken)
