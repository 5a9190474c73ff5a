"""Which parts of the hits are shown: the best sentences with what they need."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final

from chapterhouse.answering.names import Names
from chapterhouse.answering.parts import Part, is_self_contained, items_in, whole_part
from chapterhouse.retrieval.sentence_model import Judged
from chapterhouse.retrieval.sentences import Sentence, text_of
from chapterhouse.text.analyse import analyse
from chapterhouse.text.front_matter import LONGEST, body_start
from chapterhouse.text.markdown import table_cells
from chapterhouse.text.scripts import HAN, KANA, script_language
from chapterhouse.text.sentences import sentence_spans
from chapterhouse.types import Body, Hit, Question, Range

WORDS: Final = 120  # of the first screen
PLACES: Final = 3  # of passages where nothing answers
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_WORDS = re.compile(r"\w+")
_SAYS_SOMETHING = re.compile(r"[^\W_]")
_STATES = re.compile(r"\d|:\s*\w")  # "Deadline: 3 May" is short as a heading is, and no heading
_SPACED = re.compile(rf"[{KANA}{HAN}]{{1,2}}|[^\s{KANA}{HAN}]+")  # words, or so many letters
_REFERENCES = re.compile(r"\[\d+\]")  # to notes
_LABEL = re.compile(r"[^\s\d_]{1,20}:(?=[\s_]|$)")
_BLANK = re.compile(r"[\s_]*(?:\s[^\s\d_]{1,20}:|(?<=:)\s*_{2,}|_{3,})$")  # "Name:", "Date: ____"
_LINE: Final = 10 * "_"
_FORM: Final = 4  # labels from which a text is a form to fill in
_REPETITION: Final = 0.6  # Jaccard similarity of words from which two sentences say the same
_LEAST_SHARE: Final = 0.01  # of a sentence: below it only pads
_ENOUGH: Final = 0.95  # share of all sentences from which nothing more is worth saying
_BRIDGE: Final = 15  # words between two sentences of one passage that are shown to join them
_OTHER_DOCUMENT: Final = 0.3  # what a sentence counts that is not about what is named
_ROW: Final = 0.25  # share of a row, of the best of its table, below which it is not shown
_LETTERS_A_WORD: Final = 2  # of Chinese and Japanese, which have no spaces


PartOf = Callable[[str, Hit, Range, int], Part]
_REACH: Final = 3_000  # characters


@dataclass(frozen=True, slots=True)
class Form:
    """How long an answer may be, and of what it is made.

    Attributes:
        words: At most so many.
        most: At most so many parts.
        part: Makes a part of a sentence: of a text, a hit, the sentence's span, and the words
            that there are for all of a list.
        least: Share of a sentence, over that of the best, from which it is shown, 0 to 1.
        joined: Whether parts that stand close together become one.
    """

    words: int = WORDS
    most: int = 50
    part: PartOf = whole_part
    least: float = 0.0
    joined: bool = True


WHOLE: Final = Form()


@dataclass(slots=True)
class Bodies:
    """Reads the body of each document once."""

    read: Callable[[str], Body | None]
    known: dict[str, Body | None] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Return a document's text; empty when it is gone."""
        body = self(name)
        return body.text if body else ""

    def __call__(self, name: str) -> Body | None:
        """Return a document's body; None when it is gone."""
        if name not in self.known:
            self.known[name] = self.read(name)
        return self.known[name]


def worth_quoting(
    judged: Judged, hits: Sequence[Hit], names: Names, bodies: Bodies
) -> list[Sentence]:
    """Return the sentences that may be quoted, the best first.

    Not what describes a document rather than stands in it; and what is about another document
    than the one that is named comes later.
    """
    begins: dict[str, int] = {}
    quotable = []
    for sentence in judged.sentences:
        document = hits[sentence.rank].document
        if document.format == "md" and document.id not in begins:
            text = bodies.text(document.id) if sentence.start < LONGEST else ""
            begins[document.id] = body_start(text)
        if sentence.begin < begins.get(document.id, 0) or sentence.begin >= sentence.stop:
            continue
        own = text_of(hits[sentence.rank], sentence)
        if _SAYS_SOMETHING.search(_REFERENCES.sub("", own)):
            quotable.append(sentence)

    def worth(one: Sentence) -> float:
        named = not names.documents or hits[one.rank].document.id in names.documents
        return one.share if named else one.share * _OTHER_DOCUMENT

    return sorted(quotable, key=lambda one: (-worth(one), one.rank, one.begin))


