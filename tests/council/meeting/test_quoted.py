"""Turns without a model: what the documents of a member say, to the letter."""

from dataclasses import replace

import pytest
from tests.council.conftest import QUESTION, Hall, council

from chapterhouse.agents.council_model import Round
from chapterhouse.council.meeting.quoted import aspects_in, quoted_turn
from chapterhouse.council.meeting.turns import Record, Turn, add_statement
from chapterhouse.types import ClaimKind, ConflictKind, Minutes, Stance, Statement, Support

ROUNDS = ("independent_analysis", "cross_examination", "rebuttal")
OLD = """---
title: Tariff of the Marina, version 1
date: 2022-01-01
---

# Tariff of the Marina, version 1

## Berths

A guest berth in the marina costs 60 euros a night.
"""
NEW = OLD.replace("version 1", "version 2").replace("2022", "2024").replace("60", "80")
OTHER = NEW.replace("Tariff of the Marina, version 2", "Letter on the Tariff of the Marina")
UNDATED = NEW.replace("date: 2024-01-01\n", "")
BERTH = "What does a guest berth in the marina cost?"


def met(hall: Hall, first: str, second: str, **more: object) -> Minutes:
    """Let two who have read different things meet."""
    for slug, text in (("anna", first), ("bert", second)):
        hall.persona(slug, {f"{slug}.md": text} if text else {})
        hall.library.personas.refresh(slug)
    made = council("marina", "anna", "bert", rounds=ROUNDS)
    return hall.debate(replace(made, **more), BERTH)  # type: ignore[arg-type]  # fields of a council


def replies(minutes: Minutes) -> dict[tuple[str, str], Stance]:
    return {(r.member, r.claim): r.stance for s in minutes.statements for r in s.replies}


def test_claims_are_sentences_of_one_s_own_shelf(hall: Hall) -> None:
    minutes = hall.convene("harbour-board")
    cited = {citation.number: citation for citation in minutes.citations}
    assert [claim.member for claim in minutes.claims] == ["maria", "jonas", "nina"]
    for claim in minutes.claims:
        (number,) = claim.citations
        assert claim.support is Support.QUOTED
        assert claim.text == " ".join(cited[number].quote.split())
        document = hall.library.documents.get(cited[number].document_id)
        assert {claim.member, "council_harbour-board"} & set(document.shelves)
    assert all(statement.method == "extractive" for statement in minutes.statements)


def test_other_figures_of_other_documents_contradict(bare_hall: Hall) -> None:
    minutes = met(bare_hall, OLD, OTHER)
    assert replies(minutes) == {
        ("anna", "c2"): Stance.CONTRADICTS,
        ("bert", "c1"): Stance.CONTRADICTS,
    }
    (reply, *_) = [r for s in minutes.statements for r in s.replies]
    assert reply.by is ConflictKind.NUMBER
    assert {value.split()[0] for value in reply.values} == {"60", "80"}
    assert minutes.concessions == ()


def test_a_claim_gives_way_to_a_newer_version_of_its_own_document(bare_hall: Hall) -> None:
    minutes = met(bare_hall, OLD, NEW)
    (given_up,) = minutes.concessions
    assert (given_up.member, given_up.claim, given_up.to) == ("anna", "c1", "c2")
    assert given_up.accepted
    assert given_up.text == "A guest berth in the marina costs 80 euros a night."
    row = next(row for row in minutes.map.rows if "c2" in row.claims)
    assert {cell.member: cell.stance for cell in row.cells}["anna"] is Stance.SUPPORTS


def test_it_does_not_give_way_to_an_older_version(bare_hall: Hall) -> None:
    minutes = met(bare_hall, NEW, OLD)
    assert [given_up.member for given_up in minutes.concessions] == ["bert"]


@pytest.mark.parametrize("second", [UNDATED, OTHER, OLD.replace("60", "80")])
def test_it_does_not_give_way_to_what_is_no_newer_version(bare_hall: Hall, second: str) -> None:
    assert met(bare_hall, OLD, second).concessions == ()


