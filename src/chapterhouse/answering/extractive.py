"""The answer without a model: the parts of the documents that come closest, each cited.

::

    hits -> sentences with their shares -> those about what the question names
         -> whole parts, the best first, within a number of words -> how sure that answers it
         -> an answer, the closest passages, or nothing
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from chapterhouse.answering.cite import cite, verify
from chapterhouse.answering.confidence import ConfidenceModel, Signs, confidence
from chapterhouse.answering.names import Names, find_names
from chapterhouse.answering.parts import Part, as_shown, stands_alone, whole_part
from chapterhouse.answering.question_kind import VALUES, QuestionKind, kind_of, offers
from chapterhouse.retrieval.question import Question, understand
from chapterhouse.retrieval.sentence_model import Judged, SentenceScorer
from chapterhouse.retrieval.sentences import Sentence, text_of
from chapterhouse.text.analyse import analyse
from chapterhouse.text.front_matter import LONGEST, body_start
from chapterhouse.text.language import script_language
from chapterhouse.text.look_alikes import inert
from chapterhouse.text.markdown import table_cells
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
    Stretch,
)

CHUNKS_READ: Final = 8
WORDS: Final = 120  # of the first screen
PLACES: Final = 3  # of passages where nothing answers
_NEAREST: Final = 5  # headings that are named
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_WORDS = re.compile(r"\w+")
_REPETITION: Final = 0.6  # Jaccard similarity of words from which two sentences say the same
_LEAST_SHARE: Final = 0.01  # of a sentence: below it only pads
_ENOUGH: Final = 0.95  # share of all sentences from which nothing more is worth saying
_BRIDGE: Final = 15  # words between two sentences of one passage that are shown to join them
_OTHER_DOCUMENT: Final = 0.3  # what a sentence counts that is not about what is named
_LETTERS_A_WORD: Final = 2  # of Chinese and Japanese, which have no spaces


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


PartOf = Callable[[str, Hit, Stretch, int], Part]


@dataclass(frozen=True, slots=True)
class Form:
    """How long an answer may be, and of what it is made.

    Attributes:
        words: At most so many.
        most: At most so many parts.
        part: Makes a part of a sentence: of a text, a hit, the sentence's span, and the words
            that there are for all of a list.
    """

    words: int = WORDS
    most: int = 50
    part: PartOf = whole_part


WHOLE: Final = Form()


@dataclass(slots=True)
class _Bodies:
    """Reads each body once."""

    read: Callable[[str], Body | None]
    known: dict[str, Body | None] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Return a document's text; empty when it is gone."""
        body = self(name)
        return body.text if body else ""

    def __call__(self, name: str) -> Body | None:
        if name not in self.known:
            self.known[name] = self.read(name)
        return self.known[name]


@dataclass(frozen=True, slots=True)
class Found:
    """What was chosen to be shown, and what is known of it.

    Attributes:
        kind: What the question asks for.
        parts: In the order in which they are shown.
        names: What the question names.
        signs: What speaks for an answer and against it.
    """

    question: Question
    kind: QuestionKind
    parts: tuple[Part, ...]
    names: Names
    signs: Signs | None


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
    bodies = _Bodies(reference.body)
    found = find_parts(result, census, reference, form, bodies)
    told, citations = _compose(found, reference, bodies)
    certain = confidence(found.signs, reference.confidence) if found.signs and told else 0.0
    outcome = AnswerOutcome.PASSAGES
    if not told or certain < reference.confidence.passages:
        outcome, told, citations = AnswerOutcome.NOT_FOUND, (), ()
    elif certain >= reference.confidence.answer and not found.names.absent:
        outcome = AnswerOutcome.ANSWER
    if outcome is AnswerOutcome.ANSWER:  # then nothing needs to be marked
        told = tuple(replace(sentence, telling=(0, 0)) for sentence in told)
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
        warnings=result.warnings,
    )


def find_parts(
    result: SearchResult,
    census: Census,
    reference: Reference,
    form: Form,
    bodies: _Bodies | None = None,
) -> Found:
    """Return what of the hits is worth showing, and how sure that is an answer."""
    bodies = bodies or _Bodies(reference.body)
    question = understand(result.question, census.languages)
    kind = kind_of(result.query.text, question.languages)
    hits = result.hits[:CHUNKS_READ]
    names = find_names(question, hits, reference.scorer.document_frequency, bodies.text)
    judged = reference.scorer.judge(question, hits, census.chunks)
    kept = _worth_quoting(judged, hits, names, bodies)
    if not kept:
        return Found(question, kind, (), names, None)
    parts = _choose(kept, hits, bodies, form, question, every=kind in _ALL)
    signs = _signs(parts, judged, hits, question, kind, result.query.text, names, bodies)
    return Found(question, kind, parts, names, signs)


