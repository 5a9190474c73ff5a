"""Which method of retrieval the settings describe."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Final

from chapterhouse.models.question_rewriting import rewrite
from chapterhouse.ports.models import LanguageModel, Reranker
from chapterhouse.retrieval.boost import Recency
from chapterhouse.retrieval.context import Packing
from chapterhouse.retrieval.expand import (
    FindAliases,
    by_names,
    by_parts,
    by_rewriting,
    by_tags,
)
from chapterhouse.retrieval.fuse import best_scores, combine_scores, rank_scores, variant_ranks
from chapterhouse.retrieval.method import Expand, Fuse, Hop, Merge, Method, Thresholds
from chapterhouse.retrieval.rerank import FeatureModel, by_features, by_model, feature_model
from chapterhouse.retrieval.shortlist import Rerank
from chapterhouse.retrieval.widen import with_parent, with_surroundings
from chapterhouse.settings import ExpansionSettings, PackingSettings, Settings

_WEIGHTS: Final = "reranker.json"
_FUSIONS: Final[Mapping[str, tuple[Fuse, Merge]]] = {
    "scores": (combine_scores, best_scores),
    "ranks": (rank_scores, variant_ranks),
}
_WIDEN: Final = {"surroundings": with_surroundings, "parent": with_parent}


def method_for(
    settings: Settings,
    *,
    find_aliases: FindAliases,
    reranker: Reranker | None,
    language_model: LanguageModel | None,
    now: Callable[[], float],
) -> Method:
    """Return the stages of retrieval as the settings have them.

    Args:
        settings: The settings.
        find_aliases: Looks up what the documents call the same thing.
        reranker: The model that the settings name, or None.
        language_model: The model that the settings name, or None.
        now: The time; asked only where the age of documents counts.
    """
    search = settings.search
    fuse, merge = _FUSIONS[search.fusion]
    return Method(
        fuse=fuse,
        merge=merge,
        expand=_expansions(settings.expansion, find_aliases, language_model),
        rerank=_rerank(settings, reranker),
        recency=Recency(int(now()), search.recency) if search.recency else None,
        thresholds=Thresholds(
            search.bm25_min_score, search.vector_threshold, search.min_similarity
        ),
        hop=Hop() if settings.expansion.names else None,
        duplicates=search.duplicates or 2.0,
        shortlist=settings.rerank.depth,
    )


def packing_for(settings: PackingSettings, count_tokens: Callable[[str], int]) -> Packing:
    """Return how a budget of tokens is filled."""
    widen = _WIDEN.get(settings.widen)
    return Packing(
        price=settings.price,
        widen=partial(widen, limit=settings.widen_tokens, count_tokens=count_tokens)
        if widen
        else None,
    )


@cache
def fitted_model() -> FeatureModel:
    """Return the feature reranker that comes with Chapterhouse."""
    return feature_model(files("chapterhouse.retrieval").joinpath(_WEIGHTS).read_text("utf-8"))


def _rerank(settings: Settings, reranker: Reranker | None) -> Rerank | None:
    if settings.rerank.engine == "features":
        return by_features(fitted_model())
    return by_model(reranker) if reranker is not None else None


def _expansions(
    settings: ExpansionSettings, find_aliases: FindAliases, model: LanguageModel | None
) -> tuple[Expand, ...]:
    chosen: list[Expand] = []
    if settings.names:
        chosen += [by_names(find_aliases), by_tags]
    if settings.parts:
        chosen.append(by_parts)
    if model is not None and settings.rewrite == "always":
        chosen.append(by_rewriting(partial(rewrite, model)))
    return tuple(chosen)
