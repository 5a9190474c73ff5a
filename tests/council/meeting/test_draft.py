"""The minutes that rules write from the map."""

import re

from tests.council.conftest import (
    Hall,
    council,
    turn,
    whose,
)

from chapterhouse.types import ClaimKind, Leaning

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


def test_what_most_members_choose_is_decided_and_each_choice_is_shown(hall: Hall) -> None:
    chosen = {"maria": "wait", "jonas": "build", "nina": "build"}
    hall.says(lambda i, _: turn(option=chosen[whose(i)]))
    made = council(rounds=("independent_analysis",)).decide_between("build", "wait")
    minutes = hall.convene(made, "Shall we build or wait?")
    assert minutes.decided == "build"
    assert [one.text for one in minutes.decision] == ["Of 3 members, 2 for “build”, 1 for “wait”."]
    assert {(v.option, v.member) for v in minutes.matrix if v.leaning is Leaning.FOR} == {
        (option, member) for member, option in chosen.items()
    }
    assert len(minutes.matrix) == 6


def test_without_a_majority_nothing_is_decided(hall: Hall) -> None:
    hall.says(lambda i, _: turn(option={"maria": "wait", "jonas": "build"}.get(whose(i), "")))
    made = council(rounds=("independent_analysis",)).decide_between("build", "wait")
    minutes = hall.convene(made, "Shall we build or wait?")
    assert minutes.decided == ""
    assert minutes.decision[0].text.startswith("Nothing was decided. Of 3 members, 1 for")
    offline = hall.convene(made, "Shall we build or wait?", model="none")
    assert (offline.decided, offline.decision, offline.matrix) == ("", (), ())
