"""What lies before a model in a turn: excerpts, and what was said before with its evidence."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from chapterhouse.agents.council_model import RoundKind
from chapterhouse.council.knowledge import knowledge_tools
from chapterhouse.council.meeting import prompts
from chapterhouse.council.meeting.seating import Speaker
from chapterhouse.council.meeting.turn import Turn
from chapterhouse.replying.desk import SEARCH_TOOL, Desk, whole_chunk
from chapterhouse.replying.parts import Parts
from chapterhouse.retrieval.method import Method
from chapterhouse.types import Citation, Claim, Excerpt, Hit, Query, SearchResult, Tool

_EXAMINED: Final = 8  # claims of others for each of which own evidence is laid out
_PASSAGES: Final = 2  # of the own shelves for each
_QUICK: Final = 8  # candidates that are read for each
_LONGEST: Final = 1_000  # characters of a query
_MOST_EVIDENCE: Final = 48  # chunks of what others cite


def excerpts_for(speaker: Speaker, turn: Turn) -> Sequence[Excerpt]:
    """Return what the member's shelves hold on the question, and on the task of an own round."""
    own = turn.round.instructions if turn.round.kind is RoundKind.OWN else ""
    return speaker.looked_up(f"{turn.question} {own}".strip())


def board(speaker: Speaker, turn: Turn, parts: Parts, desk: Desk) -> Iterator[str]:
    """Yield what was said before, and lay its evidence out."""
    if not turn.round.shows_claims:
        return
    others = turn.others(speaker)
    against = turn.against(speaker)
    numbers = [number for one in prompts.ordered(turn, others) for number in one.citations]
    numbers += [number for one in prompts.ordered(turn, against) for number in one.citations]
    cited = turn.record.cited(dict.fromkeys(numbers))
    desk.lay(evidence_excerpts(cited, speaker.request.shelves, parts))
    if speaker.grounding != "tool" and turn.examines:
        desk.lay(_own_evidence(speaker, others, parts))
    blocks, nonce = desk.laid(), desk.nonce
    yield prompts.claims_shown("CLAIMS OF OTHERS", prompts.marked(turn, others, blocks), nonce)
    own = turn.own(speaker)
    yield prompts.claims_shown(
        "YOUR CLAIMS", tuple(prompts.Marked(c, "you", prompts.markers_of(
            turn.record.cited(c.citations), blocks)) for c in own), nonce,
    )  # fmt: skip
    yield prompts.replies_shown(
        "AGAINST YOUR CLAIMS",
        [
            (
                reply,
                prompts.who_replied(turn, reply),
                prompts.markers_of(turn.record.cited(reply.citations), blocks),
            )
            for reply in prompts.ordered(turn, against)
        ],
        nonce,
    )


def _own_evidence(speaker: Speaker, claims: Sequence[Claim], parts: Parts) -> Sequence[Excerpt]:
    """Return what the member's own shelves say of the claims of others."""
    request, found = speaker.request, list[Excerpt]()
    method = _quick(parts.method(request.settings, None))
    for claim in prompts.shuffled(claims)[:_EXAMINED]:
        query = Query(claim.text[:_LONGEST], request.shelves, _PASSAGES, 0, request.tags)
        hits = parts.retrieve(query, method).hits
        found += [whole_chunk(hit.document, hit.chunk) for hit in hits]
    return found


def _quick(method: Method) -> Method:
    """Return a method for many claims at once, each a sentence much like those that speak to it.

    A sixth of the time, and the first passage is the same for nine claims in ten.
    """
    thresholds = replace(method.thresholds, score=0.0)  # it is of the stages that are left out
    return replace(
        method, expand=(), rerank=None, duplicates=2.0, shortlist=_QUICK, thresholds=thresholds
    )


def evidence_excerpts(
    citations: Sequence[Citation], shelves: Sequence[str], parts: Parts
) -> Sequence[Excerpt]:
    """Return what citations quote, with the chunk around it where a member may read that.

    Of a shelf that is not theirs a member sees what was said of it, and nothing else.

    Args:
        citations: Those that are worth most first.
        shelves: What the member reads.
        parts: What the library is made of.
    """
    store = parts.engines.store
    found: dict[tuple[str, int, int], Excerpt] = {}
    for citation in citations:
        document = store.document(citation.document_id)
        for chunk in store.chunks_of(citation.document_id) if document else ():
            if document and chunk.start < citation.end and citation.start < chunk.end:
                excerpt = whole_chunk(document, chunk)
                if set(shelves).isdisjoint(document.shelves):
                    excerpt = _cited_part(excerpt, citation)
                found.setdefault((document.id, excerpt.start, excerpt.end), excerpt)
    return tuple(found.values())[:_MOST_EVIDENCE]


def _cited_part(excerpt: Excerpt, citation: Citation) -> Excerpt:
    """Return the part of a chunk that a citation quotes."""
    start, end = max(excerpt.start, citation.start), min(excerpt.end, citation.end)
    text = excerpt.text[start - excerpt.start : end - excerpt.start]
    return replace(excerpt, start=start, end=end, text=text)


def tools_for(speaker: Speaker, desk: Desk, parts: Parts) -> tuple[Tool, ...]:
    """Return what a member may call in this turn: what searches lays what it finds on the desk."""

    def search(query: Query) -> SearchResult:
        return parts.retrieve(query, parts.method(speaker.request.settings, None))

    def mark(hits: Sequence[Hit]) -> Sequence[str]:
        blocks = desk.shown([whole_chunk(hit.document, hit.chunk) for hit in hits])
        by_chunk = {block.excerpt.hit.chunk.id: block.marker for block in blocks}
        return [by_chunk.get(hit.chunk.id, "") for hit in hits]

    own = speaker.own_tools or {}
    citing = knowledge_tools(search, speaker.request.shelves, mark)
    tools = tuple(
        citing[tool.name] if own.get(tool.name) is tool else tool for tool in speaker.tools
    )
    if speaker.grounding != "inject" and all(tool.name != SEARCH_TOOL for tool in tools):
        tools = (*tools, citing[SEARCH_TOOL])
    return tools
