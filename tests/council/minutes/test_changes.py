"""What differs between two meetings: nothing of the same, and the sides may be swapped."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.answering.cite import CitationCheck, QuoteState, SourceState
from chapterhouse.council.minutes.changes import changes_between
from chapterhouse.types import (
    ChangeKind,
    DisagreementMap,
    DocumentChangeKind,
    LapseReason,
    Minutes,
    MinutesChanges,
    Position,
    PositionKind,
    PositionRelation,
    PositionTable,
)

from .conftest import CITATIONS, FEE_2025, MINUTES, QUAY

NEW, GONE, CHANGED = ChangeKind.NEW, ChangeKind.GONE, ChangeKind.CHANGED
SWAPPED = {NEW: GONE, GONE: NEW, CHANGED: CHANGED}
KINDS = (PositionKind.VALUE, PositionKind.SILENT, PositionKind.STATED)


def check(number: int, source: SourceState, quote: QuoteState) -> CitationCheck:
    return CitationCheck(CITATIONS[number - 1], source, quote)


def with_positions(*positions: Position) -> Minutes:
    return replace(MINUTES, reading=replace(MINUTES.reading, positions=positions))


def lost(number: int, source: SourceState = SourceState.CHANGED) -> CitationCheck:
    return check(number, source, QuoteState.LOST)


# --- laws --------------------------------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn) -> Minutes:
    """Minutes with some of the aspects and members, and other kinds of positions."""
    table = MINUTES.reading
    aspects = tuple(one for one in table.aspects if draw(st.booleans()))
    seats = tuple(one for one in MINUTES.members if draw(st.booleans()))
    asked, keys = {one.id for one in aspects}, {one.key for one in seats}
    positions = tuple(
        replace(one, kind=draw(st.sampled_from(KINDS)), date=draw(st.sampled_from(["", "2026"])))
        for one in table.positions
        if one.aspect in asked and one.member in keys
    )
    relations = st.sampled_from(PositionRelation)
    stand = tuple(
        replace(one, relation=draw(relations)) for one in table.comparisons if one.aspect in asked
    )
    counted = tuple(replace(one, documents=draw(st.integers(0, 3))) for one in seats)
    decided = draw(st.sampled_from(["", *MINUTES.options]))
    short = replace(MINUTES, statements=(), map=DisagreementMap(), citations=CITATIONS[:3])
    return replace(
        short, reading=PositionTable(aspects, positions, stand), members=counted, decided=decided
    )


@given(tables())
def test_nothing_differs_between_minutes_and_themselves(minutes: Minutes) -> None:
    found = [check(n, SourceState.SAME, QuoteState.FOUND) for n in (1, 2, 3)]
    assert changes_between(minutes, minutes) == MinutesChanges()
    assert changes_between(minutes, minutes, found, {"tariffs-2021": "x"}) == MinutesChanges()
    assert not changes_between(minutes, minutes)


@given(tables(), tables())
def test_swapped_sides_swap_what_is_new_and_what_is_gone(one: Minutes, other: Minutes) -> None:
    there, back = changes_between(one, other), changes_between(other, one)
    assert {(p.aspect, p.member, p.kind, p.before, p.now) for p in there.positions} == {
        (p.aspect, p.member, SWAPPED[p.kind], p.now, p.before) for p in back.positions
    }
    assert {(r.aspect, r.before, r.now) for r in there.relations} == {
        (r.aspect, r.now, r.before) for r in back.relations
    }
    assert {(u.what, u.name, u.kind) for u in there.unmatched} == {
        (u.what, u.name, SWAPPED[u.kind]) for u in back.unmatched
    }
    assert {(c.member, c.before, c.now) for c in there.counts} == {
        (c.member, c.now, c.before) for c in back.counts
    }
    assert bool(there) is bool(back)


# --- positions ---------------------------------------------------------------------------------


def test_a_position_differs_by_what_it_says_and_from_where() -> None:
    maria, *others = MINUTES.reading.positions
    moved = replace(CITATIONS[1], start=500, end=500 + len(FEE_2025), text_sha256="edited")
    edited = replace(MINUTES, citations=(CITATIONS[0], moved, *CITATIONS[2:]))
    assert not changes_between(MINUTES, edited).positions  # edited elsewhere: it says the same

    dearer = with_positions(replace(maria, keys=("90 eur",)), *others)
    (change,) = changes_between(MINUTES, dearer).positions
    assert (change.member, change.kind, change.documents) == ("maria", CHANGED, ())

    copied = replace(moved, document_id="tariffs-2026", source="papers/tariffs-2026.md")
    elsewhere = replace(MINUTES, citations=(CITATIONS[0], copied, *CITATIONS[2:]))
    changes = changes_between(MINUTES, elsewhere)
    assert [one.documents for one in changes.positions] == [("tariffs-2026",)]
    assert [one.kind for one in changes.documents] == [DocumentChangeKind.FIRST_QUOTED]


def test_a_document_that_is_gone_is_behind_the_silence() -> None:
    maria, *others = MINUTES.reading.positions
    silent = replace(maria, kind=PositionKind.SILENT, keys=(), values=(), text="", citations=())
    now = with_positions(replace(silent, outdated=None), *others)
    changes = changes_between(MINUTES, now, [lost(2, SourceState.GONE)])
    assert [(one.kind, one.documents) for one in changes.positions] == [(GONE, ("tariffs-2025",))]
    assert changes.documents[0].kind is DocumentChangeKind.REMOVED
    assert changes.citations == (CITATIONS[1],)


# --- conclusions -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "reason"),
    [(SourceState.GONE, LapseReason.REMOVED), (SourceState.CHANGED, LapseReason.CHANGED)],
)
def test_what_was_concluded_from_a_lost_sentence_lapses(
    state: SourceState, reason: LapseReason
) -> None:
    now = replace(MINUTES, citations=(), decided="leave it")
    changes = changes_between(MINUTES, now, [lost(2, state)])
    # what documents say adds nothing that the decision does not rest on
    assert [(one.part, one.text) for one in changes.lapsed] == [
        ("decision", "raise the tariff"),
        ("decision", FEE_2025),
    ]
    assert {lapse.reason for one in changes.lapsed for lapse in one.lapses} == {reason}
    assert changes.decision is not None
    assert (changes.decision.before, changes.decision.now) == ("raise the tariff", "leave it")


def test_a_conclusion_with_another_citation_rests_on_less() -> None:
    both = replace(MINUTES, grounds=(replace(MINUTES.grounds[0], citations=(3, 4)),))
    (one,) = changes_between(both, replace(MINUTES, citations=()), [lost(3)]).lapsed
    assert (one.part, one.text, one.standing, len(one.lapses)) == ("grounds", QUAY, 1, 1)


def test_what_is_concluded_again_from_elsewhere_still_holds() -> None:
    other = replace(CITATIONS[2], document_id="quays", text_sha256="quays")
    again = replace(MINUTES, citations=(*CITATIONS[:2], other, CITATIONS[3]))
    assert changes_between(MINUTES, again, [lost(3)]).lapsed == ()


def test_a_newer_version_counts_where_documents_came_or_the_older_is_left() -> None:
    found = [check(3, SourceState.SAME, QuoteState.FOUND)]
    newer = {"tariffs-2025": "papers/tariffs-2026.md"}
    maria, *others = MINUTES.members
    more = replace(MINUTES, members=(replace(maria, documents=3), *others))
    assert changes_between(MINUTES, MINUTES, found, newer).lapsed == ()
    for now in (more, replace(MINUTES, citations=())):
        (one,) = changes_between(MINUTES, now, found, newer).lapsed
        assert one.lapses[0].reason is LapseReason.NEWER_VERSION
        assert one.lapses[0].newer == "papers/tariffs-2026.md"


def test_what_a_newer_document_says_otherwise_lapses() -> None:
    maria, *others = MINUTES.reading.positions
    alone = replace(maria, keys=("60 eur",), outdated=None, citations=(1,))
    table = replace(MINUTES.reading, positions=(alone, *others[2:]))
    before = replace(MINUTES, reading=table, decided="", decision=(), grounds=())
    now = replace(before, reading=replace(table, positions=(maria, *others[2:])))
    found = [check(1, SourceState.SAME, QuoteState.FOUND)]
    (one,) = changes_between(before, now, found).lapsed
    assert one.lapses[0].reason is LapseReason.NEWER_DOCUMENT
    assert one.lapses[0].newer == "papers/tariffs-2025.md"
