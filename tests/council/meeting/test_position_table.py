"""The table of a meeting: complete, cited to the character, the same every time."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter
from tests.council.agreements import (
    ASKED,
    BELLS,
    TERMS,
    agreement,
    read,
    readers,
    shelve,
)
from tests.council.conftest import QUESTION, Hall, council, honest

from chapterhouse.council.meeting.position_table import check_citation, position, position_table
from chapterhouse.council.meeting.record import Ledger
from chapterhouse.council.positions.reading import FoundPosition, read_together
from chapterhouse.types import (
    Aspect,
    Minutes,
    PositionKind,
    PositionRelation,
    PositionTable,
    Quotation,
    Scope,
)

MANY = "How long should confidentiality last, which law governs, and who rings the bells?"


def table(hall: Hall, question: str, *shelves: str) -> tuple[PositionTable, Ledger]:
    ledger = Ledger()
    session = hall.open_session(readers(*shelves), question)
    return position_table(session, hall.runtime, ledger), ledger


# --- a table --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shelves", [("alder",), ("alder", "birch"), (*TERMS, "bells")])
@pytest.mark.parametrize(("question", "aspects"), [(ASKED, 1), (MANY, 3)])
def test_it_has_a_cell_for_each_member_and_aspect(
    signed: Hall, shelves: tuple[str, ...], question: str, aspects: int
) -> None:
    found, _ = table(signed, question, *shelves)
    ids = [f"a{number}" for number in range(1, aspects + 1)]
    assert [one.id for one in found.aspects] == ids
    assert [one.aspect for one in found.comparisons] == ids
    assert [(one.aspect, one.member) for one in found.positions] == [
        (aspect, shelf) for aspect in ids for shelf in shelves
    ]


def test_every_text_stands_in_the_document_at_its_citation(signed: Hall) -> None:
    found, ledger = table(signed, MANY, *TERMS, "bells")
    cited = {citation.number: citation for citation in ledger.citations}
    assert any(one.citations for one in found.positions)
    for one in found.positions:
        assert bool(one.citations) is (one.kind is not PositionKind.SILENT)
        for number in one.citations:
            citation = cited[number]
            body = signed.library.documents.body(citation.document_id).text
            assert citation.verified
            assert body[citation.start : citation.end] == citation.quote == one.text
            shelves = signed.library.documents.get(citation.document_id).shelves
            assert shelves == (one.member,)  # nobody speaks from the documents of another


def test_who_is_silent_has_nothing_else(signed: Hall) -> None:
    found, _ = table(signed, ASKED, "alder", "bells")
    _, bells = found.positions
    assert bells.kind is PositionKind.SILENT
    assert (bells.values, bells.keys, bells.text, bells.citations) == ((), (), "", ())
    assert (bells.condition, bells.whose, bells.date, bells.outdated) == ("", "", "", None)
    assert found.comparisons[0].relation is PositionRelation.ONE_ONLY


def test_the_seats_change_nothing_but_the_order(signed: Hall) -> None:
    one, _ = table(signed, MANY, "alder", "birch", "bells")
    other, _ = table(signed, MANY, "bells", "birch", "alder")
    assert {(p.aspect, p.member): (p.kind, p.keys, p.text) for p in one.positions} == {
        (p.aspect, p.member): (p.kind, p.keys, p.text) for p in other.positions
    }
    assert [c.relation for c in one.comparisons] == [c.relation for c in other.comparisons]
    assert [{frozenset(group) for group in c.groups} for c in one.comparisons] == [
        {frozenset(group) for group in c.groups} for c in other.comparisons
    ]


def test_one_document_on_several_shelves_is_one_source(bare_hall: Hall) -> None:
    text = agreement("Alder", "five years")
    shelve(bare_hall, {"alder": {"nda.md": text, "own.md": BELLS}})
    folder = bare_hall.folder / "papers-alder"
    bare_hall.library.documents.add(folder / "nda.md", shelf="birch")
    found, ledger = table(bare_hall, ASKED, "alder", "birch")
    (together,) = found.comparisons
    assert together.relation is PositionRelation.AGREE
    assert together.same_source is (len({c.document_id for c in ledger.citations}) == 1)


def test_a_span_that_does_not_stand_there_is_no_citation(signed: Hall) -> None:
    store, scope = signed.runtime.store, Scope.of(("alder",))
    session = signed.open_session(readers("alder"), ASKED)
    (aspect,) = session.aspects
    found = session.participants[0].read_aspect(aspect)
    assert found.span is not None
    assert check_citation(found.span, store, scope) is not None
    forged = replace(found.span, quote=found.span.quote.replace("five", "nine"))
    assert check_citation(forged, store, scope) is None
    assert check_citation(found.span, store, Scope.of(("birch",))) is None  # of another's shelf
    assert check_citation(Quotation("nowhere", 0, 1, "x"), store, scope) is None
    changed = replace(session.participants[0], read_aspect=lambda _: replace(found, span=forged))
    told = position(changed, aspect, signed.runtime, Ledger())
    assert (told.kind, told.citations) == (PositionKind.SILENT, ())


# --- the minutes of documents that were only read -------------------------------------------------


def test_three_agreements_three_values_and_no_decision(signed: Hall) -> None:
    minutes = signed.convene(readers(*TERMS), ASKED)
    assert {cell.member: cell.values for cell in minutes.reading.positions} == {
        member: (term,) for member, term in TERMS.items()
    }
    (together,) = minutes.reading.comparisons
    assert together.relation is PositionRelation.DIFFER
    assert together.groups == tuple((member,) for member in TERMS)
    assert (minutes.missing, minutes.decided, minutes.decision) == ((), "", ())
    assert minutes.statements == ()


def test_a_question_about_a_risk_decides_nothing_whatever_the_options(signed: Hall) -> None:
    options = ("Sign the agreement", "Do not sign the agreement")
    asked = "What is the biggest risk of sharing confidential information?"
    minutes = signed.convene(readers(*TERMS, options=options), asked)
    assert minutes.options == ()
    assert (minutes.decided, minutes.decision) == ("", ())
    given = signed.convene(readers(*TERMS), asked, options=options)  # the caller says so
    assert given.options == options
    assert given.decided == ""


@pytest.mark.parametrize(
    "question", ["How old must users be?", "What age must members be?", "Who may use the service?"]
)
def test_the_rules_of_two_companies_do_not_contradict_each_other(
    bare_hall: Hall, question: str
) -> None:
    rules = {
        "github": "You must be 13 to use GitHub's service.",
        "acme": "Members of Acme must be 18.",
    }
    shelves = {
        name: {"terms.md": f"# Terms\n\n## Account\n\n{rule}\n\n## Payment\n\nPay in May.\n"}
        for name, rule in rules.items()
    }
    minutes = read(bare_hall, shelves, question)
    assert minutes.reading.comparisons[0].relation not in {
        PositionRelation.DIFFER,
        PositionRelation.CONDITIONAL,
    }
    assert (minutes.agreement, minutes.dissent, minutes.decision) == ((), (), ())


def test_without_a_model_no_round_is_held_and_nothing_disputed(signed: Hall) -> None:
    minutes = signed.convene(readers(*TERMS), ASKED)
    assert (minutes.rounds, minutes.statements) == ((), ())
    assert not minutes.debated
    assert minutes.agreement == ()
    assert (minutes.dissent, minutes.open_questions) == ((), ())


def test_a_table_stands_beside_a_debate_in_which_somebody_has_no_model(hall: Hall) -> None:
    alone = hall.convene(council())
    hall.says(honest)
    made = council()
    silent = replace(made.members[0], model="one")  # a profile without a model
    debate = hall.convene(replace(made, members=(silent, *made.members[1:])))
    assert debate.debated
    assert debate.agreement
    told = [(p.aspect, p.member, p.text) for p in debate.reading.positions]
    assert told == [(p.aspect, p.member, p.text) for p in alone.reading.positions]
    assert not hall.convene(council()).reading.positions


def test_what_is_silent_is_missing_evidence(signed: Hall) -> None:
    minutes = signed.convene(readers("alder", "bells"), ASKED)
    assert [(gap.member, gap.text) for gap in minutes.missing] == [
        ("bells", f"Evidence on “{ASKED.removesuffix('?')}”.")
    ]


def test_who_reads_the_same_is_read_once_with_a_warning(signed: Hall) -> None:
    made = readers("alder", "birch").add_member(
        name="twin", shelves=("alder",), instructions="Argue."
    )
    minutes = signed.convene(made, ASKED)
    assert [one.key for one in minutes.members] == ["alder", "birch"]
    (warning,) = minutes.warnings
    assert warning.startswith("twin reads the same documents as alder")
    assert "--model" in warning
    signed.says(lambda *_: "{}")
    assert [one.key for one in signed.convene(made, ASKED).members] == ["alder", "birch", "twin"]


def test_offline_minutes_are_the_same_twice(signed: Hall) -> None:
    whole = TypeAdapter(Minutes)
    first, second = (signed.convene(readers(*TERMS, "bells"), MANY) for _ in range(2))
    assert whole.dump_json(first) == whole.dump_json(second)
    assert whole.validate_json(whole.dump_json(first)) == first


def test_each_aspect_is_looked_up_once_however_many_members_there_are(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[object] = []

    def counting(aspect: Aspect, *more: Any) -> Mapping[str, FoundPosition]:
        looked.append(aspect)
        return read_together(aspect, *more)

    monkeypatch.setattr("chapterhouse.council.meeting.session.read_together", counting)
    hall.convene("harbour-board", QUESTION)
    assert len(looked) == 1
