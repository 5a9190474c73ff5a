"""The table of a council without a model: what each member's documents say on each thing asked.

::

    question -> aspects -> for each member: hits -> the best passage -> its citation -> cells

Nothing is weighed or compared: a cell is a quotation of one member's documents, or empty.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from chapterhouse.answering.cite import cite, verify
from chapterhouse.answering.parts import as_shown
from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.search import method_for, reference_of, search
from chapterhouse.council.meeting.record import Ledger
from chapterhouse.council.meeting.session import Participant, Session
from chapterhouse.council.passages import Candidates, best_passage, goes_on
from chapterhouse.retrieval.fuse import RankedList, combine_scores
from chapterhouse.retrieval.question import parse_question
from chapterhouse.retrieval.sentences import Sentence, text_of
from chapterhouse.store.sqlite import Store
from chapterhouse.text.canonical import LONGEST, body_start
from chapterhouse.text.sanitise import inert
from chapterhouse.types import (
    GAP,
    Aspect,
    Citation,
    Hit,
    Query,
    Quotation,
    Scope,
    TableCell,
    TableRow,
)

_HITS: Final = 8
_NO_DUPLICATES: Final = 2.0  # no two passages are so alike


def table_of(session: Session, runtime: Runtime, ledger: Ledger) -> tuple[TableRow, ...]:
    """Return what the documents of members without a model say on each thing that is asked."""
    return tuple(
        TableRow(
            aspect.text,
            tuple(table_cell(aspect, one, runtime, ledger) for one in session.silent),
        )
        for aspect in (session.aspects if session.silent else ())
    )


def table_cell(
    aspect: Aspect, participant: Participant, runtime: Runtime, ledger: Ledger
) -> TableCell:
    """Return what a member's documents say on one thing; empty where nothing is found."""
    scope = participant.request.scope
    hits = _hits(aspect, participant, runtime)
    census = runtime.store.census(scope)
    asked = dict.fromkeys((aspect.text, _with_context(aspect)))
    questions = [parse_question(text, census.languages) for text in asked]
    found = Candidates(hits, dict(_begins(hits, runtime.store, scope)), census.chunks)
    scorer = reference_of(runtime, scope).scorer
    passage = best_passage(questions, found, scorer, runtime.token_encoder)
    if passage is None:
        return TableCell(participant.key)
    hit = hits[passage.rank]
    quotation = Quotation(hit.document.id, passage.begin, passage.stop, text_of(hit, passage))
    citation = check_citation(quotation, runtime.store, scope)
    if citation is None:
        return TableCell(participant.key)
    return TableCell(participant.key, _shown(passage, hit), (ledger.number(citation),))


def _hits(aspect: Aspect, participant: Participant, runtime: Runtime) -> tuple[Hit, ...]:
    request = participant.request
    method = method_for(runtime, request.settings, None)
    # Versions of one document are nearly the same, and what differs in them is what counts.
    method = replace(method, fuse=_combine_all, duplicates=_NO_DUPLICATES)
    query = Query(_with_context(aspect), request.scope, _HITS, 0, request.tags)
    return tuple(search(query, runtime, method).hits)


def _combine_all(lists: Sequence[RankedList]) -> dict[int, float]:
    """Return the scores of all chunks, also of those that are near by meaning alone.

    A member has few documents, which say it in words of their own; what is near is told later.
    """
    return combine_scores(
        [
            replace(each, similarity=replace(each.similarity, alone=-1.0))
            if each.similarity
            else each
            for each in lists
        ]
    )


def _with_context(aspect: Aspect) -> str:
    return f"{aspect.context}: {aspect.text}" if aspect.context else aspect.text


def _begins(hits: Sequence[Hit], store: Store, scope: Scope) -> Iterator[tuple[str, int]]:
    """Yield where the text of curated documents begins, behind what only describes them."""
    described = {
        hit.document.id for hit in hits if hit.document.format == "md" and hit.chunk.start < LONGEST
    }
    for name in described:
        body = store.body(name, scope)
        yield name, body_start(body.text) if body else 0


def check_citation(span: Quotation, store: Store, scope: Scope) -> Citation | None:
    """Return the citation of a span, unnumbered; None where it does not stand there."""
    document = store.document(span.document_id, scope)
    if document is None:
        return None
    body = store.body(span.document_id, scope)
    checked = verify(cite(document, span, 0), document, body)
    return checked if checked.verified else None


def _shown(passage: Sentence, hit: Hit) -> str:
    """Return a passage as it is shown, with a mark where its sentence goes on."""
    own = text_of(hit, passage)
    shown = inert(as_shown(own, hit.document.format, passage.header.split("\n", 1)[0]))
    if passage.header:
        return shown
    before = hit.chunk.text[: passage.begin - hit.chunk.start]
    after = hit.chunk.text[passage.stop - hit.chunk.start :]
    begin = f"{GAP} " if goes_on(before, own) else ""
    return f"{begin}{shown}{f' {GAP}' if goes_on(own, after) else ''}"