def choose(
    quotable: Sequence[Sentence],
    hits: Sequence[Hit],
    bodies: Bodies,
    form: Form,
    question: Question,
    *,
    every: bool,
    steps: Sequence[Sentence] = (),
) -> tuple[Part, ...]:
    """Return the parts to show: the best sentences with what they need, while there is room.

    Those of one passage stand together, the passage with the best sentence first. Before all else
    stand ``steps``, whatever passages they are of.
    """
    chosen: list[Part] = []
    chosen_texts: list[str] = []
    best_rows: dict[int, float] = {}
    left, gained = form.words, 0.0
    least = max(_LEAST_SHARE, form.least * max(sentence.share for sentence in quotable))
    for number, sentence in enumerate(dict.fromkeys((*steps, *quotable))):
        needed = number < len(steps)
        enough = chosen and not needed and (sentence.share < least or gained >= _ENOUGH)
        if len(chosen) >= form.most or enough:
            break
        hit = hits[sentence.rank]
        own = text_of(hit, sentence)
        is_repeated = not needed and any(_repeats(own, earlier) for earlier in chosen_texts)
        if is_repeated or is_covered(chosen, hit, sentence):
            gained += sentence.share
            continue
        ranks = {part.hit.rank for part in chosen}
        if not needed and hit.rank not in ranks and len(ranks) >= PLACES:
            continue
        # Every row of a table resembles the one that was asked for.
        row = best_rows.setdefault(hit.rank, sentence.share) if sentence.header else 0.0
        if sentence.share < _ROW * row and not every:
            continue
        text = bodies.text(hit.document.id)
        items = left if every and not chosen else 0
        able = _candidates(sentence, hit, text, items, form.part, question)
        part = next((part for part in able if _count(part, text) <= left), None)
        if part is None and (chosen or not able):
            continue
        part = part or _shorten(able[0], text, left)
        chosen.append(part)
        chosen_texts.append(own)
        left -= _count(part, text)
        gained += sentence.share
    if not chosen:  # headings alone are better than nothing
        core = quotable[0].begin, quotable[0].stop
        return (Part(hits[quotable[0].rank], (core,), core),)
    return _in_order(_join(chosen, bodies, left) if form.joined else chosen)


def is_covered(chosen: Sequence[Part], hit: Hit, sentence: Sentence) -> bool:
    """Whether a sentence is inside one of the parts."""
    return any(
        part.hit.document.id == hit.document.id
        and any(start <= sentence.begin and sentence.stop <= end for start, end in part.spans)
        for part in chosen
    )


def _candidates(
    sentence: Sentence,
    hit: Hit,
    text: str,
    all_items: int,
    part_of: PartOf,
    question: Question,
) -> list[Part]:
    """Return the whole part of a sentence, shorter ones behind it; none if it says nothing."""
    core = _without_blanks(text, (sentence.begin, sentence.stop))
    alone = Part(hit, (core,), core)
    found = []
    for items in (all_items, 0) if all_items else (0,):
        part = part_of(text, hit, core, items)
        part = replace(part, spans=(*part.spans[:-1], _without_blanks(text, part.spans[-1])))
        if sentence.header:
            columns = _asked_columns(sentence.header, hit.document.language, question)
            part = replace(part, header=sentence.header.split("\n", 1)[0], columns=columns)
        found.append(part)
    by_itself = is_self_contained(text, core)
    if found[-1] == alone and not by_itself and not _STATES.search(text, *core):
        return []
    return [*found, alone] if by_itself else found


def _without_blanks(text: str, span: Range) -> Range:
    """Return a span without the lines to fill in at its end, where it is a form."""
    own = text[slice(*span)]
    if len(_LABEL.findall(own)) < _FORM and _LINE not in own:
        return span
    while found := _BLANK.search(own):
        own = own[: found.start()]
    return span[0], span[0] + len(own.rstrip())


def _shorten(part: Part, text: str, left: int) -> Part:
    """Return the beginning of a part that is too long to show."""
    spans: list[Range] = []
    for start, end in part.spans:
        ends = [match.end() for match in _SPACED.finditer(text, start, end)][:left]
        if ends:
            spans.append((start, ends[-1]))
            left -= len(ends)
    start, end = part.core
    if not spans or spans[-1][1] <= start:  # the lead-in alone took all the room
        return replace(part, spans=((start, end),))
    return replace(part, spans=tuple(spans), core=(start, min(end, spans[-1][1])))


