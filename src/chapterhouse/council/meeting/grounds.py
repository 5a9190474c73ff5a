"""What may be a ground: supported, current, and about the question."""

from collections.abc import Sequence
from typing import Final

from chapterhouse.council.disagreement.map import Facts
from chapterhouse.council.disagreement.sources import all_outdated
from chapterhouse.council.meeting.session import Session
from chapterhouse.ports.models import TokenEmbedder
from chapterhouse.retrieval.sentences import cosines
from chapterhouse.runtime import Runtime
from chapterhouse.text.language import detect
from chapterhouse.types import FOUND, Citation, Minutes, Point, PositionTable

# Mean likeness of a question's tokens to the nearest of a sentence: 95 % of what readers wrote on
# the questions of the open councils is above it (``benchmarks/councils/spoken_score.py``).
_ALIKE: Final = 0.24
_UNSUPPORTED: Final = "no document carries it"
_OUTDATED: Final = "something newer is at hand"
_OTHER_SUBJECT: Final = "it is not about the question"


def why_no_ground(
    points: Sequence[Point], session: Session, minutes: Minutes, facts: Facts, runtime: Runtime
) -> tuple[str, ...]:
    """Return of each sentence why it is no ground; empty where it may be one.

    Args:
        points: Sentences with their citations, numbered as those of the minutes.
        session: Who meets, and what is asked.
        minutes: What is known by now: citations, and what documents say.
        facts: What is known of the documents.
        runtime: The library's parts.
    """
    asked = (session.question, *session.council.options)
    language = detect(" ".join(asked))
    texts = [point.text for point in points]
    about = about_question(asked, texts, runtime.token_encoder, language)
    outdated = outdated_citations(minutes.citations, minutes.reading, facts)
    return tuple(
        _UNSUPPORTED
        if point.support not in FOUND
        else _OUTDATED
        if point.citations and outdated.issuperset(point.citations)
        else ""
        if is_about
        else _OTHER_SUBJECT
        for point, is_about in zip(points, about, strict=True)
    )


def about_question(
    questions: Sequence[str], texts: Sequence[str], encoder: TokenEmbedder, language: str
) -> tuple[bool, ...]:
    """Return of each text whether it is about a question; where that cannot be told, it is.

    Args:
        questions: What was asked, and the options, each alone.
        texts: Sentences.
        encoder: Makes a vector of each token.
        language: Of the sentences, mostly.
    """
    if not texts or not encoder.serves(language):
        return (True,) * len(texts)
    asked = [one.vectors for one in encoder.embed_tokens(questions) if len(one.vectors)]
    stated = [one.vectors for one in encoder.embed_tokens(texts)]
    return tuple(
        not asked
        or not len(vectors)
        or max(float(cosines(one, vectors).max(axis=1).mean()) for one in asked) >= _ALIKE
        for vectors in stated
    )


def outdated_citations(
    citations: Sequence[Citation], reading: PositionTable, facts: Facts
) -> frozenset[int]:
    """Return the numbers of citations of which the same reader has something newer.

    That is a newer version of the document, or a newer document that says otherwise on what is
    asked.

    Args:
        citations: Numbered.
        reading: What documents say; its numbers count in ``citations``.
        facts: What is known of the documents.
    """
    known = {one.number: one for one in citations}
    older = [
        known[number]
        for cell in reading.positions
        if cell.outdated
        for number in cell.outdated.citations
    ]
    documents = {one.document_id for one in citations}
    replaced = {one for one in documents if all_outdated({one}, facts.documents, facts.text_of)}
    return frozenset(
        one.number
        for one in citations
        if one.document_id in replaced or any(_overlap(one, other) for other in older)
    )


def _overlap(one: Citation, other: Citation) -> bool:
    return one.document_id == other.document_id and one.start < other.end and other.start < one.end
