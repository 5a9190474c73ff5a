"""What a question names by a code, a number, a date or in quotation marks: only that answers.

A code is ``B-201``, ``4.0.3`` or ``NO93 8601 1117 947``; a numbered name ``port 8443``, ``hall 3``
or ``clause 2.1``. What stands beside it in the documents is of the same kind and another value:
``B-216``, ``port 8444``. A row, a sentence or a section with the value itself decides; one with
another value says nothing of it. A date is found however it is written, and where a document or a
section is of that day or month.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from chapterhouse import lazy_pattern
from chapterhouse.retrieval.question import ADDRESS, is_function_word, plain_words
from chapterhouse.text.canonical import stated_date
from chapterhouse.text.counting import script_language
from chapterhouse.text.dates import date_terms, terms_are_of_date
from chapterhouse.text.language_data import language_data
from chapterhouse.text.mentions import bare_word
from chapterhouse.text.terms import text_of_section
from chapterhouse.types import Chunk, Document, Hit, Question, Range

_START: Final = r"(?<!\w)(?<!\w[.\-])"
_END: Final = r"(?![.\-]?\w)"
_MOST: Final = 12  # of one question; each is looked for in every candidate
_LONGEST: Final = 64  # characters of a code
_GROUPED: Final = 7  # digits from which a number is the same however it is grouped
_RUNS = re.compile(r"\d+|[^\W\d_]+|.", re.DOTALL)
_NUMBERED = lazy_pattern(
    r"(?<![\w.\-])([^\W\d_][\w'’]*|§)\s{0,2}(?:#|no\.?\s|nr\.?\s)?(\d+(?:\.\d+)*(?:\([a-z0-9]\))*)"
    r"(?![.\-,:/]?\w|\s?%)"
)
_AT_LINE: Final = r"(?:^|\n)[#>*\s|]*"
_SIGNS: Final = "§"
_YEAR = re.compile(r"[12]\d{3}")
HEADING = re.compile(r"^#{1,6}\s+(.+)$", re.MULTILINE)
_MOST_QUOTED = 4  # times as long a question may be as a quotation that decides; others are asides
_BREAK = re.compile(r"\n\s*\n|\n[ \t]*(?:[|#>]|[-*+•]\s|\(?\w{1,4}[.)]\s|$)")


@dataclass(frozen=True, slots=True)
class ExactTerm:
    """A code, numbered name or quotation of a question.

    Attributes:
        kin: Finds it and what is of its kind; None where nothing else can be told to be.
    """

    text: str
    own: re.Pattern[str]
    kin: re.Pattern[str] | None

    def is_in(self, text: str, _language: str = "") -> bool:
        """Whether a text has it."""
        return self.own.search(normal(text)) is not None

    def is_last_in(self, text: str, _language: str = "") -> bool | None:
        """Whether it is what of its kind stands last in a text; None where there is none."""
        plain = normal(text)
        found = None if self.kin is None else _last(self.kin, plain)
        if found is None:
            return True if self.own.search(plain) else None
        return any(own.span() == found.span() for own in self.own.finditer(plain))


@dataclass(frozen=True, slots=True)
class ExactDate:
    """A day or month of a question.

    Attributes:
        term: Its index term (``text/dates.py``).
    """

    text: str
    term: str

    def is_in(self, text: str, language: str = "") -> bool:
        """Whether a text has it, or a day of that month."""
        return self.term in date_terms(text, language)

    def is_last_in(self, text: str, language: str = "") -> bool | None:
        """Whether a heading is of that day or month; None where it is of none."""
        found = date_terms(text, language)
        return self.term in found if found else None


def normal(text: str) -> str:
    """Return a text in the form in which exact terms are compared."""
    return unicodedata.normalize("NFKC", text).casefold()


def exact_terms(question: Question) -> tuple[ExactTerm | ExactDate, ...]:
    """Return the codes, quotations, numbered names and dates of a question, the first of many."""
    days = (ExactDate(word, terms[0]) for word, terms in question.words if terms_are_of_date(terms))
    words = len(question.content.split())
    quoted = tuple(
        one
        for one in question.phrases
        if ADDRESS.fullmatch(one) or len(one.split()) * _MOST_QUOTED >= words
    )
    codes = _exact_terms(question.text, question.identifiers, quoted, question.languages[0])
    found: tuple[ExactTerm | ExactDate, ...] = (*codes, *days)
    return found[:_MOST]


@lru_cache(256)
def _exact_terms(
    text: str, identifiers: tuple[str, ...], phrases: tuple[str, ...], language: str
) -> tuple[ExactTerm, ...]:
    codes = [
        _code(one)
        for one in identifiers[:_MOST]
        if one.isascii() and any(map(str.isdigit, one)) and len(one) <= _LONGEST
    ]
    rest = text
    for one in identifiers:
        rest = rest.replace(one, " ")
    quoted = map(_phrase, phrases[:_MOST])
    return tuple({one.text: one for one in (*codes, *quoted, *_numbered(rest, language))}.values())


def _phrase(written: str) -> ExactTerm:
    """Return what finds an address, or words in their order, whatever ending the last one has."""
    wanted = normal(written)
    if ADDRESS.fullmatch(written):
        return ExactTerm(written, re.compile(_START + re.escape(wanted) + _END), ADDRESS)
    start = "" if script_language(written) else r"(?<!\w)"
    return ExactTerm(written, re.compile(start + r"\s+".join(map(re.escape, wanted.split()))), None)


def _code(written: str) -> ExactTerm:
    wanted = normal(written)
    compact = re.sub(r"[\W_]", "", wanted)
    if sum(map(str.isdigit, compact)) >= _GROUPED and compact.isalnum():
        own = _START + r"\+?" + r"[ .\-/]?".join(map(re.escape, compact)) + r"(?!\w)"
        return ExactTerm(written, re.compile(own), None)
    runs = _RUNS.findall(wanted)
    kin = "".join(map(_like, runs))
    return ExactTerm(
        written, re.compile(_START + re.escape(wanted) + _END), re.compile(_START + kin + _END)
    )


def _like(run: str) -> str:
    """Return what stands in the place of a run of digits, letters or signs in its kind."""
    if run.isdigit():
        return r"\d+"
    return r"[^\W\d_]" if run.isalpha() and len(run) == 1 else re.escape(run)


def _numbered(text: str, language: str) -> Iterator[ExactTerm]:
    """Yield names with their numbers: not quantities, behind which stands what they count."""
    for match in _NUMBERED.finditer(text):
        name, number = normal(bare_word(match[1])), match[2].casefold()
        following = plain_words(text[match.end() :])[:1]
        counts = bool(following) and not is_function_word(following[0], language)
        is_part = name in part_words()
        names = match[1][0].isupper() and match.start() > 0
        if is_function_word(name, language) or not (is_part or names or not counts):
            continue
        if not is_part and _YEAR.fullmatch(number):
            continue
        before = rf"{_START}{re.escape(name)}[.:]?\s{{0,2}}(?:#|no\.?\s|nr\.?\s)?"
        if is_part:  # the heading of a clause has its number alone
            words = "|".join(map(re.escape, sorted(part_words())))
            before = rf"(?:{before}|{_AT_LINE}(?:(?:{words})\.? )?)"
        own, kin = (f"{before}{one}{_END}" for one in (re.escape(number), _shape(number)))
        yield ExactTerm(match.group(), re.compile(own), re.compile(kin))


def _shape(number: str) -> str:
    return r"\d+(?:\.\d+)*" + r"\([a-z0-9]\)" * number.count("(")


@lru_cache(1)
def part_words() -> frozenset[str]:
    """Return what parts of a document are called in every known language: clause, Artikel, §."""
    return frozenset(_SIGNS).union(*(one.part_words for one in language_data().values()))


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for found in pattern.finditer(text):  # noqa: B007 - the last is wanted
        pass
    return found


def holds_exactly(
    terms: Sequence[ExactTerm | ExactDate], chunk: Chunk, document: Document | None
) -> int:
    """Return how many of some terms a chunk has, in it or above it."""
    if not terms:
        return 0
    names = f"{document.title}\n{document.source}\n{stated_date(document)}\n" if document else ""
    text = f"{names}{text_of_section(chunk.section_path)}\n{chunk.header}{chunk.text}"
    language = document.language if document else ""
    return sum(term.is_in(text, language) for term in terms)


def standing(
    term: ExactTerm | ExactDate, hits: Sequence[Hit], spans: Sequence[tuple[int, Range]]
) -> Iterator[int]:
    """Yield of each sentence whether it is about a term.

    It is (1) where it or its headings have it, and where it goes on in a paragraph in which that is
    what of its kind was named last. It is about another (-1) where that is of the same kind. Of
    others (0) nothing can be told.

    Args:
        spans: Of each sentence the place of its hit, and where it stands in the document, in order.
    """
    place, end, named, below = -1, 0, 0, 0
    for rank, (start, stop) in spans:
        chunk, language = hits[rank].chunk, hits[rank].document.language
        if rank != place:
            end, below = chunk.start, _standing_above(term, hits[rank])
        between = chunk.text[end - chunk.start : start - chunk.start]
        own = chunk.text[start - chunk.start : stop - chunk.start]
        if headings := HEADING.findall(between):
            below = _sign_of(term.is_last_in(headings[-1], language))
        if rank != place or own.startswith("|") or headings or _BREAK.search(between):
            named = below
        place, end = rank, stop
        has = term.is_in(own, language)
        if isinstance(term, ExactDate):  # other days may be named beside it
            yield 1 if has else named
            continue
        last = term.is_last_in(own)
        named = named if last is None else _sign_of(last)
        yield 1 if has else named


def _standing_above(term: ExactTerm | ExactDate, hit: Hit) -> int:
    """Return whether the headings of a passage are about a term, the innermost that tells.

    Without such a heading a document of a day or month is about that.
    """
    language = hit.document.language
    headings = (term.is_last_in(one, language) for one in reversed(hit.chunk.section_path))
    of_day = isinstance(term, ExactDate) and term.is_in(stated_date(hit.document), language)
    return next(filter(None, map(_sign_of, headings)), int(of_day))


def _sign_of(named: bool | None) -> int:  # noqa: FBT001 - as `is_last_in` says it
    return 0 if named is None else 1 if named else -1