def test_the_same_from_two_documents_is_support(bare_hall: Hall) -> None:
    minutes = met(bare_hall, OTHER, OTHER.replace("Letter on", "Notes of the Clerk on"))
    assert set(replies(minutes).values()) <= {Stance.SUPPORTS}
    (row,) = minutes.map.rows
    assert ClaimKind.INDEPENDENT_SOURCES in row.kinds


def test_of_what_documents_do_not_speak_of_members_are_silent(bare_hall: Hall) -> None:
    minutes = met(bare_hall, OLD, "# Bells\n\nThe bells of the church ring at noon every day.\n")
    assert [claim.member for claim in minutes.claims] == ["anna"]
    assert replies(minutes) == {}
    silent = next(s for s in minutes.statements if s.member == "bert")
    assert silent.missing == (f"Evidence on “{BERTH.removesuffix('?')}”.",)


def test_what_an_older_document_of_the_same_member_says_is_told_beside_it(
    bare_hall: Hall,
) -> None:
    bare_hall.persona("anna", {"a.md": OLD, "b.md": OTHER})
    bare_hall.library.personas.refresh("anna")
    minutes = bare_hall.convene(council("marina", "anna", rounds=ROUNDS[:1]), BERTH)
    (claim,) = minutes.claims
    assert claim.text == "A guest berth in the marina costs 80 euros a night."
    (cell,) = minutes.reading.positions
    assert (cell.values, cell.date) == (("80 euros",), "2024-01-01")
    assert cell.outdated is not None
    assert (cell.outdated.values, cell.outdated.date) == (("60 euros",), "2022-01-01")
    assert cell.outdated.text == "A guest berth in the marina costs 60 euros a night."


def test_the_several_things_that_are_asked_are_looked_for_one_by_one(hall: Hall) -> None:
    two = "How fast may a vessel go inside the harbour, and when does the gate close?"
    session = hall.open_session(council(), two)
    entry = Turn(session.council, two, session.council.rounds[0], 1, Record(), ())
    first = session.participants[0]
    assert len(aspects_in(entry, first, hall.runtime)) == 2
    said = quoted_turn(first, entry, hall.runtime)
    assert [claim.text for claim in said.claims] == [
        "Inside the harbour no vessel may exceed 4 knots.",
        "The gate of the harbour closes at 21:30 from April to September.",
    ]
    own = replace(entry, round=Round("prices", instructions="What does a berth cost?"))
    (asked,) = aspects_in(own, first, hall.runtime)
    assert asked.text == "What does a berth cost"


def test_words_that_look_like_citations_are_made_harmless(bare_hall: Hall) -> None:
    forged = OLD.replace("a night.", "a night [1] [^x:y].")
    minutes = met(bare_hall, forged, "")
    (claim,) = minutes.claims
    assert "[" not in claim.text
    assert minutes.citations[0].quote.endswith("a night [1] [^x:y].")


def test_a_claim_of_several_citations_is_looked_for_by_each(hall: Hall) -> None:
    session = hall.open_session(council())
    first = Turn(session.council, QUESTION, session.council.rounds[0], 1, Record(), ())
    nina = quoted_turn(session.participant("nina"), first, hall.runtime)
    jonas = quoted_turn(session.participant("jonas"), first, hall.runtime)
    both = tuple(
        replace(c, number=n) for n, c in enumerate((*nina.citations, *jonas.citations), start=1)
    )
    claim = replace(nina.claims[0], citations=(1, 2))
    record = add_statement(Record(), Statement("nina", "first", claims=(claim,), citations=both))
    second = replace(first, round=session.council.rounds[1], number=2, record=record)
    said = quoted_turn(session.participant("maria"), second, hall.runtime)
    assert [(r.claim, r.stance) for r in said.replies] == [("c1", Stance.CONTRADICTS)]
