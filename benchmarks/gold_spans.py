"""How well cutting serves retrieval: tokens of gold answer spans among the tokens retrieved.

::

    questions.csv          question, references (JSON: content, start_index, end_index), corpus_id
    corpora/NAME.md        one text a corpus; the indexes count its code points

Recall alone is won by chunks as long as the document, precision alone by chunks of one sentence;
the intersection over union weighs both. Tokens are those of the built-in table's
tokenizer (Llama 2), a subword tokenizer with a vocabulary of 32,000 (the published figures used
cl100k); every share here is a ratio of counts, for which the two are equal within noise.

Source: Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval", Chroma, 2024.
"""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chapterhouse.types import Range

Places = NDArray[np.int64]  # of each token of a text, the offset of its last character, ascending


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question and the stretches of one corpus that answer it, in order of the file."""

    text: str
    corpus: str
    ranges: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class GoldSpans:
    """Texts by name of the corpus, and the questions asked of them."""

    texts: Mapping[str, str]
    questions: tuple[GoldQuestion, ...]


@dataclass(frozen=True, slots=True)
class SpanScores:
    """Shares of tokens, each 0 to 1.

    Attributes:
        recall: Gold tokens retrieved, of the gold tokens.
        precision: Gold tokens retrieved, of the tokens retrieved; a token retrieved twice counts
            twice, so that overlap has its price.
        precision_omega: The precision of a perfect retriever: gold tokens, of the tokens of all
            chunks that hold one.
        iou: Gold tokens retrieved, of the tokens that are gold or retrieved.
    """

    recall: float
    precision: float
    precision_omega: float
    iou: float


def load_gold(folder: Path) -> GoldSpans:
    """Read gold spans.

    Raises:
        ValueError: a span does not hold its content.
    """
    with (folder / "questions.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    texts = {
        # line ends as they are: offsets count them
        name: (folder / "corpora" / f"{name}.md").read_bytes().decode("utf-8")
        for name in dict.fromkeys(row["corpus_id"] for row in rows)
    }
    questions = (
        GoldQuestion(row["question"], name, _ranges(row["references"], texts[name]))
        for row in rows
        for name in [row["corpus_id"]]
    )
    return GoldSpans(texts, tuple(questions))


def _ranges(references: str, text: str) -> tuple[Range, ...]:
    found = []
    for reference in json.loads(references):
        start, end = int(reference["start_index"]), int(reference["end_index"])
        if text[start:end] != reference["content"] or start >= end:
            raise ValueError(f"{start}:{end} does not hold {reference['content'][:40]!r}")
        found.append((start, end))
    return tuple(found)


def token_places(text: str, token_offsets: Callable[[str], Sequence[Range]]) -> Places:
    """Return where each token of ``text`` ends: the offset of its last character, ascending.

    A token belongs to the stretch in which it ends, because many tokens start with the space
    before their word. So stretches that cover a text share its tokens out without remainder.
    """
    ends = [end for _, end in token_offsets(text)]
    return np.maximum.accumulate(np.asarray(ends, dtype=np.int64).reshape(-1) - 1)


def count_tokens(ranges: Sequence[Range], places: Places) -> int:
    """Count the tokens in each of ``ranges`` and return the sum."""
    if not ranges:
        return 0
    bounds = np.searchsorted(places, np.asarray(ranges, dtype=np.int64))
    return int((bounds[:, 1] - bounds[:, 0]).sum())


def score_spans(
    gold: Sequence[Range],
    retrieved: Sequence[Range],
    chunks: Sequence[Range],
    places: Places,
    elsewhere: int = 0,
) -> SpanScores:
    """Score what was retrieved for one question.

    Args:
        gold: The answer's stretches in its text.
        retrieved: Stretches of the same text that were retrieved.
        chunks: Every chunk of that text.
        places: ``token_places`` of that text.
        elsewhere: Tokens retrieved from other texts; none of them is gold.
    """
    wanted, seen = _mask(gold, places), _mask(retrieved, places)
    total = count_tokens(retrieved, places) + elsewhere
    size, found = int(wanted.sum()), int((wanted & seen).sum())
    before = np.concatenate([[0], np.cumsum(wanted)])
    bounds = np.searchsorted(places, np.asarray(chunks, dtype=np.int64).reshape(-1, 2))
    holding = before[bounds[:, 1]] > before[bounds[:, 0]]
    needed = int((bounds[holding, 1] - bounds[holding, 0]).sum())
    return SpanScores(
        recall=_share(found, size),
        precision=_share(found, total),
        precision_omega=_share(size if needed else 0, needed),
        iou=_share(found, total + size - found),
    )


def _mask(ranges: Sequence[Range], places: Places) -> NDArray[np.bool_]:
    mask = np.zeros(len(places), dtype=np.bool_)
    for start, end in ranges:
        first, last = np.searchsorted(places, [start, end])
        mask[first:last] = True
    return mask


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
