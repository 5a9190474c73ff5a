"""The sentences of hits: they cover them, and what is known of each."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from tests.embedders import LetterEmbedder, WordsAlone
from tests.retrieval.scripted import model_of_sentences

from chapterhouse.models.built_in import built_in_encoder
from chapterhouse.retrieval.judging import (
    BY_MEANING,
    BY_WORDS,
    Floats,
    SentenceModel,
    SentenceScorer,
    cosines,
    features,
    sentence_model,
    serves,
    shares,
    word_weights,
    words_found,
)
from chapterhouse.retrieval.question import parse_question
from chapterhouse.retrieval.sentences import LONGEST, Sentence, split_hits, table_header, text_of
from chapterhouse.types import (
    Chunk,
    Document,
    Hit,
    Kind,
    Range,
)
from chapterhouse.types.engines import TokenEmbedder

PIECES = st.sampled_from(
    [
        "Guests pay 40 euros a night. ", "It is late! ", "Why?\n", "\n\n", "# Prices\n\n",
        "- one item\n", "2. another\n", "| a | b |\n| --- | --- |\n| 1 | 2 |\n", "    code(1)\n",
        "```\nx = 1.\n```\n", "停泊费是四十欧元。", "   ", "e.g. Mr. Smith said so. ",
        "Ends here:\n",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, min_size=1, max_size=12).map("".join).filter(str.strip)


def hit(text: str, rank: int = 0, name: str = "d", span: Range | None = None) -> Hit:
    start, end = span or (0, len(text))
    kind = Kind.TABLE if text.startswith("|", start) else Kind.PROSE
    document = Document(name, name, name, "Title", "md", "test", "", "", 0, 0, language="en")
    return Hit(
        rank + 1, 1 / (rank + 1), Chunk(name, rank, start, end, text[start:end], kind), document
    )


@given(TEXTS)
def test_the_sentences_of_a_hit_follow_one_another_and_cover_it(text: str) -> None:
    found = split_hits([hit(text)])
    assert (found[0].start, found[-1].end) == (0, len(text))
    assert all(one.end == other.start for one, other in pairwise(found))
    for one in found:
        assert one.start <= one.begin <= one.stop <= one.end
        shown = text_of(hit(text), one)
        assert shown == shown.strip("\n ")


@given(TEXTS, st.data())
def test_where_hits_overlap_nothing_is_a_sentence_twice(text: str, data: st.DataObject) -> None:
    places = st.tuples(st.integers(0, len(text) - 1), st.integers(1, len(text)))
    spans = data.draw(st.lists(places.filter(lambda p: p[0] < p[1]), min_size=1, max_size=4))
    found = split_hits([hit(text, rank, span=span) for rank, span in enumerate(spans)])
    for rank, own in groupby(found, key=lambda one: one.rank):
        for one in own:
            assert spans[rank][0] <= one.start < one.end <= spans[rank][1]
    places_taken = sorted((one.start, one.end) for one in found)
    assert all(one[1] <= other[0] for one, other in pairwise(places_taken))


def test_a_heading_goes_with_what_follows_it_and_is_not_of_what_is_quoted() -> None:
    text = "# Prices\n\n## Guests\n\nGuests pay 40 euros. Members pay less.\n\n# The end"
    found = split_hits([hit(text)])
    assert found[0].start == 0
    shown = [text_of(hit(text), one) for one in found]
    assert shown == ["Guests pay 40 euros.", "Members pay less.", "# The end"]


TABLE = "| Berth | Price |\n| --- | --- |\n| North | 40 |\n| South | 65 |\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("3. GENERAL 3.1 Term and Termination. It lasts five years. It may be ended.", 2),
        ("9. Return.\n\nAll papers are given back. Copies are burnt.", 2),
        ("(a) Definitions. Papers are what is written.", 1),
        ("3. Laufzeit und Kündigung. Der Vertrag gilt zwei Jahre.", 1),
        ("1. Open Docker.\n2. Run it.", 2),
        ("1. The fee is 20 euros. It is due in May.", 2),
        ("6. Notices.", 1),
    ],
)
def test_the_title_of_a_clause_goes_with_its_first_sentence(text: str, shown: int) -> None:
    found = split_hits([hit(text)])
    assert len(found) == shown
    assert text_of(hit(text), found[0]).startswith(text[:4])


def test_a_row_knows_its_heading_rows() -> None:
    text = f"{TABLE}\nThe ferry:\n\n| Day | Leaves |\n| --- | --- |\n| Monday | 9:00 |\n"
    own, other = "| Berth | Price |\n| --- | --- |\n", "| Day | Leaves |\n| --- | --- |\n"
    found = {text_of(hit(text), one): one.header for one in split_hits([hit(text)])}
    assert found == {
        "| North | 40 |": own, "| South | 65 |": own, "The ferry:": "", "| Monday | 9:00 |": other,
    }  # fmt: skip
    assert split_hits([hit(TABLE)])[0].start == 0
    assert table_header(hit(TABLE).chunk) == own


def test_rows_of_a_chunk_in_the_middle_of_a_table_have_its_header() -> None:
    rows = "| South | 65 |\n| West | 70 |\n"
    chunk = Chunk("d", 1, 100, 100 + len(rows), rows, Kind.TABLE, header="| Berth | Price |\n")
    found = split_hits([Hit(1, 1.0, chunk, hit(TABLE).document)])
    assert [(one.begin, one.header) for one in found] == [
        (100, "| Berth | Price |\n"),
        (115, "| Berth | Price |\n"),
    ]
    assert table_header(chunk) == ""


def test_code_is_one() -> None:
    text = "def a():\n    return 1.\n\n\ndef b():\n    return 2.\n"
    chunk = Chunk("d", 0, 0, len(text), text, Kind.CODE)
    assert len(split_hits([Hit(1, 1.0, chunk, hit(text).document)])) == 1


# --- what is known of each -----------------------------------------------------------------------


EMBEDDER = LetterEmbedder()
ASKED = parse_question("How many euros do guests pay for a night?", {"en": 1})
GUESTS = "Guests pay 40 euros a night. The office is painted white. Dogs are not allowed."


def table(hits: Sequence[Hit], *, meaning: bool) -> tuple[Sequence[Sentence], np.ndarray]:
    sentences = split_hits(hits)
    weights = word_weights(ASKED, lambda _: 1, 10)
    encoder = EMBEDDER if meaning else None
    return sentences, features(ASKED, hits, sentences, weights, encoder)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.booleans())
def test_features_are_shares(texts: list[str], meaning: bool) -> None:  # noqa: FBT001 - generated
    hits = [hit(text, rank, f"d{rank}") for rank, text in enumerate(texts)]
    sentences, found = table(hits, meaning=meaning)
    assert found.shape == (len(sentences), len(BY_MEANING if meaning else BY_WORDS))
    assert np.isfinite(found).all()
    assert (np.abs(found) <= 1.0001).all()
    assert (found[:, :2] >= 0).all()
    assert found[:, 0].max() == 1.0


def test_neither_the_scale_of_scores_nor_that_of_a_library_moves_them() -> None:
    hits = [hit(GUESTS, 0, "a"), hit("Guests may stay.", 1, "b")]
    larger = [Hit(one.rank, one.score * 7, one.chunk, one.document) for one in hits]
    assert np.allclose(table(hits, meaning=False)[1], table(larger, meaning=False)[1])


def test_the_weights_of_words_are_shares() -> None:
    weights = word_weights(ASKED, lambda term: 9 if term == "guest" else 1, 10)
    assert weights.sum() == pytest.approx(1.0)
    lightest = ASKED.words[int(weights.argmin())][0]
    assert lightest == "guests"
    assert word_weights(parse_question("?", {}), lambda _: 1, 1).sum() == 0.0


def test_words_are_found_in_a_sentence_and_in_what_stands_above_it() -> None:
    names = [word for word, _ in ASKED.words]
    hits = [hit("# Guests\n\nThey pay 40 euros. Dogs bark.")]
    found = words_found(ASKED, hits, split_hits(hits))
    assert {names[n] for n in np.flatnonzero(found[0])} >= {"euros", "pay"}
    assert not found[1, names.index("euros")]
    hits = [hit("| Guests | Euros |\n| --- | --- |\n| night | 40 |\n")]
    found = words_found(ASKED, hits, split_hits(hits))
    assert {names[n] for n in np.flatnonzero(found[0])} == {"euros", "guests", "night"}
    nothing = parse_question("\u200b", {"en": 1})  # no word at all
    weights = word_weights(nothing, lambda _: 1, 1)
    assert not features(nothing, hits, split_hits(hits), weights, EMBEDDER)[:, 1].any()
    assert scorer(WordsAlone()).judge(QUESTION, (), 0).sentences == ()


def test_no_sentence_is_too_long_to_be_quoted_and_no_row_is_cut() -> None:
    clause = "the harbour office may close a berth for repairs after a storm; "
    long = "Where it is needed, " + clause * 12 + "and so on."
    row = f"| North | {'Misd. 2 and St. 3 ' * 30} |"
    text = f"{long}\n\n| Berth | Notes |\n| --- | --- |\n{row}\n"
    *parts, last = (text_of(hit(text), one) for one in split_hits([hit(text)]))
    assert last == row
    assert len(parts) > 1
    assert all(len(part.split()) <= LONGEST for part in parts)
    assert all(part.endswith((";", "on.")) for part in parts)


@given(st.integers(0, 40), st.integers(0, 900), st.integers(1, 400))
def test_cosines_are_those_of_each_with_each(few: int, many: int, size: int) -> None:
    draw = np.random.default_rng(few + many)
    one, other = (draw.normal(size=(rows, size)).astype(np.float32) for rows in (few, many))
    lengths = [np.linalg.norm(rows, axis=1) for rows in (one, other)]
    expected = one @ other.T / np.outer(*lengths)
    assert cosines(one, other) == pytest.approx(expected, abs=1e-5)


MODEL = model_of_sentences()
QUESTION = parse_question("How many euros do guests pay for a night?", {"en": 1})


def ranked_hit(text: str, rank: int = 0, language: str = "en") -> Hit:
    name = f"d{rank}"
    document = Document(name, name, name, "T", "md", "test", "", "", 0, 0, language=language)
    return Hit(rank + 1, 1 / (rank + 1), Chunk(name, 0, 0, len(text), text), document)


def scorer(encoder: TokenEmbedder) -> SentenceScorer:
    return SentenceScorer(MODEL, encoder, lambda _: 1)


@given(
    arrays.arrays(
        np.float64, st.tuples(st.integers(1, 9), st.just(3)), elements=st.floats(-1e3, 1e3)
    )
)
def test_shares_add_up_to_one_whatever_the_features(table: Floats) -> None:
    found = shares(table, MODEL.by_words)
    assert found.sum() == pytest.approx(1.0, abs=1e-5)
    assert (found >= 0).all()


@pytest.mark.parametrize("encoder", [WordsAlone(), LetterEmbedder()], ids=["words", "meaning"])
def test_the_sentence_that_answers_has_the_largest_share(encoder: TokenEmbedder) -> None:
    hits = [
        ranked_hit("The office is white. Dogs bark at night. Guests pay 40 euros a night."),
        ranked_hit("Euros are coins.", 1),
    ]
    judged = scorer(encoder).judge(QUESTION, hits, 10)
    assert judged.meaning is not isinstance(encoder, WordsAlone)
    assert judged.table.shape[1] == len(BY_MEANING if judged.meaning else BY_WORDS)
    assert sum(one.share for one in judged.sentences) == pytest.approx(1.0, abs=1e-5)
    best = max(judged.sentences, key=lambda one: one.share)
    assert hits[best.rank].chunk.text[best.begin : best.stop] == "Guests pay 40 euros a night."
    assert judged.weights.sum() == pytest.approx(1.0)


def test_meaning_counts_where_the_encoder_serves_passages_and_question() -> None:
    encoder = built_in_encoder()
    assert serves(encoder, QUESTION, [ranked_hit("a"), ranked_hit("b", 1, "de")])
    assert not serves(encoder, QUESTION, [ranked_hit("a"), ranked_hit("b", 1, "th")])
    assert serves(
        encoder, QUESTION, [ranked_hit("a"), ranked_hit("b", 1, "th"), ranked_hit("c", 2)]
    )
    assert not serves(encoder, replace(QUESTION, languages=("th",)), [ranked_hit("a")])
    assert serves(encoder, replace(QUESTION, languages=("th", "de")), [ranked_hit("a")])
    assert not serves(WordsAlone(), QUESTION, [ranked_hit("a")])


def fields(model: SentenceModel) -> dict[str, Any]:
    return {
        "by meaning": dict(zip(BY_MEANING, model.by_meaning, strict=True)),
        "by words": dict(zip(BY_WORDS, model.by_words, strict=True)),
    }


def weights(names: Sequence[str]) -> st.SearchStrategy[tuple[float, ...]]:
    return st.tuples(*[st.floats(-50, 50)] * len(names))


@given(st.builds(SentenceModel, weights(BY_MEANING), weights(BY_WORDS)))
def test_a_model_is_what_its_json_says(model: SentenceModel) -> None:
    assert sentence_model(json.dumps(fields(model))) == model


@pytest.mark.parametrize("weight", [None, "1", float("nan"), float("inf")])
def test_other_weights_are_refused(weight: object) -> None:
    for name, changed in (("by meaning", {"unknown": 1.0}), ("by words", {"score": weight})):
        found = fields(MODEL)
        found[name] = {**found[name], **changed}
        with pytest.raises(ValueError, match="weight"):
            sentence_model(json.dumps(found))
    found = fields(MODEL)
    del found["by words"]["likeness"]
    with pytest.raises(ValueError, match="likeness"):
        sentence_model(json.dumps(found))
