import json
import os
import stat
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.council.conftest import CHARTER, QUESTION, Hall, Script, council, honest, phase, whose

from chapterhouse.council.meeting.transcript import FORMAT, Transcript
from chapterhouse.errors import ChapterhouseError, CorruptLibraryError, RefusedError, UsageError
from chapterhouse.models.scripted import Scripted
from chapterhouse.types import (
    Absence,
    Agreement,
    Ground,
    MeetingEventKind,
    MemberTurn,
    Minutes,
    Mismatch,
    MismatchKind,
    Point,
    Reply,
    Stance,
    Statement,
    ToolCall,
    Usage,
)

HEADING = {
    "council": "ferry",
    "question": "Does it leave?",
    "members": ["maria", "piet"],
    "rounds": ["independent_analysis"],
}
MINUTES = Minutes("ferry", "Ferry", "Does it leave?", decision=(Point("Yes.", (1,)),))


def turn(member: str, text: str = "At nine.") -> MemberTurn:
    mismatches = (Mismatch(MismatchKind.NUMBER, "9", "10"),)
    ground = Ground(text, (1,), mismatches)
    return MemberTurn(
        member,
        "rebuttal",
        statements=(
            Statement("", member, "rebuttal", "It “leaves”.\nAlways.", "Leaves", grounds=(ground,)),
        ),
        replies=(Reply(member, "rebuttal", "s2", Stance.OPPOSE, "No."),),
        method="scripted",
        usage=Usage(1, 2, 3),
        tool_calls=(ToolCall("find", {"words": ["é", 1, None]}, "", seconds=0.5),),
        inner=replace(MINUTES, agreement=(Agreement("s1", ("a",)),)),
    )


def opened(path: Path | None, key: str = "k1", **choices: Any) -> Transcript:
    return Transcript.open(path, key, HEADING, **choices)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "folder" / "meeting.ndjson"


def test_what_was_said_is_found_again(path: Path) -> None:
    with opened(path) as transcript:
        assert transcript.turn(1, "maria") is None
        transcript.add_turn(1, turn("maria"))
        transcript.add_absence(1, Absence("piet", "rebuttal", "They took too long."))
        transcript.add_turn(2, turn("maria", "At ten."))
        assert transcript.turn(1, "maria") == turn("maria")
    with opened(path) as again:
        assert again.turn(1, "maria") == turn("maria")
        assert again.turn(2, "maria") == turn("maria", "At ten.")
        assert again.turn(1, "piet") is None  # who was absent gets another try
        assert again.minutes is None
        again.add_minutes(MINUTES)
    with opened(path) as ended:
        assert ended.minutes == MINUTES
        ended.add_turn(2, turn("piet"))
        assert ended.minutes is None


def test_the_lines_are_as_documented(path: Path) -> None:
    with opened(path) as transcript:
        transcript.add_turn(1, turn("maria"))
        transcript.add_absence(1, Absence("piet", "rebuttal", "Why."))
        transcript.add_minutes(MINUTES)
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert lines[0] == {
        "format": FORMAT, "key": "k1", "council": "ferry", "question": "Does it leave?",
        "members": ["maria", "piet"], "rounds": ["independent_analysis"],
    }  # fmt: skip
    assert [set(line) for line in lines[1:]] == [
        {"round", "number", "member", "turn"},
        {"number", "absence"},
        {"minutes"},
    ]
    assert lines[2]["absence"] == {"member": "piet", "round": "rebuttal", "reason": "Why."}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_without_a_file_it_is_in_memory_and_half_characters_stop_nothing(tmp_path: Path) -> None:
    with opened(None) as transcript:
        transcript.add_turn(1, turn("maria"))
        transcript.add_absence(1, Absence("piet", "rebuttal", "Why."))
        transcript.add_minutes(MINUTES)
        assert transcript.turn(1, "maria") == turn("maria")
        assert transcript.minutes == MINUTES
        assert transcript.path is transcript.aside is None
    assert not list(tmp_path.iterdir())
    with opened(tmp_path / "m.ndjson") as transcript:
        transcript.add_turn(1, turn("maria", "half \ud800"))
    with opened(tmp_path / "m.ndjson") as again:
        assert again.turn(1, "maria") == turn("maria", "half ?")


