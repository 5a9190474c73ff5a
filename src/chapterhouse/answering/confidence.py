"""How likely what is shown answers the question.

A logistic model of a few signs, fitted by ``benchmarks/confidence.py`` on natural questions over
real folders, contracts, papers and encyclopedia questions in four languages: with their documents
and with these taken out. One for text that the encoder serves, and a more cautious one for other
languages.
"""

import json
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from chapterhouse.answering.choosing import Bodies, is_covered
from chapterhouse.answering.parts import Part
from chapterhouse.answering.route import VALUES, QuestionKind, offers, without_numbering
from chapterhouse.retrieval.judging import Floats, Judgement, cosines, serves
from chapterhouse.retrieval.names import are_joined
from chapterhouse.retrieval.sentences import text_of
from chapterhouse.types import Hit, Question, TokenVectors
from chapterhouse.types.engines import TokenEmbedder

BY_MEANING: Final = (
    "shown", "best", "document", "score", "gap", "unvalued", "valueless", "cosine", "tokens",
    "unmet", "absent",
)  # fmt: skip
BY_WORDS: Final = ("shown", "best", "document", "score", "gap", "unvalued", "coverage")
_COMPARED: Final = 5  # hits
_READ: Final = 3  # sentences, the best, that the encoder reads
_MET: Final = 0.4  # cosine from which a token of the question is met by one of a sentence
# Score of the best hit and cosine of the nearest sentence, together, below which nothing is about
# what was asked; more where words of the question are nowhere. Of what answers one in ninety, of
# questions from elsewhere three of four.
_NEAR: Final = 0.25
_ABSENT: Final = 0.15
_FARTHEST: Final = 50.0  # of a logit; beyond, the exponential overflows


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for an answer and against it. Each is 0 to 1; cosines are 0 without meaning.

    Attributes:
        meaning: Whether an encoder read the best sentences; chooses the model.
        shown: Share of the answer that may be expected in what is shown, given that it is in the
            hits.
        best: The same of its best sentence.
        document: The same of all sentences of one document, the best; of several where as many are
            named.
        coverage: Most of the question's word weight that a sentence shown has.
        gap: How far that lies above the fifth's; above nothing, where there are fewer.
        unvalued: 1 where a value is asked for, and nothing shown may be it.
        valueless: Share of sentences that cannot be it, of what is shown, where one is asked for.
        cosine: Highest cosine of one of the best sentences with the question.
        tokens: Highest mean, over the question's tokens, of the cosine with the nearest of one.
        unmet: Share of the question's tokens that none of them comes near.
        absent: Share of the question's word weight that is of words that no chunk has, and that no
            token of the best sentences comes near: not "covers" beside "is governed by".
    """

    meaning: bool
    shown: float
    best: float
    document: float
    coverage: float
    score: float
    gap: float
    unvalued: float
    valueless: float
    cosine: float = 0.0
    tokens: float = 0.0
    unmet: float = 0.0
    absent: float = 0.0


@dataclass(frozen=True, slots=True)
class ConfidenceModel:
    """Weights of the signs, and the confidence from which something is called an answer.

    Attributes:
        by_meaning: The intercept and a weight for each of ``BY_MEANING``.
        by_words: The same of ``BY_WORDS``, for languages that the encoder does not serve.
        answer: Least confidence of an answer, 0 to 1.
        passages: Least confidence of anything that is shown.
    """

    by_meaning: tuple[float, ...]
    by_words: tuple[float, ...]
    answer: float
    passages: float


def confidence_model(text: str) -> ConfidenceModel:
    """Return the model of a JSON text.

    Raises:
        ValueError: a sign is missing or unknown.
    """
    read = json.loads(text)
    found = []
    for name, signs in (("by meaning", BY_MEANING), ("by words", BY_WORDS)):
        weights = read[name]
        if set(weights) != {"intercept", *signs}:
            raise ValueError(f"The weights are of {sorted(weights)}, the signs {sorted(signs)}")
        found.append(tuple(float(weights[sign]) for sign in ("intercept", *signs)))
    by_meaning, by_words = found
    return ConfidenceModel(by_meaning, by_words, float(read["answer"]), float(read["passages"]))


def confidence(signs: Signs, model: ConfidenceModel) -> float:
    """Return the chance that what is shown answers the question, 0 to 1."""
    if signs.meaning and signs.score + signs.cosine < _NEAR + _ABSENT * signs.absent:
        return 0.0  # nothing is about what was asked, however well it matches by chance
    intercept, *weights = model.by_meaning if signs.meaning else model.by_words
    own = BY_MEANING if signs.meaning else BY_WORDS
    logit = intercept + sum(
        weight * getattr(signs, sign) for weight, sign in zip(weights, own, strict=True)
    )
    return round(1 / (1 + math.exp(-max(min(logit, _FARTHEST), -_FARTHEST))), 6)


def signs_of(
    parts: Sequence[Part],
    judged: Judgement,
    hits: Sequence[Hit],
    question: Question,
    kind: QuestionKind,
    asked: str,
    bodies: Bodies,
    encoder: TokenEmbedder,
) -> Signs:
    """Return what speaks for it that parts answer a question, and what against it.

    Args:
        parts: What is shown; at least one.
    """
    rows = [
        row
        for row, sentence in enumerate(judged.sentences)
        if is_covered(parts, hits[sentence.rank], sentence)
    ]
    own = [judged.sentences[row] for row in rows]
    shown = sum(sentence.share for sentence in own)
    quoted = "\n".join(
        bodies.text(part.hit.document.id)[slice(*span)] for part in parts for span in part.spans
    )
    valued = sum(
        sentence.share
        for sentence in own
        if _offers(kind, text_of(hits[sentence.rank], sentence), asked)
    )
    scores = sorted((hit.score for hit in hits), reverse=True)
    signs = Signs(
        meaning=serves(encoder, question, hits),
        shown=shown,
        best=max((sentence.share for sentence in own), default=0.0),
        document=_of_best_documents(judged, hits, question),
        coverage=float(judged.table[rows or [0], 1].max()),
        score=scores[0],
        gap=scores[0] - (scores[_COMPARED - 1] if len(scores) >= _COMPARED else 0.0),
        unvalued=float(not _offers(kind, quoted, asked)),
        valueless=1 - valued / shown if shown else float(kind in VALUES),
    )
    return _with_meaning(signs, judged, hits, question, encoder) if signs.meaning else signs


def _with_meaning(
    signs: Signs,
    judged: Judgement,
    hits: Sequence[Hit],
    question: Question,
    encoder: TokenEmbedder,
) -> Signs:
    """Return signs with what the encoder says of the best sentences, read behind their headings."""
    best = sorted(judged.sentences, key=lambda one: -one.share)[:_READ]
    texts = [f"{_heading(hits[one.rank])}: {text_of(hits[one.rank], one)}" for one in best]
    tokens = encoder.embed_question_tokens(question.text)
    asked = tokens.vectors
    read = [tokens.vectors for tokens in encoder.embed_passage_tokens(texts)]
    if not len(asked):
        return signs
    nearest = np.stack([cosines(asked, own).max(axis=1) for own in read])
    met = nearest.max(axis=0)
    middle = [cosines(asked.mean(axis=0)[None], own.mean(axis=0)[None]).item() for own in read]
    return replace(
        signs,
        cosine=round(max(middle), 5),
        tokens=round(float(nearest.mean(axis=1).max()), 5),
        unmet=float((met < _MET).mean()),
        absent=_absent(judged, question, tokens, met),
    )


def _absent(judged: Judgement, question: Question, tokens: TokenVectors, met: Floats) -> float:
    """Return the share of the question's weight that is of words neither there nor meant.

    Args:
        met: Of each token of the question its cosine with the nearest of the best sentences.
    """
    text, found = question.text.lower(), 0.0
    for (word, _), weight in zip(question.words, judged.absent, strict=True):
        start = text.find(word.lower())
        own = (tokens.starts < start + len(word)) & (tokens.ends > start)
        if start < 0 or not own.any() or met[own].mean() < _MET:
            found += weight
    return round(found, 5)


def _heading(hit: Hit) -> str:
    return (hit.chunk.section_path or (hit.document.title,))[-1]


def _of_best_documents(judged: Judgement, hits: Sequence[Hit], question: Question) -> float:
    """Return the largest share that the sentences of one document have, or of one a joined name."""
    shares: defaultdict[str, float] = defaultdict(float)
    for sentence in judged.sentences:
        shares[hits[sentence.rank].document.id] += sentence.share
    count = len(question.names) if are_joined(question) else 1
    return min(sum(sorted(shares.values(), reverse=True)[:count]), 1.0)


def _offers(kind: QuestionKind, text: str, asked: str) -> bool:
    """Whether a text may hold the value that is asked for, where one is: not by its numbering."""
    return kind not in VALUES or offers(kind, without_numbering(text), asked)
