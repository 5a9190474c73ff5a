"""What lies before a model: excerpts that it was given, and those that it searched for.

Whatever lies there can be cited; whatever does not cannot.
"""

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from chapterhouse.answering.check_written import GivenPassage
from chapterhouse.answering.prompt import LAYOUT, PromptBlock, context_blocks, shown
from chapterhouse.answering.request import Request
from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.search import (
    context_sources_of,
    method_for,
    named_documents,
    packing_for,
    search,
)
from chapterhouse.answering.tool_texts import (
    call_tool,
    tool_excerpts,
    tool_texts_of,
    with_tool_texts,
)
from chapterhouse.retrieval.context import build_context
from chapterhouse.text.canonical import LONGEST, body_start, stated_date
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.types import (
    Body,
    Chunk,
    Document,
    Evidence,
    Excerpt,
    Hit,
    Query,
    SearchResult,
    Tool,
    ToolText,
)

SEARCH_TOOL: Final = "search_documents"
_HEADING: Final = 20  # tokens of the line above an excerpt
_PARAMETERS: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {"query": {"type": "string", "minLength": 1, "maxLength": 1_000}},
    "required": ["query"],
    "additionalProperties": False,
}


class EvidenceBuffer:
    """The excerpts before one model, in the order in which they were laid there."""

    def __init__(self, request: Request, runtime: Runtime, maximum_tokens: int = 0) -> None:
        """Lay nothing there yet; at most so many tokens of what is given, 0 for any."""
        self._maximum = maximum_tokens
        self.tokens = 0
        self._request = request
        self._runtime = runtime
        self._blocks: list[PromptBlock] = []
        self._texts: dict[str, ToolText] = {}
        self._lock = threading.Lock()
        self.nonce = runtime.nonce()

    def add(self, excerpts: Sequence[Excerpt], *, limited: bool = True) -> tuple[PromptBlock, ...]:
        """Add excerpts that do not lie there yet, best first; return them as the prompt names them.

        Where it is limited, those for which there is no room are left out.
        """
        with self._lock:  # searches that a model asks for at once may run at once
            known = {range_of(block.excerpt) for block in self._blocks}
            wanted = {range_of(e): e for e in excerpts if range_of(e) not in known}
            fitting = self._fitting(tuple(wanted.values())) if limited else tuple(wanted.values())
            fresh = shown(fitting, len(self._blocks))
            self._blocks += fresh
            return fresh

    def _fitting(self, excerpts: Sequence[Excerpt]) -> tuple[Excerpt, ...]:
        """Return what there is room for; the first of all is cut rather than left out."""
        found = list[Excerpt]()
        for excerpt in excerpts:
            tokens = estimate_tokens(excerpt.text) + _HEADING
            if self._maximum and self.tokens + tokens > self._maximum:
                if self.tokens:
                    continue
                share = max(self._maximum - _HEADING, 1) / max(tokens - _HEADING, 1)
                own = _own_text(excerpt)
                cut = own[: max(int(len(own) * share), 1)]
                text = f"{excerpt.text.removesuffix(own)}{cut}"
                excerpt = replace(excerpt, end=excerpt.start + len(cut), text=text)  # noqa: PLW2901
            self.tokens += tokens
            found.append(excerpt)
        return tuple(found)

    def shown(self, excerpts: Sequence[Excerpt]) -> tuple[PromptBlock, ...]:
        """Lay excerpts and return all of them, those too that were there already."""
        self.add(excerpts, limited=False)
        wanted = {range_of(excerpt) for excerpt in excerpts}
        return tuple(block for block in self._blocks if range_of(block.excerpt) in wanted)

    def blocks(self) -> tuple[PromptBlock, ...]:
        """Return everything that lies there."""
        return tuple(self._blocks)

    def given(self) -> tuple[GivenPassage, ...]:
        """Return everything that the model may cite."""
        return tuple(GivenPassage(block.place, _evidence(block.excerpt)) for block in self._blocks)

    def with_texts(self, runtime: Runtime) -> Runtime:
        """Return a runtime in whose store the texts that tools returned can be looked up."""
        return with_tool_texts(runtime, tuple(self._texts.values()))

    def texts_among(self, document_ids: Iterable[str]) -> tuple[ToolText, ...]:
        """Return the texts of tools, also from earlier turns, that have one of these ids."""
        known = {text.id: text for text in tool_texts_of(self.with_texts(self._runtime))}
        return tuple(known[name] for name in dict.fromkeys(document_ids) if name in known)

    def citable(self, tool: Tool) -> Tool:
        """Return a tool whose results are kept, and lie before the model as numbered blocks."""
        call = partial(self._call, tool)
        # What it returns is cut before it is numbered, for no block may lose its end.
        return replace(tool, call=call, maximum_characters=sys.maxsize)

    def add_texts(
        self, texts: Sequence[ToolText], *, echoes: bool = True
    ) -> tuple[PromptBlock, ...]:
        """Add what tools returned; return its parts as the prompt names them."""
        excerpts = [e for text in texts for e in tool_excerpts(text, echoes=echoes)]
        with self._lock:
            self._texts |= {text.id: text for text in reversed(texts)}
        return self.shown(excerpts)

    def _call(self, tool: Tool, arguments: Mapping[str, object]) -> str:
        texts, left_out = call_tool(tool, arguments)
        blocks = self.add_texts(texts, echoes=tool.find is None)
        if not blocks:
            return "It returned nothing that could be cited."
        note = f"\n({left_out:,} more characters were left out.)" if left_out else ""
        return f"{context_blocks(blocks, self.nonce)}{note}"

    def tool(self) -> Tool:
        """Return the tool by which the model searches."""
        return Tool(
            SEARCH_TOOL,
            self._request.settings.search.tool_description
            or "Search the documents for passages. Call it whenever the question needs facts that "
            "the context does not hold. Returns passages that can be cited.",
            _PARAMETERS,
            self._search,
        )

    def _search(self, arguments: Mapping[str, object]) -> str:
        request, runtime = self._request, self._runtime
        query = Query(
            str(arguments["query"]),
            request.scope,
            limit=request.settings.packing.hits,
            per_document=0,
            tags=request.tags,
            documents=named_documents(request.documents, runtime.store),
        )
        found = search(query, runtime, method_for(runtime, request.settings, None))
        blocks = self.add(excerpts_of(request, found, runtime))
        return context_blocks(blocks, self.nonce) if blocks else "Nothing more was found."


