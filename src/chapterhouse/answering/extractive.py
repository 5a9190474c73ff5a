"""The answer without a model: the parts of the documents that come closest, each cited.

::

    hits -> sentences with their shares -> those about what the question names
         -> whole parts, the best first, within a number of words -> how sure that answers it
         -> an answer, the closest passages, or nothing
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from chapterhouse.answering import asked_conflict
from chapterhouse.answering.choosing import WHOLE, Bodies, Form, choose, is_covered, worth_quoting
from chapterhouse.answering.cite import cite, verify
from chapterhouse.answering.confidence import ConfidenceModel, Signs, confidence
from chapterhouse.answering.names import Names, find_names
from chapterhouse.answering.parts import Part, as_shown
from chapterhouse.answering.question_kind import VALUES, QuestionKind, kind_of, offers
from chapterhouse.retrieval.question import Question, understand
from chapterhouse.retrieval.sentence_model import Judged, SentenceScorer
from chapterhouse.text.language import script_language
from chapterhouse.text.look_alikes import inert
from chapterhouse.types import (
    Answer,
    AnswerOutcome,
    AnswerSentence,
    Body,
    Census,
    Citation,
    Conflict,
    Document,
    Hit,
    Quotation,
    Searched,
    SearchResult,
)

CHUNKS_READ: Final = 8
_SEMICOLON: Final = "; "
_NEAREST: Final = 5  # headings that are named


@dataclass(frozen=True, slots=True)
class Reference:
    """What answering looks up.

    Attributes:
        scorer: Judges sentences.
        confidence: The weights by which an answer is held to be one.
        document: A document by id, or None.
        body: A document's text by its id, or None.
    """

    scorer: SentenceScorer
    confidence: ConfidenceModel
    document: Callable[[str], Document | None]
    body: Callable[[str], Body | None]


@dataclass(frozen=True, slots=True)
class Found:
    """What was chosen to be shown, and what is known of it.

    Attributes:
        kind: What the question asks for.
        parts: In the order in which they are shown.
        names: What the question names.
        signs: What speaks for an answer and against it.
        judged: All sentences of the hits.
    """

    question: Question
    kind: QuestionKind
    parts: tuple[Part, ...]
    names: Names
    signs: Signs | None
    judged: Judged


def answer(
    result: SearchResult,
    census: Census,
    reference: Reference,
    form: Form = WHOLE,
) -> Answer:
    """Answer the query of ``result`` from its hits.

    Args:
        result: The hits, best first.
        census: What was searched.
        reference: Where to look things up.
        form: How much to show.

    Returns:
        An answer of verified quotations; or the closest passages; or, where nothing was found,
        one that says so, with what was searched and the nearest headings.
    """
    bodies = Bodies(reference.body)
    found = find_parts(result, census, reference, form, bodies)
    quoted, citations = _compose(found, reference, bodies)
    told = tuple(sentence for _, sentence in quoted)
    certain = confidence(found.signs, reference.confidence) if found.signs and told else 0.0
    outcome = AnswerOutcome.PASSAGES
    if not told or certain < reference.confidence.passages:
        outcome, told, citations = AnswerOutcome.NOT_FOUND, (), ()
    elif certain >= reference.confidence.answer and not found.names.absent:
        outcome = AnswerOutcome.ANSWER
    if outcome is AnswerOutcome.ANSWER:  # then nothing needs to be marked
        told = tuple(replace(sentence, telling=(0, 0)) for sentence in told)
    elif outcome is AnswerOutcome.PASSAGES and form.joined:
        told = tuple(_passages(quoted))
    return Answer(
        question=result.query.text,
        outcome=outcome,
        sentences=told,
        citations=citations,
        searched=Searched(
            documents=result.documents,
            chunks=result.chunks,
            terms=tuple(word for word, _ in found.question.words),
            missing_terms=_missing(found.question, reference.scorer.document_frequency),
            nearest=_nearest(result.hits[:CHUNKS_READ]),
        ),
        confidence=certain,
        notice=_notice(found, told),
        conflicts=_conflicts(found, result, bodies, reference)
        if told and certain >= asked_conflict.LEAST_SURE
        else (),
        warnings=result.warnings,
    )


def _conflicts(
    found: Found, result: SearchResult, bodies: Bodies, reference: Reference
) -> tuple[Conflict, ...]:
    hits = result.hits[:CHUNKS_READ]
    texts = {hit.document.id: bodies.text(hit.document.id) for hit in hits}
    asked, question = result.query.text, found.question
    told = asked_conflict.Found(asked, question, found.kind, hits, found.judged, found.names, texts)
    return asked_conflict.find_conflicts(told, reference.scorer.encoder)


def find_parts(
    result: SearchResult,
    census: Census,
    reference: Reference,
    form: Form,
    bodies: Bodies | None = None,
) -> Found:
    """Return what of the hits is worth showing, and how sure that is an answer."""
    bodies = bodies or Bodies(reference.body)
    question = understand(result.question, census.languages)
    kind = kind_of(result.query.text, question.languages)
    hits = result.hits[:CHUNKS_READ]
    names = find_names(question, hits, reference.scorer.document_frequency, bodies.text)
    judged = reference.scorer.judge(question, hits, census.chunks)
    kept = worth_quoting(judged, hits, names, bodies)
    if not kept:
        return Found(question, kind, (), names, None, judged)
    parts = choose(kept, hits, bodies, form, question, every=kind in _EVERY)
    signs = _signs(parts, judged, hits, question, kind, result.query.text, names, bodies)
    return Found(question, kind, parts, names, signs, judged)


_EVERY: Final = frozenset({QuestionKind.ALL, QuestionKind.STEPS, QuestionKind.COMPARISON})


# --- how sure ------------------------------------------------------------------------------------


def _signs(
    parts: Sequence[Part],
    judged: Judged,
    hits: Sequence[Hit],
    question: Question,
    kind: QuestionKind,
    asked: str,
    names: Names,
    bodies: Bodies,
) -> Signs:
    inside = [
        row
        for row, sentence in enumerate(judged.sentences)
        if is_covered(parts, hits[sentence.rank], sentence)
    ]
    shares = [judged.sentences[row].share for row in inside]
    shown = "\n".join(
        bodies.text(part.hit.document.id)[slice(*span)] for part in parts for span in part.spans
    )
    table = judged.features[inside] if inside else judged.features[:1]
    return Signs(
        meaning=judged.meaning,
        shown=sum(shares),
        best=max(shares, default=0.0),
        coverage=float(table[:, 1].max()),
        sentence=float(table[:, 4].max()) if judged.meaning else 0.0,
        passage=judged.nearest,
        score=max(hit.score for hit in hits),
        documents=float(len({part.hit.document.id for part in parts})),
        unvalued=float(kind in VALUES and not offers(kind, shown, asked)),
        unnamed=names.missing_share(question, judged.weights, shown),
    )


# --- telling -------------------------------------------------------------------------------------


def _compose(
    found: Found, reference: Reference, bodies: Bodies
) -> tuple[tuple[tuple[Part, AnswerSentence], ...], tuple[Citation, ...]]:
    told: list[tuple[Part, AnswerSentence]] = []
    citations: list[Citation] = []
    for part in found.parts:
        document, body = reference.document(part.hit.document.id), bodies(part.hit.document.id)
        if document is None or body is None:
            continue
        own: list[Citation] = []
        for start, end in part.spans:
            quotation = Quotation(document.id, start, end, body.text[start:end])
            made = cite(document, quotation, len(citations) + len(own) + 1)
            own.append(verify(made, document, body))
        if not all(citation.verified for citation in own):  # changed between the search and now
            continue
        citations += own
        told.append((part, _sentence(part, own, found.names)))
    return tuple(told), tuple(citations)


def _passages(quoted: Sequence[tuple[Part, AnswerSentence]]) -> Iterator[AnswerSentence]:
    """Yield the parts of each passage as one; its first sentence that tells stands for it."""
    for _, group in groupby(quoted, key=lambda one: (one[0].hit.document.id, one[0].hit.rank)):
        own = [sentence for _, sentence in group]
        texts = [sentence.text for sentence in own]
        start, end = own[0].telling
        telling = (start, end or len(texts[0])) if len(own) > 1 else (start, end)
        yield AnswerSentence(
            "\n".join(texts),
            tuple(number for sentence in own for number in sentence.citations),
            before=own[0].before,
            note=_SEMICOLON.join(
                dict.fromkeys(
                    note for sentence in own for note in sentence.note.split(_SEMICOLON) if note
                )
            ),
            telling=telling,
        )


def _sentence(part: Part, own: Sequence[Citation], names: Names) -> AnswerSentence:
    text = inert("\n".join(as_shown(citation.quote, part.header, part.columns) for citation in own))
    count, every = part.shown
    document = part.hit.document
    notes = [f"{count} of {every} shown"] if count < every else []
    if names.documents and document.id not in names.documents:
        notes.append(f"about another document: {inert(document.title)}")
    whole = len(own) == 1 and (own[0].start, own[0].end) == part.core
    core = "" if whole else inert(_shown_core(own, part))
    place = text.find(core) if core else -1
    return AnswerSentence(
        text,
        tuple(citation.number for citation in own),
        before="\n" if own[0].number > 1 else "",
        note=_SEMICOLON.join(notes),
        telling=(place, place + len(core)) if place >= 0 else (0, 0),
    )


def _shown_core(own: Sequence[Citation], part: Part) -> str:
    start, end = part.core
    for citation in own:
        if citation.start <= start and end <= citation.end:
            return as_shown(citation.quote[start - citation.start : end - citation.start])
    return ""


def _notice(found: Found, told: Sequence[AnswerSentence]) -> str:
    """Return what the reader is told first: a name or a value that no document states."""
    if found.names.absent:
        names = ", ".join(f"“{name}”" for name in found.names.absent)
        return f"No document searched mentions {names}."
    if told and found.signs and found.signs.unvalued and found.kind in _NOT_STATED:
        return _NOT_STATED[found.kind]
    return ""


_NOT_STATED: Final[Mapping[QuestionKind, str]] = {
    QuestionKind.DATE: "No date is stated in what was found.",
    QuestionKind.NUMBER: "No number or amount is stated in what was found.",
}


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
    places = dict.fromkeys(
        " › ".join(dict.fromkeys((hit.document.title, *hit.chunk.section_path))) for hit in hits
    )
    return tuple(places)[:_NEAREST]
