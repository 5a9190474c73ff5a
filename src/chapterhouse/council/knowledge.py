"""The tools by which a model looks into a library, made of any function that searches one.

All three search as everyone does, by words and meaning, on the shelves of whoever asks and on no
other. A similarity is the score of the last stage of that search, not a cosine. With the built-in
reranker it is the share of passages so scored that answered their question in the collections it
was fitted on, which means the same in every language and beside every embedder. A cosine of .65
does not: of the passages that answer, the built-in vectors give it to 18 % in English and to 90 %
in Chinese, and there to 76 % of those that do not answer, too (``benchmarks/knowledge.py`` of
commit 604e6751).

What a tool found is told to a model numbered, escaped, and no longer than agreed. Text that someone
else wrote stands behind the mark of ``text/sanitise.py`` on every line; names and questions lose
the characters that could open a bracket, so that a heading, a number or a note can only be ours.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from chapterhouse.answering.evidence_buffer import SEARCH_TOOL
from chapterhouse.errors import UsageError
from chapterhouse.retrieval.fuse import WORDS_ALONE
from chapterhouse.text.counting import counted
from chapterhouse.text.naming import page_name
from chapterhouse.text.sanitise import neutralise, prompt_lines, sanitise, sanitise_line
from chapterhouse.types import (
    Chunk,
    Correction,
    Document,
    Hit,
    Query,
    Scope,
    SearchResult,
    Tool,
    ToolPassage,
)

MAXIMUM_CHARACTERS: Final = 12_000  # of a whole result: some 3,000 tokens
_LEAST: Final = 200  # characters of a text that are worth showing alone
_LONGEST_HEADING: Final = 200  # characters of a query in it
_LONGEST_PLACE: Final = 300


def escape_line(text: str, maximum: int = _LONGEST_PLACE) -> str:
    """Return a name or a question on one line, harmless in a prompt."""
    line = neutralise(sanitise_line(text))
    return line if len(line) <= maximum else f"{line[:maximum]}…"


def heading(words: str, query: str) -> str:
    """Return a heading in brackets, which no document can forge."""
    return f'[{words} "{escape_line(query, _LONGEST_HEADING)}"]'


def format_numbered(
    title: str,
    found: Sequence[ToolPassage],
    notes: Sequence[str] = (),
    markers: Sequence[str] = (),
) -> str:
    """Return results under a heading, best first, as many as there is room for.

    The first is cut rather than left out. What was cut or left out is said at the end, with
    ``notes``. The heading counts towards ``MAXIMUM_CHARACTERS``, notes do not.
    """
    parts, available, cut = [title], MAXIMUM_CHARACTERS - len(title), ""
    for number, one in enumerate(found, start=1):
        cite = f", cite as {markers[number - 1]}" if markers and markers[number - 1] else ""
        place = f"{number}. {escape_line(one.place)}{cite}\n"
        text = prompt_lines(sanitise(one.text).text.strip("\n").rstrip())
        free = available - len(place) - 2
        if len(text) > free:
            if number == 1:
                most = max(free, _LEAST)
                cut = f"Of the text of result 1, {most:,} of {len(text):,} characters are shown."
                parts.append(place + text[:most])
            break
        parts.append(place + text)
        available = free - len(text)
    left_out = len(found) - (len(parts) - 1)
    notes_shown = [note for note in (cut, _left_out(left_out), *notes) if note]
    return "\n\n".join([*parts, *(f"({note})" for note in notes_shown)])


def _left_out(number: int) -> str:
    if not number:
        return ""
    results = "1 more result was" if number == 1 else f"{number} more results were"
    return (
        f"{results} left out, to stay within {MAXIMUM_CHARACTERS:,} characters. Ask more precisely."
    )


KNOWLEDGE_SIMILARITY: Final = 0.65
_LIMIT: Final = 8
_MOST: Final = 20  # passages that a model may ask for
_PER_DOCUMENT: Final = 3
_NEAREST: Final = 3  # that are named where nothing is similar enough
_SECTION_MARK: Final = " › "

Search = Callable[[Query], SearchResult]
Mark = Callable[[Sequence[Hit]], Sequence[str]]  # the markers by which hits can be cited


@dataclass(frozen=True, slots=True)
class Passages:
    """What a search gave to whoever may read so much.

    Attributes:
        hits: Similar enough, or found word for word; best first.
        absolute: Whether similarities tell how well a passage fits; else they only order.
    """

    query: Query
    hits: tuple[Hit, ...]
    below: tuple[Hit, ...] = ()
    minimum: float = 0.0
    documents: int = 0
    absolute: bool = True
    corrections: tuple[Correction, ...] = ()


def find_passages(
    search: Search,
    scope: Scope,
    query: str,
    *,
    minimum: float = 0.0,
    limit: int = _LIMIT,
    per_document: int = _PER_DOCUMENT,
) -> Passages:
    """Return the passages that answer a query, from what may be read and from nothing else.

    Args:
        minimum: The least similarity, 0 to 1, less where words count alone. What was asked for word
            for word is always similar.
        per_document: At most so many of one document; 0 for no cap.
    """
    if not query.strip():
        raise UsageError("The query is empty. Say in words what to look for.")
    asked = Query(query.strip(), scope, limit, per_document)
    found = search(asked)
    hits = [hit for hit in found.hits if scope.sees(hit.document.shelves)]
    if not any("cosine" in hit.stages for hit in hits):
        minimum *= WORDS_ALONE  # so much is the most that words have where they count alone
    near, below = list[Hit](), list[Hit]()
    for hit in hits:
        fits = hit.score >= minimum or hit.stages.get("exact")
        (near if fits else below).append(hit)
    return Passages(
        asked,
        tuple(near[:limit]),
        tuple(below),
        minimum,
        found.documents,
        absolute=not hits or any("reranked" in hit.stages for hit in hits),
        corrections=found.corrections,
    )


def passage_place(hit: Hit) -> str:
    """Return where a passage is, the id of its chunk, and how similar it is."""
    exact = ["word for word"] if hit.stages.get("exact") else []
    return place_of(hit.document, hit.chunk, hit.chunk.id, f"similarity {hit.score:.2f}", *exact)


def file_place(hit: Hit) -> str:
    """Return file, page and number of a chunk alone, as ``search_documents`` lists them."""
    return place_of(hit.document, replace(hit.chunk, section_path=()), hit.chunk.ordinal + 1)


def place_of(document: Document, chunk: Chunk, name: str | int, *more: str) -> str:
    """Return file, page, chunk and section on one line: ``may.pdf (p.4, chunk 8, …)``."""
    page = page_name(document.page_kind, chunk.page, chunk.page_label).replace("page ", "p.", 1)
    facts = [*([page] if page else []), f"chunk {name}"]
    if chunk.section_path:
        facts.append(f"section {_SECTION_MARK.join(chunk.section_path)[:120]}")
    return f"{document.source[:120]} ({', '.join((*facts, *more))})"


_QUERY: Final = {
    "type": "string",
    "description": "A question or statement, in the words that the documents would use.",
    "minLength": 1,
    "maxLength": 1_000,
}


@dataclass(frozen=True, slots=True)
class _Kind:
    """A tool: what it is for, the least similarity if a model may say one, and its cap."""

    name: str
    description: str
    minimum: float | None = None
    per_document: int = _PER_DOCUMENT
    place: Callable[[Hit], str] = passage_place


_KINDS: Final = (
    _Kind(
        "search_knowledge",
        "Search the knowledge base for passages that answer a question. Call this before you "
        "state a fact, figure, name, date or rule that the documents may hold. Returns only "
        f"passages that are likely to answer (similarity {KNOWLEDGE_SIMILARITY:g} or more).",
        KNOWLEDGE_SIMILARITY,
    ),
    # However close: what says the opposite in other words is often not very similar.
    _Kind(
        "semantic_search",
        "Find documents that speak about the same thing as a statement. Call this when you want "
        "to know which documents agree or disagree with a claim, or whether several sources say "
        "so. Returns the closest passage of each document; judge for yourself whether it speaks "
        "about the same thing, and what it says of it.",
        0.0,
        per_document=1,
    ),
    _Kind(
        SEARCH_TOOL,
        "Search the documents and see where each passage stands: file, page, chunk and text. Call "
        "this when you need the exact place or wording of something in the documents, or when "
        "search_knowledge found nothing. Returns the best passages there are; judge for yourself "
        "whether they fit.",
        place=file_place,
    ),
)


def knowledge_tools(
    search: Search, scope: Scope, mark: Mark | None = None, described: str = ""
) -> Mapping[str, Tool]:
    """Return the three tools by their names.

    Args:
        mark: Gives the markers by which a model may cite what is found; None where it cannot.
        described: What the settings say of ``search_documents`` instead of what is said here.
    """

    def tool(kind: _Kind) -> Tool:
        def call(arguments: Mapping[str, object]) -> str:
            found = find_passages(
                search,
                scope,
                str(arguments.get("query", "")),
                minimum=_number(arguments, "min_similarity", kind.minimum or 0.0),
                limit=int(_number(arguments, "limit", _LIMIT)),
                per_document=kind.per_document,
            )
            return format_passages(found, mark, kind.place)

        words = described if described and kind.name == SEARCH_TOOL else kind.description
        return Tool(kind.name, words, _parameters(kind.minimum), call, parallel=True)

    return MappingProxyType({kind.name: tool(kind) for kind in _KINDS})


def format_passages(
    passages: Passages, mark: Mark | None = None, place: Callable[[Hit], str] = passage_place
) -> str:
    """Return passages as a model is told of them, escaped; or what was searched and what to try."""
    if not passages.hits:
        return _nothing(passages)
    notes = () if passages.absolute else (
        "No reranker scored these passages: their similarities only order them.",
    )  # fmt: skip
    notes = (*notes, *(escape_line(f"{each.notice}.") for each in passages.corrections))
    return format_numbered(
        heading("Knowledge base results for", passages.query.text),
        [ToolPassage(place(hit), hit.chunk.header + hit.chunk.text) for hit in passages.hits],
        notes,
        mark(passages.hits) if mark else (),
    )


def _nothing(passages: Passages) -> str:
    """Say what was searched, what came nearest, and what may help."""
    where = _where(passages.query.scope)
    lines = [heading("No knowledge base results for", passages.query.text), ""]
    if not passages.documents:
        return "\n".join(
            [*lines, f"(There are no documents {where}. Say which document would help.)"]
        )
    searched = counted(passages.documents, "document")
    if passages.below:
        lines.append(
            f"(Searched {searched} {where}. Nothing has a similarity of {passages.minimum:g} or "
            "more. The nearest:"
        )
        lines += [f"- {escape_line(passage_place(hit))}" for hit in passages.below[:_NEAREST]]
        lines.append(
            "Try other words, a name or number as the documents have it, or a lower "
            "min_similarity.)"
        )
    else:
        lines.append(
            f"(Searched {searched} {where}. Nothing shares a word or a meaning with the query. "
            "Try other words for the same thing, or fewer; else say which document would help.)"
        )
    return "\n".join(lines)


def _where(scope: Scope) -> str:
    if not scope.shelves:
        return "that you may read"
    names = ", ".join(escape_line(shelf) for shelf in scope.shelves)
    return f"on the {'shelf' if len(scope.shelves) == 1 else 'shelves'} {names}"


def _number(arguments: Mapping[str, object], name: str, otherwise: float) -> float:
    value = arguments.get(name)
    return float(value) if isinstance(value, int | float) else otherwise


def _parameters(minimum: float | None) -> Mapping[str, object]:
    more: dict[str, object] = {}
    if minimum is not None:
        more["min_similarity"] = {
            "type": "number",
            "description": f"Least similarity; {minimum:g} where it is left out.",
            "minimum": 0,
            "maximum": 1,
        }
    return query_parameters("limit", _LIMIT, _MOST, more)


def query_parameters(
    name: str, usual: int, most: int, more: Mapping[str, object] = MappingProxyType({})
) -> Mapping[str, object]:
    """Return the schema of a tool that takes a query, a number of passages, and ``more``."""
    number = {
        "type": "integer",
        "description": f"Most passages wanted; {usual} where it is left out.",
        "minimum": 1,
        "maximum": most,
    }
    return {
        "type": "object",
        "properties": {"query": _QUERY, name: number, **more},
        "required": ["query"],
        "additionalProperties": False,
    }
