import json
import re
from dataclasses import replace

import pytest
from tests.council.conftest import (
    NAMES,
    OWN,
    Hall,
    Script,
    council,
    honest,
    marker,
    others,
    phase,
    position,
    section,
    turn,
    whose,
)

from chapterhouse import Library
from chapterhouse.agents.council_model import Round
from chapterhouse.errors import EngineError
from chapterhouse.models.scripted import Scripted, Step
from chapterhouse.types import Gap, MeetingEvent, MeetingEventKind, Minutes

ANALYSIS = ("independent_analysis",)
Held = tuple[Minutes, list[tuple[str, str]], list[MeetingEvent]]


@pytest.fixture(scope="module")
def held(harbour: Library, tmp_path_factory: pytest.TempPathFactory) -> Held:
    """Hold a meeting in which everyone says what their documents say."""
    hall = Hall(harbour, tmp_path_factory.mktemp("meeting"))
    model = hall.says(honest)
    return hall.convene(council()), model.asked, hall.events


def speakers(minutes: Minutes, round_name: str) -> list[str]:
    return [turn.member for turn in minutes.turns if turn.round == round_name]


def failing(*who: str, error: Exception | None = None) -> Script:
    def script(instructions: str, prompt: str) -> Scripted:
        if whose(instructions) in who:
            raise error or RuntimeError("a secret of the service")
        return honest(instructions, prompt)

    return script


def test_minutes_without_anybody(hall: Hall) -> None:
    hall.says(failing(*NAMES, "chair"))
    minutes = hall.convene(council())
    assert len(minutes.absences) == 3  # with nothing said there is nothing to reply to
    assert minutes.statements == ()
    assert minutes.decision == ()
    assert minutes.method == "extractive"


def test_nobody_has_a_model_and_one_has(hall: Hall) -> None:
    hall.says(honest, "two")
    made = council(rounds=ANALYSIS)
    one = replace(made.members[1], model="two")
    made = replace(made, members=(made.members[0], one, made.members[2]))
    minutes = hall.convene(made)
    assert [one.member for one in minutes.statements] == ["jonas"]
    assert minutes.warnings == (
        "Maria Keller, Nina Falk have no model and did not speak: see what the documents say.",
    )
    assert {cell.member for row in minutes.table for cell in row.cells} == {"maria", "nina"}
    assert minutes.usage is not None
    assert minutes.usage.calls == 1


def test_in_the_analysis_nobody_knows_of_anybody(held: Held) -> None:
    asked = [one for one in held[1] if phase(one[0]) == "independent_analysis"]
    assert len(asked) == 3
    for instructions, prompt in asked:
        own = whose(instructions)
        told = f"{instructions}\n{prompt}"
        for slug, name in NAMES.items():
            if slug != own:
                assert name not in told
                assert OWN[slug] not in told
        assert OWN[own] in prompt
        assert "STATEMENTS" not in prompt


def test_the_examination_shows_the_claims_of_others_and_their_evidence(held: Held) -> None:
    asked = [one for one in held[1] if phase(one[0]) == "cross_examination"]
    assert len(asked) == 3
    for instructions, prompt in asked:
        own = whose(instructions)
        theirs, mine = section(prompt, "STATEMENTS OF OTHERS"), section(prompt, "YOUR STATEMENTS")
        for slug, name in NAMES.items():
            assert (f"by {name}" in theirs) is (slug != own)
        assert f"by {NAMES[own]}" in mine
        assert len(re.findall(r"^¦ - .* \[\d+\]$", theirs, re.MULTILINE)) == 2
        assert marker(prompt, "4 knots") in prompt
        assert marker(prompt, "6 knots") in prompt


def test_of_the_shelves_of_others_only_what_they_cited_is_shown(held: Held) -> None:
    asked = held[1]
    assert {phase(i) for i, _ in asked} == {one.name for one in council().rounds}
    for instructions, prompt in asked:
        own = whose(instructions)
        for slug, word in OWN.items():
            if slug != own:
                assert word not in prompt
    synthesis = next(p for i, p in asked if phase(i) == "synthesis")
    assert "may exceed 4 knots" in synthesis
    assert "may exceed 6 knots" in synthesis


def test_the_rebuttal_shows_what_is_opposed_and_by_whom(held: Held) -> None:
    asked = {whose(i): p for i, p in held[1] if phase(i) == "rebuttal"}
    replies = section(asked["maria"], "REPLIES")
    assert "to s1, by Jonas Brandt: oppose\n¦ Inside the harbour no vessel may exceed 6" in replies
    assert "to s1, by Nina Falk: oppose" in replies
    assert "by Maria Keller" in section(asked["jonas"], "REPLIES")


