"""Collections for the benchmarks: the product's own, and other ways of looking at one."""

from collections.abc import Sequence

from chapterhouse.evaluation.collection import Collection, open_collection
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.types import Body, Span

__all__ = ["EMBEDDER", "Collection", "NoVectors", "open_collection", "whole"]

EMBEDDER = StaticEmbedder()


class NoVectors(StaticEmbedder):
    """The embedder of a library that is left to BM25 alone."""

    def serves(self, language: str) -> bool:  # noqa: ARG002 - the seam's signature
        """Serve no language."""
        return False


def whole(body: Body) -> Sequence[Span]:
    """Leave a document in one chunk, as the engines measured beside us see it."""
    return (Span(0, len(body.text)),) if body.text else ()
