"""The names and terms of a document: what it would be looked up by.

Candidates are runs of one to four words without function words, which cross no punctuation. They
count by how often they stand in the document, more where they are names, codes, headings or
several words, and less where they are no more than part of a longer one. No model, no corpus;

Source for the weight of a run against the runs it is part of: the C-value of Frantzi, Ananiadou
and Mima, International Journal on Digital Libraries 2000.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from chapterhouse.loading import lazy_pattern
from chapterhouse.text.analyse import analyse
from chapterhouse.text.front_matter import split_front_matter
from chapterhouse.text.language_data import STOPWORDS, language_data
from chapterhouse.text.markdown import Block, BlockKind, blocks, plain_title
from chapterhouse.text.scripts import EAST_ASIAN

_MOST_WORDS: Final = 4
_LONGEST: Final = 60  # characters of a term
_WINDOW: Final = 400_000  # characters looked at; a book says in these what it is about
_HEADING_WEIGHT: Final = 3.0
_TITLE_WEIGHT: Final = 5.0
_NAME_WEIGHT: Final = 1.6
_CODE_WEIGHT: Final = 1.3
_SINGLE_WEIGHT: Final = 0.55  # one ordinary word says little of a document
_HARDLY: Final = 0.2  # share of its places where a part must stand alone to be a term itself
_MOSTLY: Final = 0.7
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
LINKS: Final = frozenset(_LINK_WORDS.split())
_WEB_AND_DATA: Final = "http https www com org html pdf true false null none"
_EMPTY: Final = frozenset(_WEB_AND_DATA.split()).union(
    *(data.empty_words for data in language_data().values())
)
_BETWEEN: Final = frozenset[str]().union(*(data.joining_words for data in language_data().values()))


@dataclass(slots=True)
class Term:
    """What was counted of one term, whatever its spelling."""

    words: int
    code: bool
    numbered: bool  # it ends with a number
    count: int = 0
    weight: float = 0.0
    names: int = 0  # written as a name
    before: Counter[str] = field(default_factory=Counter)  # words that stand in front of it
    after: Counter[str] = field(default_factory=Counter)
    spellings: Counter[str] = field(default_factory=Counter)

    @property
    def named(self) -> bool:
        """Whether it is a name more often than not."""
        return 2 * self.names > self.count

    @property
    def is_term(self) -> bool:
        """Whether it is a term at all: said twice, a name, a code or in a heading."""
        is_repeated = self.count >= (
            _FEW if self.words > 1 or self.named or self.code else _FEW + 1
        )
        several = self.named and self.words > 1 and not self.numbered
        headed = self.weight >= _HEADING_WEIGHT and (self.words > 1 or self.count >= _FEW)
        return is_repeated or several or self.code or headed

    @property
    def spelling(self) -> str:
        """How it is written most often."""
        usual = self.spellings
        return max(usual, key=lambda text: (usual[text], not text.islower(), text))


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    key: str
    joint: bool  # a function word: it may stand inside a term but not at its edges
    empty: bool  # it may end a term but not begin one
    capital: bool
    first: bool  # of a sentence, where a capital says nothing


def key_terms(
    text: str,
    language: str,
    *,
    limit: int = 12,
) -> tuple[str, ...]:
    """Return the names and terms of a document, best first, as it most often spells them."""
    found: dict[str, Term] = {}
    for block_text, weight in weighted_blocks(text[:_WINDOW]):
        count_terms(block_text, weight, language, found)
    scores = _scores(found)
    return tuple(_chosen(found, scores, limit))


def count_terms(block_text: str, weight: float, language: str, found: dict[str, Term]) -> None:
    """Count the candidates of a block without markup into ``found``, by words without endings."""
    joints = STOPWORDS.get(language, STOPWORDS["en"])
    for run in _runs(block_text, language, joints):
        _count(run, weight, language, found)
    _count_east(block_text, weight, found)


def weighted_blocks(text: str) -> Iterator[tuple[str, float]]:
    """Yield the text of each block without its markup, and what it counts."""
    _, body = split_front_matter(text)
    found = blocks(body)
    prose = {BlockKind.PARAGRAPH, BlockKind.TABLE}
    only_code = not any(block.kind in prose for block in found)
    titled = False
    for block in found:
        written = body[block.start : block.end]
        if block.kind is BlockKind.HEADING:
            yield block.title, _HEADING_WEIGHT if titled else _TITLE_WEIGHT
            titled = True
        elif block.kind is not BlockKind.CODE:
            yield _plain(written, block), 1.0
        elif only_code:
            yield written.partition("\n")[2].replace("\n", " ;\n"), 1.0


def _plain(written: str, block: Block) -> str:
    """Return a block without addresses, emphasis and cut words; cells and items stay apart."""
    lines = _CUT.sub("", _URL.sub(" ; ", written)).split("\n")
    if block.kind is BlockKind.TABLE:
        return "\n;".join(plain_title(line).replace("|", " ; ") for line in lines)
    return "\n".join(plain_title(line) for line in lines)


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
    joint = folded in joints or folded in _BETWEEN or _is_elided(folded, joints)
    return _Word(
        text=text,
        key=_key(text, language),
        joint=joint and not (text.isupper() and len(text) > 1),
        empty=folded in _EMPTY,
        capital=text[0].isupper(),
        first=_SENTENCE_START.search(before if match.start() > len(before) else f".{before}")
        is not None,
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


def _count(run: list[_Word], weight: float, language: str, found: dict[str, Term]) -> None:
    """Count every term of a run: no function word at its edges, a letter in it."""
    shouted = len(run) > 1 and all(word.text.isupper() for word in run)
    for start, first in enumerate(run):
        if first.joint or first.empty:
            continue
        for stop in range(start + 1, min(start + _MOST_WORDS, len(run)) + 1):
            words = run[start:stop]
            if not _is_term(words):
                continue
            key, text = " ".join(word.key for word in words), " ".join(word.text for word in words)
            name = not shouted and _is_name(words, language)
            term = _note(found, key, text, words, weight, name=name)
            if term is not None and start:
                term.before[run[start - 1].key] += 1
            if term is not None and stop < len(run):
                term.after[run[stop].key] += 1


def _is_term(words: list[_Word]) -> bool:
    first, last = words[0], words[-1]
    if len(words) == 1:
        text = first.text
        return len(text) > 2 or (len(text) > 1 and text.isupper())  # noqa: PLR2004 - "AI", but not "is"
    if last.joint or not _LETTERS.search(first.text) or len(first.text) < 2:  # noqa: PLR2004 - an initial
        return False
    if any(word.joint and word.text.casefold() not in LINKS for word in words):
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


def _note(
    found: dict[str, Term], key: str, text: str, words: list[_Word], weight: float, *, name: bool
) -> Term | None:
    if len(text) > _LONGEST or not _LETTERS.search(text):
        return None
    code = len(words) == 1 and _CODE.search(text) is not None
    numbered = len(words) > 1 and not _LETTERS.search(words[-1].text)
    term = found.setdefault(key, Term(max(1, len(words)), code, numbered))
    term.count += 1
    term.weight += weight
    term.names += name
    # The first word of a sentence says nothing of how a term is written.
    term.spellings[text] += not (words and words[0].first and words[0].capital)
    return term


def _count_east(block_text: str, weight: float, found: dict[str, Term]) -> None:
    """Count runs of Chinese, Japanese or Korean between their function characters."""
    for match in _EAST_RUN.finditer(block_text):
        for piece in _EAST_JOINTS.split(match.group()):
            size = len(piece)
            if _EAST_SHORTEST <= size <= _EAST_LONGEST:
                _note(found, piece, piece, [], weight, name=False)
            for width in range(_EAST_SHORTEST, min(size - 1, _MOST_WORDS) + 1):
                for start in range(size - width + 1):
                    part = piece[start : start + width]
                    _note(found, part, part, [], weight, name=False)


def _scores(found: dict[str, Term]) -> dict[str, float]:
    """Weigh each term by what it is besides a part of longer ones."""
    standing = {key: term for key, term in found.items() if term.is_term}
    alone = shares_alone(standing)
    return {key: score for key, term in standing.items() if (score := _score(term, alone[key])) > 0}


def shares_alone(standing: Mapping[str, Term]) -> dict[str, float]:
    """Return for each term the share of its places where it is not part of a longer one."""
    held: dict[str, int] = {}
    for key, term in standing.items():
        if _EAST_RUN.fullmatch(key):
            for part in _parts(key):
                held[part] = max(held.get(part, 0), term.count)
    return {key: _alone(key, term, standing, held) for key, term in standing.items()}


def _alone(key: str, term: Term, standing: Mapping[str, Term], held: Mapping[str, int]) -> float:
    """Return the share of a term's places where it is not part of a longer one."""
    if _EAST_RUN.fullmatch(key):
        return 1 - min(held.get(key, 0), term.count) / term.count
    if term.words == _MOST_WORDS and any(_is_cut(side, term) for side in (term.before, term.after)):
        return 0.0
    before = sum(n for word, n in term.before.items() if f"{word} {key}" in standing)
    after = sum(n for word, n in term.after.items() if f"{key} {word}" in standing)
    return 1 - max(before, after) / term.count