def _count(part: Part, text: str) -> int:
    """Return the words of a part as it is shown."""
    shown = part.text(text)
    unspaced = 0 if shown.isascii() else sum(1 for letter in shown if script_language(letter))
    return len(shown.split()) + unspaced // _LETTERS_A_WORD


def _repeats(one: str, other: str) -> bool:
    """Whether two texts say the same; never where their numbers differ.

    "Within 14 days" and "within 30 days" are two claims, and the difference is what matters.
    """
    if sorted(_NUMBER.findall(one)) != sorted(_NUMBER.findall(other)):
        return False
    first, second = (frozenset(_WORDS.findall(text.casefold())) for text in (one, other))
    return len(first & second) >= _REPETITION * (len(first | second) or 1)


def _join(chosen: Sequence[Part], bodies: Bodies, left: int) -> list[Part]:
    """Make one of parts of a document that touch, or that a few words would join."""
    place = {(part.hit.document.id, part.core): number for number, part in enumerate(chosen)}

    def order(part: Part) -> int:
        return place[part.hit.document.id, part.core]

    result: list[Part] = []
    for part in sorted(chosen, key=lambda part: (part.hit.document.id, part.spans[-1])):
        before = result[-1] if result else None
        if before is None or before.hit.document.id != part.hit.document.id:
            result.append(part)
            continue
        own = _without_lead(part, before)
        text = bodies.text(part.hit.document.id)
        gap = text[before.spans[-1][1] : own.spans[0][0]]
        words = len(gap.split())
        apart = "\n#" in gap or "|" in gap or words > min(_BRIDGE, left)
        if apart or own.header or before.header or len(own.spans) > 1:
            result.append(own)
            continue
        left -= words
        end = max(before.spans[-1][1], own.spans[0][1])
        spans = (*before.spans[:-1], (before.spans[-1][0], end))
        items = sum(items_in(text[slice(*span)]) for span in spans)
        every = max(before.shown[1], own.shown[1])
        result[-1] = Part(
            min(before.hit, own.hit, key=lambda hit: hit.rank),
            spans,
            min(before, own, key=order).core,
            (min(items, every), every),
        )
    return sorted(result, key=order)


def _without_lead(part: Part, before: Part) -> Part:
    """Return a part without the line that leads in to it, where that is shown already."""
    start, end = part.spans[0]
    shown = any(first <= start and end <= last for first, last in before.spans)
    return replace(part, spans=part.spans[1:]) if len(part.spans) > 1 and shown else part


def _in_order(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Put the parts of one passage together, in its order, the best passage first."""
    first: dict[tuple[str, int], int] = {}
    for number, part in enumerate(parts):
        first.setdefault((part.hit.document.id, part.hit.rank), number)
    order = {id(part): number for number, part in enumerate(parts)}

    def place(part: Part) -> tuple[int, int, Range]:
        row = order[id(part)] if part.header else 0  # the best row first
        return first[part.hit.document.id, part.hit.rank], row, part.spans[0]

    return tuple(sorted(parts, key=place))


def _asked_columns(header: str, language: str, question: Question) -> frozenset[int]:
    """Return the columns whose names have a word of the question; not the first, which names."""
    terms = frozenset(term for _, own in question.words for term in own)
    return frozenset(
        number
        for number, name in enumerate(table_cells(header.split("\n", 1)[0]))
        if number and not terms.isdisjoint(analyse(name, language))
    )


def beginning(text: str, hit: Hit, words: int) -> Part | None:
    """Return the first whole sentences of a document, headings before them apart; None without any.

    Args:
        text: Of the document.
        hit: One of its passages, which stands for it.
        words: At most so many.
    """
    start = body_start(text) if hit.document.format == "md" else 0
    spans = [
        (first, first + len(text[first:last].rstrip()))
        for first, last in sentence_spans(text, start, min(start + _REACH, len(text)))
        if text[first:last].strip()
    ]
    while spans and text.startswith("#", spans[0][0]):
        del spans[0]
    whole = _within(text, spans, words)
    return Part(hit, ((whole[0][0], whole[-1][1]),), whole[0]) if whole else None


def _within(text: str, spans: Sequence[tuple[int, int]], words: int) -> list[tuple[int, int]]:
    return list(takewhile(lambda span: len(text[spans[0][0] : span[1]].split()) <= words, spans))
