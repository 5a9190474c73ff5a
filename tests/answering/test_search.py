from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from chapterhouse import Library
from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.search import fitted_model, method_for, packing_for
from chapterhouse.models.scripted import ScriptedModel
from chapterhouse.retrieval.candidates import Method
from chapterhouse.retrieval.expand import by_parts, by_tags
from chapterhouse.retrieval.fuse import combine_scores, rank_scores, variant_ranks
from chapterhouse.retrieval.question import parse_question
from chapterhouse.retrieval.rerank import FEATURES
from chapterhouse.settings import (
    ExpansionSettings,
    PackingSettings,
    RerankSettings,
    SearchSettings,
    Settings,
)
from chapterhouse.types import Body, Chunk, Query, Scope


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    with Library.open(tmp_path_factory.mktemp("home")) as library:
        yield library._runtime


def never() -> int:
    pytest.fail("the time was asked")


def method(runtime: Runtime, settings: Settings, model: ScriptedModel | None = None) -> Method:
    reranker: Any = model  # which nobody asks here
    return method_for(replace(runtime, reranker=reranker, now=lambda: 1_000_000), settings, model)


def test_by_default_questions_are_expanded_and_hits_reranked(runtime: Runtime) -> None:
    made = method_for(replace(runtime, now=never), Settings(), None)
    assert made.rerank is not None
    assert made.recency is None
    assert made.expand[1:] == (by_tags, by_parts)
    assert made.duplicates == 0.9
    assert made.shortlist == 60


def test_a_model_rewrites_only_where_it_is_there_and_always_wanted(runtime: Runtime) -> None:
    model = ScriptedModel(['["Is the gate shut at night?", "Who shut it?"]'])
    settings = Settings(expansion=ExpansionSettings(rewrite="always"))
    assert len(method(runtime, Settings(), model).expand) == 3
    assert len(method(runtime, settings).expand) == 3
    assert len(method(runtime, settings, model).expand) == 4
    question = parse_question("Why was the gate shut?", {"en": 1})
    method(runtime, settings, model).expand[3](question, Query("q", Scope.everything()), {"en": 1})
    assert len(model.asked) == 1


def test_each_expansion_can_be_switched_off(runtime: Runtime) -> None:
    assert method(runtime, Settings(expansion=ExpansionSettings(names=False))).expand == (by_parts,)
    assert (
        by_parts not in method(runtime, Settings(expansion=ExpansionSettings(parts=False))).expand
    )
    assert (
        method(runtime, Settings(expansion=ExpansionSettings(names=False, parts=False))).expand
        == ()
    )


def test_settings_reach_their_stages(runtime: Runtime) -> None:
    model = ScriptedModel([])
    none = Settings(rerank=RerankSettings(engine="none"))
    assert method(runtime, none).rerank is None
    served = RerankSettings(engine="http", base_url="http://localhost:1/v1", model="m", depth=7)
    made = method(runtime, Settings(rerank=served), model)
    assert made.rerank is not None
    assert made.shortlist == 7
    search = SearchSettings(
        bm25_min_score=1.5, vector_threshold=0.3, min_similarity=0.2, duplicates=0, recency=0.5
    )
    made = method(runtime, Settings(search=search))
    assert (made.thresholds.bm25, made.thresholds.cosine, made.thresholds.score) == (1.5, 0.3, 0.2)
    assert made.duplicates > 1  # nothing is alike enough
    assert made.recency is not None
    assert (made.recency.now, made.recency.share) == (1_000_000 // 86_400 * 86_400, 0.5)
    assert replace(made, duplicates=0.9) != made
    assert method(runtime, Settings()).fuse is combine_scores
    made = method(runtime, Settings(search=SearchSettings(fusion="ranks")))
    assert (made.fuse, made.merge) == (rank_scores, variant_ranks)


def test_the_fitted_model_is_read_once(runtime: Runtime) -> None:
    assert fitted_model() is fitted_model()
    assert len(fitted_model().weights) == len(FEATURES)


@pytest.mark.parametrize(("widen", "expected"), [("parent", (0, 11)), ("no", None)])
def test_a_hit_takes_in_what_the_settings_say(widen: str, expected: tuple[int, int] | None) -> None:
    settings = PackingSettings.model_validate({"widen": widen})
    made = packing_for(settings).widen
    chunk = Chunk("a", 0, 6, 11, "world", parents=((0, 11),))
    assert (made(chunk, Body("hello world")) if made else None) == expected
