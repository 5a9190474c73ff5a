"""Texts that tools returned, as documents that stand on no shelf and are found by their id alone.

So a sentence about one is cited and verified like any other, and nobody finds it by searching.
They are in no store: whoever checks a citation has them from the statement that cites them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from chapterhouse.answering.cite import text_hash
from chapterhouse.answering.runtime import Runtime
from chapterhouse.chunking.build import build_chunks
from chapterhouse.chunking.sentence import chunk_by_sentence
from chapterhouse.chunking.units import analyse_body
from chapterhouse.store.sqlite import Store
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import (
    Body,
    Chunk,
    Document,
    Excerpt,
    Hit,
    Scope,
    Tool,
    ToolPassage,
    ToolText,
)

FORMAT: Final = "tool"
_WORDS: Final = 4  # that an argument must have for its repetition to be left out


class ToolTextStore:
    """A store in which texts of tools are documents too, for whoever knows their ids."""

    def __init__(self, base: Store, texts: Iterable[ToolText]) -> None:
        self.base = base
        self.texts: Mapping[str, ToolText] = {text.id: text for text in texts}
        self._documents = {name: _text_document(text) for name, text in self.texts.items()}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name)

    def document(self, document_id: str, scope: Scope) -> Document | None:
        """Return one document; a text of a tool in any scope."""
        found = self._documents.get(document_id)
        return found[0] if found else self.base.document(document_id, scope)

    def documents(self, scope: Scope, after: str = "", text: str = "") -> Iterator[Document]:
        """Yield documents in order of id, texts of tools behind them."""
        yield from self.base.documents(scope, after, text)
        yield from (self._documents[name][0] for name in sorted(self._documents))

    def documents_among(self, document_ids: Iterable[str], scope: Scope) -> dict[str, Document]:
        """Return the documents that exist among ``document_ids``, by id."""
        wanted = list(document_ids)
        own = {name: self._documents[name][0] for name in wanted if name in self._documents}
        return self.base.documents_among([n for n in wanted if n not in own], scope) | own

    def body(self, document_id: str, scope: Scope) -> Body | None:
        """Return the whole text."""
        found = self._documents.get(document_id)
        return found[1] if found else self.base.body(document_id, scope)

    def chunks_of(self, document_id: str, scope: Scope) -> tuple[Chunk, ...]:
        """Return the chunks of one document in order."""
        found = self._documents.get(document_id)
        return found[2] if found else self.base.chunks_of(document_id, scope)


def with_tool_texts(runtime: Runtime, texts: Sequence[ToolText]) -> Runtime:
    """Return a runtime in whose store these texts are documents, beside those that are already."""
    if not texts:
        return runtime
    store = runtime.store
    base = store.base if isinstance(store, ToolTextStore) else store
    merged = ToolTextStore(base, (*tool_texts_of(runtime), *texts))
    return replace(runtime, store=cast("Store", merged))


def tool_texts_of(runtime: Runtime) -> tuple[ToolText, ...]:
    """Return the texts of tools that are documents in a runtime's store."""
    store = runtime.store
    return tuple(store.texts.values()) if isinstance(store, ToolTextStore) else ()


def call_tool(tool: Tool, arguments: Mapping[str, object]) -> tuple[tuple[ToolText, ...], int]:
    """Return what a tool finds, sanitised, and how many characters did not fit its limit.

    Raises:
        Exception: whatever the tool raises.
    """
    if tool.find is None:
        found: Sequence[ToolPassage] = [ToolPassage("", tool.call(arguments))]
    else:
        found = tool.find(arguments)
    free, left_out, texts = tool.maximum_characters, 0, list[ToolText]()
    for passage in found:
        whole = sanitise(passage.text).text
        text = whole[: max(free, 0)]
        left_out += len(whole) - len(text)
        free -= len(text)
        if text.strip():
            texts.append(tool_text(tool.name, arguments, text, sanitise_line(passage.place)))
    return tuple(texts), left_out


def tool_text(tool: str, arguments: Mapping[str, object], text: str, place: str = "") -> ToolText:
    """Return what a tool returned as a text that can be cited."""
    clean = sanitise(text).text
    return ToolText(tool, dict(arguments), place, clean, text_hash(clean))


def tool_excerpts(text: ToolText, *, echoes: bool) -> Iterator[Excerpt]:
    """Yield the parts of a text that can be cited.

    Where it echoes its arguments, which are a model's own words and no evidence, what repeats one
    of several words is left out.
    """
    document, _, chunks = _text_document(text)
    repeated = list(_repeated(text)) if echoes else []
    for chunk in chunks:
        for start, end in _outside(chunk.start, chunk.end, repeated):
            part = text.text[start:end]
            if any(map(str.isalnum, part)):
                hit = Hit(0, 0.0, chunk, document)
                yield Excerpt(hit, start, end, part, tokens=0, relevance=0.0)


def _repeated(text: ToolText) -> Iterator[tuple[int, int]]:
    """Yield where a text repeats what its tool was given, in order."""
    found: list[tuple[int, int]] = []
    for value in _texts_in(text.arguments):
        words = value.split()
        if len(words) >= _WORDS:
            pattern = r"\s+".join(map(re.escape, words))
            found += [one.span() for one in re.finditer(pattern, text.text, re.IGNORECASE)]
    yield from sorted(found)


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for below in value.values():
            yield from _texts_in(below)
    elif isinstance(value, list | tuple):
        for below in value:
            yield from _texts_in(below)


def _outside(start: int, end: int, taken: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield what of a span lies in none of ``taken``, which are in order."""
    for first, last in taken:
        if first < end and last > start:
            if first > start:
                yield start, first
            start = max(start, last)
    if start < end:
        yield start, end


def _text_document(text: ToolText) -> tuple[Document, Body, tuple[Chunk, ...]]:
    """Return a text as a document with its parts."""
    body = analyse_body(Body(sanitise(text.text).text))  # it may come from a file
    chunks = build_chunks(text.id, body, chunk_by_sentence(body), estimate_tokens)
    checksum = text_hash(body.text)  # its own, never the one that a file states
    document = Document(
        id=text.id,
        source=f"tool {text.tool}, kept text of {len(text.text):,} characters",
        location="",
        title=sanitise_line(text.place) or text.tool,
        format=FORMAT,
        method=f"tool {text.tool}",
        sha256=checksum,
        text_sha256=checksum,
        size=len(text.text.encode()),
        modified=0,
        language=body.language,
        shelves=(),
        characters=len(text.text),
        chunks=len(chunks),
    )
    return document, body, chunks