def test_another_meeting_is_moved_aside(path: Path) -> None:
    for key in ("k1", "k2", "k3"):
        with opened(path, key) as transcript:
            transcript.add_turn(1, turn(key))
            first = transcript.aside
    assert first == path.with_name("meeting.2.ndjson")
    kept = {entry.name: entry.read_text("utf-8") for entry in path.parent.iterdir()}
    assert sorted(kept) == ["meeting.1.ndjson", "meeting.2.ndjson", "meeting.ndjson"]
    for name, key in zip(sorted(kept), ("k1", "k2", "k3"), strict=True):
        assert f'"key": "{key}"' in kept[name]
        assert f'"member": "{key}"' in kept[name]


def test_a_fresh_meeting_moves_the_same_one_aside(path: Path) -> None:
    with opened(path) as transcript:
        transcript.add_turn(1, turn("maria"))
    with opened(path, fresh=True) as anew:
        assert anew.turn(1, "maria") is None
        anew.add_turn(1, turn("maria", "Anew."))
    assert path.with_name("meeting.1.ndjson").exists()
    with opened(path) as again:
        assert again.turn(1, "maria") == turn("maria", "Anew.")
        assert again.aside is None
    with opened(path.with_name("other.ndjson"), fresh=True) as new:
        assert new.aside is None


@pytest.mark.parametrize(
    "content", [b"# Read me\n", b"Read me", b'{"a": 1}\n', b'{"format": 1}\n', b"[1]\n", b"\0\n"]
)
def test_what_is_no_transcript_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "README"
    path.write_bytes(content)
    for fresh in (False, True):
        with pytest.raises(RefusedError, match="no transcript"):
            opened(path, fresh=fresh)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "line",
    [
        b"{not json}", b'{"turn": {"member": 1}}',
        b'{"number": 1, "member": "m", "turn": {"member": 1}}', b'{"minutes": []}', b'{"new": 1}',
        b"[]", b"7", b"", b"\0" * 10, b"\xff", b"[" * 100_000,
    ],
)  # fmt: skip
def test_a_damaged_line_is_named(path: Path, line: bytes) -> None:
    with opened(path) as transcript:
        transcript.add_turn(1, turn("maria"))
    content = path.read_bytes() + line + b"\n" + path.read_bytes().split(b"\n")[1] + b"\n"
    path.write_bytes(content)
    with pytest.raises(CorruptLibraryError, match=r"Line 3 of .*meeting\.ndjson"):
        opened(path)
    assert path.read_bytes() == content
    with opened(path, fresh=True) as anew:  # and it is not locked
        assert anew.turn(1, "maria") is None
    assert path.with_name("meeting.1.ndjson").read_bytes() == content


