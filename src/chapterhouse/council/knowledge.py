"""The tools by which a model looks into a library, made of any function that searches one.

All three search as everyone does, by words and meaning, on the shelves of whoever asks and on no
other. A similarity is the score of the last stage of that search, not a cosine. With the built-in
reranker it is the share of passages so scored that answered their question in the collections it
was fitted on, which means the same in every language and beside every embedder. A cosine of .65
does not: of the passages that answer, the built-in vectors give it to 18 % in English and to 90 %
in Chinese, and there to 76 % of those that do not answer, too (``benchmarks/knowledge.py`` of
commit 604e6751).

What a tool found is told to a model numbered, escaped, and no longer than agreed. Text that someone
else wrote stands behind the mark of ``text/view.py`` on every line, and names and questions lose
the characters that could open a bracket, so that a heading, a number or a note can only be ours.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

from chapterhouse.errors import UsageError
from chapterhouse.text.counting import counted
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.text.view import neutralise, prompt_lines
from chapterhouse.types import Correction, Hit, Query, Scope, SearchResult, Tool

MAXIMUM_CHARACTERS: Final = 12_000  # of a whole result: some 3,000 tokens
_LEAST: Final = 200  # characters of a text that are worth showing alone
_LONGEST_HEADING: Final = 200  # characters of a query in it
_LONGEST_PLACE: Final = 300


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that was found: where it stands, its text, and the marker by which it is cited."""

    place: str
    text: str
    marker: str = ""


def escape_line(text: str, maximum: int = _LONGEST_PLACE) -> str:
    """Return a name or a question on one line, harmless in a prompt."""
    line = neutralise(sanitise_line(text))
    return line if len(line) <= maximum else f"{line[:maximum]}…"


def heading(words: str, query: str) -> str:
    """Return a heading in brackets, which no document can forge."""
    return f'[{words} "{escape_line(query, _LONGEST_HEADING)}"]'


def format_numbered(
    title: str,
    found: Sequence[Found],
    notes: Sequence[str] = (),
    maximum: int = MAXIMUM_CHARACTERS,
) -> str:
    """Return results under a heading, best first, as many as there is room for.

    The first is cut rather than left out. What was cut or left out is said at the end.

    Args:
        notes: What is to be said besides, in sentences.
        maximum: Characters of the results, the heading among them.
    """
    parts, available, cut = [title], maximum - len(title), ""
    for number, one in enumerate(found, start=1):
        cite = f", cite as {one.marker}" if one.marker else ""
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
    notes_shown = [note for note in (cut, _left_out(left_out, maximum), *notes) if note]
    return "\n\n".join([*parts, *(f"({note})" for note in notes_shown)])


def _left_out(number: int, maximum: int) -> str:
    if not number:
        return ""
    results = "1 more result was" if number == 1 else f"{number} more results were"
    return f"{results} left out, to stay within {maximum:,} characters. Ask more precisely."


KNOWLEDGE_SIMILARITY: Final = 0.65
_LIMIT: Final = 8
_MOST: Final = 20  # passages that a model may ask for
_PER_DOCUMENT: Final = 3
_NEAREST: Final = 3  # that are named where nothing is similar enough
_LONGEST_QUERY: Final = 1_000
_SECTION_MARK: Final = " › "

Search = Callable[[Query], SearchResult]
Mark = Callable[[Sequence[Hit]], Sequence[str]]  # the markers by which hits can be cited


@dataclass(frozen=True, slots=True)
class Passages:
    """What a search gave to whoever may read so much.

    Attributes:
        hits: Similar enough, or found word for word; best first.
        below: The best of the others.
        minimum: The least similarity.
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
        minimum: The least similarity, 0 to 1. What was asked for word for word is always similar.
        per_document: At most so many of one document; 0 for no cap.

    Raises:
        UsageError: the query is empty.
    """
    if not query.strip():
        raise UsageError("The query is empty. Say in words what to look for.")
    asked = Query(query.strip(), scope, limit, per_document)
    found = search(asked)
    hits = [hit for hit in found.hits if scope.sees(hit.document.shelves)]
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


def search_knowledge(
    search: Search,
    scope: Scope,
    *,
    mark: Mark | None = None,
    minimum: float = KNOWLEDGE_SIMILARITY,
    maximum_characters: int = MAXIMUM_CHARACTERS,
) -> Tool:
    """Return a tool that gives passages that probably answer a question."""
    description = (
        "Search the knowledge base for passages that answer a question. Call this before you "
        "state a fact, figure, name, date or rule that the documents may hold. Returns only "
        f"passages that are likely to answer (similarity {minimum:g} or more)."
    )

    find = partial(find_passages, search, scope)
    call = _calling(find, minimum, maximum_characters, mark)
    return Tool("search_knowledge", description, _parameters(minimum), call, parallel=True)


