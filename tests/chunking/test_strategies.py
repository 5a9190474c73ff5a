"""The laws that every strategy with limits keeps, on texts of every shape."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.embedders import LetterEmbedder

from chapterhouse.chunking.build import build_chunks, cut_by, formats_of
from chapterhouse.chunking.strategies import (
    STRATEGIES,
    chunk_adaptively,
    chunk_by_format,
    score_cutting,
    strategies,
)
from chapterhouse.chunking.units import Limits, analyse_body
from chapterhouse.settings import ChunkingSettings
from chapterhouse.types import Kind, Span

from .bodies import TEXTS, body_of

EMBEDDER = LetterEmbedder()
LIMITS = st.tuples(st.integers(1, 150), st.integers(0, 400), st.integers(0, 1_000)).map(
    lambda n: Limits(target=n[0] + n[1], minimum=n[0], maximum=max(n[0] + n[1], 4 * n[0]) + n[2])
)


@pytest.mark.parametrize("name", STRATEGIES)
@given(text=TEXTS, limits=LIMITS, markdown=st.booleans())
def test_chunks_rejoin_keep_their_limits_and_lie_in_their_parents(
    name: str, text: str, limits: Limits, *, markdown: bool
) -> None:
    body = body_of(text, markdown=markdown)
    cut = strategies(EMBEDDER.embed_passages, limits)[name]
    spans = cut(body)
    assert cut(analyse_body(body)) == spans
    assert "".join(body.text[span.start : span.end] for span in spans) == body.text
    assert all(one.end == other.start for one, other in pairwise(spans))
    for span in spans:
        length = span.end - span.start
        assert len(span.header) + length <= limits.maximum
        assert length >= limits.minimum or len(spans) == 1
        inner = (span.start, span.end)
        for outer in span.parents:
            assert outer[0] <= inner[0] < inner[1] <= outer[1]
            assert outer != inner
            inner = outer


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_long_table_repeats_its_header(name: str) -> None:
    rows = "".join(f"| row number {n} of a table | {n * n} |\n" for n in range(200))
    body = body_of("Before the table.\n\n| name | square |\n|---|---|\n" + rows)
    spans = strategies(EMBEDDER.embed_passages)[name](body)
    assert len(spans) > 5
    assert all(span.header == "| name | square |\n|---|---|\n" for span in spans[1:])
    assert {span.kind for span in spans} == {Kind.TABLE}
    assert all(body.text[span.start : span.end].startswith("| row") for span in spans[1:])


SEA = [f"The harbour master watched ship {n} leave the quay at high tide." for n in range(8)]
FOOD = [f"Knead the dough of loaf {n} and bake the bread in a hot oven." for n in range(8)]


def cuts(name: str, sentences: Sequence[str]) -> list[str]:
    body = body_of(" ".join(sentences))
    spans = strategies(EMBEDDER.embed_passages, Limits(500, 100, 1_500))[name](body)
    return [body.text[span.start : span.end] for span in spans]


@pytest.mark.parametrize("name", ["topic", "semantic"])
def test_a_change_of_subject_is_found(name: str) -> None:
    chunks = cuts(name, [*SEA, *FOOD])
    assert not any("harbour" in chunk and "dough" in chunk for chunk in chunks)


def test_adaptive_keeps_the_candidate_that_scores_best() -> None:
    limits = Limits(300, 100, 1_500)
    named = strategies(EMBEDDER.embed_passages, limits)
    body = analyse_body(body_of("# Sea\n\n" + " ".join(SEA) + "\n\n# Food\n\n" + " ".join(FOOD)))
    cuttings = [named[name](body) for name in ("hierarchical", "topic", "density")]
    whole = (Span(0, len(body.text)),)
    scores = [score_cutting(body.units(limits), spans, limits) for spans in (*cuttings, whole)]
    assert all(0 <= score <= 1 for score in scores)
    assert max(scores) > scores[-1]
    assert chunk_adaptively(body, limits) == cuttings[scores.index(max(scores))]


def test_rare_words_make_shorter_chunks() -> None:
    plain = ["The cat saw the dog and the dog saw the cat again today." for _ in range(60)]
    dense = [
        " ".join(f"{word}{n:02}" for word in ("alpha", "beta", "gamma", "delta", "omega")) + "."
        for n in range(60)
    ]
    chunks = cuts("density", [*plain, *dense])
    repeated = [len(chunk) for chunk in chunks if "cat" in chunk and "alpha" not in chunk]
    various = [len(chunk) for chunk in chunks if "alpha" in chunk and "cat" not in chunk]
    assert sum(repeated) / len(repeated) > 1.25 * sum(various) / len(various)


def test_the_extension_comes_before_the_format_and_both_before_the_default() -> None:
    named = strategies(EMBEDDER.embed_passages)
    chunkers = {"md": named["hierarchical"], "html": named["topic"]}
    text = "# Sea\n\n" + " ".join(SEA) * 4 + "\n\n# Food\n\n" + " ".join(FOOD) * 4

    def cut(*formats: str) -> object:
        return chunk_by_format(analyse_body(body_of(text), formats), chunkers, named["density"])

    expected = [named[name](body_of(text)) for name in ("hierarchical", "topic", "density")]
    assert [cut("md", "html"), cut("htm", "html"), cut("txt")] == expected


def test_chunks_carry_their_parents() -> None:
    text = "# A\n\n" + "".join(f"## Part {n}\n\n" + " ".join(SEA) + "\n\n" for n in range(3))
    body = body_of(text)
    chunks = build_chunks("d", body, strategies(EMBEDDER.embed_passages)["hierarchical"](body), len)
    assert all(chunk.parents[-1] == (0, len(body.text)) for chunk in chunks)


MARKDOWN = ("md", "markdown")
BEFORE = ChunkingSettings()


@pytest.mark.parametrize(
    ("changed", "matters"),
    [
        ({"strategy": "topic"}, True),
        ({"target": 500}, True),
        ({"minimum": 50}, True),
        ({"maximum": 1_200}, True),
        ({"by_format": {".MD": "fixed"}}, True),
        ({"by_format": {"markdown": "sentence"}}, True),
        ({"overlap": 10}, False),  # for "fixed" alone
        ({"by_format": {"pdf": "fixed"}}, False),
    ],
)
def test_what_changes_the_chunks_changes_the_name_and_nothing_else_does(
    changed: dict[str, Any], *, matters: bool
) -> None:
    assert (cut_by(MARKDOWN, ChunkingSettings(**changed)) != cut_by(MARKDOWN, BEFORE)) is matters


def test_it_is_named_by_the_strategy_and_stays_the_same() -> None:
    # Another value here means that every library is cut again: raise VERSION on purpose only.
    assert cut_by(MARKDOWN, BEFORE) == "hierarchical-cef3ce4e6f"


@given(st.text(alphabet="ab./", min_size=1), st.sampled_from(["md", "pdf"]))
def test_a_source_is_called_as_its_last_part(source: str, kind: str) -> None:
    # The store gives what follows the last dot, or all of a source without one.
    assert formats_of(source, kind) == formats_of(source.rpartition(".")[2], kind)
    assert formats_of("notes/Plan.TXT", "text") == ("txt", "text")
