import pytest
from hypothesis import given, settings

from chapterhouse.chunking.analysis import analyse_body
from chapterhouse.chunking.strategies import (
    STRATEGIES,
    strategies,
)
from chapterhouse.models.static import StaticEmbedder

from .bodies import TEXTS, body_of

EMBEDDER = StaticEmbedder()


@pytest.mark.parametrize("name", STRATEGIES)
@settings(max_examples=settings().max_examples // 2)
@given(text=TEXTS)
def test_an_analysed_body_is_cut_as_a_plain_one(name: str, text: str) -> None:
    body = body_of(text)
    chunker = strategies(EMBEDDER.embed_passages)[name]
    assert chunker(body) == chunker(analyse_body(body))