def test_who_has_nothing_opposed_is_not_asked_again(hall: Hall) -> None:
    def script(instructions: str, prompt: str) -> Scripted:
        if phase(instructions) != "cross_examination":
            return honest(instructions, prompt)
        if whose(instructions) == "jonas":
            return turn(replies=[{"statement": "s1", "stance": "oppose", "reason": "It is not."}])
        return turn(replies=[{"statement": one, "stance": "stand"} for one in others(prompt)])

    model = hall.says(script)
    hall.convene(council(rounds=("independent_analysis", "cross_examination", "rebuttal")))
    asked = {whose(i): p for i, p in model.asked if phase(i) == "rebuttal"}
    assert set(asked) == {"maria", "jonas", "nina"}  # nina stands by s1, too
    assert set(others(asked["nina"])) == {"s1"}
    hall.says(lambda i, p: turn() if phase(i) == "cross_examination" else honest(i, p))
    minutes = hall.convene(council(rounds=("independent_analysis", "cross_examination")))
    assert minutes.agreement[0].silent == ("jonas", "nina")


def test_a_meeting_as_a_whole_and_the_chair_who_sums_up(held: Held) -> None:
    minutes, asked, _ = held
    assert minutes.rounds == ("independent_analysis", "cross_examination", "rebuttal")
    assert [one.id for one in minutes.statements] == ["s1", "s2", "s3"]
    assert [one.label for one in minutes.statements] == ["4 knots", "6 knots", "6 knots"]
    first, second, third = minutes.agreement
    assert (first.stand, first.oppose) == (("maria",), ("jonas", "nina"))
    assert (second.stand, second.oppose) == (("jonas", "nina"), ("maria",))
    assert (third.stand, third.oppose) == (("jonas", "nina"), ("maria",))
    assert [seat.title for seat in minutes.members] == list(NAMES.values())
    assert minutes.members[0].model == "scripted"
    assert all(citation.verified for citation in minutes.citations)
    assert [whose(i) for i, _ in asked].count("chair") == 1
    assert asked[-1][0].startswith("You are Agnes Merrow.")
    assert "Weigh evidence, not voices." in asked[-1][0]
    assert (minutes.chair, minutes.method) == ("Agnes Merrow", "scripted")
    assert minutes.decision[0].text == "Inside the harbour no vessel may exceed 6 knots."
    assert minutes.decision[0].citations
    assert minutes.grounds[0].statements == ("s2",)
    assert minutes.usage is not None
    assert minutes.usage.calls == 10


def test_a_concession_is_what_a_member_says_it_is(hall: Hall) -> None:
    def script(instructions: str, prompt: str) -> Scripted:
        if phase(instructions) != "rebuttal" or whose(instructions) != "maria":
            return honest(instructions, prompt)
        reason = f"The rules of 2025 say 6 knots.{marker(prompt, '6 knots')}"
        given_up = [
            {"statement": "s1", "stance": "concede", "reason": reason},
            {"statement": "s2", "stance": "stand", "reason": reason},
        ]
        return turn(replies=given_up, positions=[position("It is 6 knots now.", label="6 knots")])

    hall.says(script)
    minutes = hall.convene(council())
    first, second, _, fourth = minutes.agreement
    assert (first.stand, first.concede, first.oppose) == ((), ("maria",), ("jonas", "nina"))
    assert second.stand == ("maria", "jonas", "nina")
    assert (fourth.statement, fourth.stand) == ("s4", ("maria",))


def test_an_own_round_has_its_task_and_sees_statements_only_where_it_says_so(hall: Hall) -> None:
    model = hall.says(lambda i, p: turn() if phase(i) == "own" else honest(i, p))
    blind = Round("red_team", instructions="Find what could sink a vessel.")
    seeing = Round(
        "second_look", instructions="Look at all statements again.", sees_statements=True
    )
    minutes = hall.convene(council(rounds=("independent_analysis", blind, seeing)))
    own = [(i, p) for i, p in model.asked if phase(i) == "own"]
    red = [(i, p) for i, p in own if "Find what could sink a vessel." in i]
    second = [(i, p) for i, p in own if "Look at all statements again." in i]
    assert (len(red), len(second)) == (3, 3)
    assert not any("STATEMENTS" in prompt for _, prompt in red)
    assert all(section(prompt, "STATEMENTS OF OTHERS") for _, prompt in second)
    assert minutes.rounds == ("independent_analysis", "red_team", "second_look")


def test_who_speaks_in_a_round_is_the_council_s_choice_the_chair_among_them(hall: Hall) -> None:
    def script(instructions: str, prompt: str) -> Scripted:
        if phase(instructions) == "own":
            cited = marker(prompt, "40 vessels")
            counted = f"The traffic survey counted 40 vessels a day.{cited}"
            return turn(positions=[position("It is busy.", counted)])
        return honest(instructions, prompt)

    model = hall.says(script)
    some = Round(
        "opening", instructions="Say what the traffic is like.", speakers=("chair", "nina")
    )
    minutes = hall.convene(council(rounds=(some, "independent_analysis", "synthesis")))
    assert [whose(i) for i, _ in model.asked if phase(i) == "own"].count("chair") == 1
    assert speakers(minutes, "opening") == ["chair", "nina"]
    assert [one.member for one in minutes.statements][:2] == ["chair", "nina"]
    assert minutes.agreement[0].stand == ("chair",)
    chair = next(i for i, _ in model.asked if phase(i) == "own" and whose(i) == "chair")
    assert chair.startswith("You are Agnes Merrow.")


