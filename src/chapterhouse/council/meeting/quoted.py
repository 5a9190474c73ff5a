"""A turn without a model: what a member's documents say, word for word.

In an analysis what the member's shelves say on each thing that is asked becomes a claim. In an
examination every claim of another is looked for on the member's own shelves, and the sentence that
says the same or contradicts it is the reply. In a rebuttal a member gives a claim up only where a
newer version of the very document on which it rests says otherwise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from chapterhouse.agents.council_model import RoundKind
from chapterhouse.answering.parts import as_shown
from chapterhouse.answering.search import method_for, search
from chapterhouse.council.disagreement.map import Facts
from chapterhouse.council.disagreement.sources import Known, series_of
from chapterhouse.council.disagreement.stances import find_stance
from chapterhouse.council.meeting.concessions import judge_concession
from chapterhouse.council.meeting.position_table import check_citation, position
from chapterhouse.council.meeting.session import Participant
from chapterhouse.council.meeting.turns import Ledger, Turn, span_of
from chapterhouse.council.positions.aspects import aspects_of
from chapterhouse.ports.store import Store
from chapterhouse.runtime import Runtime
from chapterhouse.text.canonical import stated_date
from chapterhouse.text.front_matter import LONGEST, body_start
from chapterhouse.text.view import inert
from chapterhouse.types import (
    Aspect,
    Citation,
    Claim,
    Concession,
    Document,
    Evidence,
    Hit,
    Query,
    Quotation,
    Reading,
    Reply,
    Scope,
    Statement,
)


def evidence_of(hits: Sequence[Hit], store: Store, scope: Scope) -> tuple[Evidence, ...]:
    """Return the text of hits as evidence, without what only describes a curated document."""
    return tuple(filter(None, (_own_text(hit, store, scope) for hit in hits)))


def _own_text(hit: Hit, store: Store, scope: Scope) -> Evidence | None:
    document, chunk = hit.document, hit.chunk
    begin = chunk.start
    if document.format == "md" and chunk.start < LONGEST:
        body = store.body(document.id, scope)
        begin = max(begin, body_start(body.text) if body else 0)
    if begin >= chunk.end:
        return None
    return Evidence(
        document.id,
        begin,
        chunk.end,
        chunk.text[begin - chunk.start :],
        language=document.language,
        title=document.title,
        section_path=chunk.section_path,
        date=stated_date(document),
    )


def quoted(citation: Citation, store: Store) -> Evidence:
    """Return what a citation quotes as evidence, with what is known of its document.

    What was said in a meeting is before everyone in it, whatever else they read.
    """
    document = store.document(citation.document_id, Scope.everything())
    return Evidence(
        citation.document_id,
        citation.start,
        citation.end,
        citation.quote,
        language=document.language if document else "",
        title=citation.title,
        section_path=citation.section_path,
        date=stated_date(document) if document else citation.year,
    )


def around(citation: Citation, store: Store) -> str:
    """Return the chunk in which a citation stands, by which only its words are understood."""
    return next(
        (
            chunk.text
            for chunk in store.chunks_of(citation.document_id, Scope.everything())
            if chunk.start <= citation.start < chunk.end
        ),
        citation.quote,
    )


def reading_of(hits: Sequence[Hit]) -> tuple[Reading, ...]:
    """Return the stretches of documents that hits show."""
    return tuple(Reading(hit.document.id, hit.chunk.start, hit.chunk.end) for hit in hits)


def facts_of(citations: Mapping[int, Citation], scope: Scope, store: Store) -> Facts:
    """Return what the disagreement map must know.

    Args:
        citations: Of the meeting, by number.
        scope: What its members read.
        store: Where documents are looked up.
    """
    return Facts(
        evidence={number: quoted(citation, store) for number, citation in citations.items()},
        documents={document.id: _known(document) for document in store.documents(scope)},
        text_of=partial(_text, store, scope),
    )


def _known(document: Document) -> Known:
    return Known(
        id=document.id,
        title=document.title,
        source=document.source,
        text_sha256=document.text_sha256,
        date=stated_date(document),
        language=document.language,
    )


def _text(store: Store, scope: Scope, document_id: str) -> str:
    body = store.body(document_id, scope)
    return body.text if body else ""


_EXAMINED: Final = 60  # claims that one member looks into
_PLACES: Final = 3  # of those that carry one claim
_PASSAGES: Final = 5  # that are read about one claim
_LONGEST: Final = 1_000  # characters of a query; more words than that blur it


def quoted_turn(participant: Participant, turn: Turn, runtime: Runtime) -> Statement:
    """Return what a member's documents say in a round.

    Args:
        participant: Who would speak.
        turn: What is asked.
        runtime: The library's parts.
    """
    if participant.key in turn.agenda.examined:
        return turn.agenda.examined[participant.key]
    ledger = Ledger()
    statement = Statement(participant.key, turn.round.name)
    if turn.analyses:
        statement = _analysis(participant, turn, runtime, ledger)
    if turn.examines:
        statement = _examination(statement, participant, turn, runtime, ledger)
    if turn.round.kind is RoundKind.REBUTTAL:
        statement = _rebuttal(statement, participant, turn, runtime, ledger)
    return replace(statement, citations=ledger.citations)


def examination(participant: Participant, turn: Turn, runtime: Runtime) -> Statement:
    """Return what a member's documents say on the claims of others."""
    ledger = Ledger()
    statement = Statement(participant.key, turn.round.name)
    statement = _examination(statement, participant, turn, runtime, ledger)
    return replace(statement, citations=ledger.citations)


