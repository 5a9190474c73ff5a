"""What a document calls what it speaks of: ``Tkgross Ltd ("TKG")``, ``Foo GmbH (the "Seller")``.

A term in quotation marks, in brackets or before "means", is a short name, what a party is called in
this document, or a term of it that names nobody.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Final

from chapterhouse.text.entity_features import LINKS
from chapterhouse.types.graph import EntityKind, Mention

_REACH: Final = 400  # characters before a bracket in which stands what it is of
_PARTY_KINDS: Final = (EntityKind.ORGANIZATION, EntityKind.PERSON)
_QUOTED: Final = re.compile(
    r"[\"“”„«]\s?[*_]{0,2}(?i:(?:the|an?|der|die|das|le|la|les|el|los|las|il|lo|gli) |l['’])?"
    r"(?P<term>[A-ZÀ-Þ][\w .&'’/+-]{0,50}[\w+])[.,]?[*_]{0,2}\s?[\"”“»]"
)
_BRACKET: Final = re.compile(r"\([^()\n]{3,200}\)")
_LEAD_WORDS: Final = (  # what else may stand in the brackets
    "and or each both together hereinafter hereafter herein collectively individually jointly "
    "severally referred known called to as a an the this such und oder nachfolgend nachstehend im "
    "folgenden kurz genannt der die das ci après dénommé dénommée dénommés et ou le la les l en "
    "adelante denominado denominada denominados el los las y o di seguito in prosieguo denominato "
    "denominata denominati il lo gli e"
)
_LEAD: Final = frozenset(_LEAD_WORDS.split())
_WORD: Final = re.compile(r"[^\W_]+")
_DEFINED: Final = re.compile(
    rf"{_QUOTED.pattern}\s+(?:(?:shall |will )?means?|shall include|includes|refers? to"
    r"|has the meaning|bedeutet|bezeichnet|désigne|signifie|significa|designa|indica)\b"
)
_JOINS: Final = re.compile(r"\b(?:and|between|und|zwischen|et|entre|y|e|tra)\s+(?:\w+\s+){0,2}$")
_APART: Final = re.compile(r"\.\s+[A-Z]|;|\bpart(?:y|ies)\b")  # "one party hereto (the ...)"


@dataclass(frozen=True, slots=True)
class Definitions:
    """What a document calls what.

    Attributes:
        names: Short names, and the mention of which each is one.
        parties: What parties are called in this document alone, and the mention of each.
        terms: What names nobody.
    """

    names: Mapping[str, Mention] = field(default_factory=dict)
    parties: Mapping[str, Mention] = field(default_factory=dict)
    terms: frozenset[str] = frozenset()


@lru_cache(1)
def _parties() -> frozenset[str]:
    data = files("chapterhouse.text").joinpath("relations.toml").read_text("utf-8")
    return frozenset(tomllib.loads(data)["parties"])


def find_definitions(text: str, mentions: Sequence[Mention]) -> Definitions:
    """Return what a text defines in quotation marks.

    Args:
        mentions: In order.
    """
    names: dict[str, Mention] = {}
    parties: dict[str, Mention | None] = {}
    terms = {one["term"] for one in _DEFINED.finditer(text)}
    terms |= {one["term"] for one in _QUOTED.finditer(text) if names_party(one["term"])}
    for own, bracket, before in _brackets(text, mentions):
        for term in own:
            if names_party(term):
                party = _party(before, bracket, text)
                parties[term] = party if parties.setdefault(term, party) == party else None
            elif spelled := next(
                (one for one in reversed(before) if _spells(term, one, text)), None
            ):
                names.setdefault(term, spelled)
            else:
                terms.add(term)
    known = {term: party for term, party in parties.items() if party}
    return Definitions(names, known, frozenset(terms - names.keys()))


def _brackets(
    text: str, mentions: Sequence[Mention]
) -> Iterator[tuple[Sequence[str], int, Sequence[Mention]]]:
    """Yield terms in brackets, where these begin, and the mentions since the last ones."""
    last = 0
    for bracket in _BRACKET.finditer(text):
        inside = bracket.group()[1:-1]
        terms = [one["term"] for one in _QUOTED.finditer(inside)]
        if terms and _LEAD.issuperset(_WORD.findall(_QUOTED.sub("", inside).casefold())):
            start = bracket.start()
            near = max(last, start - _REACH)
            begin = max(near, text.rfind("\n\n", near, start))
            yield terms, start, [one for one in mentions if begin <= one.start and one.end <= start]
            last = bracket.end()


def _spells(term: str, one: Mention, text: str) -> bool:
    """Whether a term is made of the words of a name, or of the letters with which they begin."""
    every = (_WORD.findall(name.casefold()) for name in (text[one.start : one.end], term))
    words, own = ([word for word in each if word not in LINKS] for each in every)
    if set(own) <= set(words):  # "Agreement" is no agreement's name
        return 0 < len(own) < len(words) and own != words[-1:]
    letters = "".join(own)
    if text[: one.start].endswith("The ") and letters[:1] == "t":  # "The Kase Group" is the "TKG"
        words.insert(0, "the")
    left = iter("".join(words))
    starts = bool(words and letters) and words[0][0] == letters[0]
    return starts and term.isupper() and all(letter in left for letter in letters)


def names_party(term: str) -> bool:
    """Whether a term is what parties of contracts are called, as "the Receiving Party"."""
    return term.rsplit(maxsplit=1)[-1].casefold() in _parties()


def _party(before: Sequence[Mention], bracket: int, text: str) -> Mention | None:
    """Return of whom a party's name in brackets is; None where it may be of several."""
    able = [
        one
        for one in before
        if one.kind in _PARTY_KINDS and not _APART.search(text[one.end : bracket])
    ]
    joined = [one for one in able if _JOINS.search(text[max(0, one.start - 40) : one.start])]
    return joined[-1] if joined else able[0] if len(able) == 1 else None