@pytest.mark.parametrize(
    ("error", "warning"),
    [
        (EngineError("The service is down.", hint="Start it."),
         "The chair could not sum up (The service is down. Start it.), so nobody summed up."),
        (RuntimeError("a secret"),
         "Something went wrong with the chair (RuntimeError), so nobody summed up."),
    ],
)  # fmt: skip
def test_a_chair_may_fail(hall: Hall, held: Held, error: Exception, warning: str) -> None:
    hall.says(failing("chair", error=error))
    minutes = hall.convene(council())
    assert warning in minutes.warnings
    assert minutes.method == "extractive"
    assert (minutes.agreement, minutes.statements) == (held[0].agreement, held[0].statements)
    assert (minutes.decision, minutes.grounds) == ((), ())
    assert "a secret" not in repr(minutes)


def test_a_chair_who_hangs_is_not_waited_for(hall: Hall) -> None:
    def script(instructions: str, prompt: str) -> Scripted:
        return Step(
            honest(instructions, prompt), seconds=3_600.0 * (whose(instructions) == "chair")
        )

    hall.says(script)
    made = council()
    assert made.chaired_by is not None
    made = replace(made, chaired_by=replace(made.chaired_by, timeout_seconds=0.3))
    minutes = hall.convene(made)
    warning = "The chair took longer than 0.3 seconds, so nobody summed up."
    assert warning in minutes.warnings
    assert minutes.method == "extractive"
    absent = [e for e in hall.events if e.kind is MeetingEventKind.ABSENT]
    assert [(e.member, e.text) for e in absent] == [("chair", warning)]


def test_what_the_chair_names_must_exist(hall: Hall) -> None:
    def script(instructions: str, prompt: str) -> Scripted:
        if phase(instructions) != "synthesis":
            return honest(instructions, prompt)
        cited = marker(prompt, "6 knots")
        return json.dumps(
            {
                "decision": [f"It is 6 knots [s2, S3]{cited}[77].", "Nobody knows why (s99)."],
                "dissent": [{"member": "maria", "text": "It is 4 knots [s1]."}],
                "missing": [{"member": "nobody", "text": "The reasons."}],
            }
        )

    hall.says(script)
    minutes = hall.convene(council())
    first, second = minutes.decision
    assert (first.text, first.statements) == ("It is 6 knots.", ("s2", "s3"))
    assert [minutes.citations[n - 1].title for n in first.citations] == ["Harbour Rules 2025"]
    assert (second.text, second.statements) == ("Nobody knows why.", ())
    assert (minutes.dissent[0].members, minutes.dissent[0].statements) == (("maria",), ("s1",))
    assert minutes.missing[0] == Gap("", "", "The reasons.")
    assert minutes.warnings == (
        "The chair names what does not exist; it was left out: [77], [s99].",
    )


@pytest.mark.parametrize(
    ("chosen", "decided"),
    [(("slow", "slow"), "slow"), (("slow", "fast"), ""), (("slow", ""), "slow")],
)
def test_without_a_chair_most_decide(hall: Hall, chosen: tuple[str, str], decided: str) -> None:
    options = dict(zip(("maria", "jonas"), chosen, strict=True))
    hall.says(lambda i, _: turn(option=options[whose(i)]))
    made = replace(council("harbour-board", "maria", "jonas", rounds=ANALYSIS), chaired_by=None)
    minutes = hall.convene(made, options=("slow", "fast"))
    assert minutes.decided == decided
    assert minutes.decision[0].text.startswith("Would choose “slow”: Maria Keller")


def test_events_come_in_order(held: Held) -> None:
    events = held[2]
    kinds = [(e.kind.value, e.round) for e in events if e.kind is not MeetingEventKind.TEXT]
    for name in ("independent_analysis", "cross_examination", "rebuttal"):
        began, *own, ended = [kind for kind, round_name in kinds if round_name == name]
        assert (began, ended) == ("round-began", "round-ended")
        assert sorted(own) == ["member-began"] * 3 + ["spoke"] * 3
    last = [kind for kind, name in kinds if name == "synthesis"]
    assert last == ["round-began", "member-began", "round-ended"]
    assert [e.number for e in events] == sorted(e.number for e in events)


def test_what_a_model_writes_is_told_as_a_person_can_read_it(held: Held) -> None:
    told = "".join(
        e.text
        for e in held[2]
        if (e.kind, e.member, e.number) == (MeetingEventKind.TEXT, "maria", 1)
    )
    assert told.startswith("I am maria: 4 knots.\n\nInside the harbour no vessel may")
    assert "{" not in told
