"""Which strategy cuts which document: by name, by file type, by kind."""

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final

from chapterhouse.chunking.adaptive import chunk_adaptively, lexical_candidates
from chapterhouse.chunking.analysed import analysed
from chapterhouse.chunking.code import chunk_by_definition
from chapterhouse.chunking.density import SLACK, chunk_by_density
from chapterhouse.chunking.hierarchical import chunk_by_hierarchy
from chapterhouse.chunking.kinds import DEFAULT_STRATEGIES, DocumentKind, kind_of
from chapterhouse.chunking.limits import DEFAULT, Limits
from chapterhouse.chunking.semantic import THRESHOLD as SEMANTIC_THRESHOLD
from chapterhouse.chunking.semantic import Embed, chunk_by_meaning
from chapterhouse.chunking.topic import THRESHOLD as TOPIC_THRESHOLD
from chapterhouse.chunking.topic import chunk_by_topic
from chapterhouse.ports.models import Chunker
from chapterhouse.types import Body, Span

STRATEGIES: Final = ("topic", "semantic", "density", "hierarchical", "adaptive", "code", "auto")


def strategies(
    limits: Limits = DEFAULT,
    embed: Embed | None = None,
    *,
    topic_threshold: float = TOPIC_THRESHOLD,
    semantic_threshold: float = SEMANTIC_THRESHOLD,
    slack: float = SLACK,
    kinds: Mapping[DocumentKind, str] = DEFAULT_STRATEGIES,
) -> Mapping[str, Chunker]:
    """Return every strategy that keeps ``limits``, by name.

    Args:
        limits: Lengths to keep.
        embed: Gives unit vectors; without it ``semantic`` is ``topic``, the nearest without.
        topic_threshold: Jaccard similarity from which on ``topic`` does not cut.
        semantic_threshold: Cosine from which on ``semantic`` does not cut.
        slack: Share of the mean by which chunks of ``density`` may differ.
        kinds: The strategy of each kind of document, for ``auto``.
    """
    topic = partial(chunk_by_topic, limits=limits, threshold=topic_threshold)
    semantic: Chunker = topic
    if embed is not None:
        semantic = partial(
            chunk_by_meaning, embed=embed, limits=limits, threshold=semantic_threshold
        )
    candidates = {**lexical_candidates(limits), "topic": topic}
    named: dict[str, Chunker] = {
        "topic": topic,
        "semantic": semantic,
        "density": partial(chunk_by_density, limits=limits, slack=slack),
        "hierarchical": partial(chunk_by_hierarchy, limits=limits),
        "adaptive": partial(chunk_adaptively, limits=limits, candidates=candidates),
        "code": partial(chunk_by_definition, limits=limits),
    }
    by_kind = {kind: named[name] for kind, name in kinds.items()}
    named["auto"] = partial(chunk_by_kind, chunkers=by_kind)
    return MappingProxyType(named)


def chunk_by_kind(body: Body, chunkers: Mapping[DocumentKind, Chunker]) -> Sequence[Span]:
    """Cut a body with the chunker for its kind."""
    known = analysed(body)
    return chunkers[kind_of(known)](known)


def chunk_by_format(
    body: Body, chunkers: Mapping[str, Chunker], otherwise: Chunker
) -> Sequence[Span]:
    """Cut a body with the chunker for its file's extension, else for its format, else another."""
    known = analysed(body)
    chunker = next((chunkers[name] for name in known.formats if name in chunkers), otherwise)
    return chunker(known)
