"""The minutes that rules write from the map."""

import re

from tests.council.conftest import (
    Hall,
    council,
    turn,
    whose,
)

from chapterhouse.errors import EngineError
from chapterhouse.types import ClaimKind

FOUR = "Inside the harbour no vessel may exceed 4 knots."


def test_what_is_disputed_is_dissent_and_an_open_question(hall: Hall) -> None:
    minutes = hall.debate(council(rounds=("independent_analysis", "cross_examination")))
    texts = {point.text for point in minutes.dissent}
    assert FOUR in texts
    assert any("6 knots" in text for text in texts)
    for point in minutes.dissent:
        assert point.citations
        assert point.claims
    (question,) = [p for p in minutes.open_questions if p.text.startswith("Which holds")]
    assert re.search(r"6.*\(2025-05-01\) or .*4.*\(2023-05-01\)\?", question.text)
    assert question.text.endswith("The first is the newer.")
    assert not any(point.text in texts for point in minutes.grounds)


def test_what_nobody_disputes_is_a_ground_with_all_that_carries_it(hall: Hall) -> None:
    made = council("harbour-board", "jonas", "nina", rounds=("independent_analysis",))
    minutes = hall.debate(made)
    (ground,) = minutes.grounds
    assert ground.members == ("jonas", "nina")
    assert len(ground.citations) == 2
    assert ground.claims == ("c1", "c2")
    assert minutes.dissent == ()
    assert ClaimKind.INDEPENDENT_SOURCES in minutes.map.rows[0].kinds


def test_agreement_on_one_source_asks_everyone_for_a_source_of_their_own(hall: Hall) -> None:
    minutes = hall.debate(
        council("harbour-board", "maria", "nina", rounds=("independent_analysis",)),
        "How many vessels did the traffic survey count?",
    )
    row = next(row for row in minutes.map.rows if ClaimKind.SHARED_SOURCE in row.kinds)
    assert "40 vessels" in row.text
    gaps = [gap for gap in minutes.missing if "A source of their own" in gap.text]
    assert {(gap.member, gap.shelf) for gap in gaps} == {("maria", "maria"), ("nina", "nina")}


def test_what_documents_lack_is_said_with_whose_shelf(hall: Hall) -> None:
    minutes = hall.convene(
        council(rounds=("independent_analysis",)), "What does the dentist earn in Zanzibar?"
    )
    assert minutes.claims == ()
    assert {(gap.member, gap.shelf) for gap in minutes.missing} == {
        (slug, slug) for slug in ("maria", "jonas", "nina")
    }
    assert minutes.decision == ()


def test_the_map_counts_in_the_decision(hall: Hall) -> None:
    minutes = hall.debate(council(rounds=("independent_analysis",)))
    assert (
        f"Of {len(minutes.map.rows)} different claims, 2 are disputed" in minutes.decision[0].text
    )


def test_open_questions_of_members_are_kept_with_who_asks(hall: Hall) -> None:
    hall.says(lambda i, _: turn(open_questions=[f"What of fog, asks {whose(i)}?"]))
    minutes = hall.convene(council(rounds=("independent_analysis",)))
    assert {(p.text, p.members) for p in minutes.open_questions} == {
        (f"What of fog, asks {slug}?", (slug,)) for slug in ("maria", "jonas", "nina")
    }


def test_a_warning_of_several_is_told_once_with_their_names(hall: Hall) -> None:
    hall.says(lambda *_: EngineError("It is asleep."))
    minutes = hall.convene(council(rounds=("independent_analysis",)))
    (warning,) = [one for one in minutes.warnings if "It is asleep." in one]
    assert warning.startswith("Maria Keller, Jonas Brandt, Nina Falk: ")
