"""MeetingOptions: the same every time, gone on from where it stopped, councils within councils."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter
from tests.council.conftest import (
    CHARTER,
    NAMES,
    OWN,
    QUESTION,
    Hall,
    Script,
    council,
    honest,
    phase,
    whose,
)

from chapterhouse import Library
from chapterhouse.agents.council_model import Round
from chapterhouse.errors import EngineError, NotFoundError, UsageError
from chapterhouse.models.scripted import Scripted
from chapterhouse.types import MeetingEventKind, Minutes

_MINUTES = TypeAdapter(Minutes)


def as_json(minutes: Minutes) -> bytes:
    return _MINUTES.dump_json(minutes)


# --- the same every time ------------------------------------------------------------------------


def test_offline_minutes_are_the_same_to_the_byte(hall: Hall) -> None:
    first, second = hall.convene("harbour-board"), hall.convene("harbour-board")
    assert first.claims
    assert as_json(first) == as_json(second)


_ELSEWHERE = """
import sys
from chapterhouse import Library
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.types import Minutes
from pydantic import TypeAdapter
from pathlib import Path
with Library.open(sys.argv[1]) as library:
    options = MeetingOptions(transcript=Path(sys.argv[2]), remember=False)
    minutes = library.councils.convene("harbour-board", sys.argv[3], options=options)
    sys.stdout.buffer.write(TypeAdapter(Minutes).dump_json(minutes))
    print(options.transcript.read_text("utf-8").splitlines()[0], file=sys.stderr)
"""


def test_other_processes_give_the_same_minutes_and_the_same_key(
    harbour: Library, hall: Hall, tmp_path: Path
) -> None:
    told = []
    for seed in ("1", "2"):
        ran = subprocess.run(
            [
                sys.executable,
                "-c",
                _ELSEWHERE,
                str(harbour.home),
                str(tmp_path / f"{seed}.ndjson"),
                QUESTION,
            ],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        told.append((ran.stdout, json.loads(ran.stderr.splitlines()[-1])["key"]))
    assert told[0] == told[1]
    assert told[0][0] == as_json(hall.convene("harbour-board"))


def test_a_document_that_came_and_went_changes_nothing(own_hall: Hall) -> None:
    before = own_hall.convene("harbour-board")
    folder = own_hall.library.personas.load("maria").rag
    (folder / "bells.md").write_text("# Bells\n\nThe bells of the church ring at noon.\n", "utf-8")
    between = own_hall.convene("harbour-board")
    (folder / "bells.md").unlink()
    after = own_hall.convene("harbour-board")

    assert between.members[0].documents == before.members[0].documents + 1
    assert as_json(after) == as_json(before)


def said(minutes: Minutes, member: str) -> list[tuple[str, ...]]:
    texts = {claim.id: claim.text for claim in minutes.claims}
    own = [s for s in minutes.statements if s.member == member]
    return [
        *(("claim", claim.text) for s in own for claim in s.claims),
        *sorted(("reply", texts[r.claim], r.stance.value, r.text) for s in own for r in s.replies),
        *(("concession", texts[c.claim], str(c.accepted)) for s in own for c in s.concessions),
    ]


def resting(minutes: Minutes, part: str) -> set[tuple[frozenset[str], frozenset[str]]]:
    """Return on what the points of a part rest, and who holds them: their words are the first's."""
    quotes = {citation.number: citation.quote for citation in minutes.citations}
    return {
        (frozenset(quotes[number] for number in point.citations), frozenset(point.members))
        for point in getattr(minutes, part)
    }


def test_the_order_of_the_members_changes_only_the_order(hall: Hall) -> None:
    first = hall.convene(council("harbour-board", "maria", "jonas", "nina"))
    second = hall.convene(council("harbour-board", "nina", "maria", "jonas"))

    for member in NAMES:
        assert said(first, member) == said(second, member)
    assert {c.quote for c in first.citations} == {c.quote for c in second.citations}
    for part in ("grounds", "dissent", "open_questions"):
        assert resting(first, part) == resting(second, part)
    assert len(first.map.disputes) == len(second.map.disputes)


# --- who has nothing ----------------------------------------------------------------------------


def test_a_council_without_documents_says_so(hall: Hall) -> None:
    made = council("empty-board", rounds=("independent_analysis", "synthesis"))
    roles = tuple(
        replace(member, persona="", name=member.persona, instructions="Speak.")
        for member in made.members
    )
    minutes = hall.convene(replace(made, members=roles))

    assert minutes.claims == ()
    assert minutes.citations == ()
    assert [seat.documents for seat in minutes.members] == [0, 0, 0]
    assert minutes.decision[0].text.startswith("Nothing was decided: no claim")
    assert {(gap.member, gap.shelf) for gap in minutes.missing} == {
        (name, "council_empty-board") for name in NAMES
    }
    assert all("there are no documents" in gap.text for gap in minutes.missing)


