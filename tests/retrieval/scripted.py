"""A small library in memory: texts that are really analysed, found and embedded."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray
from tests.embedders import LetterEmbedder, WordsAlone
from tests.text.rows import term_rows

from chapterhouse.index.document_names import Vocabulary
from chapterhouse.retrieval.candidates import Sources
from chapterhouse.retrieval.judging import SentenceModel, sentence_model
from chapterhouse.text.aliases import names_of
from chapterhouse.text.analyse import analyse
from chapterhouse.text.mentions import words_of
from chapterhouse.types import (
    Chunk,
    CorpusCounts,
    Document,
    Fusion,
    Scope,
    Scored,
    TermRows,
    WeightedTerm,
)
from chapterhouse.types.engines import VectorLayer

EMBEDDER = LetterEmbedder()
FUSION = Fusion(weight=0.3, floor=0.1, ceiling=0.7, alone=0.25)


def document(name: str, **fields: object) -> Document:
    """Return a document of this name, everything else as it comes."""
    plain = Document(name, f"root/{name}.txt", f"/made/{name}.txt", name, "txt", "test", "",
                     f"text of {name}", 0, 0, language="en")  # fmt: skip
    return replace(plain, **fields)  # type: ignore[arg-type]  # the names are checked by replace


@dataclass
class Texts:
    """Chunks by key, with both indexes over them.

    Attributes:
        chunks: The chunks; their keys say in which order they were stored.
        documents: Their documents by id.
        embedder: Makes the vectors; by default there are none.
        read: Keys of the chunks that were looked at.
        depths: How many chunks the lexical index was asked for, each time.
    """

    chunks: Mapping[int, Chunk]
    documents: Mapping[str, Document]
    embedder: LetterEmbedder = field(default_factory=WordsAlone)
    read: set[int] = field(default_factory=set)
    depths: list[int] = field(default_factory=list)

    def sources(self) -> Sources:
        return Sources(
            lexical=self,
            vectors=VectorLayer(self.embedder, _Vectors(self), FUSION),
            census=lambda _: CorpusCounts(len(self.documents), len(self.chunks), {"en": 1}),
            chunks=self._read,
            documents=lambda ids, _: {i: self.documents[i] for i in ids if i in self.documents},
            chunks_named=self._named,
            documents_of=lambda keys, _: {key: self.chunks[key].document_id for key in keys},
            near_words=self._near_words,
            titled=self._titled,
        )

    def search(
        self,
        terms: Sequence[WeightedTerm],
        scope: Scope,  # noqa: ARG002 - the seam's signature
        limit: int,
        documents: Sequence[str] = (),
    ) -> Sequence[Scored]:
        self.depths.append(limit)
        wanted = {term.term: term.weight for term in terms}
        found = []
        for key, chunk in self.chunks.items():
            said = analyse(chunk.text, "en")
            score = sum(weight * min(said.count(term), 3) for term, weight in wanted.items())
            if documents and chunk.document_id not in documents:
                continue
            if score or documents:
                found.append(Scored(key, score / (5 + len(said))))
        return sorted(found, key=lambda hit: (-hit.score, hit.key))[:limit]

    def search_phrase(
        self,
        words: Sequence[str],
        scope: Scope,  # noqa: ARG002 - the seam's signature
        limit: int,
    ) -> Sequence[Scored]:
        wanted = f" {' '.join(words)} "
        return [
            Scored(key, 1.0)
            for key, chunk in sorted(self.chunks.items())
            if words and wanted in f" {' '.join(analyse(chunk.text, 'en'))} "
        ][:limit]

    def frequency(self, term: str) -> int:
        return sum(term in analyse(chunk.text, "en") for chunk in self.chunks.values())

    def document_frequencies(self, terms: Sequence[str], scope: Scope) -> Sequence[int]:  # noqa: ARG002 - the seam's signature
        return [self.frequency(term) for term in terms]

    def terms_of(self, keys: Sequence[int], scope: Scope) -> TermRows:  # noqa: ARG002 - likewise
        return term_rows((self.chunks[key].text, "", "", "en") for key in keys)

    def size(self, scope: Scope) -> int:  # noqa: ARG002 - likewise
        return len(self.chunks)

    def _read(self, keys: Iterable[int], _scope: Scope) -> dict[int, Chunk]:
        wanted = list(keys)
        self.read.update(wanted)
        return {key: self.chunks[key] for key in wanted if key in self.chunks}

    def _near_words(self, word: str, _scope: Scope) -> Mapping[str, float]:
        words = frozenset[str]().union(*(words_of(chunk.text) for chunk in self.chunks.values()))
        return Vocabulary("\n".join(sorted(words))).near(word.casefold())

    def _titled(self, names: Sequence[str], _scope: Scope) -> Mapping[str, Sequence[str]]:
        going_by = {
            name: sorted(
                known.id
                for known in self.documents.values()
                if name in names_of(known.title, known.source)
            )
            for name in names
        }
        return {name: found for name, found in going_by.items() if found}

    def _named(self, name: str, _scope: Scope) -> Sequence[int]:
        return [
            key
            for key, chunk in sorted(self.chunks.items())
            if chunk.ordinal == 0 and self.documents[chunk.document_id].source.endswith(f"/{name}")
        ]


@dataclass
class _Vectors:
    texts: Texts

    def search(
        self,
        vector: NDArray[np.float32],
        scope: Scope,  # noqa: ARG002 - the seam's signature
        limit: int,
        also: Sequence[int] = (),
    ) -> Sequence[Scored]:
        keys = list(self.texts.chunks)
        passages = [self.texts.chunks[key].text for key in keys]
        cosines = EMBEDDER.embed_passages(passages) @ vector
        found = sorted(
            (Scored(key, round(float(cos), 6)) for key, cos in zip(keys, cosines, strict=True)),
            key=lambda hit: (-hit.score, hit.key),
        )
        return [hit for place, hit in enumerate(found) if place < limit or hit.key in set(also)]


def library(
    texts: Iterable[tuple[str, str]],
    *,
    order: Sequence[int] = (),
    embedder: LetterEmbedder | None = None,
    documents: Mapping[str, Document] | None = None,
) -> Texts:
    """Return a library of (document, text) pairs.

    Args:
        texts: The chunks, those of one document in their order.
        order: In which order they are stored, as places in ``texts``.
        embedder: Makes the vectors; None: no vectors.
        documents: Those documents that are more than a name.
    """
    made: list[Chunk] = []
    for name, text in texts:
        ordinal = sum(chunk.document_id == name for chunk in made)
        made.append(Chunk(name, ordinal, 0, len(text), text))
    stored = [made[place] for place in order] if order else made
    chunks = {key: replace(chunk, key=key) for key, chunk in enumerate(stored, start=1)}
    known = {chunk.document_id: document(chunk.document_id) for chunk in made}
    return Texts(chunks, known | dict(documents or {}), embedder or WordsAlone())


def model_of_sentences() -> SentenceModel:
    """Return the model that the program uses."""
    weights = files("chapterhouse.retrieval").joinpath("sentence_model.json")
    return sentence_model(weights.read_text("utf-8"))
