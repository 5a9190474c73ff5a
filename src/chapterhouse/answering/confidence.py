"""How likely what is shown answers the question.

A logistic model of a few signs, fitted by ``benchmarks/confidence.py`` on natural questions over
real folders, contracts, papers and encyclopedia questions in four languages: with their documents
and with these taken out. One for text that the encoder serves, and a more cautious one for other
languages.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from chapterhouse.answering.choosing import Bodies, is_covered
from chapterhouse.answering.names import Names
from chapterhouse.answering.parts import Part
from chapterhouse.answering.question_kind import VALUES, QuestionKind, offers
from chapterhouse.retrieval.sentence_model import Judged
from chapterhouse.retrieval.sentences import text_of
from chapterhouse.types import Hit, Question

BY_MEANING: Final = (
    "shown", "best", "document", "coverage", "sentence", "unmet", "unvalued", "valueless",
)  # fmt: skip
BY_WORDS: Final = ("shown", "best", "document", "coverage", "score", "unvalued", "unnamed")
# Cosines below which a passage and a sentence have nothing to do with a question: of what answers
# one in a hundred, of what is found for a question from elsewhere a third.
_NEAR_PASSAGE: Final = 0.2
_NEAR_SENTENCE: Final = 0.25
_FARTHEST: Final = 50.0  # of a logit; beyond, the exponential overflows
_NUMBERING: Final = re.compile(r"(?m)^[ \t]*(?:[-*+•][ \t]+)?\(?(?:\d{1,3}|[a-z])[.)][ \t]")


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for an answer and against it. Each is 0 to 1; cosines are 0 without meaning.

    Attributes:
        meaning: Whether sentences were compared by meaning; chooses the model.
        shown: Share of the answer that may be expected in what is shown, given that it is in the
            hits.
        best: The same of its best sentence.
        document: The same of all sentences of one document, the best.
        coverage: Most of the question's word weight that a sentence shown has.
        sentence: Highest cosine of a sentence shown with the question.
        passage: Highest cosine of a hit with the question.
        unmet: Share of the question's weight in tokens that nothing shown comes near.
        score: Of the best hit.
        unvalued: 1 where a value is asked for, and nothing shown may be it.
        valueless: Share of sentences that cannot be it, of what is shown, where one is asked for.
        unnamed: Share of the question's weight in names that what is shown lacks.
    """

    meaning: bool
    shown: float
    best: float
    document: float
    coverage: float
    sentence: float
    passage: float
    unmet: float
    score: float
    unvalued: float
    valueless: float
    unnamed: float


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
    if signs.meaning and signs.passage < _NEAR_PASSAGE and signs.sentence < _NEAR_SENTENCE:
        return 0.0  # nothing is about what was asked, however well it matches by chance
    intercept, *weights = model.by_meaning if signs.meaning else model.by_words
    own = BY_MEANING if signs.meaning else BY_WORDS
    logit = intercept + sum(
        weight * getattr(signs, sign) for weight, sign in zip(weights, own, strict=True)
    )
    return round(1 / (1 + math.exp(-max(min(logit, _FARTHEST), -_FARTHEST))), 6)


def signs_of(
    parts: Sequence[Part],
    judged: Judged,
    hits: Sequence[Hit],
    question: Question,
    kind: QuestionKind,
    asked: str,
    names: Names,
    bodies: Bodies,
) -> Signs:
    """Return what speaks for it that parts answer a question, and what against it.

    Args:
        parts: What is shown.
        judged: All sentences of the hits.
        hits: What was read; at least one.
        question: What was asked, made ready.
        kind: What it asks for.
        asked: As it was asked.
        names: What it names.
        bodies: Reads the documents' texts.
    """
    inside = [
        row
        for row, sentence in enumerate(judged.sentences)
        if is_covered(parts, hits[sentence.rank], sentence)
    ]
    own = [judged.sentences[row] for row in inside]
    shown = sum(sentence.share for sentence in own)
    quoted = "\n".join(
        bodies.text(part.hit.document.id)[slice(*span)] for part in parts for span in part.spans
    )
    valued = sum(
        sentence.share
        for sentence in own
        if _offers(kind, text_of(hits[sentence.rank], sentence), asked)
    )
    table = judged.features.table[inside or [0]]
    met = judged.features.met[inside or [0]]
    return Signs(
        meaning=judged.meaning,
        shown=shown,
        best=max((sentence.share for sentence in own), default=0.0),
        document=_best_document(judged, hits),
        coverage=float(table[:, 1].max()),
        sentence=float(table[:, 4].max()) if judged.meaning else 0.0,
        passage=judged.features.nearest,
        unmet=1 - round(float(met.max(axis=0).sum()), 5) if judged.meaning else 0.0,
        score=max(hit.score for hit in hits),
        unvalued=float(not _offers(kind, quoted, asked)),
        valueless=1 - valued / shown if shown else float(kind in VALUES),
        unnamed=names.missing_share(question, judged.weights, quoted),
    )


def _best_document(judged: Judged, hits: Sequence[Hit]) -> float:
    """Return the largest share that the sentences of one document have together."""
    shares: defaultdict[str, float] = defaultdict(float)
    for sentence in judged.sentences:
        shares[hits[sentence.rank].document.id] += sentence.share
    return max(shares.values())


def _offers(kind: QuestionKind, text: str, asked: str) -> bool:
    """Whether a text may hold the value that is asked for, where one is: not by its numbering."""
    return kind not in VALUES or offers(kind, _NUMBERING.sub("", text), asked)
