"""Versions of one document whose same sentence has another value.

Two documents are versions of one where their names or titles differ by nothing but a date, a mark
of a version or of a copy. What differs is said only of sentences that are shown: those that stand
in the same section of both, word for word but for numbers, dates or names.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from typing import Final

from chapterhouse.answering.cite import cite, verify
from chapterhouse.text.canonical import stated_date
from chapterhouse.text.counting import HAN, KANA
from chapterhouse.text.language_data import STOPWORDS, language_data
from chapterhouse.text.markdown import sentence_spans
from chapterhouse.types import Answer, Body, Citation, Document, Quotation, VersionDifference
from chapterhouse.types import Range as Span

_MOST: Final = 3  # differences that are said
_PASSAGES: Final = 3  # whose sentences are compared, from the top: what follows only fills a screen
_ALIKE: Final = 0.6  # share of a sentence's words that both versions have
_LEAST, _LEAST_WITH_NAME = 2, 4  # words that both have; so many where a name differs
_SAME_TEXT: Final = 0.4  # share of the sentences of the shorter version that the other one has, too
# The same where nothing but dates tells them apart. Minutes of a series have up to .64.
_SAME_TEXT_DATED: Final = 0.7
_FEW: Final = 4  # sentences of a document that is too short to ask for that
_MONTHS: Final = frozenset[str]().union(*(data.date_words for data in language_data().values()))
_COUNTS: Final = frozenset[str]().union(*(data.number_words for data in language_data().values()))
_SMALL_WORDS: Final = frozenset[str]().union(*STOPWORDS.values())
_DATE: Final = re.compile(
    r"(?<!\d)(?:(?:19|20)\d\d[ ._-]?[01]\d[ ._-]?[0-3]\d|[0-3]?\d[ ._-][01]?\d[ ._-](?:19|20)\d\d"
    r"|(?:19|20)\d\d(?:[ ._-](?:q[1-4]|h[12]|[01]?\d(?!\d)))?)(?!\d)"
    rf"|(?<![^\W_])(?:[0-3]?\d[ ._-]+)?(?:{'|'.join(sorted(_MONTHS))})(?![^\W_])"
)
_NUMBER: Final = re.compile(
    r"(?<![^\W_])(?:v|ver|versi[oó]n|versão|versie|versione|rev|r[eé]vision|fassung|ausgabe|edition)"
    r"[ ._-]*(\d+(?:[._]\d+)*)(?![^\W_])"
)
_OLD: Final = re.compile(
    r"(?<![^\W_])(?:draft|entwurf|brouillon|ébauche|borrador|bozza|rascunho|concept|utkast|udkast|old"
    r"|alt|ancien|antiguo|vecchio|oud|archive?|superseded)(?![^\W_])"
)
_NEW: Final = re.compile(
    r"(?<![^\W_])(?:final|endfassung|endgültig|d[eé]finiti(?:f|ve|vo|va|ef)|new|neu|nouveau|nuevo"
    r"|nuovo|novo|nieuw|updated|revised|aktualisiert)(?![^\W_])"
)
_COPY: Final = re.compile(
    r"(?<![^\W_])(?:copy|kopie|copie|c[oó]pia|kopia|kopi)(?: (?:of|von|de)(?= ))?"
    r"(?: ?\(?\d{1,2}\)?)?(?![^\W_])"
)
_TURN: Final = re.compile(r"\(\d{1,2}\)")  # of a copy
_UPLOAD: Final = re.compile(r"^upload/[0-9a-f]{8}/")  # a folder of its own
_WORD: Final = re.compile(rf"\d+(?:[.,:/-]\d+)*|[{HAN}{KANA}]|[^\W\d_{HAN}{KANA}]+")
_THOUSANDS: Final = re.compile(r"(?<=\d)[.,](?=\d{3}(?:\D|$))")


@dataclass(frozen=True)
class _Version:
    """A document with what tells it from its other versions."""

    document: Document
    body: Body

    @cached_property
    def path(self) -> str:
        return _plain(_UPLOAD.sub("", self.document.source))

    @cached_property
    def names(self) -> tuple[str, str]:
        """Return its path and its title without marks of versions."""
        folders = filter(None, map(_without_marks, self.path.rpartition(".")[0].split("/")))
        return "/".join(folders), _without_marks(self.document.title)

    @cached_property
    def sentences(self) -> dict[str, Span]:
        """Return its sentences but headings, folded, each where it first stands."""
        text, found = self.body.text, dict[str, Span]()
        for start, end in sentence_spans(text, 0, len(text)):
            own = text[start:end].rstrip()
            if own and not own.startswith("#"):
                found.setdefault(_plain(own), (start, start + len(own)))
        return found

    @cached_property
    def _paths(self) -> list[tuple[str, ...]]:
        return [tuple(map(_without_marks, one.path)) for one in self.body.sections]

    def section(self, start: int) -> tuple[str, ...]:
        """Return the headings above a place, without marks of versions."""
        place = bisect_right(self.body.sections, start, key=lambda one: one.start)
        return self._paths[place - 1] if place else ()

    def changed(self, other: "_Version", section: tuple[str, ...]) -> list[Span]:
        """Return the sentences of a section that the other version has not."""
        fresh = (self.sentences[one] for one in self.sentences if one not in other.sentences)
        return [span for span in fresh if self.section(span[0]) == section]

    def text(self, span: Span) -> str:
        return self.body.text[slice(*span)]

    def is_version_of(self, other: "_Version") -> bool:
        """Whether both are versions of one document: by their names, and by most of their text.

        Minutes of two days are no versions: of those that only dates tell apart nearly all of the
        text has to be the same, and short ones have to have other marks.
        """
        path, title = (a == b != "" for a, b in zip(self.names, other.names, strict=True))
        if not path and not (title and self.document.title != other.document.title):
            return False
        dated = self.path != other.path
        dated = dated and _without_dates(self.marks) == _without_dates(other.marks)
        shorter = min(len(self.sentences), len(other.sentences))
        if shorter <= _FEW:
            return not dated
        share = _SAME_TEXT_DATED if dated else _SAME_TEXT
        return len(self.sentences.keys() & other.sentences.keys()) >= share * shorter

    @cached_property
    def marks(self) -> str:
        return _plain(f"{self.path} {self.document.title}")

    def number(self) -> tuple[int, ...]:
        """Return the number that its name states; a draft comes first, a final version last."""
        if _OLD.search(self.marks):
            return (0,)
        if found := _NUMBER.search(self.marks):
            return tuple(map(int, re.findall(r"\d+", found[1])))
        return (9999,) if _NEW.search(self.marks) else (1,)

    def is_older_than(self, other: "_Version") -> bool | None:
        """Whether it is the older one, by date, version or file; None where that is not known."""
        dates = [stated_date(one.document) for one in (self, other)]
        known = min(map(len, dates))
        mine = dates[0][:known], self.number(), self.document.modified
        others = dates[1][:known], other.number(), other.document.modified
        return None if mine == others else mine < others


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).replace("%20", " ").casefold().split())


def _without_dates(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", _DATE.sub(" ", text)))


def _without_marks(name: str) -> str:
    plain = _plain(name)
    for mark in (_NUMBER, _COPY, _OLD, _NEW, _TURN):
        plain = mark.sub(" ", plain)
    return _without_dates(plain)


def add_version_differences(
    answer: Answer, documents: Iterable[Document], body: Callable[[str], Body | None]
) -> Answer:
    """Return an answer with what other versions of the documents shown say, both sides cited."""
    texts = ((document, body(document.id)) for document in documents)
    known = {one.id: _Version(one, text) for one, text in texts if text is not None}
    citations, found = list(answer.citations), dict[frozenset[int], VersionDifference]()
    read = {number for one in answer.sentences[:_PASSAGES] for number in one.citations}
    for shown in [one for one in answer.citations if one.number in read]:
        own = known.get(shown.document_id)
        for other in known.values() if own else ():
            if own is None or own is other or not own.is_version_of(other):
                continue
            for counterpart, values in _differences(own, other, shown):
                if len(found) == _MOST:
                    break
                pair = shown.number, _cited(other, counterpart, values, citations)
                is_older = own.is_older_than(other)
                if is_older:
                    pair, values = pair[::-1], tuple(both[::-1] for both in values)  # noqa: PLW2901
                difference = VersionDifference(*pair, values, ordered=is_older is not None)
                found.setdefault(frozenset(pair), difference)
    return replace(answer, citations=tuple(citations), versions=tuple(found.values()))


def _cited(version: _Version, span: Span, values: "_Values", citations: list[Citation]) -> int:
    """Return the number of the citation that shows the values at a span; add one if none does."""
    for one in citations:
        there = one.document_id == version.document.id and one.start < span[1] and span[0] < one.end
        if there and all(its in one.quote for _, its in values):
            return one.number
    quotation = Quotation(version.document.id, *span, version.text(span))
    made = cite(version.document, quotation, len(citations) + 1)
    citations.append(verify(made, version.document, version.body))
    return len(citations)


_Values = tuple[tuple[str, str], ...]


def _differences(own: _Version, other: _Version, shown: Citation) -> Iterator[tuple[Span, _Values]]:
    """Yield the sentences of another version that have other values than what is shown."""
    for span in own.sentences.values():
        if shown.start < span[1] and span[0] < shown.end:
            section = own.section(span[0])
            fresh = own.changed(other, section)
            theirs = _closest(own, span, other, other.changed(own, section))
            if theirs and (span,) == _closest(other, theirs[0], own, fresh)[:1]:
                yield from [theirs] if all(mine in shown.quote for mine, _ in theirs[1]) else ()


def _closest(
    own: _Version, span: Span, other: _Version, spans: Iterable[Span]
) -> tuple[()] | tuple[Span, _Values]:
    """Return the sentence that differs from one in the fewest values, if it is the only one."""
    pairs = ((one, _values(own.text(span), other.text(one))) for one in spans)
    found = sorted((pair for pair in pairs if pair[1]), key=lambda pair: len(pair[1]))
    is_clear = found and (not found[1:] or len(found[0][1]) < len(found[1][1]))
    return found[0] if is_clear else ()


def _values(one: str, other: str) -> _Values:
    """Return in what two sentences differ, where that is values alone; else nothing."""
    words = [list(_WORD.finditer(text)) for text in (one, other)]
    folded = [[_THOUSANDS.sub("", _plain(word[0])) for word in own] for own in words]
    matcher = SequenceMatcher(None, folded[0], folded[1], autojunk=False)
    equal = sum(block.size for block in matcher.get_matching_blocks())
    if equal < max(_LEAST, _ALIKE * max(map(len, words))):
        return ()
    found: list[tuple[str, str]] = []
    for tag, start, end, first, last in matcher.get_opcodes():
        changed = words[0][start:end], words[1][first:last]
        if tag == "equal":
            continue
        if tag != "replace" or not all(_is_value(word, equal) for own in changed for word in own):
            return ()
        found.append(
            (one[changed[0][0].start() : changed[0][-1].end()],
             other[changed[1][0].start() : changed[1][-1].end()])
        )  # fmt: skip
    return tuple(found)


def _is_value(word: re.Match[str], equal: int) -> bool:
    """Whether a word is a number, or part of a date or, where enough beside it is equal, a name."""
    text, folded = word[0], word[0].casefold()
    if text[0].isdigit() or folded in _MONTHS or folded in _COUNTS:
        return True
    is_name = word.start() > 0 and text.istitle() and folded not in _SMALL_WORDS
    return is_name and equal >= _LEAST_WITH_NAME
