"""What the entities of documents are called: keys of names, and which keys mean one entity.

A key is the name without case, articles and possessive endings. Within a document a last name or
initials mean the one person who has them; their key says so: "petra holm|p. holm". Over all
documents of a scope ``merge_keys`` says which keys are one entity, each with its reason.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from chapterhouse.text.aliases import find_aliases
from chapterhouse.text.definitions import Definitions, find_definitions, names_party
from chapterhouse.text.entity_features import LINKS
from chapterhouse.text.markdown import sentence_spans
from chapterhouse.text.relations import find_fields, find_relations
from chapterhouse.types import AliasKind, Body, Chunk, Document
from chapterhouse.types.graph import (
    EntityKind,
    EntityNames,
    Mention,
    MergeReason,
    NamedMention,
    RelationType,
    SharedName,
)

_LEAST: Final = 0.5  # likelihood of a mention in English and in texts of an unknown language
# The head was fitted on English: of other languages it takes much for a name that is none, but
# little where it is as sure of the kind as this; in the rest names would be guessed.
_LEAST_SURE: Final = dict.fromkeys(("de", "es", "fr", "it"), 0.75)
_LONGEST: Final = 100  # characters of a name
_MARKS: Final = re.compile(r"[\u0300-\u036f]")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_ARTICLE: Final = re.compile(
    r"^(?:the|an?|der|die|das|le|la|les|l['’]|el|los|las|il|lo|gli)\s+", re.IGNORECASE
)
_COMPANY: Final = re.compile(
    r",?\s+(inc|incorporated|ltd|limited|llc|llp|plc|corp|corporation|co|gmbh|ag|kg|se|sa|s\.a|srl|bv"
    r"|nv|ab|oy|as)\.?$"
)
_FORMS: Final = {"incorporated": "inc", "limited": "ltd", "corporation": "corp"}
_TITLE: Final = re.compile(
    r"^(?:(?:dr|mr|mrs|ms|prof|professor|sir|herr|frau|mme|president|king|queen|prince|princess|saint"
    r"|st|duke|archduke|emperor|pope|grand|lord|lady)\.? )+"
)
_OF: Final = "|"  # stands in a key between the whole name of a person and the one that is written
_PLURALS: Final = frozenset({EntityKind.CONCEPT, EntityKind.PRODUCT, EntityKind.TECHNOLOGY})
_PLACED: Final = frozenset({EntityKind.ORGANIZATION, EntityKind.LOCATION})
_PARTICLE: Final = re.compile(
    r"\b((?:of|de|di|da|del|della|van|von|zu|der|den|la|le|al-?|ibn|bint?|(?<= )ben|mac"
    r"|ap|i{1,3}|v) )+"
)
_NUMERAL: Final = re.compile(r" [ivx]+$")
_RELATIVE: Final = re.compile(  # "the son of Henry Sturt" is another Sturt
    r"\b(?:son|daughter|child|children|father|mother|parents?|brother|sister|wife|husband|widow"
    r"|nephew|niece|uncle|aunt|cousin|grand\w+|heir|family)(?: (?:of|to)(?: [\w'’.-]+){0,3})?,? $"
)
_EDGES: Final = " \t\n.,;:!?\"'“”„«»‹›‘’()[]{}*_`|#<>"
_SPACE: Final = re.compile(r"\s+")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_LOWER: Final = re.compile(r"(?<![^\W\d_])[a-zß-ÿ]+(?![^\W\d_])")


def entity_key(name: str) -> str:
    """Return a name in the form in which entities are told apart; empty where nothing is left."""
    plain = unicodedata.normalize("NFKC", _SPACE.sub(" ", name.replace(_OF, " ")).strip(_EDGES))
    return _POSSESSIVE.sub("", _ARTICLE.sub("", plain.casefold())).strip(_EDGES)


def plain_key(key: str) -> str:
    """Return a key without accents and forms of companies, in which names are looked for."""
    return _COMPANY.sub("", _without_marks(key)).strip(_EDGES)


def without_article(name: str) -> str:
    """Return a name as it is written, without an article before it."""
    return _ARTICLE.sub("", name) or name


def reads_names(language: str) -> bool:
    """Whether texts in a language are read for names; in others they would be guessed."""
    return language in {"en", "", *_LEAST_SURE}


def _is_likely(one: Mention, language: str) -> bool:
    sure = _LEAST_SURE.get(language)
    return one.likelihood >= _LEAST if sure is None else one.confidence >= sure


def entities_in(
    document: Document, body: Body, chunks: Sequence[Chunk], found: Sequence[Sequence[Mention]]
) -> EntityNames:
    """Return what a document speaks of.

    Args:
        found: The names in the text of each chunk.
    """
    spans, inside, end = [], list[Mention](), 0
    for chunk, own in zip(chunks, found, strict=True):
        at = chunk.start
        inside += [
            replace(one, start=at + one.start, end=at + one.end)
            for one in own
            if _is_likely(one, document.language) and at + one.start >= end  # chunks may overlap
        ]
        spans.append((max(chunk.start, end), chunk.end))
        end = max(end, chunk.end)
    fields = find_fields(document.title, body.text)
    mentions = _with_fields(inside, [one for _, one in fields])
    return name_entities(document.title, body.text, spans, mentions, document.language, fields)


def _with_fields(mentions: Sequence[Mention], stated: Sequence[Mention]) -> Sequence[Mention]:
    """Return mentions with those that fields state: instead of others, but for within a title."""
    kinds = {(one.start, one.end): one for one in mentions}
    own = [kinds.get((one.start, one.end), one) for one in stated]
    others = [
        one
        for one in mentions
        if one not in own
        and all(one.end <= each.start or each.end <= one.start for each in own[1:])
    ]
    return sorted([*others, *own], key=lambda one: (one.start, -one.end))


def name_entities(
    title: str,
    text: str,
    spans: Sequence[tuple[int, int]],
    mentions: Sequence[Mention],
    language: str = "",
    fields: Sequence[tuple[RelationType, Mention]] = (),
) -> EntityNames:
    """Return the mentions of a document with keys and sentences, and what is said of them.

    Args:
        spans: Parts of the text that follow one another, such as its chunks; no sentence is
            looked for across them.
        mentions: In order.
        fields: Those of ``find_fields``; they are mentions, too.
    """
    defined = find_definitions(text, mentions)
    mentions = _with_short_names(text, mentions, defined.names)
    likely = [one for one in _with_sentences(text, spans, mentions) if one.entity]
    named = tuple(_resolved(text, likely, defined))
    shared = {
        entity_key(alias.name): entity_key(alias.other)
        for alias in find_aliases(title, text)
        if alias.kind is AliasKind.ABBREVIATION
    } | {entity_key(short): _key_of(text, one) for short, one in defined.names.items()}
    known = {one.entity for one in likely}
    shared = {short: long for short, long in shared.items() if short != long and long}
    return EntityNames(
        named,
        tuple(
            SharedName(short, long)
            for short, long in sorted(shared.items())
            if short in known or long in known
        ),
        find_relations(text, named, language, fields),
    )


def _key_of(text: str, one: Mention) -> str:
    return entity_key(text[one.start : one.end])


def _with_short_names(
    text: str, mentions: Sequence[Mention], names: Mapping[str, Mention]
) -> Sequence[Mention]:
    """Return mentions with each place where a short name stands that a document defines."""
    if not names:
        return mentions
    pattern = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    found, taken = list(mentions), [(one.start, one.end) for one in mentions]
    for one in re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", text):
        at = bisect_left(taken, (one.end(),))  # the first mention behind it
        if not at or taken[at - 1][1] <= one.start():
            known = names[one.group()]
            found.append(Mention(*one.span(), known.kind, known.confidence))
    return sorted(found, key=lambda one: (one.start, -one.end))


def _resolved(
    text: str, likely: Sequence[NamedMention], defined: Definitions
) -> Iterator[NamedMention]:
    """Yield mentions with the keys of whom they mean in this document; terms of it are no names."""
    own = {one for one in likely if _is_person(one) and not _RELATIVE.search(_before(text, one))}
    persons = _whole_names({one.entity for one in own})
    parties = {entity_key(term): _key_of(text, one) for term, one in defined.parties.items()}
    terms = {entity_key(term) for term in defined.terms} | _common_words(text, likely)
    for one in likely:
        whole = parties.get(one.entity) or (persons.get(one.entity) if one in own else "")
        if whole and whole != one.entity:
            yield replace(one, entity=f"{persons.get(whole, whole)}{_OF}{one.entity}")
        elif _has_term(one.entity, terms):
            term = replace(one.mention, kind=EntityKind.CONCEPT, likelihood=0.0)
            yield replace(one, mention=term)
        else:
            yield one


def _common_words(text: str, likely: Sequence[NamedMention]) -> set[str]:
    """Return keys that a text has without a capital, too: "Information" is nobody's name."""
    written = set(_LOWER.findall(text))
    return {
        one.entity
        for one in likely
        if not _is_person(one)
        and all(word.istitle() for word in _LETTERS.findall(one.name) if word not in LINKS)
        and written.issuperset(_LETTERS.findall(one.entity))
        and re.search(rf"(?<![\w./@:-]){re.escape(one.entity)}(?![\w/@-]|\.\w)", text)
    }


