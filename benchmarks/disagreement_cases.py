"""Pairs of claims with the relation between them, made from real documents by rules.

Every rule works on raw text with small tables of its own (``disagreement_rules.py`` and
``disagreement_edits.py``); nothing here looks at how the detector splits, stems or compares. The
halves are those of ``disagreement_sources.py``: other documents, other seeds, other words to
rewrite with.
A sentence is used for one pair only.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chapterhouse.claims.relation import Relation
from disagreement_edits import (
    denied,
    opposed,
    other_date,
    other_event,
    other_number,
    other_things,
    qualifications,
    years,
)
from disagreement_rules import has_event, is_fit, is_recurring, rewritten, shortened
from disagreement_sources import Half, Source

LANGUAGES = ("en", "en", "en", "de", "zh")
_SHORTENED = 0.5
_REWRITTEN = 0.7  # share of the contradictions of which one side is put in other words besides
_TRIES = 20_000
_ALIKE = 0.3  # share of the pairs about two years that give one figure


@dataclass(frozen=True, slots=True)
class Pair:
    """Two claims and how they stand to each other.

    Attributes:
        rule: How the pair was made.
        source: The document of the first.
    """

    gold: Relation
    rule: str
    language: str
    one: str
    other: str
    source: str


@dataclass(frozen=True, slots=True)
class _Material:
    """A sentence of a document, and what may be taken from beside it."""

    source: Source
    sentence: str
    half: Half
    chance: random.Random


_Made = tuple[str, str, str] | None  # rule, one, other
Maker = Callable[[_Material], _Made]


def build(half: Half, each: int) -> list[Pair]:
    """Return ``each`` pairs of every relation, in a fixed order.

    Raises:
        ValueError: The documents do not yield so many.
    """
    chance = random.Random(half.seed + 1)
    used: set[str] = set()
    pairs: list[Pair] = []
    for gold, makers in _MAKERS.items():
        for number in range(each):
            language = LANGUAGES[number % len(LANGUAGES)]
            maker = makers[number // len(LANGUAGES) % len(makers)]
            pairs.append(_pair(gold, maker, half, language, used, chance))
    return pairs


def _pair(
    gold: Relation,
    maker: Maker,
    half: Half,
    language: str,
    used: set[str],
    chance: random.Random,
) -> Pair:
    for attempt in range(_TRIES):
        if attempt == _TRIES // 2 and gold is Relation.SILENT:
            maker = _qualified  # some rules fit few sentences of a language
        source = chance.choice(half.sources[language])
        sentence = chance.choice(source.sentences)
        if sentence in used or not is_fit(sentence, language):
            continue
        made = maker(_Material(source, sentence, half, chance))
        if made is None or made[1] == made[2]:
            continue
        rule, one, other = made
        used.update((sentence, one, other))
        if chance.random() < 0.5:
            one, other = other, one
        return Pair(gold, rule, language, one, other, source.id)
    message = f"{half.name}: no more {language} sentences for {maker.__name__}; ask for fewer pairs"
    raise ValueError(message)


# --- the same, and its contrary -----------------------------------------------------------------


def _agree(given: _Material) -> _Made:
    told, rules = given.sentence, list[str]()
    if given.chance.random() < _SHORTENED:
        told, rules = shortened(told, given.source, given.chance)
    most = given.chance.choice((1, 2, 3, 4))
    told, more = rewritten(told, given.source, given.chance, most)
    return ("+".join((*rules, *more)), given.sentence, told) if rules or more else None


def _contrary(given: _Material, change: Callable[[str], tuple[str, str] | None]) -> _Made:
    """Change a fact of the sentence, and put both sides in words of their own, each by chance."""
    base, one, rules = given.sentence, given.sentence, list[str]()
    if given.chance.random() < _SHORTENED:
        base, rules = shortened(base, given.source, given.chance)
    made = change(base)
    if not made:
        return None
    if given.chance.random() < _REWRITTEN:
        one, more = rewritten(one, given.source, given.chance, given.chance.choice((1, 2, 3)))
        rules += more
    return "+".join((made[0], *rules)), one, made[1]


def _number(given: _Material) -> _Made:
    def change(text: str) -> tuple[str, str] | None:
        told = other_number(text, given.source.language, given.chance)
        return ("number", told) if told else None

    return _contrary(given, change)


def _date(given: _Material) -> _Made:
    language = given.source.language

    def change(text: str) -> tuple[str, str] | None:
        if is_recurring(text, language) or not has_event(text, language):
            return None
        return other_date(text, language, given.chance)

    return _contrary(given, change)


def _denial(given: _Material) -> _Made:
    return _contrary(given, lambda text: denied(text, given.source, given.chance))


def _opposite(given: _Material) -> _Made:
    return _contrary(given, lambda text: opposed(text, given.source, given.chance))


# --- silent -------------------------------------------------------------------------------------


def _words(text: str, language: str) -> frozenset[str]:
    if language == "zh":
        return frozenset(text[n : n + 2] for n in range(len(text) - 1))
    return frozenset(word for word in re.findall(r"\w+", text.lower()) if len(word) > 3)


def _neighbour(given: _Material) -> _Made:
    """Take the next sentence of the paragraph."""
    place = given.source.sentences.index(given.sentence)
    if place + 1 == len(given.source.sentences):
        return None
    return "neighbour", given.sentence, given.source.sentences[place + 1]


def _same_subject(given: _Material) -> _Made:
    """Take the sentence of the article that is most like it, and yet another statement."""
    language = given.source.language
    own = _words(given.sentence, language)
    rivals = [
        (-len(own & theirs) / len(own | theirs), sentence)
        for source in given.half.sources[language]
        if source.article == given.source.article and source.id != given.source.id
        for sentence in source.sentences
        if (theirs := _words(sentence, language))
    ]
    rivals = [(alike, sentence) for alike, sentence in rivals if -0.5 < alike <= -0.12]
    return ("same-subject", given.sentence, min(rivals)[1]) if rivals else None


def _changed_fact(given: _Material) -> str | None:
    language = given.source.language
    told = other_number(given.sentence, language, given.chance)
    if told is None:
        dated = other_date(given.sentence, language, given.chance)
        told = dated[1] if dated else None
    return told


_NAMES = {
    "en": re.compile(r"^(?:(?:The|In|At) )?((?:[A-Z][a-z]{2,} )*[A-Z][a-z]{3,})(?= (?:is|was|has|had|are|were|[a-z]+ed)\b)"),  # noqa: E501
    "de": re.compile(r"^((?:[A-ZÄÖÜ][a-zäöüß]{2,} )?[A-ZÄÖÜ][a-zäöüß]{3,})(?= (?:ist|war|hat|hatte|wurde|wird|liegt)\b)"),  # noqa: E501
    "zh": re.compile(r"^([\u4e00-\u9fff·]{2,6}?)(?=是|于|在|的|有|位于|拥有)"),
}  # fmt: skip
_NO_NAMES = re.compile(
    r"^(?:This|That|These|Those|There|Their|They|It|He|She|Each|Some|Many|Most|All|Both|What|Which|Here|Other|Others|Such|Diese|Dieser|Dieses|Dies|Eine|Einer|Seine|Ihre|Hier|Auch|Jede|Viele|Alle|这|那|它|他|她|该|其|但|因|所|虽|由|在|如|许多|一)"
)
_OTHERS = {
    "en": ("Bellamira", "Port Hadley", "Tarnowitz", "Valdemoro", "Lake Cassin", "Quillon"),
    "de": ("Bellamira", "Hadleyhafen", "Tarnowitz", "Valdemoro", "Quillon"),
    "zh": ("贝拉米拉", "哈德利港", "塔诺维茨", "瓦尔德莫罗"),
}


def _other_subject(given: _Material) -> _Made:
    """Let another subject have another figure or date."""
    language = given.source.language
    match = _NAMES[language].search(given.sentence)
    if not match or _NO_NAMES.match(match[1]) or given.source.text.count(match[1]) < 2:
        return None
    told = _changed_fact(given)
    if told is None or told.count(match[1]) != 1:
        return None
    return (
        "other-subject",
        given.sentence,
        told.replace(match[1], given.chance.choice(_OTHERS[language])),
    )


def _qualified(given: _Material) -> _Made:
    """Let the figure hold for one group, and another figure for another group."""
    language = given.source.language
    told = other_number(given.sentence, language, given.chance)
    if told is None:
        return None
    first, second, place = qualifications(language, given.half.name, given.chance)
    return "other-group", place(given.sentence, first), place(told, second)


def _other_year(given: _Material) -> _Made:
    """Give the figure of another year of something that is counted again and again."""
    language = given.source.language
    if not is_recurring(given.sentence, language) or has_event(given.sentence, language):
        return None
    told = other_number(given.sentence, language, given.chance)
    if told is None:
        return None
    if given.chance.random() < _ALIKE:  # the same figure in another year
        told, rule = given.sentence, "other-year-alike"
    else:
        rule = "other-year"
    first, second, place = years(language, given.chance)
    return rule, place(given.sentence, first), place(told, second)


def _other_event(given: _Material) -> _Made:
    """Let something else happen to the subject at another time."""
    made = other_event(given.sentence, given.source.language, given.chance)
    return (made[0], given.sentence, made[1]) if made else None


def _other_attribute(given: _Material) -> _Made:
    """Let the subject have another number of other things."""
    told = other_things(given.sentence, given.source.language, given.chance)
    return ("other-attribute", given.sentence, told) if told else None


_MAKERS: dict[Relation, Sequence[Maker]] = {
    Relation.AGREE: (_agree,),
    Relation.NUMBER: (_number,),
    Relation.DATE: (_date,),
    Relation.NEGATION: (_denial, _denial, _opposite),
    Relation.SILENT: (
        _qualified,
        _other_year,
        _other_event,
        _other_attribute,
        _other_subject,
        _same_subject,
        _neighbour,
    ),
}
