"""The answer without a model: the best sentences of the documents, each with its citation."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from chapterhouse.answering.cite import cite, verify
from chapterhouse.answering.evidence import THRESHOLD, evidence, features
from chapterhouse.answering.markers import inert
from chapterhouse.answering.passages import Passage, passages, word_weights
from chapterhouse.answering.phrasing import phrase
from chapterhouse.protocols import Embedder
from chapterhouse.retrieval.question import Question, understand
from chapterhouse.text.front_matter import LONGEST, body_start
from chapterhouse.text.language import script_language
from chapterhouse.types import (
    Answer,
    AnswerOutcome,
    AnswerSentence,
    Body,
    Census,
    Citation,
    Document,
    Hit,
    Quotation,
    Searched,
    SearchResult,
)

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_YEAR = re.compile(r"[12]\d{3}")
CHUNKS_READ: Final = 8
_NEAREST: Final = 5
# Least chance to hold the answer, given that it is somewhere: what has less only pads it. Of three
# sentences this leaves two on average, and costs one answer in a hundred.
_WORTH_SAYING: Final = 0.02
# Jaccard similarity of terms from which two sentences say the same.
_REPETITION: Final = 0.6


@dataclass(frozen=True, slots=True)
class Reference:
    """What answering looks up.

    Attributes:
        document_frequency: Number of chunks in which an index term occurs.
        document: A document by id, or None.
        body: A document's text by its id, or None.
    """

    embedder: Embedder
    document_frequency: Callable[[str], int]
    document: Callable[[str], Document | None]
    body: Callable[[str], Body | None]


def answer(
    result: SearchResult,
    census: Census,
    reference: Reference,
    sentences: int = 3,
    least: float = THRESHOLD,
) -> Answer:
    """Answer the query of ``result`` from its hits.

    Args:
        result: The hits, best first.
        census: What was searched.
        reference: Where to look things up.
        sentences: At most so many sentences, 1 or more.
        least: Strength of the evidence from which there is an answer, 0 to 1.

    Returns:
        An answer of verified sentences; or, where the evidence is too thin or nothing can be
        verified, one that says so, with what was searched and the nearest headings.
    """
    question = understand(result.question, census.languages)
    hits = result.hits[:CHUNKS_READ]
    weights = word_weights(question, reference.document_frequency, max(census.chunks, 1))
    found = passages(
        question, hits, weights, reference.embedder, begins=_own_beginnings(hits, reference)
    )
    served = any(reference.embedder.serves(language) for language in question.languages)
    found = tuple(_of_the_years(question, found, reference))
    strength = 0.0
    if found:
        strength = evidence(features(question, found, hits, weights), served=served)
    told: tuple[AnswerSentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    if strength >= least:
        told, citations = _compose(found, reference, sentences)
    return Answer(
        question=result.query.text,
        outcome=AnswerOutcome.ANSWER if told else AnswerOutcome.NOT_FOUND,
        sentences=told,
        citations=citations,
        searched=Searched(
            documents=result.documents,
            chunks=result.chunks,
            terms=tuple(word for word, _ in question.words),
            missing_terms=_missing(question, reference.document_frequency),
            nearest=_nearest(hits),
        ),
        confidence=strength,
        warnings=result.warnings,
    )


def _own_beginnings(hits: Sequence[Hit], reference: Reference) -> Mapping[str, int]:
    """Return where the text of curated documents begins: behind front matter, by document id."""
    found: dict[str, int] = {}
    for hit in hits:
        name = hit.document.id
        if hit.document.format == "md" and hit.chunk.start < LONGEST and name not in found:
            body = reference.body(name)
            found[name] = body_start(body.text) if body else 0
    return found


def _of_the_years(
    question: Question, found: Sequence[Passage], reference: Reference
) -> Iterator[Passage]:
    """Yield what comes from documents that mention the years asked about.

    A question about 2023 is not answered by minutes that never mention 2023.
    """
    years = [word for word, _ in question.words if _YEAR.fullmatch(word)]
    mentions: dict[str, bool] = {}
    for passage in found:
        document = passage.hit.document
        if years and document.id not in mentions:
            body = reference.body(document.id)
            text = "\n".join((document.title, document.source, body.text if body else ""))
            mentions[document.id] = all(year in text for year in years)
        if mentions.get(document.id, True):
            yield passage


def _compose(
    found: Sequence[Passage], reference: Reference, sentences: int
) -> tuple[tuple[AnswerSentence, ...], tuple[Citation, ...]]:
    told: list[AnswerSentence] = []
    citations: list[Citation] = []
    bodies: dict[str, Body | None] = {}
    for passage in worth_saying(found):
        if len(told) >= sentences:
            break
        name = passage.hit.document.id
        if name not in bodies:
            bodies[name] = reference.body(name)
        span = Quotation(name, passage.start, passage.end, passage.text)
        citation = cite(passage.hit.document, span, len(citations) + 1)
        checked = verify(citation, reference.document(name), bodies[name])
        if not checked.verified:  # the document changed between the search and now
            continue
        told.append(AnswerSentence(inert(phrase(passage)), (checked.number,)))
        citations.append(checked)
    return tuple(told), tuple(citations)


def worth_saying(found: Sequence[Passage]) -> Iterator[Passage]:
    """Yield passages that may well hold the answer and do not repeat one already yielded."""
    said: list[Passage] = []
    whole = sum(passage.score for passage in found)  # below 1 where some were left out
    for passage in found:
        if said and passage.score < whole * _WORTH_SAYING:
            return
        if all(_similarity(passage, earlier) < _REPETITION for earlier in said):
            said.append(passage)
            yield passage


def _similarity(one: Passage, other: Passage) -> float:
    """Return how much two passages say the same; nothing where their numbers differ.

    "Within 14 days" and "within 30 days" are two claims, and the difference is what matters.
    """
    if _numbers(one) != _numbers(other):
        return 0.0
    union = len(one.terms | other.terms)
    return len(one.terms & other.terms) / union if union else 1.0


def _numbers(passage: Passage) -> frozenset[str]:
    return frozenset(_NUMBER.findall(passage.text))


def _missing(question: Question, document_frequency: Callable[[str], int]) -> tuple[str, ...]:
    """Return the words that stand nowhere; not names of files, nor pieces of Chinese."""
    return tuple(
        word
        for word, terms in question.words
        if not any(document_frequency(term) for term in terms)
        and word not in question.file_names
        and not script_language(word)
    )


def _nearest(hits: Sequence[Hit]) -> tuple[str, ...]:
    places: Mapping[str, None] = dict.fromkeys(
        " › ".join(dict.fromkeys((hit.document.title, *hit.chunk.section_path))) for hit in hits
    )
    return tuple(places)[:_NEAREST]
