"""The table of a meeting: each member's position on each aspect, cited and compared."""

from collections.abc import Sequence

from chapterhouse.answering.cite import cite, verify
from chapterhouse.council.meeting.record import Ledger
from chapterhouse.council.meeting.session import Participant, Session
from chapterhouse.council.positions.compare import compare_positions
from chapterhouse.council.positions.reading import FoundPosition
from chapterhouse.ports.store import Store
from chapterhouse.runtime import Runtime
from chapterhouse.types import (
    Aspect,
    Citation,
    Position,
    PositionKind,
    PositionTable,
    Quotation,
    Scope,
)


def check_citation(span: Quotation, store: Store, scope: Scope) -> Citation | None:
    """Return the citation of a span, unnumbered; None where it does not stand there."""
    document = store.document(span.document_id, scope)
    if document is None:
        return None
    body = store.body(span.document_id, scope)
    checked = verify(cite(document, span, 0), document, body)
    return checked if checked.verified else None


def position_table(session: Session, runtime: Runtime, ledger: Ledger) -> PositionTable:
    """Return what each member's documents say on each aspect of the question.

    Args:
        session: Who meets, and what is asked.
        runtime: The library's parts.
        ledger: Numbers the citations.
    """
    rows = [
        [position(one, aspect, runtime, ledger) for one in session.participants]
        for aspect in session.aspects
    ]
    return PositionTable(
        aspects=session.aspects,
        positions=tuple(cell for row in rows for cell in row),
        comparisons=tuple(
            compare_positions(aspect, row, same_source=_same_source(row, ledger.citations))
            for aspect, row in zip(session.aspects, rows, strict=True)
        ),
    )


def position(
    participant: Participant, aspect: Aspect, runtime: Runtime, ledger: Ledger
) -> Position:
    """Return what a member's documents say on one aspect; silent where the text has changed."""
    found = participant.read_aspect(aspect)
    return _cited(found, participant, aspect, runtime, ledger)


def _cited(
    found: FoundPosition,
    participant: Participant,
    aspect: Aspect,
    runtime: Runtime,
    ledger: Ledger,
) -> Position:
    scope = participant.request.scope
    citation = check_citation(found.span, runtime.store, scope) if found.span else None
    if citation is None:
        return Position(participant.key, aspect.id, PositionKind.SILENT)
    older = found.outdated
    return Position(
        member=participant.key,
        aspect=aspect.id,
        kind=found.stated.kind,
        values=tuple(dict.fromkeys(value.text for value in found.stated.values)),
        keys=tuple(dict.fromkeys(value.key for value in found.stated.values)),
        text=found.text,
        condition=found.stated.condition,
        whose=found.whose,
        date=found.date,
        citations=(ledger.number(citation),),
        outdated=_cited(older, participant, aspect, runtime, ledger) if older else None,
        likely=found.likely,
    )


def _same_source(row: Sequence[Position], citations: Sequence[Citation]) -> bool:
    """Whether several members quote one document."""
    documents = {citation.number: citation.document_id for citation in citations}
    quoted = [documents[cell.citations[0]] for cell in row if cell.citations]
    return len(quoted) > 1 and len(set(quoted)) == 1