def _has_term(key: str, terms: Collection[str]) -> bool:
    """Whether a key is a term, that of somebody's, or has one of several words."""
    whose = re.split(r"['’]s? ", key, maxsplit=1)[0]
    return (
        key in terms
        or whose in terms
        or any(" " in term and f" {term} " in f" {key} " for term in terms)
    )


def _is_person(one: NamedMention) -> bool:
    return one.mention.kind is EntityKind.PERSON


def _before(text: str, one: NamedMention) -> str:
    start = one.mention.start
    return _SPACE.sub(" ", text[max(one.sentence[0], start - _LONGEST) : start])


def _with_sentences(
    text: str, spans: Sequence[tuple[int, int]], mentions: Sequence[Mention]
) -> Iterator[NamedMention]:
    left = iter(mentions)
    mention = next(left, None)
    for start, end in spans:
        for begin, stop in sentence_spans(text, start, end):
            while mention is not None and mention.start < stop:
                if mention.start >= begin and mention.end <= stop:
                    name = _SPACE.sub(" ", text[mention.start : mention.end])[:_LONGEST]
                    sentence = (begin, begin + len(text[begin:stop].rstrip()))
                    yield NamedMention(mention, entity_key(name), name, sentence)
                mention = next(left, None)


# --- which keys are one entity -------------------------------------------------------------------


