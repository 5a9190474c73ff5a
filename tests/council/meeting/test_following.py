"""A meeting as it is followed shows what its minutes show."""

from collections.abc import Sequence
from dataclasses import replace

from tests.council.conftest import QUESTION, Hall, council, honest

from chapterhouse.council.meeting.following import FollowedMeeting, MeetingRound, Speaker
from chapterhouse.council.minutes.contents import Reader
from chapterhouse.council.minutes.outline import rounds
from chapterhouse.types import MeetingEvent, MeetingEventKind, MinutesEvent


def in_other_order(events: Sequence[MeetingEvent]) -> list[MeetingEvent]:
    """Let members of each round speak in the other order: who is quicker the seats do not say."""
    found: list[MeetingEvent] = []
    spoken: list[MeetingEvent] = []
    for event in events:
        if event.member:
            spoken.append(event)
        else:
            found += [*sorted(spoken, key=lambda one: one.member, reverse=True), event]
            spoken = []
    return found


def parts_of(held: MeetingRound) -> list[object]:
    return [replace(one.part, key="") for one in held.speakers.values() if one.part]


def test_a_followed_meeting_shows_what_its_minutes_show(hall: Hall) -> None:
    made = council()
    hall.says(honest)
    minutes = hall.convene(made)
    titles = {one.key: one.title for one in minutes.members}
    followed = FollowedMeeting(QUESTION, made, titles)
    before: list[list[object]] = []
    for event in in_other_order(hall.events):
        changed = followed.take(event)
        assert isinstance(changed, Speaker if event.member else MeetingRound)
        if event.kind is MeetingEventKind.ROUND_BEGAN:
            assert isinstance(changed, MeetingRound)
            speakers = ["chair"] if changed.number == 4 else ["maria", "jonas", "nina"]
            assert list(changed.speakers) == speakers
            assert {one.state for one in changed.speakers.values()} == {"waits"}
        if event.kind is MeetingEventKind.ROUND_ENDED:
            assert isinstance(changed, MeetingRound)
            before.append(parts_of(changed))
    shown = [[replace(one, key="") for one in part.parts] for part in rounds(Reader(minutes))]
    assert before == [*shown, []]  # the chair's words are in the minutes
    followed.take(MinutesEvent(minutes))
    assert [parts_of(followed.rounds[number]) for number in (1, 2, 3)] == shown
    assert followed.now == "The meeting has ended."


def test_who_is_absent_says_why_and_what_the_chair_writes_is_shown(hall: Hall) -> None:
    def fails(instructions: str, prompt: str) -> str:
        if "You are Nina" in instructions:
            raise RuntimeError
        return honest(instructions, prompt)

    hall.says(fails)
    minutes = hall.convene(council())
    followed = FollowedMeeting(QUESTION)  # its council is not there any more
    for event in hall.events:
        followed.take(event)
    first = followed.rounds[1].speakers
    assert {key: one.state for key, one in first.items()} == {
        "maria": "spoke",
        "jonas": "spoke",
        "nina": "is absent",
    }
    assert "Something went wrong" in first["nina"].text
    assert (
        "no vessel may exceed 6 knots"
        in followed.rounds[max(followed.rounds)].speakers["chair"].text
    )
    followed.take(MinutesEvent(minutes))
    assert first["nina"].part is None
    assert first["jonas"].citations == minutes.citations
