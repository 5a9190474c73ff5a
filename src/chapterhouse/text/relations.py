"""What sentences say of two names: that one is a part of the other, uses it, was made by it.

A relation is found only where the words between two names say it, so each has its sentence. What
is denied, asked, supposed or only possible yields none. The patterns are in ``relations.toml``. Of
tables, a column counts whose heading says what its cells are to the first of their row.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import groupby
from typing import Any, Final

from chapterhouse.text.markdown import table_header
from chapterhouse.types.graph import EntityKind, NamedMention, Relation, RelationType

_MOST_BETWEEN: Final = 160  # characters
_AROUND: Final = 300  # characters that are looked at before and behind
_MOST_NAMES: Final = 4  # from one name to the other
_KINDS: Final = {EntityKind.PERSON: "P", EntityKind.ORGANIZATION: "O", EntityKind.LOCATION: "L"}
_OTHER: Final = "X"
_SURE: Final = 0.9  # confidence in what words say
_DEPTH: Final = 4  # of words within words


@dataclass(frozen=True, slots=True)
class _Pattern:
    """An entry of ``relations.toml``."""

    type: RelationType
    between: re.Pattern[str]
    before: re.Pattern[str] | None
    after: re.Pattern[str] | None
    kinds: tuple[str, str]
    inverse: bool
    part: bool
    confidence: float


@lru_cache(1)
def _data() -> Mapping[str, Any]:
    return tomllib.loads(files("chapterhouse.text").joinpath("relations.toml").read_text("utf-8"))


@lru_cache
def _patterns(language: str) -> Sequence[_Pattern]:
    """Return the patterns of a language; texts of an unknown one are mostly English."""
    return [
        _Pattern(
            RelationType(one["type"]),
            re.compile(_spelt(one["between"])),
            re.compile(one["before"]) if "before" in one else None,
            re.compile(_spelt(one["after"])) if "after" in one else None,
            (one.get("from", "POLX"), one.get("to", "POLX")),
            one.get("inverse", False),
            one.get("part", False),
            one.get("confidence", _SURE),
        )
        for one in _data().get(language or "en", ())
    ]


def _spelt(pattern: str) -> str:
    """Return a pattern with its words in place of their names."""
    words = _data()["words"]
    for _ in range(_DEPTH):
        pattern = _NAMED.sub(lambda named: words[named[1]], pattern)
    return pattern


@lru_cache(1)
def _columns() -> Mapping[str, RelationType]:
    found = _data()["columns"]
    return {heading: RelationType(name) for name, own in found.items() for heading in own}


_NAMED: Final = re.compile(r"<(\w+)>")
# Words that make a statement one of what is not so, or may be.
_UNSURE: Final = re.compile(
    r"(?i)\b(?:not|never|no longer|neither|nor|without|(?-i:may)|might|could|would|should|if"
    r"|whether|unless|hardly|instead|rather|allegedly|reportedly|supposedly|said to|believed"
    r"|rumou?red|claims?|claimed|proposes|proposed|proposal|planned|plans|fictional|nicht|nie"
    r"|kein\w*|könnten?|würden?|soll(?:en|te|ten)?|ob|wenn|falls|ne|pas|jamais|pourrait|devrait|aucune?|si)\b"
    r"|n['’](?:t\b|\w)"
)
_INSIDE: Final = re.compile(  # of something else: "the drummer of A was replaced by B"
    r"\b(?:of|in|at|from|by|with|for|to|on|near|between|under|over|about|into|like|than|as|von|mit"
    r"|bei|aus|de|du|des|dans|avec)"
    r"(?: (?:the|an?|his|her|its|their|der|die|das|dem|den|la|le|les))?"
    r"(?! \d)(?: [\w'’.-]+){0,3} ?[\"“„«'‘(]?$"
)
_CUT: Final = re.compile(
    r"(?<!\S)(?!(?:The|An?|Its|His|Her|And|But)\b)[A-Z][\w'’-]* $"
)  # "Captain X" is more than X
_PEOPLE: Final = re.compile(r"[\w-]+(?:ish|ese|ian|ican|eli|aqi|ani|wiss|ench|reek|utch|erman)")
_ENDS: Final = re.compile(  # a name goes no further: not "uses the Windows version"
    r"[\"”’'»*_]*(?:$|\s*[.,;:!)(\]–—|]|\s+(?:in|on|at|and|with|for|to|from|by|which|that|who|whose"
    r"|as|was|is|are|were|has|had|during|after|before|while|when|where|since|until|or|but|under"
    r"|through|via|because|released|und|mit|für|et|avec|pour|\d)\b)"
)
_ASIDE: Final = re.compile(r"\s*\([^()]*\)|[*_`\"“”„»«]|\[\d+\]")
_SPACE: Final = re.compile(r"\s+")
_LIST_MARK: Final = re.compile(r"\n\s*(?:[-*+•|#>]|\d+[.)]|\n)")
_ALSO: Final = re.compile(r",|,? and|,? or|,? und|,? et| &")


def find_relations(
    text: str, mentions: Sequence[NamedMention], language: str
) -> tuple[Relation, ...]:
    """Return what the sentences of a text say of the names in it, each once, in order.

    Args:
        mentions: In order.
        language: Of the text; where there are no patterns for it, only tables are read.
    """
    found = dict.fromkeys(_in_sentences(text, mentions, _patterns(language)))
    found |= dict.fromkeys(_in_tables(text, mentions))
    return tuple(one for one in found if one.source != one.target)


def _in_sentences(
    text: str, mentions: Sequence[NamedMention], patterns: Sequence[_Pattern]
) -> Iterator[Relation]:
    for place, one in enumerate(mentions):
        previous, pattern = one, None
        for other in mentions[place + 1 : place + 1 + _MOST_NAMES]:
            if other.sentence != one.sentence:
                break
            # What is said of a name holds of those that are listed behind it.
            listed = _ALSO.fullmatch(text[previous.mention.end : other.mention.start].rstrip())
            if not (pattern and listed and _letter(previous) == _letter(other)):
                pattern = _pattern_of(text, one, other, patterns)
            if pattern:
                yield _relation(one, other, pattern)
                pattern = None if pattern.type is RelationType.IS_PART_OF else pattern
            previous = other


def _relation(one: NamedMention, other: NamedMention, pattern: _Pattern) -> Relation:
    source, target = (other, one) if pattern.inverse else (one, other)
    sure = min(one.mention.confidence, other.mention.confidence) * pattern.confidence
    return Relation(source.entity, pattern.type, target.entity, one.sentence, round(sure, 3))


def _pattern_of(
    text: str, one: NamedMention, other: NamedMention, patterns: Sequence[_Pattern]
) -> _Pattern | None:
    """Return the first pattern of which the words around two names of a sentence are."""
    raw = text[one.mention.end : other.mention.start]
    if len(raw) > _MOST_BETWEEN or _LIST_MARK.search(raw):
        return None
    start, end = one.mention.start, other.mention.end
    before = _SPACE.sub(" ", text[max(one.sentence[0], start - _AROUND) : start])
    between = _SPACE.sub(" ", _ASIDE.sub("", raw))
    behind = _SPACE.sub(" ", text[end : min(one.sentence[1], end + _AROUND)])
    if "?" in text[one.sentence[1] - 2 : one.sentence[1]] or _UNSURE.search(f"{before} {between}"):
        return None
    if _PEOPLE.fullmatch(one.name) or _PEOPLE.fullmatch(other.name):  # a "Swiss author"
        return None
    kinds, inside = (_letter(one), _letter(other)), _INSIDE.search(before) or _CUT.search(before)
    for pattern in patterns:
        if (
            kinds[0] in pattern.kinds[0]
            and kinds[1] in pattern.kinds[1]
            and (pattern.part or not inside)
            and (pattern.before is None or pattern.before.search(before))
            and pattern.between.fullmatch(between)
            and (pattern.after or _ENDS).match(behind)
        ):
            return pattern
    return None


def _letter(one: NamedMention) -> str:
    """Return P, O, L or X for what a mention is."""
    return _KINDS.get(one.mention.kind, _OTHER)


# --- tables --------------------------------------------------------------------------------------


def _in_tables(text: str, mentions: Sequence[NamedMention]) -> Iterator[Relation]:
    """Yield what a cell is to the first of its row, where the heading of its column says it."""
    for sentence, row in groupby(mentions, key=lambda one: one.sentence):
        if text[sentence[0]] != "|":
            continue
        headings = [
            one.strip(" *_:").casefold() for one in table_header(text, sentence[0]).split("|")
        ]
        first, *others = row
        for one in others:
            columns = [text.count("|", sentence[0], each.mention.start) for each in (first, one)]
            type_ = _columns().get(headings[columns[1]]) if columns[1] < len(headings) else None
            if type_ and columns[0] == 1 < columns[1]:
                sure = min(first.mention.confidence, one.mention.confidence) * _SURE
                yield Relation(first.entity, type_, one.entity, sentence, round(sure, 3))