_ALL: Final = frozenset({QuestionKind.ALL, QuestionKind.STEPS})


def _worth_quoting(
    judged: Judged, hits: Sequence[Hit], names: Names, bodies: _Bodies
) -> list[Sentence]:
    """Return the sentences that may be quoted, the best first.

    Not what describes a document rather than stands in it; and what is about another document
    than the one that is named comes later.
    """
    begins: dict[str, int] = {}
    kept = []
    for sentence in judged.sentences:
        document = hits[sentence.rank].document
        if document.format == "md" and document.id not in begins:
            text = bodies.text(document.id) if sentence.start < LONGEST else ""
            begins[document.id] = body_start(text)
        if sentence.begin < begins.get(document.id, 0) or sentence.begin >= sentence.stop:
            continue
        if any(map(str.isalnum, text_of(hits[sentence.rank], sentence))):
            kept.append(sentence)

    def worth(one: Sentence) -> float:
        named = not names.documents or hits[one.rank].document.id in names.documents
        return one.share if named else one.share * _OTHER_DOCUMENT

    return sorted(kept, key=lambda one: (-worth(one), one.rank, one.begin))


# --- choosing ------------------------------------------------------------------------------------


def _choose(
    kept: Sequence[Sentence],
    hits: Sequence[Hit],
    bodies: _Bodies,
    form: Form,
    question: Question,
    *,
    every: bool,
) -> tuple[Part, ...]:
    """Return the parts to show: the best sentences with what they need, while there is room.

    Those of one passage stand together, the passage with the best sentence first.
    """
    chosen: list[Part] = []
    said: list[str] = []
    left, gained = form.words, 0.0
    for sentence in kept:
        if len(chosen) >= form.most or (
            chosen and (sentence.share < _LEAST_SHARE or gained >= _ENOUGH)
        ):
            break
        hit = hits[sentence.rank]
        own = text_of(hit, sentence)
        if _covered(chosen, hit, sentence) or any(_repeats(own, earlier) for earlier in said):
            gained += sentence.share
            continue
        ranks = {part.hit.rank for part in chosen}
        if hit.rank not in ranks and len(ranks) >= PLACES:
            continue
        items = left if every and not chosen else 0
        part = _fitting(sentence, hit, bodies, left, items, form.part, question)
        if part is None and chosen:
            continue
        part = part or _shortened(sentence, hit, bodies, left)
        chosen.append(part)
        said.append(own)
        left -= _count(part, bodies.text(hit.document.id))
        gained += sentence.share
    return _in_order(_joined(chosen, bodies, left))


def _covered(chosen: Sequence[Part], hit: Hit, sentence: Sentence) -> bool:
    return any(
        part.hit.document.id == hit.document.id
        and any(start <= sentence.begin and sentence.stop <= end for start, end in part.spans)
        for part in chosen
    )


def _fitting(
    sentence: Sentence,
    hit: Hit,
    bodies: _Bodies,
    left: int,
    all_items: int,
    part_of: PartOf,
    question: Question,
) -> Part | None:
    """Return the whole part of a sentence, else the sentence alone, if that fits; else None."""
    core = sentence.begin, sentence.stop
    text = bodies.text(hit.document.id)
    if not text:
        return None
    wanted = (all_items, 0) if all_items else (0,)
    for items in wanted:
        part = part_of(text, hit, core, items)
        if sentence.header:
            columns = _asked_columns(sentence.header, hit.document.language, question)
            part = replace(part, header=sentence.header.split("\n", 1)[0], columns=columns)
        if _count(part, text) <= left:
            return part
    alone = Part(hit, (core,), core)
    return alone if stands_alone(text, core) and _count(alone, text) <= left else None


def _shortened(sentence: Sentence, hit: Hit, bodies: _Bodies, left: int) -> Part:
    """Return the beginning of a sentence that is too long to show."""
    text = bodies.text(hit.document.id) or " "
    start, end = sentence.begin, min(sentence.stop, len(text))
    ends = [match.end() for match in re.finditer(r"\S+", text[start:end])]
    stop = start + ends[min(left, len(ends)) - 1] if ends else end
    return Part(hit, ((start, stop),), (start, stop))


def _count(part: Part, text: str) -> int:
    """Return the words of a part as it is shown."""
    shown = part.text(text)
    unspaced = sum(1 for letter in shown if script_language(letter))
    return len(shown.split()) + unspaced // _LETTERS_A_WORD


def _repeats(one: str, other: str) -> bool:
    """Whether two texts say the same; never where their numbers differ.

    "Within 14 days" and "within 30 days" are two claims, and the difference is what matters.
    """
    if sorted(_NUMBER.findall(one)) != sorted(_NUMBER.findall(other)):
        return False
    first, second = (frozenset(_WORDS.findall(text.casefold())) for text in (one, other))
    return len(first & second) >= _REPETITION * (len(first | second) or 1)


