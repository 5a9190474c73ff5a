"""Questions made from a library's own documents, without a model.

Three kinds, each with its sentence as the expected text and its document as the required one:

``heading``     the words of a heading that stands nowhere else; expected: a sentence under it
``definition``  "What is a berth fee?" for a sentence "A berth fee is …"
``cloze``       a sentence without its rarest words

They share their words with the text they come from, which real questions often do not. So they
show what is broken, and whether a change helps or hurts; they say little about how well the
questions of people are answered. Whoever reads the figures is told so (``LIMITS``).
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.evaluation.collection import fixture_file
from chapterhouse.evaluation.datasets import Question, question_id, read_questions
from chapterhouse.library import Library
from chapterhouse.text.analyse import analyse
from chapterhouse.text.counting import counted
from chapterhouse.text.language_data import STOPWORDS
from chapterhouse.text.scripts import EAST_ASIAN
from chapterhouse.text.sentences import sentence_spans
from chapterhouse.types import Body, Document

QUESTIONS: Final = 200
MADE: Final = "made from the documents"
LIMITS: Final = (
    "These questions are made from the documents' own sentences, so their words match the text. "
    "They cannot show how well people's questions are answered: over real folders, where people "
    "ask in words of their own, far less is found. Compare these figures only with each other."
)
_READ: Final = 60_000  # characters of a document that are looked at
_SENTENCES: Final = 24  # of a document that are tried
_SHORTEST, _LONGEST = 40, 300  # characters of a sentence
_HEADING: Final = (2, 12)  # terms of a heading that says something
_CLOZE_TERMS: Final = 6  # what has to be left of a sentence
_GAP: Final = "…"
_WORD = re.compile(r"\w+(?:['’\-.,]\w+)*")
_MARKUP = re.compile(r"\"\"\"|[|#<>{}\[\]]|https?:|^\s*(?:[-*+•]|\d+[.)])\s|\.{4}")
_NUMBER = re.compile(r"^(?:§ ?)?\d[\d.)]*[a-z]?[.:)]? +")
_EMPHASIS = re.compile(r"[*_`]+")
_EAST = re.compile(f"[{EAST_ASIAN}]")
_SUBJECT = r"(?P<subject>[^\W\d_][\w'’\-]*(?: [\w'’\-]+){0,5}?)"
# What a definition looks like, and the question that it answers.
_DEFINITIONS: Final = {
    "en": (
        re.compile(
            rf"^(?P<article>An? |The )?{_SUBJECT} (?:is|are|means|denotes|refers to) (?:an?|the) "
        ),
        "What is {}?",
    ),
    "de": (
        re.compile(rf"^(?P<article>Der |Die |Das |Eine? )?{_SUBJECT} (?:ist|bezeichnet) eine? "),
        "Was ist {}?",
    ),
    "fr": (
        re.compile(rf"^(?:(?:Les?|La|Une?) |L['’])?(?P<article>){_SUBJECT} (?:est|désigne) une? "),
        "Qu'est-ce que {} ?",
    ),
    "es": (re.compile(rf"^(?P<article>El |La |Una? )?{_SUBJECT} es una? "), "¿Qué es {}?"),
}
# Subjects that name nothing by themselves.
_EMPTY_LIST: Final = """
    it this that these those there here he she they we you i who which what one all each both some
    if when while as but and or so then such his her its their our your my another other
    es dies dieses er sie wir ihr das hier da il elle ce cela on ceci nous vous ils elles c'est
    esto eso este ese ella ello nosotros aquí
