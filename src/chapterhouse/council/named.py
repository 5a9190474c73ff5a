"""The tool by which a model asks the graph: what is said of a name, sentence by sentence."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from chapterhouse.answering.evidence_buffer import whole_chunk
from chapterhouse.answering.runtime import Runtime
from chapterhouse.council.knowledge import escape_line, format_numbered, heading, place_of
from chapterhouse.errors import UsageError
from chapterhouse.text.counting import counted
from chapterhouse.types import Excerpt, Scope, Tool, ToolPassage
from chapterhouse.types.graph import Entity, SentencePlace

GRAPH_TOOL: Final = "search_graph"
_SENTENCES: Final = 12
_OTHERS: Final = 8  # names that stand with it, or that are meant perhaps
_WAIT: Final = 2.0  # seconds for which documents are read that nobody has read for names yet
_PARAMETERS: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "name": {
            "type": "string",
            "description": "A person, organization, place or thing, by any of its names.",
            "minLength": 1,
            "maxLength": 200,
        }
    },
    "required": ["name"],
    "additionalProperties": False,
}
Mark = Callable[[Sequence[Excerpt]], Sequence[str]]  # the markers by which excerpts can be cited


def graph_tool(runtime: Runtime, scope: Scope, mark: Mark | None = None) -> Mapping[str, Tool]:
    """Return the tool by its name; what is outside the scope adds nothing to what it says."""

    def call(arguments: Mapping[str, object]) -> str:
        name = str(arguments.get("name", "")).strip()
        if not name:
            raise UsageError("The name is empty. Say whom or what to look for.")
        return _lookup(name, runtime, scope, mark)

    tool = Tool(
        GRAPH_TOOL,
        "List the sentences that name a person, organization, place or thing, over all documents, "
        "and whom or what it stands with. Call this when you want to know who is involved in "
        "something, or what belongs to it. To search by meaning, use search_documents.",
        _PARAMETERS,
        call,
        parallel=True,
    )
    return {GRAPH_TOOL: tool}


def _lookup(name: str, runtime: Runtime, scope: Scope, mark: Mark | None) -> str:
    graph, whole = runtime.graph, runtime.whole or runtime
    ends = time.monotonic() + _WAIT
    whole.graph.fill(whole.store, lambda _: time.monotonic() < ends)
    left = whole.graph.pending()
    unread = f"{counted(left, 'document')} not read for names yet." if left else ""
    entity, near = graph.find(name, scope, _OTHERS)
    if entity is None:
        meant = f"Names that have it: {_listed(near)}." if near else "Try another way to write it."
        advice = "A document may have the words all the same: use search_documents."
        return "\n\n".join([heading("Not among the names", name), *_notes(meant, advice, unread)])
    excerpts = list(_excerpts(graph.sentences(entity.id, scope, _SENTENCES), runtime, scope))
    passages = [
        ToolPassage(place_of(one.hit.document, one.hit.chunk, one.hit.chunk.id), one.text)
        for one in excerpts
    ]
    links = graph.related([entity.id], scope)[:_OTHERS]
    others = [other for link in links if (other := graph.entity(link.target, scope))]
    together = f"In one sentence with it: {_listed(others)}." if others else ""
    more = entity.sentences - len(excerpts)
    rest = f"{counted(more, 'more sentence names', 'more sentences name')} it." if more > 0 else ""
    notes = [note for note in (together, rest, unread) if note]
    title = heading("Sentences that name", entity.name)
    return format_numbered(title, passages, notes, mark(excerpts) if mark else ())


def _notes(*notes: str) -> Iterator[str]:
    return (f"({note})" for note in notes if note)


def _listed(entities: Sequence[Entity]) -> str:
    return ", ".join(f"{escape_line(one.name, 100)} ({one.kind})" for one in entities)


def _excerpts(places: Sequence[SentencePlace], runtime: Runtime, scope: Scope) -> Iterator[Excerpt]:
    """Yield sentences as parts of their chunks; those of documents that are gone are left out."""
    documents = runtime.store.documents_among({one.document_id for one in places}, scope)
    chunks = {name: runtime.store.chunks_of(name, scope) for name in documents}
    for place in places:
        for chunk in chunks.get(place.document_id, ()):
            if chunk.start <= place.start and place.end <= chunk.end:
                text = chunk.text[place.start - chunk.start : place.end - chunk.start]
                whole = whole_chunk(documents[place.document_id], chunk)
                yield Excerpt(whole.hit, place.start, place.end, text, tokens=0, relevance=0.0)
                break
