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
from itertools import groupby, pairwise
from typing import Any, Final

from chapterhouse.text.canonical import FRONT_MATTER, LONGEST
from chapterhouse.text.markdown import table_header
from chapterhouse.types.graph import EntityKind, Mention, NamedMention, Relation, RelationType

_MOST_BETWEEN: Final = 160  # characters
_AROUND: Final = 300  # characters that are looked at before and behind
_MOST_NAMES: Final = 4  # from one name to the other
_KINDS: Final = {EntityKind.PERSON: "P", EntityKind.ORGANIZATION: "O", EntityKind.LOCATION: "L"}
_OTHER: Final = "X"
_SURE: Final = 0.9  # confidence in what words say


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
    data, language = _data(), language or "en"
    words = {**data["words"], **data["words"].get(language, {})}
    return [
        _Pattern(
            RelationType(one["type"]),
            re.compile(_expand(one["between"], words)),
            re.compile(one["before"]) if "before" in one else None,
            re.compile(_expand(one["after"], words)) if "after" in one else None,
            (one.get("from", "POLX"), one.get("to", "POLX")),
            one.get("inverse", False),
            one.get("part", False),
            one.get("confidence", _SURE),
        )
        for one in data["patterns"]
        if language in one.get("in", "en").split()
    ]


def _expand(pattern: str, words: Mapping[str, str]) -> str:
    """Return a pattern with its words in place of their names."""
    while (expanded := _NAMED.sub(lambda named: words[named[1]], pattern)) != pattern:
        pattern = expanded
    return pattern


@lru_cache
def _unsure(language: str) -> re.Pattern[str]:
    """Return what finds words that make a statement one of what is not so, or may be."""
    words = _data()["unsure"]
    return re.compile(rf"(?i)\b(?:{words.get(language, words['en'])})\b")


@lru_cache(1)
def _columns() -> Mapping[str, RelationType]:
    found = _data()["columns"]
    return {heading: RelationType(name) for name, own in found.items() for heading in own}


_NAMED: Final = re.compile(r"(?<!\?P)<(\w+)>")
_INSIDE: Final = re.compile(  # of something else: "the drummer of A was replaced by B"
    r"\b(?:of|in|at|from|by|with|for|to|on|near|between|under|over|about|into|like|than|as|von|mit"
    r"|bei|aus|de|du|des|dans|avec|del|con|por|par|di|della|dei|da)"
    r"(?: (?:the|an?|his|her|its|their|der|die|das|dem|den|la|le|les|el|los|il))?"
    r"(?! \d)(?: [\w'’.-]+){0,3} ?[\"“„«'‘(]?$"
)
_CUT: Final = re.compile(
    r"(?<!\S)(?!(?:The|An?|Its|His|Her|And|But)\b)[A-Z][\w'’-]* $"
)  # "Captain X" is more than X
_PEOPLE: Final = re.compile(r"[\w-]+(?:ish|ese|ian|ican|eli|aqi|ani|wiss|ench|reek|utch|erman)")
_ENDS: Final = re.compile(  # a name goes no further: not "uses the Windows version"
    r"[\"”’'»*_]*(?:$|\s*[.,;:!)(\]–—|]|\s+(?:in|on|at|and|with|for|to|from|by|which|that|who|whose"
    r"|as|was|is|are|were|has|had|during|after|before|while|when|where|since|until|or|but|under"
    r"|through|via|because|released|und|mit|für|im|et|avec|pour|en|dans|y|e|con|para|per|\d)\b)"
)
_ASIDE: Final = re.compile(r"\s*\([^()]*\)|[*_`\"“”„»«]|\[\d+\]")
_SPACE: Final = re.compile(r"\s+")
_LIST_MARK: Final = re.compile(r"\n\s*(?:[-*+•|#>]|\d+[.)]|\n)")
_ALSO: Final = re.compile(r",|(?:,? (?:and|or|und|et|y|e|&))")


def find_relations(
    text: str,
    mentions: Sequence[NamedMention],
    language: str,
    fields: Sequence[tuple[RelationType, Mention]] = (),
) -> tuple[Relation, ...]:
    """Return what the sentences of a text say of the names in it, each once, in order.

    Args:
        mentions: In order.
        language: Of the text; where there are no patterns for it, only tables are read.
        fields: Those of ``find_fields``, the title first.
    """
    found = dict.fromkeys(_in_sentences(text, mentions, language))
    found |= dict.fromkeys(_in_tables(text, mentions))
    found |= dict.fromkeys(_in_fields(mentions, fields))
    return tuple(one for one in found if one.source != one.target)


def _in_sentences(text: str, mentions: Sequence[NamedMention], language: str) -> Iterator[Relation]:
    for place, one in enumerate(mentions):
        previous, pattern = one, None
        for other in mentions[place + 1 : place + 1 + _MOST_NAMES]:
            if other.sentence != one.sentence:
                break
            # What is said of a name holds of those that are listed behind it.
            listed = _ALSO.fullmatch(text[previous.mention.end : other.mention.start].rstrip())
            if not (pattern and listed and _letter(previous) == _letter(other)):
                pattern = _pattern_of(text, one, other, language)
            if pattern:
                yield _relation(one, other, pattern)
                pattern = None if pattern.type is RelationType.IS_PART_OF else pattern
            previous = other


