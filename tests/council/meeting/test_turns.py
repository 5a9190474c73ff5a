"""One numbering through the whole meeting: every number finds what it meant."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.council.meeting.turns import Ledger, Record, add_absence, add_statement
from chapterhouse.types import (
    Absence,
    Citation,
    Claim,
    Concession,
    Reading,
    Reply,
    Stance,
    Statement,
)


def cite(number: int, document: str) -> Citation:
    return Citation(number, document, document, document, (), None, "", "", 0, 3, "abc", "")


def said(member: str, *documents: str, held: str = "first") -> Statement:
    """Return a statement with a claim on each of these, under its own numbering."""
    ledger = Ledger()
    claims = tuple(
        Claim("", member, held, name, (ledger.number(cite(0, name)),)) for name in documents
    )
    return Statement(member, held, claims=claims, citations=ledger.citations)


@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=6), max_size=5))
def test_every_number_means_what_it_meant(statements: list[list[str]]) -> None:
    record = Record()
    for number, documents in enumerate(statements):
        record = add_statement(record, said(f"m{number}", *documents))

    assert [c.number for c in record.citations] == list(range(1, len(record.citations) + 1))
    assert [c.id for c in record.claims] == [f"c{n}" for n in range(1, len(record.claims) + 1)]
    assert len({replace(c, number=0) for c in record.citations}) == len(record.citations)
    for claim in record.claims:
        assert [c.document_id for c in record.cited(claim.citations)] == [claim.text]
    assert all(statement.citations == () for statement in record.statements)


def test_replies_and_concessions_are_renumbered_too() -> None:
    first = add_statement(Record(), said("a", "one", "two"))
    own = Statement(
        "b",
        "second",
        replies=(Reply("b", "second", "c1", Stance.SUPPORTS, "x", (2, 1)),),
        concessions=(Concession("b", "second", "c9", "", "x", (1,)),),
        citations=(cite(1, "three"), cite(2, "two")),
    )
    record = add_statement(first, own)

    (reply,) = record.replies
    (given_up,) = record.concessions
    assert [c.document_id for c in record.cited(reply.citations)] == ["two", "three"]
    assert [c.document_id for c in record.cited(given_up.citations)] == ["three"]
    assert [c.document_id for c in record.citations] == ["one", "two", "three"]


def test_what_a_member_read_until_a_claim() -> None:
    first = replace(said("a", "one"), read=(Reading("one", 0, 9),))
    second = replace(said("a", "two", held="second"), read=(Reading("two", 0, 9),))
    other = replace(said("b", "three"), read=(Reading("three", 0, 9),))
    record = Record()
    for statement in (first, other, second):
        record = add_statement(record, statement)

    assert record.read_by("a", until="c1") == (Reading("one", 0, 9),)
    assert record.read_by("a", until="c3") == (Reading("one", 0, 9), Reading("two", 0, 9))
    assert record.read_by("a") == record.read_by("a", until="c3")
    assert record.read_by("nobody") == ()


def test_claims_are_found_by_their_ids() -> None:
    record = add_statement(Record(), said("a", "one", "two"))
    second = record.claim("c2")
    assert second is not None
    assert second.text == "two"
    assert record.claim("c3") is None
    assert record.claim("") is None


def test_who_did_not_speak_is_on_record() -> None:
    record = add_absence(Record(), Absence("a", "first", "Asleep."))
    assert record.absences == (Absence("a", "first", "Asleep."),)


def test_a_ledger_goes_on_from_what_is_there() -> None:
    ledger = Ledger([cite(1, "one"), cite(2, "two")])
    assert ledger.numbers([cite(0, "two"), cite(7, "three"), cite(0, "two")]) == (2, 3)
    assert [(c.number, c.document_id) for c in ledger.citations] == [
        (1, "one"),
        (2, "two"),
        (3, "three"),
    ]
