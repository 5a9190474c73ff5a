"""What removed documents are known by, chosen while they are still there."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from chapterhouse.chunking.build import embedding_text
from chapterhouse.ingest.traces import probes_of
from chapterhouse.models.embedding_cache import passage_key
from chapterhouse.ports.store import Store
from chapterhouse.text.aliases import names_of
from chapterhouse.text.analyse import analyse
from chapterhouse.text.spelling import LEAST_LETTERS, words_of
from chapterhouse.types import Chunk, Document, Probes, Scope

if TYPE_CHECKING:
    from numpy.typing import NDArray

Value = TypeVar("Value")
_EACH: Final = 4  # probes of a kind that a document gives
_MOST: Final = 1_000  # of a kind from all of them, but one each
_PHRASE: Final = 6  # terms


def choose_probes(documents: Sequence[Document], store: Store) -> Probes:
    """Choose by what documents are known again; the more there are, the fewer of each."""
    each = max(1, min(_EACH, _MOST // max(len(documents), 1)))
    everything = Scope.everything()

    def chosen() -> Iterable[Probes]:
        for document in documents:
            vectors = {
                fingerprint: np.asarray(store.vectors_of(document.id, fingerprint)[1], np.float32)
                for fingerprint in store.fingerprints_of(document.id)
            }
            chunks = store.chunks_of(document.id, everything)
            texts = [embedding_text(document.title, chunk) for chunk in chunks]
            cached = tuple(passage_key(name, text) for name in vectors for text in texts)
            yield replace(probes_of_document(document, chunks, vectors, each), cached=cached)

    return merged(chosen())


def probes_of_document(
    document: Document,
    chunks: Sequence[Chunk],
    vectors: "Mapping[str, NDArray[np.float32]]",
    each: int = _EACH,
) -> Probes:
    """Choose by what one document is known again.

    Args:
        document: The document.
        chunks: Its chunks; those without a key were never stored.
        vectors: Of the chunks, by fingerprint.
        each: How many probes of a kind.
    """
    texts = [
        analyse(chunk.header + chunk.text, document.language) for chunk in _spread(chunks, each)
    ]
    terms = sorted({term for text in texts for term in text}, key=lambda term: (-len(term), term))
    words = [word for word in words_of(_all_text(chunks, each)) if len(word) > LEAST_LETTERS]
    passages = [chunk.text for chunk in chunks]
    passages += [document.title, document.source.rpartition("/")[2], *document.metadata.values()]
    return Probes(
        keys={chunk.key: document.id for chunk in chunks if chunk.key},
        names=names_of(document.title, document.source),
        phrases=tuple(dict.fromkeys(map(_middle, filter(None, texts)))),
        terms=tuple(terms[:each]),
        words=tuple(sorted(words, key=lambda word: (-len(word), word))[:each]),
        vectors={name: rows[:: _step(len(rows), each)] for name, rows in vectors.items()},
        pieces=tuple(filter(None, map(probes_of, passages))),
        sources={document.id: document.source},
    )


def merged(several: Iterable[Probes]) -> Probes:
    """Return the probes of several documents as one."""
    found = list(several)
    rows: dict[str, list[NDArray[np.float32]]] = {}
    for one in found:
        for name, matrix in one.vectors.items():
            rows.setdefault(name, []).append(matrix)
    return Probes(
        keys={key: name for one in found for key, name in one.keys.items()},
        names=tuple(dict.fromkeys(name for one in found for name in one.names)),
        phrases=tuple(dict.fromkeys(phrase for one in found for phrase in one.phrases)),
        terms=tuple(dict.fromkeys(term for one in found for term in one.terms)),
        words=tuple(dict.fromkeys(word for one in found for word in one.words)),
        vectors={name: np.concatenate(parts) for name, parts in rows.items()},
        cached=tuple(key for one in found for key in one.cached),
        pieces=tuple(dict.fromkeys(piece for one in found for piece in one.pieces)),
        sources={name: source for one in found for name, source in one.sources.items()},
    )


def _spread(values: Sequence[Value], number: int) -> list[Value]:
    """Return at most so many of some values, spread over them."""
    return list(values[:: _step(len(values), number)])


def _step(length: int, number: int) -> int:
    """Return how far apart at most so many of some values are."""
    return max(1, -(-length // number))


def _all_text(chunks: Sequence[Chunk], each: int) -> str:
    return "\n".join(chunk.text for chunk in _spread(chunks, each))


def _middle(terms: Sequence[str]) -> tuple[str, ...]:
    start = max(0, (len(terms) - _PHRASE) // 2)
    return tuple(terms[start : start + _PHRASE])