def test_a_file_cut_off_anywhere_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After every byte at which a crash may end the file, and with every member once in the end."""
    monkeypatch.setattr(os, "fsync", lambda _: None)  # thousands of them, and no power fails here
    whole = tmp_path / "whole.ndjson"
    members = ("maria", "piet", "jan")
    ends = []
    with opened(whole) as transcript:
        for member in members:
            transcript.add_turn(1, MemberTurn(member, "rebuttal", option=f"Ä {member}"))
            ends.append(whole.stat().st_size)
    content = whole.read_bytes()
    path = tmp_path / "cut.ndjson"
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        with opened(path) as transcript:
            found = [m for m in members if transcript.turn(1, m) is not None]
            assert found == [m for m, end in zip(members, ends, strict=True) if end <= cut]
            for member in members:
                transcript.add_turn(1, MemberTurn(member, "rebuttal", option=f"Ä {member}"))
        assert path.read_bytes() == content
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["cut.ndjson", "whole.ndjson"]


def test_two_at_once_are_refused(path: Path) -> None:
    with opened(path):
        for choices in ({}, {"key": "k2"}, {"fresh": True}):
            with pytest.raises(RefusedError, match="Another meeting is written"):
                opened(path, **choices)
    opened(path).close()


def test_a_full_disk_leaves_the_file_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(path) as transcript:
        transcript.add_turn(1, turn("maria"))
        before = path.read_bytes()
        write = os.write

        def half(descriptor: int, data: memoryview) -> int:
            if len(data) < 100:
                raise OSError(28, "No space left on device")
            return write(descriptor, data[: len(data) // 2])

        monkeypatch.setattr(os, "write", half)
        with pytest.raises(ChapterhouseError, match="No space left"):
            transcript.add_turn(1, turn("piet"))
        assert path.read_bytes() == before
        assert transcript.turn(1, "piet") is None
        monkeypatch.undo()
        transcript.add_turn(1, turn("piet"))
    with pytest.raises(ChapterhouseError, match="cannot be written to"):
        transcript.add_turn(1, turn("jan"))
    with opened(path) as again:
        assert said_by(again, "maria", "piet", "jan") == ["maria", "piet"]


def said_by(transcript: Transcript, *members: str) -> list[str]:
    return [member for member in members if transcript.turn(1, member)]


def test_nothing_is_written_behind_half_a_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with opened(path) as transcript:
        with monkeypatch.context() as broken:
            broken.setattr(os, "fsync", fail)
            broken.setattr(os, "ftruncate", fail)
            with pytest.raises(ChapterhouseError, match="Input/output"):
                transcript.add_turn(1, turn("maria"))
        length = path.stat().st_size
        with pytest.raises(ChapterhouseError, match="cannot be written to"):
            transcript.add_turn(1, turn("piet"))
        assert path.stat().st_size == length


@pytest.mark.parametrize("kind", ["folder", "link", "pipe", "below"])
def test_what_cannot_be_written_to_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "m.ndjson"
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(b"")
        path /= "m.ndjson"
    with pytest.raises((RefusedError, UsageError)):
        opened(path)
    assert not (tmp_path / "elsewhere").exists()


def test_members_may_speak_at_the_same_time(path: Path) -> None:
    with opened(path) as transcript:
        threads = [
            threading.Thread(target=transcript.add_turn, args=(1, turn(f"m{number}")))
            for number in range(16)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with opened(path) as again:
        assert len(said_by(again, *(f"m{number}" for number in range(16)))) == 16


class Killed(KeyboardInterrupt):
    """The process ends."""


def meet(path: Path, stop: int = 0) -> tuple[list[str], int]:
    """Hold a meeting that ends at a step of the disk; return what was acknowledged, and the steps.

    Each write is two steps, as half of it may be there, and each sync one before and one after.
    """
    acknowledged: list[str] = []
    write, fsync, steps = os.write, os.fsync, 0

    def step() -> None:
        nonlocal steps
        steps += 1
        if steps == stop:
            raise Killed

    def written(descriptor: int, data: memoryview) -> int:
        half = len(data) // 2
        for part in (data[:half], data[half:]):
            step()
            write(descriptor, part)
        return len(data)

    def synced(descriptor: int) -> None:
        step()
        fsync(descriptor)
        step()

    with pytest.MonkeyPatch.context() as patch, suppress(Killed):
        patch.setattr(os, "write", written)
        patch.setattr(os, "fsync", synced)
        with opened(path) as transcript:
            for number, member in ((1, "maria"), (1, "piet"), (2, "maria"), (2, "piet")):
                transcript.add_turn(number, MemberTurn(member, "rebuttal", option="x" * 50))
                acknowledged.append(f"{number}{member}")
            transcript.add_minutes(MINUTES)
            acknowledged.append("minutes")
    return acknowledged, steps


def test_killed_anywhere_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "whole" / "m.ndjson"
    told, steps = meet(path)
    assert told == ["1maria", "1piet", "2maria", "2piet", "minutes"]
    expected = path.read_bytes()
    for stop in range(1, steps + 1):
        path = tmp_path / str(stop) / "m.ndjson"
        acknowledged, _ = meet(path, stop)
        with opened(path) as transcript:
            kept = [f"{n}{m}" for n in (1, 2) for m in ("maria", "piet") if transcript.turn(n, m)]
            kept += ["minutes"] if transcript.minutes else []
        assert kept[: len(acknowledged)] == acknowledged
        assert meet(path)[0] == told
        assert path.read_bytes() == expected
        assert list(path.parent.iterdir()) == [path]


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
def test_a_meeting_that_was_killed_asks_nobody_twice(
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


def test_begun_anew_everyone_is_asked_again(hall: Hall, tmp_path: Path) -> None:
    kept = tmp_path / "kept.ndjson"
    hall.says(honest)
    hall.convene("harbour-board", transcript=kept)
    model = hall.says(honest)
    hall.convene("harbour-board", transcript=kept, fresh=True)
    assert len(model.asked) == 10


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


def test_a_transcript_of_an_earlier_version_is_begun_anew(hall: Hall, tmp_path: Path) -> None:
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


def test_who_speaks_and_reads_makes_another_meeting(own_hall: Hall, tmp_path: Path) -> None:
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