"""
_EMPTY: Final = frozenset(_EMPTY_LIST.split())

_Make = Callable[["_Source", "_Counts"], Iterator[Question]]


@dataclass(frozen=True, slots=True)
class _Source:
    """A document with the sentences that may be asked about, in a drawn order."""

    document: Document
    body: Body
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Counts:
    """In how many of the documents looked at a term, a heading and a sentence stand."""

    terms: Mapping[str, int]
    headings: Mapping[str, int]
    sentences: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class OwnQuestions:
    """The questions of a workspace.

    Attributes:
        questions: Those of its file, or made from its documents.
        name: Where they are from, for people.
        kind: ``questions`` or ``synthetic``.
    """

    questions: tuple[Question, ...]
    name: str
    kind: str


def own_questions(library: Library, count: int = QUESTIONS) -> OwnQuestions:
    """Return all questions of a workspace's file; at most ``count`` made ones where it has none.

    Raises:
        UsageError: the file is not one of questions, or the documents give no question.
    """
    path = fixture_file(library)
    if path.exists():
        return OwnQuestions(read_questions(path), str(path), "questions")
    return OwnQuestions(synthetic_questions(library, count), MADE, "synthetic")


def synthetic_questions(
    library: Library, count: int = QUESTIONS, shelves: Sequence[str] | None = None
) -> tuple[Question, ...]:
    """Make questions, the same for the same library, spread evenly over its documents.

    Args:
        library: The documents.
        count: At most so many questions; fewer where the documents do not give them.
        shelves: Only documents on one of these; all when None.

    Raises:
        UsageError: the documents give no question at all.
        NotFoundError: there is no such shelf.
    """
    known = library.status().by_shelf
    unknown = [shelf for shelf in shelves or () if shelf not in known]
    if unknown:
        raise NotFoundError(
            f"There is no shelf '{unknown[0]}'.",
            hint=f"There are: {', '.join(known) or 'none yet'}.",
        )
    named = None if shelves is None else tuple(shelves)
    documents = sorted(library.documents.list(named), key=lambda entry: _drawn(entry.id))
    sources = [_source(library, document) for document in documents[:count]]
    counts = _counted(sources)
    queues = [_questions(source, counts, place) for place, source in enumerate(sources)]
    made: dict[str, Question] = {}
    while queues and len(made) < count:
        left = []
        for queue in queues:
            question = next((entry for entry in queue if entry.id not in made), None)
            if question is not None and len(made) < count:
                made[question.id] = replace(question, shelves=named)
                left.append(queue)
        queues = left
    if not made:
        raise UsageError(
            f"No question could be made from {counted(len(documents), 'document')}.",
            hint="They need whole sentences or headings. Add documents: chapterhouse add PATH",
        )
    return tuple(sorted(made.values(), key=lambda entry: (entry.required, entry.id)))


def _source(library: Library, document: Document) -> _Source:
    body = library.documents.body(document.id)
    found = {
        sentence
        for section in body.sections
        for sentence in _sentences(body.text, section.start, min(section.end, _READ))
    }
    ordered = sorted(found, key=lambda sentence: _drawn(document.id + sentence))
    return _Source(document, body, tuple(ordered))


def _sentences(text: str, start: int, end: int) -> Iterator[str]:
    """Yield what reads as a sentence of its own: no list item, table row, heading or link."""
    for first, last in sentence_spans(text, start, end):
        sentence = text[first:last].strip()
        whole = sentence[-1:] in ".!?。！？" and "\n\n" not in sentence
        if whole and _SHORTEST <= len(sentence) <= _LONGEST and not _MARKUP.search(sentence):
            yield sentence


def _counted(sources: Sequence[_Source]) -> _Counts:
    terms, headings, sentences = Counter[str](), Counter[str](), Counter[str]()
    for source in sources:
        terms.update(set(analyse(source.body.text[:_READ], source.document.language)))
        headings.update(" ".join(_heading_terms(source, s.path)) for s in source.body.sections)
        sentences.update(source.sentences)
    return _Counts(terms, headings, sentences)


def _questions(source: _Source, counts: _Counts, place: int) -> Iterator[Question]:
    """Yield questions of all kinds in turn; which kind is first differs between documents."""
    makers: list[_Make] = [_definitions, _clozes, _headings]
    turn = place % len(makers)
    queues = [make(source, counts) for make in makers[turn:] + makers[:turn]]
    while queues:
        left = []
        for queue in queues:
            question = next(queue, None)
            if question is not None:
                yield question
                left.append(queue)
        queues = left


def _headings(source: _Source, counts: _Counts) -> Iterator[Question]:
    sections = [section for section in source.body.sections if section.path]
    for section in sorted(sections, key=lambda entry: _drawn(f"{entry.start} {entry.path[-1]}")):
        terms = _heading_terms(source, section.path)
        is_informative = _HEADING[0] <= len(terms) <= _HEADING[1]
        if not is_informative or counts.headings[" ".join(terms)] > 1:
            continue
        text = source.body.text
        under = tuple(_sentences(text, section.start, min(section.end, _READ)))[:_SENTENCES]
        if under:
            yield _made("heading", _named(section.path), under, source)


def _definitions(source: _Source, counts: _Counts) -> Iterator[Question]:
    pattern, form = _DEFINITIONS.get(source.document.language, _DEFINITIONS["en"])
    for sentence in source.sentences:
        match = pattern.match(_plain(sentence))
        if match is None or counts.sentences[sentence] > 1:
            continue
        subject = match["subject"]
        if subject.split()[0].casefold() not in _EMPTY:
            named = (match["article"] or "").lower() + subject
            yield _made("definition", form.format(named), (sentence,), source)


def _clozes(source: _Source, counts: _Counts) -> Iterator[Question]:
    for sentence in source.sentences[:_SENTENCES]:
        if counts.sentences[sentence] > 1:
            continue
        plain, language = _plain(sentence), source.document.language
        gap = _rarest(plain, language, counts.terms)
        if gap is None:
            continue
        left = f"{plain[: gap[0]]}{_GAP}{plain[gap[1] :]}"
        if len(analyse(left, language)) >= _CLOZE_TERMS:
            yield _made("cloze", left, (sentence,), source)


def _rarest(text: str, language: str, counts: Mapping[str, int]) -> tuple[int, int] | None:
    """Return where the rarest word stands, with the names and numbers beside it.

    In scripts without spaces it is the rarest pair of characters.
    """
    words = [match.span() for match in _WORD.finditer(text)]
    words = [pair for word in words for pair in _pairs(text, word)]
    ranked: list[tuple[float, int, int]] = []
    for place, (start, end) in enumerate(words):
        known = [counts[term] for term in analyse(text[start:end], language) if counts.get(term)]
        if known and end - start > 1:
            ranked.append((min(known), start - end, place))
    if not ranked:
        return None
    place = min(ranked)[2]
    first = last = place
    while first > 1 and _joined(text, words[first - 1], words[first]):
        first -= 1
    while last + 1 < len(words) and _joined(text, words[last + 1], words[last]):
        last += 1
    return words[first][0], words[last][1]


def _pairs(text: str, word: tuple[int, int]) -> Sequence[tuple[int, int]]:
    start, end = word
    if not _EAST.search(text, start, end):
        return [word]
    return [(place, min(place + 2, end)) for place in range(start, end, 2)]


def _joined(text: str, neighbour: tuple[int, int], word: tuple[int, int]) -> bool:
    """Whether a neighbour belongs to the same name: one space between, and a capital or digit."""
    between = text[min(neighbour[1], word[1]) : max(neighbour[0], word[0])]
    named = all(text[start].isupper() or text[start].isdigit() for start, _ in (neighbour, word))
    return between == " " and named


def _heading_terms(source: _Source, path: Sequence[str]) -> list[str]:
    """Return what a heading says beyond function words and its number."""
    language = source.document.language
    empty = STOPWORDS.get(language or "en", frozenset())
    words = [word for word in _WORD.findall(_named(path)) if word.casefold() not in empty]
    return analyse(" ".join(words), language)


def _named(path: Sequence[str]) -> str:
    """Return the heading at the end of a path without its number."""
    return _NUMBER.sub("", _plain(path[-1])) if path else ""


def _made(kind: str, text: str, sentences: Sequence[str], source: _Source) -> Question:
    text = " ".join(text.split())
    return Question(
        question_id(text),
        text,
        required=(source.document.source,),
        answers=tuple(dict.fromkeys(sentences)),
        note=kind,
    )


def _plain(text: str) -> str:
    return " ".join(_EMPHASIS.sub("", text).split())


def _drawn(text: str) -> str:
    """Return what orders texts as if by chance, yet the same on every run."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