def _joined(chosen: Sequence[Part], bodies: _Bodies, left: int) -> list[Part]:
    """Make one of parts of a document that touch, or that a few words would join."""
    result: list[Part] = []
    ordered = sorted(chosen, key=lambda part: (part.hit.document.id, part.spans[0]))
    for part in ordered:
        before = result[-1] if result else None
        if before and before.hit.document.id == part.hit.document.id and _may_join(before, part):
            gap = bodies.text(part.hit.document.id)[before.spans[-1][1] : part.spans[0][0]]
            words = len(gap.split())
            if "\n#" not in gap and "|" not in gap and words <= min(_BRIDGE, left):
                left -= words
                best = min(before, part, key=lambda one: chosen.index(_source(chosen, one)))
                end = max(before.spans[-1][1], part.spans[-1][1])
                spans = (*before.spans[:-1], (before.spans[-1][0], end))
                hit = min(before.hit, part.hit, key=lambda hit: hit.rank)
                result[-1] = Part(hit, spans, best.core, max(before.shown, part.shown))
                continue
        result.append(part)
    order = {id(part): number for number, part in enumerate(chosen)}
    cores = {part.core: order[id(part)] for part in chosen}
    return sorted(result, key=lambda part: cores[part.core])


def _source(chosen: Sequence[Part], part: Part) -> Part:
    return next(one for one in chosen if one.core == part.core)


def _may_join(one: Part, other: Part) -> bool:
    rows = any(part.hit.chunk.kind.value == "table" for part in (one, other))
    return len(other.spans) == 1 and other.spans[0][0] >= one.spans[-1][0] and not rows


def _in_order(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Put the parts of one passage together, in its order, the best passage first."""
    first: dict[tuple[str, int], int] = {}
    for number, part in enumerate(parts):
        first.setdefault((part.hit.document.id, part.hit.rank), number)
    return tuple(sorted(parts, key=lambda p: (first[p.hit.document.id, p.hit.rank], p.spans[0])))


# --- how sure ------------------------------------------------------------------------------------


def _signs(
    parts: Sequence[Part],
    judged: Judged,
    hits: Sequence[Hit],
    question: Question,
    kind: QuestionKind,
    asked: str,
    names: Names,
    bodies: _Bodies,
) -> Signs:
    inside = [
        row
        for row, sentence in enumerate(judged.sentences)
        if _covered(parts, hits[sentence.rank], sentence)
    ]
    shares = [judged.sentences[row].share for row in inside]
    shown = "\n".join(
        bodies.text(part.hit.document.id)[slice(*span)] for part in parts for span in part.spans
    )
    meant = kind in VALUES or kind is QuestionKind.REASON
    table = judged.features[inside] if inside else judged.features[:1]
    return Signs(
        meaning=judged.meaning,
        shown=sum(shares),
        best=max(shares, default=0.0),
        likeness=float(table[:, 2].max()),
        coverage=float(table[:, 1].max()),
        sentence=float(table[:, 4].max()) if judged.meaning else 0.0,
        score=max(hit.score for hit in hits),
        valued=1.0 if meant and offers(kind, shown, asked) else 0.0,
        unvalued=1.0 if meant and not offers(kind, shown, asked) else 0.0,
        several=float(kind in {QuestionKind.ALL, QuestionKind.COMPARISON, QuestionKind.SUMMARY}),
        unnamed=names.missing_share(question, judged.weights, shown),
    )


# --- telling -------------------------------------------------------------------------------------


def _compose(
    found: Found, reference: Reference, bodies: _Bodies
) -> tuple[tuple[AnswerSentence, ...], tuple[Citation, ...]]:
    told: list[AnswerSentence] = []
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
        told.append(_sentence(part, own, found.names))
    return tuple(told), tuple(citations)


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
        note="; ".join(notes),
        telling=(place, place + len(core)) if place >= 0 else (0, 0),
    )


def _shown_core(own: Sequence[Citation], part: Part) -> str:
    start, end = part.core
    for citation in own:
        if citation.start <= start and end <= citation.end:
            return as_shown(citation.quote[start - citation.start : end - citation.start])
    return ""


def _asked_columns(header: str, language: str, question: Question) -> frozenset[int]:
    """Return the columns whose names have a word of the question; not the first, which names."""
    terms = frozenset(term for _, own in question.words for term in own)
    return frozenset(
        number
        for number, name in enumerate(table_cells(header.split("\n", 1)[0]))
        if number and not terms.isdisjoint(analyse(name, language))
    )


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


def spans_of(parts: Sequence[Part]) -> tuple[tuple[str, Stretch], ...]:
    """Return the spans of parts with their documents."""
    return tuple((part.hit.document.id, span) for part in parts for span in part.spans)