def _is_cut(side: Counter[str], term: Term) -> bool:
    """Whether the same word always stands at this side: the name is longer than a term may be."""
    return bool(side) and max(side.values()) > _MOSTLY * term.count


def _score(term: Term, alone: float) -> float:
    """Return how much a term says; nothing where it hardly ever stands alone."""
    if alone < _HARDLY:
        return 0.0
    length = 1.0 + 0.35 * math.log2(term.words)
    if term.words == 1 and not (term.named or term.code):
        length = _SINGLE_WEIGHT
    marks = (_NAME_WEIGHT if term.named else 1.0) * (_CODE_WEIGHT if term.code else 1.0)
    return math.pow(term.weight * alone, 0.7) * length * marks


def _parts(run: str) -> Iterator[str]:
    """Yield the shorter pieces of a run of Chinese, Japanese or Korean, each once."""
    size = len(run)
    ends = ((a, b) for a in range(size) for b in range(a + _EAST_SHORTEST, size + 1))
    yield from dict.fromkeys(run[a:b] for a, b in ends if b - a < size)


def _chosen(found: dict[str, Term], scores: dict[str, float], limit: int) -> Iterator[str]:
    """Yield the best terms, leaving out those that say again what a better one said."""
    chosen: list[tuple[str, set[str]]] = []
    for key in sorted(scores, key=lambda name: (-scores[name], name)):
        if len(chosen) >= limit:
            return
        pieces = set(key.split(" "))
        if any(pieces <= other or (len(pieces) > 1 and other < pieces) for _, other in chosen):
            continue
        if _EAST_RUN.fullmatch(key) and any(key in other or other in key for other, _ in chosen):
            continue
        chosen.append((key, pieces))
        yield found[key].spelling
