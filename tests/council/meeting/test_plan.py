"""A meeting before it is held: everything that would be said to everyone, and nobody is asked."""

import re
from dataclasses import replace

from tests.council.conftest import NAMES, QUESTION, Hall, council, honest

from chapterhouse.agents.council_model import Round

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
    assert "You are Maria Keller." in turn.instructions
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


def test_a_plan_with_a_council_within(hall: Hall) -> None:
    hall.says(honest)
    made = council("region", "maria", rounds=("independent_analysis",)).add_member(council="town")
    plan = hall.plan(made)
    assert [seat.kind for seat in plan.participants] == ["persona", "council", "role"]
    assert [turn.member for turn in plan.turns] == ["maria", "town"]
