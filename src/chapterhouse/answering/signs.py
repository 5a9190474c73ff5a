"""What speaks for it that what is shown answers a question, and what against it."""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from chapterhouse.answering.choosing import Bodies, is_covered
from chapterhouse.answering.confidence import Signs
from chapterhouse.answering.names import Names
from chapterhouse.answering.parts import Part
from chapterhouse.answering.question_kind import VALUES, QuestionKind, offers
from chapterhouse.retrieval.question import Question
from chapterhouse.retrieval.sentence_model import Judged
from chapterhouse.retrieval.sentences import text_of
from chapterhouse.types import Hit

_NUMBERING: Final = re.compile(r"(?m)^[ \t]*(?:[-*+•][ \t]+)?\(?(?:\d{1,3}|[a-z])[.)][ \t]")


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
