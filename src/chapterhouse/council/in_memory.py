"""A tool over a list of texts in a program: no library, no folder, nothing on the disk.

It ranks by BM25 (k1 1.2, b .75) over the same terms as a library.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from chapterhouse.agents.council_model import MOST_PASSAGES, TOP_K
from chapterhouse.council.knowledge import format_numbered, heading, query_parameters
from chapterhouse.errors import UsageError
from chapterhouse.index.ranking import Rank, rank_in_memory
from chapterhouse.retrieval.question import parse_question
from chapterhouse.text.analyse import analyse
from chapterhouse.text.language import detect
from chapterhouse.types import Chunk, Document, Tool, ToolPassage

Item = str | Mapping[str, object]


@dataclass(frozen=True, slots=True)
class IndexedText:
    """A text, what its owner says of it, and as a result its BM25 score, above 0."""

    text: str
    meta: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class TextIndex:
    """Texts that can be searched."""

    texts: tuple[IndexedText, ...]
    languages: Mapping[str, int]
    rank: Rank


def normalize(item: Item) -> IndexedText:
    """Return an item of a list, a text or ``{"text": …, "meta": {…}}``, as a text with its meta."""
    if isinstance(item, str):
        item = {"text": item}
    unknown = sorted(set(item) - {"text", "meta"})
    text, meta = item.get("text"), item.get("meta", {})
    if unknown or not isinstance(text, str) or not text.strip() or not isinstance(meta, Mapping):
        raise UsageError(
            f"This is no text for an index: {str(dict(item))[:200]}",
            hint='Give a text, or {"text": "…", "meta": {…}}.',
        )
    return IndexedText(text, meta)


def tokenize(text: str, language: str = "") -> list[str]:
    """Return the terms by which a text is found, in order; the language is found where empty."""
    return analyse(text, language or detect(text))


def build_index(items: Iterable[Item]) -> TextIndex:
    """Return what searches some texts; it lies in memory alone."""
    texts = tuple(map(normalize, items))
    entries = [(_document(one.text, detect(one.text)), [_chunk(one.text)]) for one in texts]
    languages = Counter(document.language for document, _ in entries)
    return TextIndex(texts, languages, rank_in_memory(entries))


def search(index: TextIndex, query: str, top_k: int = TOP_K) -> tuple[IndexedText, ...]:
    """Return the texts that share a word with a query, best first, at most ``top_k``."""
    if not query.strip():
        raise UsageError("The query is empty. Say in words what to look for.")
    if top_k < 1:
        raise UsageError(f"top_k is 1 or more, not {top_k}.")
    terms = parse_question(query, index.languages).terms
    found = ((index.texts[hit.key], hit.score) for hit in index.rank(terms, top_k))
    return tuple(IndexedText(one.text, one.meta, score) for one, score in found if score > 0)


def texts_tool(name: str, description: str, items: Iterable[Item], top_k: int = TOP_K) -> Tool:
    """Return a tool by which a model searches texts: ``query``, and ``top_k`` if it likes.

    Args:
        description: When to call it; a model goes by nothing else.
    """
    index = build_index(items)

    def find(arguments: Mapping[str, object]) -> Sequence[ToolPassage]:
        wanted = arguments.get("top_k", top_k)
        limit = int(wanted) if isinstance(wanted, int | float) else top_k
        query = arguments.get("query")
        found = search(index, query if isinstance(query, str) else "", limit)
        return [ToolPassage(_place(one), one.text) for one in found]

    def call(arguments: Mapping[str, object]) -> str:
        found = find(arguments)
        words = "Results for" if found else "Nothing was found for"
        return format_numbered(heading(words, str(arguments["query"])), found)

    parameters = query_parameters("top_k", top_k, MOST_PASSAGES)
    return Tool(name, description, parameters, call, parallel=True, find=find)


def _place(one: IndexedText) -> str:
    meta = ", ".join(f"{key} {value}" for key, value in one.meta.items()) or "text"
    return f"{meta} (score {one.score:.2f})"


def _document(text: str, language: str) -> Document:
    return Document(
        id="",
        source="",
        location="",
        title="",
        format="",
        method="",
        sha256="",
        text_sha256="",
        size=len(text),
        modified=0,
        language=language,
    )


def _chunk(text: str) -> Chunk:
    return Chunk("", 0, 0, len(text), text)
