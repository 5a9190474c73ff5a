"""The names and terms of a document: what it would be looked up by.

Candidates are runs of one to four words without function words, which cross no punctuation. They
count by how often they stand in the document, more where they are names, codes, headings or
several words, and less where they are no more than part of a longer one. No model, no corpus.

Source for the weight of a run against the runs it is part of: the C-value of Frantzi, Ananiadou
and Mima, International Journal on Digital Libraries 2000.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from chapterhouse import lazy_pattern
from chapterhouse.text.analyse import analyse
from chapterhouse.text.canonical import split_front_matter
from chapterhouse.text.counting import EAST_ASIAN
from chapterhouse.text.language_data import STOPWORDS, language_data
from chapterhouse.text.markdown import BlockKind, blocks, plain_title

_MOST_WORDS: Final = 4
_LONGEST: Final = 60  # characters of a term
_WINDOW: Final = 400_000  # characters looked at; a book says in these what it is about
_HEADING_WEIGHT: Final = 3.0
_TITLE_WEIGHT: Final = 5.0
_NAME_WEIGHT: Final = 1.6
_CODE_WEIGHT: Final = 1.3
_SINGLE_WEIGHT: Final = 0.55  # one ordinary word says little of a document
_HARDLY: Final = 0.2  # share of its places where a part must stand alone to be a term itself
_FEW: Final = 2  # times that a run must stand somewhere to be a term, unless it is a name

_URL: Final = re.compile(
    r"(?:https?://|www\.|mailto:)\S+|[\w.+-]{1,64}@[\w.-]{1,200}|<[^<>\n]{1,200}>"
)
_EAST_RUN: Final = lazy_pattern(rf"[{EAST_ASIAN}]+")
# A word, an identifier or a code; the marks inside a word belong to it.
# Signs that belong word for word before them, and scripts that are full of them.
_SIGNS: Final = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0eff"
)
_LETTER: Final = rf"[^\W_{EAST_ASIAN}][{_SIGNS}]*"
_PIECE: Final = rf"{_LETTER}(?:_*{_LETTER})*"
_WORD: Final = lazy_pattern(rf"{_PIECE}(?:[-'’./&+]{_PIECE})*\+{{0,2}}")
_GAP: Final = re.compile(r"[ \t]*\n?[ \t]*")  # nothing else may stand inside a term
_LETTERS: Final = re.compile(r"[^\W\d_]")
_CODE: Final = lazy_pattern(r"(?=\w*[^\W\d_])(?=.*[\d_])|[a-zà-ÿ][A-Z]")
_POSSESSIVE: Final = re.compile(r"['’][sS]\Z")
_DOTTED: Final = re.compile(r"[^\W\d_]\.[^\W\d_]{2}")  # names of files and hosts
_CUT: Final = re.compile(r"-\n[ \t]*(?=[a-zà-ÿ])")
_SENTENCE_START: Final = lazy_pattern(r"[.!?:;…\n][\s\"'“‘«(*_>#|\d.)-]*\Z")
# Chinese and Japanese words are not told apart, so runs are cut at what joins them.
_EAST_JOINTS: Final = re.compile(
    "的|了|和|与|與|及|或|在|是|为|為|于|於|对|對|从|從|把|被|将|將|也|都|而|但|并|並|就|还|還|"
    "这|這|那|其|有|不|请|請|可以|我们|我們|您|他们|以及|如果|因为|所以|每|个|個|之|以|到|由|向|上|下|"
    "[\u3041-\u3096]+"  # hiragana carries the grammar
)
_EAST_SHORTEST: Final = 2
_EAST_LONGEST: Final = 8

# What may stand inside a term.
_LINK_WORDS: Final = (
    "of for and & de du des d la le les di del della da do dos und von der für en og"
)
_LINKS: Final = frozenset(_LINK_WORDS.split())
_WEB_AND_DATA: Final = "http https www com org html pdf true false null none"
_EMPTY: Final = frozenset(_WEB_AND_DATA.split()).union(
    *(data.empty_words for data in language_data().values())
)
_BETWEEN: Final = frozenset[str]().union(*(data.joining_words for data in language_data().values()))


_Key = tuple[str, ...]  # words without their endings, or Chinese and Japanese characters


@dataclass(slots=True)
class _Term:
    """What was counted of one term, whatever its spelling."""

    words: int = 1
    count: int = 0
    weight: float = 0.0
    names: int = 0  # written as a name
    spellings: Counter[str] = field(default_factory=Counter)

    @property
    def named(self) -> bool:  # more often than not
        return 2 * self.names > self.count

    @property
    def spelling(self) -> str:  # how it is written most often
        usual = self.spellings
        return max(usual, key=lambda text: (usual[text], not text.islower(), text))

    @property
    def code(self) -> bool:  # or an identifier
        return self.words == 1 and _CODE.search(self.spelling) is not None

    @property
    def is_term(self) -> bool:  # at all: said twice, a name, a code or in a heading
        several = self.words > 1
        if self.code or self.count > _FEW:
            return True
        if self.count == _FEW and (several or self.named):
            return True
        numbered = not _LETTERS.search(self.spelling.rpartition(" ")[2])
        headed = self.weight >= _HEADING_WEIGHT and (several or self.count == _FEW)
        return headed or (several and self.named and not numbered)


class _Word(NamedTuple):
    text: str
    key: str
    joint: bool  # a function word: it may stand inside a term but not at its edges
    empty: bool  # it may end a term but not begin one
    capital: bool
    first: bool  # of a sentence, where a capital says nothing


def key_terms(text: str, language: str, *, limit: int = 12) -> tuple[str, ...]:
    """Return the names and terms of a document, best first, as it most often spells them."""
    found: defaultdict[_Key, _Term] = defaultdict(_Term)
    joints = STOPWORDS.get(language, STOPWORDS["en"]) | _BETWEEN
    for block_text, weight in _weighted_blocks(text[:_WINDOW]):
        for run in _runs(block_text, language, joints):
            _count(run, weight, language, found)
        _count_east(block_text, weight, found)
    return tuple(_chosen({key: term for key, term in found.items() if term.is_term}, limit))


def _weighted_blocks(text: str) -> Iterator[tuple[str, float]]:
    """Yield the text of each block without its markup, and what it counts."""
    _, body = split_front_matter(text)
    found = blocks(body)
    only_code = all(block.kind in {BlockKind.HEADING, BlockKind.CODE} for block in found)
    heading_weight = _TITLE_WEIGHT
    for block in found:
        written = body[block.start : block.end]
        if block.kind is BlockKind.HEADING:
            yield block.title, heading_weight
            heading_weight = _HEADING_WEIGHT
        elif block.kind is not BlockKind.CODE:
            lines = _CUT.sub("", _URL.sub(" ; ", written)).split("\n")
            shown = "\n".join(map(plain_title, lines))
            is_table = block.kind is BlockKind.TABLE  # whose cells stay apart
            yield shown.replace("|", " ; ").replace("\n", "\n;") if is_table else shown, 1.0
        elif only_code:
            yield written.partition("\n")[2].replace("\n", " ;\n"), 1.0


def _runs(block_text: str, language: str, joints: frozenset[str]) -> Iterator[list[_Word]]:
    """Yield the longest runs of words between which nothing stands but a space."""
    run: list[_Word] = []
    end = 0
    for match in _WORD.finditer(block_text):
        if run and not _GAP.fullmatch(block_text, end, match.start()):
            yield run
            run = []
        run.append(_word(block_text, match, language, joints))
        end = match.end()
    if run:
        yield run


def _word(block_text: str, match: re.Match[str], language: str, joints: frozenset[str]) -> _Word:
    text = _POSSESSIVE.sub("", match.group())
    folded = text.casefold()
    before = block_text[max(0, match.start() - 12) : match.start()]
    begins = _SENTENCE_START.search(before if match.start() > len(before) else f".{before}")
    joint = folded in joints or _is_elided(folded, joints)
    return _Word(
        text=text,
        key=_key(text, language),
        joint=joint and not (text.isupper() and len(text) > 1),
        empty=folded in _EMPTY,
        capital=text[0].isupper(),
        first=begins is not None,
    )


def _key(text: str, language: str) -> str:
    """Return a word without its number and case; identifiers and codes as they are."""
    if text.endswith("s") and len(text) > 2 and text[:-1].isupper():  # noqa: PLR2004 - "Is"
        return text[:-1].casefold()
    terms = analyse(text, language) if text.isalpha() else ()
    return terms[0] if terms else text.casefold()


def _is_elided(folded: str, joints: frozenset[str]) -> bool:
    """Whether a word is a function word with an apostrophe, such as "don't" or "c'est"."""
    first, mark, second = folded.replace("’", "'").partition("'")
    return bool(mark) and (first in joints or second in joints) and len(first) + len(second) < 8  # noqa: PLR2004 - "l'exploitation" is a word


def _count(run: list[_Word], weight: float, language: str, found: defaultdict[_Key, _Term]) -> None:
    """Count every term of a run: no function word at its edges, a letter in it.

    Those of one word more than a term may have are counted, too: they tell what is cut off one.
    """
    shouted = len(run) > 1 and all(word.text.isupper() for word in run)
    for start, first in enumerate(run):
        if first.joint or first.empty:
            continue
        for stop in range(start + 1, min(start + _MOST_WORDS + 1, len(run)) + 1):
            words = run[start:stop]
            text = " ".join(word.text for word in words)
            if _is_term(words) and len(text) <= _LONGEST and _LETTERS.search(text):
                term = found[tuple(word.key for word in words)]
                term.words = len(words)
                term.count += 1
                term.weight += weight
                term.names += not shouted and _is_name(words, language)
                # The first word of a sentence says nothing of how a term is written.
                term.spellings[text] += not (first.first and first.capital)


def _is_term(words: list[_Word]) -> bool:
    first, last = words[0], words[-1]
    if len(words) == 1:
        text = first.text
        return len(text) > 2 or (len(text) > 1 and text.isupper())  # noqa: PLR2004 - "AI", but not "is"
    if last.joint or not _LETTERS.search(first.text) or len(first.text) < 2:  # noqa: PLR2004 - an initial
        return False
    if any(word.joint and word.text.casefold() not in _LINKS for word in words):
        return False
    if any(_DOTTED.search(word.text) for word in words):
        return False
    # A number belongs to a name ("Windows 11") and to nothing else.
    return all(
        _LETTERS.search(word.text) or (before.capital and word is last)
        for before, word in pairwise(words)
    ) and (last.text[0].isalnum())


def _is_name(words: list[_Word], language: str) -> bool:
    """Whether a run is written as a name; in German every noun is, so one word says nothing."""
    own = [word for word in words if not word.joint]
    if len(own) == 1:
        text = own[0].text
        marked = sum(map(str.isupper, text)) > 1
        return marked or (own[0].capital and not own[0].first and language != "de")
    capitals = all(word.capital or not _LETTERS.search(word.text) for word in own)
    return capitals and not all(word.first for word in own)


def _count_east(block_text: str, weight: float, found: defaultdict[_Key, _Term]) -> None:
    """Count runs of Chinese, Japanese or Korean between their function characters."""
    for match in _EAST_RUN.finditer(block_text):
        for piece in _EAST_JOINTS.split(match.group()):
            longest = len(piece) if len(piece) <= _EAST_LONGEST else _MOST_WORDS
            for width in range(_EAST_SHORTEST, longest + 1):
                for start in range(len(piece) - width + 1):
                    part = piece[start : start + width]
                    term = found[tuple(part)]
                    term.count += 1
                    term.weight += weight
                    term.spellings[part] += 1


def _chosen(terms: Mapping[_Key, _Term], limit: int) -> Iterator[str]:
    """Yield the best terms, leaving out those that say again what a better one said."""
    before, after = Counter[_Key](), Counter[_Key]()  # how often each is part of a longer one
    for key, term in terms.items():
        before[key[1:]] += term.count
        after[key[:-1]] += term.count
    scores = {
        key: _score(term, 1 - max(before[key], after[key]) / term.count)
        for key, term in terms.items()
        if term.words <= _MOST_WORDS
    }
    chosen: list[set[str]] = []
    for key in sorted(scores, key=lambda name: (-scores[name], name)):
        if len(chosen) >= limit or not scores[key]:
            return
        pieces = set(key)
        if not any(pieces <= other or (len(key) > 1 and other < pieces) for other in chosen):
            chosen.append(pieces)
            yield terms[key].spelling


def _score(term: _Term, alone: float) -> float:
    """Return how much a term says; nothing where it hardly ever stands alone.

    ``alone`` is the share of its places where it is not part of a longer one.
    """
    if alone < _HARDLY:
        return 0.0
    length = 1.0 + 0.35 * math.log2(term.words)
    if term.words == 1 and not (term.named or term.code):
        length = _SINGLE_WEIGHT
    marks = (_NAME_WEIGHT if term.named else 1.0) * (_CODE_WEIGHT if term.code else 1.0)
    return math.pow(term.weight * alone, 0.7) * length * marks
