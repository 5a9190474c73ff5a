"""What is open before a round: differences, outdated and missing evidence, and for whom."""

from typing import Any

from tests.council.agreements import shelve
from tests.council.conftest import Hall, council, honest, marker, phase, section, turn, whose

from chapterhouse.agents.council import Council
from chapterhouse.council.meeting.agenda import agenda_of
from chapterhouse.council.meeting.turns import Agenda, IssueKind, Record, Turn, add_statement
from chapterhouse.models.scripted import ScriptedModel
from chapterhouse.types import Claim, Problem, ProblemKind, Stance, Statement, Support

FERRY = "# Ferry\n\nThe ferry leaves the northern pier at 9:00 and takes 40 passengers.\n"


def asked(model: ScriptedModel, kind: str) -> dict[str, str]:
    """Return the prompts of a round by who was asked."""
    return {whose(told): prompt for told, prompt in model.asked if phase(told) == kind}


def agenda(hall: Hall, *statements: Statement, number: int = 1) -> Agenda:
    session = hall.open_session(council())
    record = Record()
    for statement in statements:
        record = add_statement(record, statement)
    turn_ = Turn(session.council, session.question, session.council.rounds[number], number, record)
    return agenda_of(turn_, session, hall.runtime)


def claim(member: str, text: str, **more: Any) -> Statement:
    return Statement(
        member,
        "independent_analysis",
        claims=(Claim("", member, "independent_analysis", text, **more),),
    )


def test_only_who_is_on_a_side_of_what_is_open_is_asked(hall: Hall) -> None:
    model = hall.says(honest)
    hall.convene(council())
    prompts = asked(model, "cross_examination")
    assert set(prompts) == {"maria", "jonas", "nina"}
    assert "(4, 2023-05-01)" in section(prompts["jonas"], "WHAT IS OPEN")
    assert marker(prompts["nina"], "4 knots")  # the evidence of both sides lies there
    assert marker(prompts["nina"], "6 knots")


def test_where_nothing_is_open_no_model_is_asked_again(hall: Hall) -> None:
    shelve(hall, {"ferry": {"ferry.md": FERRY}})
    question = "When does the ferry leave the northern pier?"

    def script(told: str, prompt: str) -> str:
        cited = marker(prompt, "9:00")
        text = f"The ferry leaves the northern pier at 9:00.{cited}"
        if phase(told) == "synthesis":
            return '{"decision": ["' + text + '"], "grounds": ["' + text + '"]}'
        return turn(claims=[text])

    model = hall.says(script)
    made = (
        Council.new("ferry-board")
        .add_member(name="Ann", instructions="Plan.", shelves=("ferry",))
        .add_member(name="Ben", instructions="Check.", shelves=("ferry",))
        .add_round("independent_analysis")
        .add_round("cross_examination")
        .add_round("rebuttal")
        .add_round("synthesis")
        .chair(name="Agnes Merrow", instructions="Sum up.")
    )
    minutes = hall.convene(made, question)
    assert [phase(told) for told, _ in model.asked].count("independent_analysis") == 2
    assert len(model.asked) == 3
    assert not minutes.map.disputes


def test_what_nothing_carries_is_asked_of_who_stated_it_once(hall: Hall) -> None:
    lie = claim(
        "nina",
        "Whales sleep in the marina.",
        support=Support.NOT_FOUND,
        problems=(Problem(ProblemKind.WORDS, "Whales"),),
    )
    (issue,) = [i for i in agenda(hall, lie).issues if i.kind is IssueKind.UNSUPPORTED]
    assert (issue.members, issue.claims) == (("nina",), ("c1",))
    assert "“Whales”" in issue.text

    def script(told: str, prompt: str) -> str:
        if phase(told) == "independent_analysis" and whose(told) == "nina":
            return turn(claims=["Whales sleep in the marina."])
        if phase(told) == "cross_examination" and whose(told) == "nina":
            return turn(replies=[{"claim": "c1", "stance": "asks", "reason": "Who saw it?"}])
        return honest(told, prompt) if phase(told) == "synthesis" else turn()

    model = hall.says(script)
    minutes = hall.convene(council())
    assert "nina" not in asked(model, "rebuttal")  # she has answered
    replies = [reply for one in minutes.statements for reply in one.replies]
    assert [r.claim for r in replies if r.stance is Stance.ASKS] == ["c1"]
    assert all("Whales" not in point.text for point in minutes.grounds)


def test_documents_that_differ_where_nobody_told_it_are_open(hall: Hall) -> None:
    hall.says([])
    found = agenda(hall, claim("nina", "Most vessels keep below the limit."))
    assert any(
        i.kind is IssueKind.DIFFERENCE and "documents differ on" in i.text and i.citations
        for i in found.issues
    )


def test_an_issue_names_no_member(hall: Hall) -> None:
    model = hall.says(honest)
    hall.convene(council())
    for prompts in (asked(model, "cross_examination"), asked(model, "rebuttal")):
        for prompt in prompts.values():
            told = section(prompt, "WHAT IS OPEN").casefold()
            assert told
            assert not any(name in told for name in ("maria", "jonas", "nina"))


def test_an_analysis_has_no_agenda(hall: Hall) -> None:
    hall.says(honest)
    assert agenda(hall, number=0) == Agenda()