def _relation(one: NamedMention, other: NamedMention, pattern: _Pattern) -> Relation:
    source, target = (other, one) if pattern.inverse else (one, other)
    sure = min(one.mention.confidence, other.mention.confidence) * pattern.confidence
    return Relation(source.entity, pattern.type, target.entity, one.sentence, round(sure, 3))


def _pattern_of(
    text: str, one: NamedMention, other: NamedMention, language: str
) -> _Pattern | None:
    """Return the first pattern of which the words around two names of a sentence are."""
    raw = text[one.mention.end : other.mention.start]
    if len(raw) > _MOST_BETWEEN or _LIST_MARK.search(raw):
        return None
    start, end = one.mention.start, other.mention.end
    before = _SPACE.sub(" ", text[max(one.sentence[0], start - _AROUND) : start])
    between = _SPACE.sub(" ", _ASIDE.sub("", raw))
    behind = _SPACE.sub(" ", text[end : min(one.sentence[1], end + _AROUND)])
    if "?" in text[one.sentence[1] - 2 : one.sentence[1]] or _unsure(language).search(
        f"{before} {between}"
    ):
        return None
    if _PEOPLE.fullmatch(one.name) or _PEOPLE.fullmatch(other.name):  # a "Swiss author"
        return None
    kinds, inside = (_letter(one), _letter(other)), _INSIDE.search(before) or _CUT.search(before)
    for pattern in _patterns(language):
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


# --- front matter and headers of messages --------------------------------------------------------


def find_fields(title: str, text: str) -> Sequence[tuple[RelationType, Mention]]:
    """Return the title of a document, then what its front matter or message header says of it.

    Of each name in a field such as "author", what the document is to it. Nothing where the text
    has no such field, or does not begin with its title.
    """
    head = text[:LONGEST]
    message = _MESSAGE.match(head)
    found = FRONT_MATTER.match(head) or message
    title = _ANSWER.sub("", title)
    own = re.search(
        rf"(?im)^(?:#{{1,6}} +|title: *[\"']?|)(?:{_ANSWER.pattern})?({re.escape(title)})", head
    )
    if not found or not own or not title:
        return ()
    fields, type_ = [], None
    for line in _FIELD.finditer(head, *found.span(1)):
        if name := line["name"]:
            is_sender = bool(message) and name == "From"
            known = RelationType.CREATED_BY if is_sender else _columns().get(_plain(name))
            type_ = known if is_sender or not message else None
        if type_:
            fields += [(type_, value) for value in _values(head, *line.span("value"), type_)]
    title_ = Mention(*own.span(1), EntityKind.CONCEPT, _STATED)
    return [(RelationType.RELATED_TO, title_), *fields] if fields else ()


def _plain(name: str) -> str:
    return name.casefold().replace("_", " ").replace("-", " ")


def _values(text: str, start: int, end: int, type_: RelationType) -> Iterator[Mention]:
    """Yield the names in the value of a field."""
    parts = [
        (start, start),
        *(one.span() for one in _BETWEEN.finditer(text, start, end)),
        (end, end),
    ]
    for (_, begin), (stop, _) in pairwise(parts):
        if own := _VALUE.search(text, begin, stop):
            words = own.group().split()
            person = type_ is RelationType.CREATED_BY and 1 < len(words) < _LONG_NAME
            kind = EntityKind.PERSON if person else EntityKind.CONCEPT
            yield Mention(*own.span(), kind, _STATED)


def _in_fields(
    mentions: Sequence[NamedMention], fields: Sequence[tuple[RelationType, Mention]]
) -> Iterator[Relation]:
    named = {(one.mention.start, one.mention.end): one for one in mentions}
    own = [(type_, named.get((one.start, one.end))) for type_, one in fields]
    for type_, value in own[1:]:
        if value and (title := own[0][1]):
            yield Relation(title.entity, type_, value.entity, value.sentence, _SURE)


_MESSAGE: Final = re.compile(
    r"\A(?:# [^\n]*\n\n)?((?:(?:From|To|Cc|Date|Attachments): [^\n]*(?:\n|\Z)){2,})"
)
_ANSWER: Final = re.compile(r"(?:(?i:re|aw|fwd?|wg|tr|sv|rif|rv)\s*:\s*)+")
_FIELD: Final = re.compile(
    r"^(?:(?P<name>[A-Za-z][\w\- ]{0,40}?)[ \t]*:|[ \t]*-(?=[ \t]))[ \t]*(?P<value>.*?)[ \t]*$",
    re.MULTILINE,
)
_BETWEEN: Final = re.compile(r"[,;&<\[\]]|\s(?:and|und|et|y|e)\s|[^\s,;<]*@[^\s,;>]*")
_VALUE: Final = re.compile(r"[^\W\d_][\w.'’+#/ -]{0,78}[\w.+#]")
_LONG_NAME: Final = 5  # words
_STATED: Final = 0.6  # confidence in a name that has its place alone to say so