def aspects_in(turn: Turn, participant: Participant, runtime: Runtime) -> tuple[Aspect, ...]:
    """Return what a member without a model looks for: the several things that are asked."""
    own = turn.round.kind is RoundKind.OWN and turn.round.instructions
    languages = runtime.store.census(participant.request.scope).languages
    return aspects_of(own or turn.question, languages, turn.council.options)


# --- analysis -----------------------------------------------------------------------------------


def _analysis(participant: Participant, turn: Turn, runtime: Runtime, ledger: Ledger) -> Statement:
    """Return a claim for each thing that is asked and that the member's documents speak of."""
    positions = [
        (aspect, position(participant, aspect, runtime, ledger))
        for aspect in aspects_in(turn, participant, runtime)
    ]
    stated_cells = [cell for _, cell in positions if cell.citations]
    cited = {citation.number: citation for citation in ledger.citations}
    read = [cited[cell.citations[0]] for cell in stated_cells]
    empty = not runtime.store.census(participant.request.scope).documents
    because = ": there are no documents" if empty else ""
    return Statement(
        member=participant.key,
        round=turn.round.name,
        claims=tuple(
            {
                cell.citations: Claim(
                    "", participant.key, turn.round.name, cell.text, cell.citations
                )
                for cell in reversed(stated_cells)
            }.values()
        )[::-1],
        missing=tuple(
            f"Evidence on “{inert(aspect.text)}”{because}."
            for aspect, cell in positions
            if not cell.citations
        ),
        read=tuple(Reading(one.document_id, one.start, one.end) for one in read),
    )


# --- examination --------------------------------------------------------------------------------


def _examination(
    statement: Statement, participant: Participant, turn: Turn, runtime: Runtime, ledger: Ledger
) -> Statement:
    claims = [claim for claim in turn.others(participant) if claim.citations]
    replies, read = list[Reply](), list[Reading]()
    looked: dict[Quotation, tuple[Reply | None, tuple[Reading, ...]]] = {}
    for claim in claims[:_EXAMINED]:
        span = span_of(turn.record.cited(claim.citations)[0])
        if span not in looked:  # several may quote the same
            looked[span] = _reply(claim, participant, turn, runtime, ledger)
        reply, seen = looked[span]
        read += seen
        if reply is not None:
            replies.append(replace(reply, claim=claim.id))
    warnings = statement.warnings
    if len(claims) > _EXAMINED:
        warnings = (*warnings, f"Of {len(claims)} claims, the first {_EXAMINED} were looked into.")
    return replace(
        statement,
        replies=tuple(replies),
        read=tuple(dict.fromkeys((*statement.read, *read))),
        warnings=warnings,
    )


def _reply(
    claim: Claim, participant: Participant, turn: Turn, runtime: Runtime, ledger: Ledger
) -> tuple[Reply | None, tuple[Reading, ...]]:
    store, request = runtime.store, participant.request
    read: tuple[Reading, ...] = ()
    found = own = None
    for citation in turn.record.cited(claim.citations)[:_PLACES]:
        query = Query(citation.quote[:_LONGEST], request.scope, _PASSAGES, 0)
        hits = search(query, runtime, method_for(runtime, request.settings, None)).hits
        read += reading_of(hits)
        found = find_stance(
            quoted(citation, store),
            evidence_of(hits, store, request.scope),
            around(citation, store),
        )
        own = check_citation(found.span, store, request.scope) if found else None
        if own is not None:
            break
    if found is None or own is None:
        return None, read
    document = store.document(own.document_id, Scope.everything())
    shown = as_shown(own.quote, document.format) if document else own.quote
    reply = Reply(
        member=participant.key,
        round=turn.round.name,
        claim=claim.id,
        stance=found.stance,
        text=inert(shown),
        citations=(ledger.number(own),),
        by=found.by,
        values=found.values,
    )
    return reply, read


# --- rebuttal -----------------------------------------------------------------------------------


def _rebuttal(
    statement: Statement, participant: Participant, turn: Turn, runtime: Runtime, ledger: Ledger
) -> Statement:
    given: dict[str, Concession] = {}
    for reply in turn.against(participant):
        claim = turn.record.claim(reply.claim)
        newer = _newer_version(claim, reply, turn, runtime) if claim else None
        if claim and newer and claim.id not in given:
            given[claim.id] = _concession(claim, reply, newer, participant, turn, ledger)
    return replace(statement, concessions=tuple(given.values()))


def _newer_version(claim: Claim, reply: Reply, turn: Turn, runtime: Runtime) -> Citation | None:
    """Return what a newer version of the document on which a claim rests says otherwise."""
    store = runtime.store
    for own in turn.record.cited(claim.citations):
        old = quoted(own, store)
        for other in turn.record.cited(reply.citations):
            new = quoted(other, store)
            series = series_of(old.title)
            versions = series and series == series_of(new.title)
            same = versions and own.document_id != new.document_id
            if same and old.date and new.date[: len(old.date)] > old.date[: len(new.date)]:
                return other
    return None


def _concession(
    claim: Claim,
    reply: Reply,
    newer: Citation,
    participant: Participant,
    turn: Turn,
    ledger: Ledger,
) -> Concession:
    to = next(
        (
            other.id
            for other in turn.others(participant)
            if newer in turn.record.cited(other.citations) and other.member == reply.member
        ),
        "",
    )
    text = inert(as_shown(newer.quote))
    made = Concession(participant.key, turn.round.name, claim.id, to, text, (ledger.number(newer),))
    cited = (newer,)
    return judge_concession(made, cited, turn.record, free=not turn.council.concession_rule)
