"""Choosing among ordered chunks."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.models.static import StaticEmbedder
from chapterhouse.retrieval.pipeline import Sources, choose, retrieve
from chapterhouse.types import Census, Chunk, Document, Query, Scored

CHUNKS = st.lists(st.sampled_from("abc"), max_size=20).map(
    lambda names: [
        Chunk(name, ordinal, 0, 1, "x", key=ordinal + 1) for ordinal, name in enumerate(names)
    ]
)


@given(CHUNKS, st.sets(st.integers(1, 20), max_size=4), st.integers(1, 10), st.integers(0, 3))
def test_the_choice_keeps_order_limit_cap_and_guarantees(
    ordered: list[Chunk], wanted: set[int], limit: int, cap: int
) -> None:
    guaranteed = {key: "x" for key in wanted if key <= len(ordered)}
    chosen = choose(ordered, guaranteed, limit, cap)
    keys = [chunk.key for chunk in chosen]
    assert len(chosen) <= limit
    assert keys == sorted(keys)  # the order they came in
    first = sorted(guaranteed)[:limit]
    assert set(first) <= set(keys)
    for name in "abc":
        of_document = [chunk for chunk in chosen if chunk.document_id == name]
        must = sum(chunk.key in guaranteed for chunk in of_document)
        assert not cap or len(of_document) <= max(cap, must)


@given(CHUNKS, st.integers(1, 10))
def test_without_cap_and_guarantees_it_is_the_beginning(ordered: list[Chunk], limit: int) -> None:
    assert choose(ordered, {}, limit, 0) == ordered[:limit]


class Scripted:
    """Both sides of a search, and the store, from a table of scores."""

    def __init__(self, scores: dict[int, float], documents: int) -> None:
        self.scores = scores
        self.documents = documents
        self.looked_at: set[int] = set()

    def search(self, *_arguments: object, **_options: object) -> list[Scored]:
        found = [Scored(key, score) for key, score in self.scores.items()]
        return sorted(found, key=lambda hit: (-hit.score, hit.key))

    def search_phrase(self, *_arguments: object) -> list[Scored]:
        return []

    def document_frequency(self, term: str) -> int:  # noqa: ARG002 - the seam's signature
        return len(self.scores)

    def size(self) -> int:
        return len(self.scores)

    def chunks(self, keys: Iterable[int]) -> dict[int, Chunk]:
        self.looked_at.update(keys)
        return {
            key: Chunk(f"d{key % self.documents}", key, 0, 1, "x", key=key)
            for key in self.looked_at.intersection(keys)
        }

    def sources(self) -> Sources:
        return Sources(
            lexical=self,
            vector=self,
            embedder=Unserved(),
            census=lambda _: Census(self.documents, len(self.scores), {"en": self.documents}),
            chunks=self.chunks,
            documents=lambda ids: {name: document(name) for name in ids},
            chunks_named=lambda *_: (),
        )


class Unserved(StaticEmbedder):
    def serves(self, language: str) -> bool:  # noqa: ARG002 - the seam's signature
        return False


def document(name: str) -> Document:
    return Document(name, name, name, name, "txt", "test", "", "", 0, 0)


@given(
    st.dictionaries(st.integers(1, 60), st.sampled_from([1.0, 2.0, 3.0, 4.0]), min_size=1),
    st.integers(1, 12),
    st.integers(0, 3),
    st.integers(1, 6),
)
def test_looking_at_few_chunks_chooses_what_looking_at_all_would(
    scores: dict[int, float], limit: int, cap: int, documents: int
) -> None:
    scripted = Scripted(scores, documents)
    result = retrieve(Query("word", limit=limit, per_document=cap), scripted.sources())
    everything = sorted(
        scripted.chunks(scores).values(),
        key=lambda c: (-scores[c.key], c.document_id, c.ordinal),
    )
    wanted = [chunk.id for chunk in choose(everything, {}, limit, cap)]
    assert [hit.chunk.id for hit in result.hits] == wanted


def test_only_what_is_needed_is_looked_at() -> None:
    scripted = Scripted({key: float(100 - key) for key in range(1, 90)}, 90)
    retrieve(Query("word", limit=5), scripted.sources())
    assert len(scripted.looked_at) == 10
