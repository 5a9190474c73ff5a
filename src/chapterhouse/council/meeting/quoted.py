"""What members' documents say on the claims of others, word for word, before these are argued."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from chapterhouse.answering.parts import as_shown
from chapterhouse.answering.search import method_for, search
from chapterhouse.council.disagreement.map import Facts
from chapterhouse.council.disagreement.sources import Known
from chapterhouse.council.disagreement.stances import find_stance
from chapterhouse.council.meeting.position_table import check_citation
from chapterhouse.council.meeting.session import Participant
from chapterhouse.council.meeting.turns import Ledger, Turn, span_of
from chapterhouse.ports.store import Store
from chapterhouse.runtime import Runtime
from chapterhouse.text.canonical import stated_date
from chapterhouse.text.front_matter import LONGEST, body_start
from chapterhouse.text.view import inert
from chapterhouse.types import (
    Citation,
    Claim,
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


def examination(participant: Participant, turn: Turn, runtime: Runtime) -> Statement:
    """Return what a member's documents say on the claims of others."""
    ledger = Ledger()
    statement = Statement(participant.key, turn.round.name)
    statement = _examination(statement, participant, turn, runtime, ledger)
    return replace(statement, citations=ledger.citations)


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