def test_a_member_without_documents_has_a_gap_and_the_others_speak(own_hall: Hall) -> None:
    own_hall.persona("olga", {}, display_name="Olga New")
    made = council("other-board", "maria", "olga", rounds=("independent_analysis", "synthesis"))
    minutes = own_hall.convene(made)

    assert [claim.member for claim in minutes.claims] == ["maria"]
    assert ("olga", "olga") in {(gap.member, gap.shelf) for gap in minutes.missing}


# --- going on -----------------------------------------------------------------------------------


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


def test_who_was_absent_is_asked_again_and_nobody_else(hall: Hall, tmp_path: Path) -> None:
    kept = tmp_path / "kept.ndjson"

    def script(instructions: str, prompt: str) -> Scripted:
        if whose(instructions) == "jonas":
            raise RuntimeError
        return honest(instructions, prompt)

    made = council("harbour-board", rounds=("independent_analysis",))
    hall.says(script)
    first = hall.convene(made, transcript=kept)
    model = hall.says(honest)
    second = hall.convene(made, transcript=kept)

    assert [absence.member for absence in first.absences] == ["jonas"]
    assert [whose(i) for i, _ in model.asked] == ["jonas"]
    assert second.absences == ()
    assert [s.member for s in second.statements] == list(NAMES)


def test_whose_documents_were_quoted_for_want_of_a_model_is_asked_again(
    hall: Hall, tmp_path: Path
) -> None:
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

    assert any("The service is down." in warning for warning in first.warnings)
    assert [whose(i) for i, _ in model.asked] == ["jonas"]
    assert not second.warnings


def test_nobody_is_asked_to_answer_where_nothing_was_said_against_them(
    hall: Hall, tmp_path: Path
) -> None:
    def script(instructions: str, prompt: str) -> Scripted:
        if phase(instructions) != "cross_examination":
            return honest(instructions, prompt)
        ids = re.findall(r"^(c\d+), by", prompt, re.MULTILINE)
        return json.dumps(
            {"replies": [{"claim": ids[0], "stance": "contradicts", "reason": "It is not so."}]}
        )

    model = hall.says(script)
    rounds = ("independent_analysis", "cross_examination", "rebuttal")
    minutes = hall.convene(council("harbour-board", rounds=rounds))

    against = {reply.claim for reply in minutes.statements[3].replies}
    against |= {r.claim for s in minutes.statements[4:6] for r in s.replies}
    opposed = {claim.member for claim in minutes.claims if claim.id in against}
    assert 0 < len(opposed) < len(NAMES)
    asked = {whose(i) for i, _ in model.asked if phase(i) == "rebuttal"}
    assert asked == opposed