def merge_keys(
    kinds: Mapping[str, EntityKind], acronyms: Mapping[str, str], decisions: Mapping[str, str]
) -> dict[str, tuple[str, MergeReason]]:
    """Return the keys that mean the entity of another one, that key and why.

    Args:
        decisions: What somebody said that a key means, itself where it is to stand alone. That
            holds also among keys whose common one is not written here.
    """
    steps = {key: step for key in kinds if (step := _step(key, kinds, acronyms))}
    steps |= _company_forms(kinds)
    steps |= {key: (to, MergeReason.BY_HAND) for key, to in decisions.items()}
    ends = {key: _end(key, steps) for key in kinds}
    groups: dict[str, list[str]] = defaultdict(list)
    for key, end in ends.items():
        groups[end].append(key)
    found = {}
    for end, keys in groups.items():
        own = end if end in kinds or end in {key.rpartition(_OF)[2] for key in keys} else min(keys)
        found.update({key: (own, steps[key][1]) for key in keys if key != own})
    return found


def _step(
    key: str, kinds: Mapping[str, EntityKind], acronyms: Mapping[str, str]
) -> tuple[str, MergeReason] | None:
    """Return the key that a key means by itself, and why."""
    whole, of, written = key.rpartition(_OF)
    if of:
        return whole, _reason(_name_words(written), _name_words(whole))
    if key in acronyms and kinds[key] is not EntityKind.PERSON:  # "Ann" is no neural network
        shorter = set(key.split()) <= set(acronyms[key].split())
        return acronyms[key], MergeReason.SHORTER if shorter else MergeReason.ACRONYM
    plain = _without_marks(key)
    if plain != key and plain in kinds and (" " in key or {kinds[key], kinds[plain]} <= _PLACED):
        return plain, MergeReason.ACCENTS
    untitled = _TITLE.sub("", key)
    several = " " in untitled and not _NUMERAL.search(untitled)  # there is more than one Philip II
    if untitled != key and several and kinds.get(untitled) is EntityKind.PERSON:
        return untitled, MergeReason.SHORTER
    singular = f"{key[:-3]}y" if key.endswith("ies") else key[:-1]
    if (
        key.endswith("s")
        and " " in key  # "Worlds" are not the world
        and {kinds[key], kinds.get(singular)} <= _PLURALS
    ):
        return singular, MergeReason.PLURAL
    return None