def excerpts_of(request: Request, found: SearchResult, runtime: Runtime) -> Sequence[Excerpt]:
    """Return the best excerpts that fit, in reading order."""
    settings = request.settings
    lookup = context_sources_of(runtime, request.scope)
    packing = replace(packing_for(settings.packing), layout=LAYOUT)
    found = replace(found, hits=tuple(_own_passages(found.hits, lookup.body)))
    context = build_context(found, lookup, request.max_tokens, packing)
    ranked = sorted(context.excerpts, key=lambda e: (-e.relevance, e.hit.rank, e.start))
    best = {id(excerpt) for excerpt in ranked[: request.max_chunks]}
    return [excerpt for excerpt in context.excerpts if id(excerpt) in best]


def _own_passages(hits: Sequence[Hit], body_of: Callable[[str], Body | None]) -> Iterator[Hit]:
    """Yield hits without front matter and lists of names, which describe a curated document."""
    starts: dict[str, int] = {}
    for hit in hits:
        document, chunk = hit.document, hit.chunk
        if not document.metadata or chunk.start > LONGEST:
            yield hit
            continue
        if document.id not in starts:
            body = body_of(document.id)
            starts[document.id] = body_start(body.text) if body else 0
        start = max(starts[document.id], chunk.start)
        text = chunk.text[start - chunk.start :]
        if start == chunk.start:
            yield hit
        elif text.strip():
            yield replace(hit, chunk=replace(chunk, start=start, text=text))


def whole_chunk(document: Document, chunk: Chunk) -> Excerpt:
    """Return a chunk as an excerpt that was not chosen by a search for the question."""
    hit = Hit(0, 0.0, chunk, document)
    return Excerpt(hit, chunk.start, chunk.end, chunk.text, tokens=0, relevance=0.0)


def range_of(excerpt: Excerpt) -> tuple[str, int, int]:
    """Return the stretch of a document that an excerpt is of."""
    return excerpt.hit.document.id, excerpt.start, excerpt.end


def _own_text(excerpt: Excerpt) -> str:
    """Return the very text of the document; what is repeated above a table is not in it."""
    return excerpt.text[len(excerpt.text) - (excerpt.end - excerpt.start) :]


def _evidence(excerpt: Excerpt) -> Evidence:
    """Return the very stretch of the document; what is repeated above a table is its header."""
    document, own = excerpt.hit.document, _own_text(excerpt)
    return Evidence(
        document.id,
        excerpt.start,
        excerpt.end,
        own,
        language=document.language,
        title=document.title,
        section_path=excerpt.hit.chunk.section_path,
        date=stated_date(document),
        header=excerpt.text.removesuffix(own),
    )