def test_a_transcript_is_believed_nothing_that_the_documents_do_not_say(
    hall: Hall, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.ndjson"
    hall.says(honest)
    first = hall.convene("harbour-board", transcript=kept)
    assert "4 knots" in kept.read_text("utf-8")
    kept.write_text(kept.read_text("utf-8").replace("4 knots", "9 knots"), "utf-8")
    model = hall.says(honest)
    second = hall.convene("harbour-board", transcript=kept)

    assert second == first
    assert "maria" in {whose(i) for i, _ in model.asked}  # whose statements were altered


def test_minutes_in_a_transcript_are_not_believed(hall: Hall, tmp_path: Path) -> None:
    kept = tmp_path / "kept.ndjson"
    first = hall.convene("harbour-board", transcript=kept, model="none")
    *lines, last = kept.read_text("utf-8").splitlines()
    entry = json.loads(last)
    entry["minutes"] |= {"decision": [{"text": "Buy it all."}], "dissent": []}
    entry["minutes"]["map"]["disputes"] = []
    kept.write_text("\n".join([*lines, json.dumps(entry), ""]), "utf-8")

    assert hall.convene("harbour-board", transcript=kept, model="none") == first


def keyed(hall: Hall, kept: Path, made: Any = "harbour-board", **more: Any) -> str:
    hall.convene(made, more.pop("question", QUESTION), transcript=kept, **more)
    return str(json.loads(kept.read_text("utf-8").splitlines()[0])["key"])


CHANGES: dict[str, dict[str, Any]] = {
    "the question": {"question": "When does the gate close?"},
    "a member": {"made": council("harbour-board", "maria", "jonas")},
    "a round": {"made": council("harbour-board", rounds=("independent_analysis",))},
    "an option": {"made": council("harbour-board").decide_between("slow", "fast")},
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


# --- what cannot be convened --------------------------------------------------------------------


def test_what_cannot_be_convened_says_why(hall: Hall) -> None:
    with pytest.raises(NotFoundError, match="no council"):
        hall.convene("nobody")
    with pytest.raises(UsageError, match="empty"):
        hall.convene("harbour-board", "   ")
    with pytest.raises(UsageError, match="model"):
        hall.library.councils.convene(
            "harbour-board", QUESTION, options=hall_choices(model="unknown")
        )


@pytest.mark.parametrize("options", [("one",), ("one", "one"), ("one", "")])
def test_options_that_are_none_are_told_to_who_gave_them(
    hall: Hall, options: tuple[str, ...]
) -> None:
    with pytest.raises(UsageError, match="cannot be decided between"):
        hall.convene("harbour-board", options=options)


def hall_choices(**more: Any) -> Any:
    from chapterhouse.council.meeting.session import MeetingOptions  # noqa: PLC0415 - only here

    return MeetingOptions(**more)


def test_a_library_convenes_from_within_a_loop(hall: Hall, tmp_path: Path) -> None:
    import asyncio  # noqa: PLC0415 - only here

    choices = hall_choices(transcript=tmp_path / "t.ndjson", remember=False)

    async def within() -> tuple[Minutes, Minutes]:
        plain = hall.library.councils.convene("harbour-board", QUESTION, options=choices)
        choices_too = hall_choices(transcript=tmp_path / "u.ndjson", remember=False)
        awaited = await hall.library.councils.convene_async(
            "harbour-board", QUESTION, options=choices_too
        )
        return plain, awaited

    plain, awaited = asyncio.run(within())
    assert as_json(plain) == as_json(awaited)


# --- councils within councils -------------------------------------------------------------------


def region() -> Any:
    rounds = ("independent_analysis", "cross_examination", "rebuttal", "synthesis")
    return council("region", "maria", rounds=rounds).add_member(council="town")


def test_a_council_speaks_as_one_and_its_minutes_are_kept_within(hall: Hall) -> None:
    minutes = hall.convene(region())
    town = next(s for s in minutes.statements if s.member == "town")

    assert town.inner is not None
    assert [seat.key for seat in town.inner.members] == ["nina", "till"]
    till = next(s for s in town.inner.statements if s.member == "till")
    assert till.inner is not None
    assert [seat.key for seat in till.inner.members] == ["jonas"]
    assert till.inner.claims[0].text == "Inside the harbour no vessel may exceed 6 knots."
    assert minutes.members[1].kind == "council"
    assert as_json(minutes) == as_json(hall.convene(region()))
    assert _MINUTES.validate_json(as_json(minutes)) == minutes


def test_what_a_council_within_found_is_cited_without(hall: Hall) -> None:
    minutes = hall.convene(region())
    cited = {citation.number: citation for citation in minutes.citations}
    theirs = [claim for claim in minutes.claims if claim.member == "town"]

    assert theirs
    for claim in theirs:
        assert claim.citations
        for number in claim.citations:
            assert cited[number].verified
    assert any(
        reply.member == "maria" and reply.claim == theirs[0].id
        for statement in minutes.statements
        for reply in statement.replies
    )


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


def test_a_council_within_that_is_too_slow_is_absent(hall: Hall) -> None:
    made = region()
    slow = replace(made.members[1], timeout_seconds=0.001)
    minutes = hall.convene(replace(made, members=(made.members[0], slow)))
    assert (minutes.absences[0].member, minutes.absences[0].round) == (
        "town",
        "independent_analysis",
    )
    assert {claim.member for claim in minutes.claims} == {"maria"}


def test_a_council_within_meets_once_whatever_rounds_follow(hall: Hall) -> None:
    made = replace(
        region(),
        rounds=(
            Round("independent_analysis"),
            Round("berths", instructions="What does a berth in the marina cost?"),
        ),
    )
    minutes = hall.convene(made)
    first, second = [s for s in minutes.statements if s.member == "town"]
    assert first.inner is not None
    assert second.inner is None
    assert [claim.text for claim in second.claims] == [
        "A berth in the marina costs 80 euros a metre."
    ]


def test_a_model_that_is_down_within_sinks_nothing(hall: Hall) -> None:
    hall.says([EngineError("Down.")] * 20)
    minutes = hall.convene(region())
    assert minutes.absences == ()
    assert any("Down." in warning for warning in minutes.warnings)
    assert {claim.member for claim in minutes.claims} == {"maria", "town"}