def _reason(words: Sequence[str], whole: Sequence[str]) -> MergeReason:
    """Return why words mean a whole name in their document."""
    if any(len(word.strip(".")) == 1 for word in words):
        return MergeReason.INITIALS
    if names_party(words[-1]):
        return MergeReason.PARTY
    if words[-1] != whole[-1]:
        return MergeReason.FIRST_NAME
    return MergeReason.SHORTER if len(words) > 1 else MergeReason.LAST_NAME


def _company_forms(kinds: Mapping[str, EntityKind]) -> dict[str, tuple[str, MergeReason]]:
    """Return what names of companies mean with their form: the name without, if it has one form."""
    forms: dict[str, dict[str, str]] = defaultdict(dict)
    for key in kinds:
        if (form := _COMPANY.search(key)) and form.start():
            forms[key[: form.start()]][key] = _FORMS.get(form[1], form[1])
    organization = EntityKind.ORGANIZATION
    return {
        key: (name if name in kinds else min(keys), MergeReason.COMPANY_FORM)
        for name, keys in forms.items()
        if len(set(keys.values())) == 1 and kinds.get(name, organization) is organization
        for key in keys
        if key != (name if name in kinds else min(keys))
    }


def _end(key: str, steps: Mapping[str, tuple[str, MergeReason]]) -> str:
    """Return where the steps from a key end; of a circle, the first key of it."""
    way = [key]
    while (step := steps.get(way[-1])) and step[0] != way[-1]:
        if step[0] in way:
            return min(way[way.index(step[0]) :])
        way.append(step[0])
    return way[-1]


def _without_marks(key: str) -> str:
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", key)))


def _whole_names(persons: Collection[str]) -> dict[str, str]:
    """Return the whole names that shorter ones mean, where it is that of one person alone."""
    words = {key: _name_words(key) for key in persons}
    families: dict[str, list[str]] = defaultdict(list)
    for key, own in words.items():
        families[own[-1]].append(key)
    firsts: dict[str, list[str]] = defaultdict(list)
    for key, own in words.items():
        if len(own) > 1 and not _NUMERAL.match(f" {own[-1]}") and not own[-1].startswith("of "):
            firsts[own[0]].append(key)
    found: dict[str, str] = {}
    for key in sorted(persons, key=lambda key: (-len(words[key]), -len(key), key)):
        own = words[key]
        wholes = {
            found.get(other, other)
            for other in families[own[-1]]
            if other != key
            and _may_be(own, words[other])
            and (own != words[other] or len(key) > len(other))
        } | {found.get(other, other) for other in firsts.get(key, ())}
        if len(wholes) == 1:
            found[key] = wholes.pop()
    return found


def _name_words(key: str) -> tuple[str, ...]:
    """Return the words of a person's name without titles; "de Gaulle" is one."""
    joined = _PARTICLE.sub(lambda found: found[0].replace(" ", "\0"), _TITLE.sub("", key))
    return tuple(word.replace("\0", " ") for word in joined.split(" "))


def _may_be(short: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    """Whether one name may be the other: the same last name, and what else it has fits in order."""
    if (
        len(whole) <= 1
        or short[-1] != whole[-1]
        or (len(short) == 1 and any(one.startswith("of ") for one in whole))
    ):
        return False
    if len(short) == 1:
        return True
    if _NUMERAL.match(f" {short[-1]}") and short != whole:  # kings
        return False
    if not _fits(short[0], whole[0]) or sum(map(len, short)) > sum(map(len, whole)):
        return False
    left = iter(whole[1:-1])
    return all(any(_fits(one, other) for other in left) for one in short[1:-1])


def _fits(short: str, whole: str) -> bool:
    letter = short.rstrip(".")
    return short == whole or (len(letter) == 1 and whole.startswith(letter))