def semantic_search(
    search: Search,
    scope: Scope,
    *,
    mark: Mark | None = None,
    maximum_characters: int = MAXIMUM_CHARACTERS,
) -> Tool:
    """Return a tool that gives the one passage of each document that comes closest to a statement.

    However close: what says the opposite in other words is often not very similar.
    """
    description = (
        "Find documents that speak about the same thing as a statement. Call this when you want "
        "to know which documents agree or disagree with a claim, or whether several sources say "
        "so. Returns the closest passage of each document; judge for yourself whether it speaks "
        "about the same thing, and what it says of it."
    )

    find = partial(find_passages, search, scope, per_document=1)
    call = _calling(find, 0.0, maximum_characters, mark)
    return Tool("semantic_search", description, _parameters(0.0), call, parallel=True)


def search_documents(
    search: Search,
    scope: Scope,
    *,
    mark: Mark | None = None,
    maximum_characters: int = MAXIMUM_CHARACTERS,
) -> Tool:
    """Return a tool that gives the best passages with file, page and chunk, however they fit."""
    description = (
        "Search the documents and see where each passage stands: file, page, chunk and text. Call "
        "this when you need the exact place or wording of something in the documents, or when "
        "search_knowledge found nothing. Returns the best passages there are; judge for yourself "
        "whether they fit."
    )

    call = _calling(partial(find_passages, search, scope), 0.0, maximum_characters, mark)
    return Tool("search_documents", description, _parameters(None), call, parallel=True)


def _calling(
    find: Callable[..., Passages], minimum: float, maximum_characters: int, mark: Mark | None
) -> Callable[[Mapping[str, object]], str]:
    """Return what a tool does when it is called: find passages, and tell of them."""

    def call(arguments: Mapping[str, object]) -> str:
        found = find(
            str(arguments.get("query", "")),
            minimum=_number(arguments, "min_similarity", minimum),
            limit=int(_number(arguments, "limit", _LIMIT)),
        )
        return format_passages(found, maximum_characters, mark)

    return call


def knowledge_tools(search: Search, scope: Scope, mark: Mark | None = None) -> Mapping[str, Tool]:
    """Return all three by their names.

    Args:
        mark: Gives the markers by which a model may cite what is found; None where it cannot.
    """
    tools = [make(search, scope, mark=mark) for make in (search_knowledge, semantic_search)]
    tools.append(search_documents(search, scope, mark=mark))
    return MappingProxyType({tool.name: tool for tool in tools})


def format_passages(
    passages: Passages, maximum: int = MAXIMUM_CHARACTERS, mark: Mark | None = None
) -> str:
    """Return passages as a model is told of them, escaped; or what was searched and what to try.

    Args:
        maximum: Characters, notes not counted.
    """
    if not passages.hits:
        return _nothing(passages)
    notes = () if passages.absolute else (
        "No reranker scored these passages: their similarities only order them.",
    )  # fmt: skip
    notes = (*notes, *(escape_line(f"{each.notice}.") for each in passages.corrections))
    markers = mark(passages.hits) if mark else [""] * len(passages.hits)
    return format_numbered(
        heading("Knowledge base results for", passages.query.text),
        [
            Found(_place(hit), hit.chunk.header + hit.chunk.text, marker)
            for hit, marker in zip(passages.hits, markers, strict=True)
        ],
        notes,
        maximum,
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
        lines += [f"- {escape_line(_place(hit))}" for hit in passages.below[:_NEAREST]]
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


def _place(hit: Hit) -> str:
    """Return file, page, chunk, section and similarity on one line."""
    document, chunk = hit.document, hit.chunk
    facts = [f"chunk {chunk.id}"]
    if chunk.page is not None:
        facts.insert(0, f"{document.page_kind or 'page'} {chunk.page_label or chunk.page}")
    if chunk.section_path:
        facts.append(f"section {_SECTION_MARK.join(chunk.section_path)[:120]}")
    facts.append(f"similarity {hit.score:.2f}")
    if hit.stages.get("exact"):
        facts.append("word for word")
    return f"{document.source[:120]} ({', '.join(facts)})"


def _number(arguments: Mapping[str, object], name: str, otherwise: float) -> float:
    value = arguments.get(name)
    return float(value) if isinstance(value, int | float) else otherwise


def _parameters(minimum: float | None) -> Mapping[str, object]:
    properties: dict[str, object] = {
        "query": {
            "type": "string",
            "description": "A question or statement, in the words that the documents would use.",
            "minLength": 1,
            "maxLength": _LONGEST_QUERY,
        },
        "limit": {
            "type": "integer",
            "description": f"Most passages wanted; {_LIMIT} where it is left out.",
            "minimum": 1,
            "maximum": _MOST,
        },
    }
    if minimum is not None:
        properties["min_similarity"] = {
            "type": "number",
            "description": f"Least similarity; {minimum:g} where it is left out.",
            "minimum": 0,
            "maximum": 1,
        }
    return {
        "type": "object",
        "properties": properties,
        "required": ["query"],
        "additionalProperties": False,
    }
