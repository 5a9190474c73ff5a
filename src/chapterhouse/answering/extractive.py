"""The answer without a model: the sentences of the documents that come closest, each cited.

::

    hits -> sentences with their shares -> the best by one score, within a number of words
         -> how sure that answers the question, and whether it is about what that names
         -> an answer, the closest passages, or nothing
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from chapterhouse.answering.choosing import (
    TO_THE_POINT,
    WHOLE,
    Bodies,
    Form,
    beginning,
    choose,
    says_how_long,
)
from chapterhouse.answering.cite import cite, verify
from chapterhouse.answering.columns import has_all_words, names_column
from chapterhouse.answering.comparing import compared
from chapterhouse.answering.confidence import ConfidenceModel, Signs, confidence, signs_of
from chapterhouse.answering.parts import Part, render_part
from chapterhouse.answering.route import QuestionKind, kind_of, needs_model, notice
from chapterhouse.retrieval.exact import exact_terms, holds_exactly, standing
from chapterhouse.retrieval.judging import Floats, SentenceScorer
from chapterhouse.retrieval.names import are_joined, names_held
from chapterhouse.retrieval.question import is_name
from chapterhouse.text.analyse import language_name
from chapterhouse.text.canonical import names_text, stated_date
from chapterhouse.text.dates import terms_are_of_date
from chapterhouse.text.language import foreign_to
from chapterhouse.text.sanitise import inert
from chapterhouse.text.terms import terms_in
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
from chapterhouse.types.engines import TokenEmbedder

_HEAD: Final = 600  # characters of a document that say what it is about


# Of each word of a name its index terms, of which one is enough.
Names = tuple[tuple[str, ...], ...]


def find_names(question: Question) -> Names:
    """Return what a question names."""
    deciding = " ".join(question.names).split()
    return tuple(
        terms for word, terms in question.words if word in deciding or is_name(word, question)
    )


def _names_of_parts(question: Question, names: Names) -> tuple[Names, ...]:
    """Return what a passage has to be about: all names, or one of several that are joined.

    The agreements with Acme and Zenit are two documents, of which neither names the other.
    """
    if not are_joined(question):
        return (names,)
    terms = dict(question.words)
    of_each = [tuple(terms[word] for word in name.split()) for name in question.names]
    others = [one for one in names if not any(one in own for own in of_each)]
    return tuple((*own, *others) for own in of_each)


def are_in(names: Names, text: str, language: str) -> bool:
    """Whether a text has all names."""
    there = frozenset(terms_in(text, language)) if names else frozenset[str]()
    return not any(there.isdisjoint(own) for own in names)


def is_about(names: Names, hit: Hit, body: str) -> bool:
    """Whether a passage has all names, in it or in what it stands below."""
    document, chunk = hit.document, hit.chunk
    names_there = names_text(document), stated_date(document)
    above = (*names_there, *chunk.section_path, chunk.header, body[:_HEAD])
    return are_in(names, "\n".join((*above, chunk.text)), document.language)


CHUNKS_READ: Final = 8
# What a quotation answers only to who understands it.
_NEVER_ANSWERED: Final = frozenset(
    {QuestionKind.DECISION, QuestionKind.STEPS, QuestionKind.REASON, QuestionKind.COMPARISON}
)
# What a cell says by any word: "Firm 4", "bin B13".
_NAMED: Final = frozenset({QuestionKind.PERSON, QuestionKind.PLACE})
_OF_ALL: Final = 1e-6  # share of a sentence where all there is is asked for
_SEMICOLON: Final = "; "
_NEAREST: Final = 5  # headings that are named, and documents that are counted
_MOSTLY: Final = 0.5  # share of a question's word weight
_PARTLY_READ: Final = 3  # files that are named


@dataclass(frozen=True, slots=True)
class Reference:
    """What answering looks up.

    Attributes:
        encoder: Reads the best of them, to say how sure the answer is.
        confidence: The weights by which an answer is held to be one.
    """

    scorer: SentenceScorer
    encoder: TokenEmbedder
    confidence: ConfidenceModel
    document: Callable[[str], Document | None]
    body: Callable[[str], Body | None]
    absent_words: Callable[[Question], tuple[str, ...]]
    partly_read: Callable[[], Sequence[str]] = tuple


@dataclass(frozen=True, slots=True)
class Screen:
    """What is shown of the hits.

    Attributes:
        signs: What speaks for an answer and against it; None where nothing is shown.
        may_answer: Whether a quotation can answer, and the passage shown first is about all that
            is named.
        beginning: Title of the document whose beginning the parts are; or empty.
        is_named: Whether the passage shown first has a code or date that is asked for, or its
            document goes by most of the question.
        is_exact: Whether it is a row of a table with each code or each word that is asked for, a
            date or number where one is, and a column that the question names: that answers, however
            it reads.
        is_computed: Whether rows were found by comparing a column.
    """

    kind: QuestionKind
    names: Names
    parts: tuple[Part, ...] = ()
    signs: Signs | None = None
    may_answer: bool = True
    beginning: str = ""
    is_named: bool = False
    is_exact: bool = False
    is_computed: bool = False


def answer(
    result: SearchResult,
    census: CorpusCounts,
    reference: Reference,
    form: Form = WHOLE,
) -> Answer:
    """Answer the query of ``result`` from its hits.

    Returns:
        An answer of verified quotations; or the closest passages; or, where nothing was found,
        one that says so, with what was searched and the nearest headings.
    """
    bodies = Bodies(reference.body)
    screen = make_screen(result, reference, form, bodies)
    shown = "\n".join(part.text(bodies.text(part.hit.document.id)) for part in screen.parts)
    certain = confidence(screen.signs, reference.confidence) if screen.signs else 0.0
    if screen.is_computed or screen.is_exact:
        certain = max(certain, reference.confidence.answer)
    answers = screen.may_answer and not needs_model(screen.kind, shown, result.query.text)
    outcome = AnswerOutcome.PASSAGES
    named = screen.beginning or screen.is_named
    if certain < reference.confidence.passages and not named:
        outcome = AnswerOutcome.NOT_FOUND
    elif answers and certain >= reference.confidence.answer:
        outcome = AnswerOutcome.ANSWER
        screen = _to_the_point(screen, result, reference, form, bodies)
    quoted, citations = _compose(screen.parts, result.query.text, reference, bodies)
    sentences = tuple(sentence for _, sentence in quoted)
    if not sentences or outcome is AnswerOutcome.NOT_FOUND:
        certain = certain if sentences else 0.0
        outcome, sentences, citations, shown = AnswerOutcome.NOT_FOUND, (), (), ""
    elif outcome is AnswerOutcome.PASSAGES and not form.alone:
        sentences = tuple(_passages(quoted))
    return Answer(
        question=result.query.text,
        outcome=outcome,
        sentences=sentences,
        citations=citations,
        searched=_searched(result, census, reference, result.question, outcome),
        confidence=certain,
        notice=notice(screen.kind, shown, result.query.text, beginning=screen.beginning),
        warnings=result.warnings,
    )


def make_screen(
    result: SearchResult, reference: Reference, form: Form, bodies: Bodies | None = None
) -> Screen:
    """Return what of the hits is shown, and what speaks for it."""
    bodies = bodies or Bodies(reference.body)
    question, asked = result.question, result.query.text
    kind = kind_of(asked, question.languages)
    hits = tuple(result.hits[:CHUNKS_READ])
    names = find_names(question)
    judged = reference.scorer.judge(question, hits, result.chunks)
    wanted = _names_of_parts(question, names)
    about_each = [
        [is_about(own, hit, bodies.text(hit.document.id)) for own in wanted] for hit in hits
    ]
    bound = list(map(any, about_each))
    spans = [(one.rank, (one.begin, one.stop)) for one in judged.sentences]
    codes = exact_terms(question)
    of_codes = [list(standing(code, hits, spans)) for code in codes]
    about = _about(question, hits, of_codes, [rank for rank, _ in spans])
    highest = compared(question, hits, bound, bodies)
    parts = highest or choose(question, judged, hits, bound, about, bodies, form)
    if not parts:
        return Screen(kind, names)
    first = parts[0].hit
    has_codes = all(
        1 in own or holds_exactly([code], first.chunk, first.document)
        for code, own in zip(codes, of_codes, strict=True)
    )
    shown = zip(*(about_each[hits.index(part.hit)] for part in parts), strict=True)
    is_whole = bound[hits.index(first)] and all(map(any, shown))
    is_wanted = kind not in _NEVER_ANSWERED and says_how_long(question, parts, bodies)
    may_answer = is_wanted and (has_codes if codes else is_whole)
    begun = _beginning(names, hits, form, bodies) if kind is QuestionKind.SUMMARY else None
    parts = (begun,) if begun else parts
    signs = signs_of(parts, judged, hits, question, kind, asked, bodies, reference.encoder)
    title = inert(begun.hit.document.title) if begun else ""
    is_named = 1 in about or _is_named(question, first, judged.weights)
    row = bodies.text(first.document.id)[slice(*parts[0].core)]
    is_valued = kind in _NAMED or not signs.unvalued
    is_of_code = 1 in about and names_column(question, codes, parts[0], row)
    is_row = is_of_code or has_all_words(question, parts[0], row)
    is_exact = is_row and may_answer and is_valued
    if highest:
        return Screen(kind, names, parts, signs, is_named=True, is_computed=True)
    return Screen(kind, names, parts, signs, may_answer, title, is_named, is_exact)


def _about(
    question: Question, hits: Sequence[Hit], of_codes: Sequence[Sequence[int]], ranks: Sequence[int]
) -> list[int]:
    """Return of each sentence whether it is about what is asked for by a code, date or name."""
    found = list(map(max, zip(*of_codes, strict=True))) if of_codes else [0] * len(ranks)
    if not question.names:
        return found
    held = [names_held(question, hit.document) > 0 for hit in hits]
    of_named = [
        (one if of_codes else 1) if held[rank] else min(one, 0)
        for one, rank in zip(found, ranks, strict=True)
    ]
    return of_named if 1 in of_named else found


def _is_named(question: Question, hit: Hit, weights: Floats) -> bool:
    """Whether a passage has a code or date of a question, or its document goes by most of it."""
    document = hit.document
    own = f"{names_text(document)} {stated_date(document)}"
    names = frozenset(terms_in(own, document.language))
    there = names.union(terms_in(hit.chunk.header + hit.chunk.text, document.language))
    named = [not names.isdisjoint(terms) for _, terms in question.words]
    return float(weights @ named) >= _MOSTLY or any(
        not there.isdisjoint(terms)
        for word, terms in question.words
        if word in question.identifiers or terms_are_of_date(terms)
    )


def _to_the_point(
    screen: Screen, result: SearchResult, reference: Reference, form: Form, bodies: Bodies
) -> Screen:
    """Leave out of an answer what is about another, and what would only fill the room left."""
    least = _OF_ALL if screen.kind is QuestionKind.ALL else TO_THE_POINT
    shorter = make_screen(result, reference, replace(form, least=least), bodies)
    return shorter if shorter.may_answer else screen  # of one of several names nothing may be left


def _beginning(names: Names, hits: Sequence[Hit], form: Form, bodies: Bodies) -> Part | None:
    """Return the beginning of the document that a question names; None where it names none."""
    for hit in hits if names else ():
        document = hit.document
        if are_in(names, names_text(document), document.language):
            return beginning(bodies.text(document.id), hit, form.words)
    return None


# --- telling -------------------------------------------------------------------------------------


def _compose(
    parts: Sequence[Part], asked: str, reference: Reference, bodies: Bodies
) -> tuple[tuple[tuple[Part, AnswerSentence], ...], tuple[Citation, ...]]:
    composed: list[tuple[Part, AnswerSentence]] = []
    citations: list[Citation] = []
    for part in parts:
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
        composed.append((part, _sentence(part, own, asked)))
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


def _sentence(part: Part, own: Sequence[Citation], asked: str) -> AnswerSentence:
    document = part.hit.document
    shown = (render_part(one.quote, document.format, part.header, part.columns) for one in own)
    text = inert("\n".join(shown))
    count, every = part.shown
    whole = len(own) == 1 and (own[0].start, own[0].end) == part.core
    core = "" if whole else inert(_shown_core(own, part))
    place = text.find(core) if core else -1
    is_foreign = document.language and foreign_to(asked, [document.language])
    notes = (
        f"{count} of {every} items of its list" if count < every else inert(part.note),
        f"in {language_name(document.language)}" if is_foreign else "",
    )
    return AnswerSentence(
        text,
        tuple(citation.number for citation in own),
        before="\n" if own[0].number > 1 else "",
        note=_SEMICOLON.join(filter(None, notes)),
        key_span=(place, place + len(core)) if place >= 0 else (0, 0),
    )


def _shown_core(own: Sequence[Citation], part: Part) -> str:
    start, end = part.core
    for citation in own:
        if citation.start <= start and end <= citation.end:
            quote = citation.quote[start - citation.start : end - citation.start]
            return render_part(quote, part.hit.document.format)
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
