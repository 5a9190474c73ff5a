"""Sentences of hits: their spans, their features and their order."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.answering.passages import Passage, passages, split, word_weights
from chapterhouse.answering.sentence_features import LEXICAL, WITH_VECTORS, features, match
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.retrieval.question import understand
from chapterhouse.types import Chunk, Document, Hit, Kind

EMBEDDER = StaticEmbedder()
TABLE = "| Line | Budget 2026 |\n| --- | --- |\n| Wages | 90 |\n| Fuel | 508400 |\n"


def hit_of(text: str, rank: int = 1, score: float = 1.0, kind: Kind = Kind.PROSE) -> Hit:
    chunk = Chunk("d", 0, 100, 100 + len(text), text, kind)
    document = Document("d", "d", "/d", "Budget", "md", "t", "", "0" * 64, 1, 0, language="en")
    return Hit(rank, score, chunk, document)


def found(question: str, *hits: Hit, served: bool = True) -> tuple[Passage, ...]:
    asked = understand(question, {"en" if served else "xx": 1})
    return passages(asked, hits, word_weights(asked, lambda _: 1, 10), EMBEDDER)


def test_spans_are_offsets_in_the_document() -> None:
    text = "Dr. Berg pays 3.5 euros. She left."
    for passage in found("Who pays?", hit_of(text)):
        assert text[passage.start - 100 : passage.end - 100] == passage.text


def test_a_row_is_answered_with_the_heading_of_its_table() -> None:
    best = found("How much is budgeted for fuel in 2026?", hit_of(TABLE, kind=Kind.TABLE))[0]
    assert "508400" in best.text
    assert best.coverage == 1


def test_a_sentence_with_a_new_date_answers_when() -> None:
    text = "The bridge over the Leda is long. The bridge over the Leda opened in 1871."
    assert "1871" in found("When was the Leda bridge opened?", hit_of(text))[0].text


def test_inflections_count() -> None:
    text = "The harbour office is white. A refund is paid for cancelled sailings."
    assert "refund" in found("How are refunds of a cancellation paid?", hit_of(text))[0].text


def test_scores_are_chances() -> None:
    scored = found("When did it open?", hit_of("It opened in 1871. It is long."), hit_of("No.", 2))
    assert abs(sum(passage.score for passage in scored) - 1) < 1e-5
    assert [passage.score for passage in scored] == sorted(
        (passage.score for passage in scored), reverse=True
    )


def test_nothing_is_made_of_nothing() -> None:
    assert found("When?") == ()
    assert found("When?", hit_of("...")) == ()


def test_without_vectors_there_are_no_cosines() -> None:
    told = found("When did it open?", hit_of("It opened in 1871."), served=False)
    assert [passage.cosine for passage in told] == [0.0]


def test_each_feature_has_its_column() -> None:
    asked = understand("When did the bridge open?", {"en": 1})
    units = list(split(hit_of("The bridge opened in 1871. It is long.")))
    matches = match(asked, units, word_weights(asked, lambda _: 1, 10))
    assert features(asked, units, matches, None).shape == (2, len(LEXICAL))
    assert features(asked, units, matches, np.zeros(2)).shape == (2, len(WITH_VECTORS))


@given(
    st.lists(
        st.sampled_from(["The bridge opened.", "It is long.", "Ada came in 1871."]), max_size=6
    )
)
def test_the_order_is_total_and_scale_free(sentences: list[str]) -> None:
    hits = [hit_of(text, rank, 1 / rank) for rank, text in enumerate(sentences, 1)]
    told = found("When did the bridge open?", *hits)
    scaled = found("When did the bridge open?", *(replace(h, score=h.score / 2) for h in hits))
    assert [(p.hit.rank, p.start, p.score) for p in told] == [
        (p.hit.rank, p.start, p.score) for p in scaled
    ]
