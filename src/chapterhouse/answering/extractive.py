"""The answer without a model: the parts of the documents that come closest, each cited.

::

    hits -> sentences with their shares -> those about what the question names
         -> whole parts, the best first, within a number of words -> how sure that answers it
         -> an answer, the closest passages, or nothing
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from chapterhouse.answering.choosing import WHOLE, Bodies, Form, beginning, choose, worth_quoting
from chapterhouse.answering.cite import cite, verify
from chapterhouse.answering.confidence import ConfidenceModel, Signs, confidence, signs_of
from chapterhouse.answering.names import (
    Names,
    find_names,
    find_steps,
    named_documents,
)
from chapterhouse.answering.parts import Part, as_shown
from chapterhouse.answering.question_kind import VALUES, QuestionKind, kind_of, offers
from chapterhouse.answering.route import needs_model, notice
from chapterhouse.retrieval.sentence_model import Judged, SentenceScorer
from chapterhouse.retrieval.sentences import Sentence
from chapterhouse.text.language import foreign_to
from chapterhouse.text.view import inert
from chapterhouse.types import (
    Answer,
    AnswerOutcome,
    AnswerSentence,
    Body,
    Citation,
    CorpusCounts,
    Document,
    Hit,
    Question,
    Quotation,
    Searched,
    SearchResult,
)

CHUNKS_READ: Final = 8
_SEMICOLON: Final = "; "
# Share of a sentence of an answer, over the best one's: of 42 right answers over the open folders
# 41 keep their facts, and the median has 68 words instead of 110.
_LEAST_OF_ANSWER: Final = 0.1
_NEAREST: Final = 5  # headings that are named, and documents that are counted
_PARTLY_READ: Final = 3  # files that are named


@dataclass(frozen=True, slots=True)
class Reference:
    """What answering looks up.

    Attributes:
        scorer: Judges sentences.
        confidence: The weights by which an answer is held to be one.
        document: A document by id, or None.
        body: A document's text by its id, or None.
        absent_words: The words of a question that no document searched mentions.
        partly_read: Names the files that are read only in part.
    """

    scorer: SentenceScorer
    confidence: ConfidenceModel
    document: Callable[[str], Document | None]
    body: Callable[[str], Body | None]
    absent_words: Callable[[Question], tuple[str, ...]]
    partly_read: Callable[[], Sequence[str]] = tuple


@dataclass(frozen=True, slots=True)
class Found:
    """What was chosen to be shown, and what is known of it.

    Attributes:
        kind: What the question asks for.
        names: What the question names.
        hits: What was read.
        quotable: The sentences that may be quoted, the best first.
        steps: Those of them that are needed together, a document each.
        parts: What is shown of them, in order.
        signs: What speaks for an answer and against it.
        judged: All sentences of the hits.
        beginning: Title of the document whose beginning the parts are; or empty.
    """

    question: Question
    kind: QuestionKind
    names: Names
    hits: tuple[Hit, ...]
    judged: Judged
    quotable: tuple[Sentence, ...] = ()
    steps: tuple[Sentence, ...] = ()
    parts: tuple[Part, ...] = ()
    signs: Signs | None = None
    beginning: str = ""


def answer(
    result: SearchResult,
    census: CorpusCounts,
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
    shown = "\n".join(part.text(bodies.text(part.hit.document.id)) for part in found.parts)
    certain = confidence(found.signs, reference.confidence) if found.signs else 0.0
    outcome = AnswerOutcome.PASSAGES
    if certain < reference.confidence.passages and not found.beginning:
        outcome = AnswerOutcome.NOT_FOUND
    elif certain >= reference.confidence.answer and not (
        found.names.absent or needs_model(found.kind, shown, result.query.text)
    ):
        outcome = AnswerOutcome.ANSWER
        found = _to_the_point(found, form, bodies)
    quoted, citations = _compose(found, reference, bodies)
    sentences = tuple(sentence for _, sentence in quoted)
    if not sentences or outcome is AnswerOutcome.NOT_FOUND:
        certain = certain if sentences else 0.0
        outcome, sentences, citations, shown = AnswerOutcome.NOT_FOUND, (), (), ""
    elif outcome is AnswerOutcome.ANSWER:  # then nothing needs to be marked
        sentences = tuple(replace(sentence, key_span=(0, 0)) for sentence in sentences)
    elif form.joined:
        sentences = tuple(_passages(quoted))
    return Answer(
        question=result.query.text,
        outcome=outcome,
        sentences=sentences,
        citations=citations,
        searched=_searched(result, census, reference, found.question, outcome),
        confidence=certain,
        notice=notice(
            found.kind,
            shown,
            result.query.text,
            beginning=found.beginning,
        ),
        warnings=result.warnings,
    )


def find_parts(
    result: SearchResult,
    census: CorpusCounts,
    reference: Reference,
    form: Form,
    bodies: Bodies | None = None,
) -> Found:
    """Return what of the hits is worth showing, and how sure that is an answer."""
    bodies = bodies or Bodies(reference.body)
    question = result.question
    kind = kind_of(result.query.text, question.languages)
    hits = tuple(result.hits[:CHUNKS_READ])
    names = find_names(question, hits, reference.scorer.document_frequency, bodies.text)
    judged = reference.scorer.judge(question, hits, census.chunks)
    quotable = worth_quoting(judged, hits, names, bodies)
    found = Found(question, kind, names, hits, judged, tuple(quotable))
    if not quotable:
        return found
    steps = find_steps(
        question,
        quotable,
        hits,
        judge=lambda rest: reference.scorer.judge(rest, hits, census.chunks),
        fits=lambda text: kind not in VALUES or offers(kind, text, result.query.text),
    )
    if names.documents:  # what leads on from what is named is about that, too
        led_to = (hits[sentence.rank].document.id for sentence in steps)
        names = replace(names, documents=names.documents.union(led_to))
    parts = choose(quotable, hits, bodies, form, question, every=kind in _EVERY, steps=steps)
    whole = _begun(hits, question, form, bodies) if kind is QuestionKind.SUMMARY else None
    parts = (whole,) if whole else parts
    return replace(
        found,
        names=names,
        steps=tuple(steps),
        parts=parts,
        signs=signs_of(parts, judged, hits, question, kind, result.query.text, names, bodies),
        beginning=inert(whole.hit.document.title) if whole else "",
    )


def _begun(hits: Sequence[Hit], question: Question, form: Form, bodies: Bodies) -> Part | None:
    """Return the beginning of the document that a question names; None where it names none."""
    named = named_documents(question.text, hits)
    best = next((hit for hit in hits if hit.document.id in named), None)
    return beginning(bodies.text(best.document.id), best, form.words) if best else None


_EVERY: Final = frozenset({QuestionKind.ALL, QuestionKind.STEPS, QuestionKind.COMPARISON})


def _to_the_point(found: Found, form: Form, bodies: Bodies) -> Found:
    """Leave out of an answer what would only fill the room that is left."""
    if found.kind in _EVERY or not form.joined:
        return found
    short = replace(form, least=max(form.least, _LEAST_OF_ANSWER))
    parts = choose(
        found.quotable, found.hits, bodies, short, found.question, every=False, steps=found.steps
    )
    return replace(found, parts=parts)


# --- telling -------------------------------------------------------------------------------------


def _compose(
    found: Found, reference: Reference, bodies: Bodies
) -> tuple[tuple[tuple[Part, AnswerSentence], ...], tuple[Citation, ...]]:
    composed: list[tuple[Part, AnswerSentence]] = []
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
        composed.append((part, _sentence(part, own)))
    return tuple(composed), tuple(citations)


def _passages(quoted: Sequence[tuple[Part, AnswerSentence]]) -> Iterator[AnswerSentence]:
    """Yield the parts of each passage as one; its first sentence that tells stands for it."""
    for _, group in groupby(quoted, key=lambda one: (one[0].hit.document.id, one[0].hit.rank)):
        own = [sentence for _, sentence in group]
        texts = [sentence.text for sentence in own]
        start, end = own[0].key_span
        key_span = (start, end or len(texts[0])) if len(own) > 1 else (start, end)
        yield AnswerSentence(
            "\n".join(texts),
            tuple(number for sentence in own for number in sentence.citations),
            before=own[0].before,
            note=_SEMICOLON.join(
                dict.fromkeys(
                    note for sentence in own for note in sentence.note.split(_SEMICOLON) if note
                )
            ),
            key_span=key_span,
        )


def _sentence(part: Part, own: Sequence[Citation]) -> AnswerSentence:
    document = part.hit.document
    shown = (as_shown(one.quote, document.format, part.header, part.columns) for one in own)
    text = inert("\n".join(shown))
    count, every = part.shown
    whole = len(own) == 1 and (own[0].start, own[0].end) == part.core
    core = "" if whole else inert(_shown_core(own, part))
    place = text.find(core) if core else -1
    return AnswerSentence(
        text,
        tuple(citation.number for citation in own),
        before="\n" if own[0].number > 1 else "",
        note=f"{count} of {every} shown" if count < every else "",
        key_span=(place, place + len(core)) if place >= 0 else (0, 0),
    )


def _shown_core(own: Sequence[Citation], part: Part) -> str:
    start, end = part.core
    for citation in own:
        if citation.start <= start and end <= citation.end:
            quote = citation.quote[start - citation.start : end - citation.start]
            return as_shown(quote, part.hit.document.format)
    return ""


def _searched(
    result: SearchResult,
    census: CorpusCounts,
    reference: Reference,
    question: Question,
    outcome: AnswerOutcome,
) -> Searched:
    """Return what was looked through; where nothing answers also what may be the reason."""
    partly = reference.partly_read() if outcome is AnswerOutcome.NOT_FOUND else ()
    languages = tuple(sorted(census.languages, key=lambda name: (-census.languages[name], name)))
    any_language = outcome is AnswerOutcome.ANSWER or "" in languages
    foreign = "" if any_language else foreign_to(result.query.text, languages)
    return Searched(
        documents=result.documents,
        chunks=result.chunks,
        terms=tuple(word for word, _ in question.words),
        missing_terms=() if foreign or not result.documents else reference.absent_words(question),
        nearest=_nearest(result.hits[:CHUNKS_READ]),
        partly_read=len(partly),
        partly_read_names=tuple(partly[:_PARTLY_READ]),
        languages=tuple(filter(None, languages)) if foreign else (),
        question_language=foreign,
        nearest_documents=tuple(
            dict.fromkeys(hit.document.id for hit in result.hits[:CHUNKS_READ])
        )[:_NEAREST],
    )


def _nearest(hits: Sequence[Hit]) -> tuple[str, ...]:
    places = dict.fromkeys(
        " › ".join(dict.fromkeys((hit.document.title, *hit.chunk.section_path))) for hit in hits
    )
    return tuple(places)[:_NEAREST]
