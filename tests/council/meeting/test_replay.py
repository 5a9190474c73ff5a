"""A meeting goes on from its transcript."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.council.conftest import (
    CHARTER,
    QUESTION,
    Hall,
    Script,
    council,
    honest,
    phase,
    whose,
)

from chapterhouse.errors import EngineError
from chapterhouse.models.scripted import Scripted
from chapterhouse.types import MeetingEventKind


class Killed(KeyboardInterrupt):
    """The process ends."""


def dying(after: int) -> tuple[Script, Counter[tuple[str, str]]]:
    """Return a script after so many answers of which the process ends, and what it was asked."""
    asked: Counter[tuple[str, str]] = Counter()

    def script(instructions: str, prompt: str) -> Scripted:
        if sum(asked.values()) >= after:
            raise Killed
        asked[whose(instructions), phase(instructions)] += 1
        return honest(instructions, prompt)

    return script, asked


@pytest.mark.parametrize("after", range(7))
def test_a_meeting_that_was_killed_goes_on_without_asking_anyone_twice(
    hall: Hall, tmp_path: Path, after: int
) -> None:
    rounds = ("independent_analysis", "cross_examination", "synthesis")
    made = council("harbour-board", rounds=rounds).limits(parallel=1)
    kept = tmp_path / "kept.ndjson"
    script, before = dying(after)
    hall.says(script)
    with pytest.raises(Killed):
        hall.convene(made, transcript=kept)
    hall.events.clear()
    script, then = dying(100)
    hall.says(script)
    minutes = hall.convene(made, transcript=kept)

    asked = before + then
    assert set(asked.values()) == {1}
    assert len(asked) == 7
    resumed = [e for e in hall.events if e.kind is MeetingEventKind.RESUMED]
    assert len(resumed) == min(after, 6)
    hall.says(honest)
    assert minutes == hall.convene(made)


def test_a_meeting_that_is_over_is_not_held_again(hall: Hall, tmp_path: Path) -> None:
    kept = tmp_path / "kept.ndjson"
    hall.says(honest)
    minutes = hall.convene("harbour-board", transcript=kept)
    again = hall.says([])
    assert hall.convene("harbour-board", transcript=kept) == minutes
    assert again.asked == []


def test_begun_anew_everyone_is_asked_again(hall: Hall, tmp_path: Path) -> None:
    kept = tmp_path / "kept.ndjson"
    hall.says(honest)
    hall.convene("harbour-board", transcript=kept)
    model = hall.says(honest)
    hall.convene("harbour-board", transcript=kept, fresh=True)
    assert len(model.asked) == 10


def test_whose_model_did_not_answer_is_asked_again(hall: Hall, tmp_path: Path) -> None:
    kept = tmp_path / "kept.ndjson"

    def script(instructions: str, prompt: str) -> Scripted:
        if whose(instructions) == "jonas":
            return EngineError("The service is down.")
        return honest(instructions, prompt)

    made = council("harbour-board", rounds=("independent_analysis",))
    hall.says(script)
    first = hall.convene(made, transcript=kept)
    model = hall.says(honest)
    second = hall.convene(made, transcript=kept)

    assert [one.reason for one in first.absences] == ["The service is down."]
    assert [whose(i) for i, _ in model.asked] == ["jonas"]
    assert (second.absences, second.warnings) == ((), ())


def test_what_somebody_wrote_into_a_transcript_is_believed(hall: Hall, tmp_path: Path) -> None:
    kept = tmp_path / "kept.ndjson"
    hall.says(honest)
    hall.convene("harbour-board", transcript=kept)
    kept.write_text(kept.read_text("utf-8").replace("4 knots", "9 knots"), "utf-8")
    model = hall.says([])
    edited = hall.convene("harbour-board", transcript=kept)

    assert model.asked == []
    assert any("9 knots" in one.quote for one in edited.citations)
    found = hall.library.councils.recheck(edited)  # which is for the documents to say
    assert not all(one.holds for one in found)


def test_a_transcript_of_an_earlier_version_is_begun_anew_with_a_sentence(
    hall: Hall, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.ndjson"
    kept.write_text('{"format": "chapterhouse-transcript/3", "key": "k"}\n{"statement": {}}\n')
    hall.says(honest)
    minutes = hall.convene("harbour-board", transcript=kept)
    (warning,) = minutes.warnings
    assert "the meeting began anew" in warning
    assert warning.endswith("kept.1.ndjson.")
    assert hall.convene("harbour-board", transcript=kept).agreement == minutes.agreement


def keyed(hall: Hall, kept: Path, made: Any = "harbour-board", **more: Any) -> str:
    hall.convene(made, more.pop("question", QUESTION), transcript=kept, **more)
    return str(json.loads(kept.read_text("utf-8").splitlines()[0])["key"])


CHANGES: dict[str, dict[str, Any]] = {
    "the question": {"question": "When does the gate close?"},
    "a member": {"made": council("harbour-board", "maria", "jonas")},
    "a round": {"made": council("harbour-board", rounds=("independent_analysis",))},
    "an option": {"options": ("slow", "fast")},
    "whose model": {"model": "none"},
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_is_put_to_whom_makes_another_meeting(hall: Hall, tmp_path: Path, what: str) -> None:
    kept = tmp_path / "kept.ndjson"
    hall.says(honest)
    first = keyed(hall, kept)
    assert keyed(hall, kept) == first
    assert keyed(hall, kept, **CHANGES[what]) != first
    assert (tmp_path / "kept.1.ndjson").exists()


def test_who_speaks_and_what_they_read_makes_another_meeting(
    own_hall: Hall, tmp_path: Path
) -> None:
    kept, library = tmp_path / "kept.ndjson", own_hall.library
    own_hall.says(honest)
    keys = [keyed(own_hall, kept)]
    own_hall.says(honest, fingerprint="another")
    keys.append(keyed(own_hall, kept))
    charter = library.councils.load("harbour-board").docs / "charter.md"
    charter.write_text(CHARTER.replace("40", "50"), "utf-8")
    library.sources.sync()
    keys.append(keyed(own_hall, kept))
    (library.personas.load("maria").path / "persona.md").write_text("She is strict.", "utf-8")
    keys.append(keyed(own_hall, kept))
    library.personas.change("maria", {"retrieval.max_chunks": "2"})
    keys.append(keyed(own_hall, kept))

    assert len(set(keys)) == len(keys)
    assert keyed(own_hall, kept) == keys[-1]


def test_a_council_with_a_folder_keeps_its_meetings_there(own_hall: Hall) -> None:
    folder = own_hall.library.councils.load("harbour-board").path / "meetings"
    own_hall.convene("harbour-board", transcript=None)
    (kept,) = folder.glob("*.ndjson")
    assert json.loads(kept.read_text("utf-8").splitlines()[0])["council"] == "harbour-board"
    own_hall.convene(council("built-board", "maria"), transcript=None)
    assert list(folder.glob("*.ndjson")) == [kept]
