"""How two claims stand to each other, each in its document.

Sentences are compared as ``claims.relation`` does, behind the guards of ``claims.conflict``.
Authors who write on their own seldom shape their sentences alike, so two things are added: what a
sentence states before its subordinate rest is compared too, and two sentences agree that give one
figure of one source.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

from chapterhouse.claims.align import context_terms
from chapterhouse.claims.difference import ALIKE
from chapterhouse.claims.relation import (
    CONTRADICTIONS,
    Comparison,
    Relation,
    Stated,
    compare,
    may_disagree,
    of_one_language,
    stated_in,
)
from chapterhouse.claims.statement import Token, TokenKind, read
from chapterhouse.council.disagreement.attribution import attributions, name_terms
from chapterhouse.types import Evidence

_SILENT: Final = Comparison(Relation.SILENT)
_SINCE: Final = frozenset({"since", "seit"})
_LEAST_SAME: Final = 2  # content words, all of them shared, whatever stands above
_LEAST_NAME: Final = 2  # words of a source's name that two documents may both mean
_TAIL: Final = re.compile(
    r",\s(?:not|rather than|instead of|which|who|und|aber|sondern|nicht|and|but|while|whereas)\s"
    r"|;\s|\s(?:and|und)\s",
    re.IGNORECASE,
)
_HEAD: Final = 2  # content words, and a number, that what is compared alone must have
_FEW: Final = 6  # content words, below which a line without an end is a heading or a label
_ENDS: Final = (".", "!", "。", "！", "…", ";", ":")
_ENOUGH: Final = 3  # content words and figures that sentences which agree share
_LEAST_PLAIN: Final = 2  # of these, what belongs to no name
_DATA: Final = re.compile(r"^[ \t]*[\w.-]{1,40}:[ \t]", re.MULTILINE)
# What a document says of its own days.
_LIFE: Final = re.compile(
    r"\W*(?:dated|adopted|in force|valid|effective|issued|published|approved|updated|revised"
    r"|reviewed|next review|last (?:review|change|updated)|written|date|as of|version|stand|datum"
    r"|gültig|in kraft|beschlossen|veröffentlicht|geändert|nächste prüfung|fassung vom)(?!\w)",
    re.IGNORECASE,
)
_DIGITS: Final = re.compile(r"[0-9a-f]{8}")
Quantity = tuple[str, str, str]  # value, unit and what is counted


def statements_of(
    evidence: Evidence, around: str = "", *, reworded: bool = False
) -> tuple[Stated, ...]:
    """Return the sentences of a stretch that state something, with what stands around them.

    Args:
        evidence: The stretch.
        around: More text of its document around it; or empty.
        reworded: Whether the text is what a member says of the stretch, not what stands there.
    """
    stated = tuple(one for one in stated_in([evidence]) if reworded or is_statement(one))
    beyond = content_words(around, evidence.language)
    above = context_terms(evidence.title, evidence.section_path, evidence.language)
    own = content_words(evidence.text, evidence.language)
    near = beyond | own | above
    return tuple(replace(one, near=near, reworded=reworded) for one in stated)


@lru_cache(maxsize=2048)
def content_words(text: str, language: str) -> frozenset[str]:
    """Return the content words of a text of some sentences."""
    return frozenset(t.key for t in read(text, language).tokens if t.kind is TokenKind.WORD)


def compare_in_context(one: Stated, other: Stated) -> Comparison:
    """Compare two sentences in their documents.

    The order of the two changes nothing but the order of what is told.
    """
    if not of_one_language(one.evidence, other.evidence):
        return _SILENT
    if _same_words(one, other):
        return Comparison(Relation.AGREE, (one.sentence.text,), alike=1.0)
    language = one.evidence.language or other.evidence.language
    comparison = _SILENT
    if may_disagree(one, other) or _of_the_same(one, other):
        comparison = compare(one.sentence.text, other.sentence.text, language)
    if comparison.relation is Relation.SILENT:
        comparison = _of_one_source(one, other) or _by_heads(one, other)
    elif comparison.relation is Relation.AGREE:
        comparison = comparison if _says_enough(one, other) else _SILENT
    if contradicts(comparison) and not _is_sure(comparison, one, other):
        return _SILENT
    return comparison


def same_text(one: str, other: str) -> bool:
    """Whether two texts are the same, white space and case aside."""
    return one.casefold().split() == other.casefold().split()


def contradicts(comparison: Comparison) -> bool:
    """Whether a comparison tells of a contradiction."""
    return comparison.relation in CONTRADICTIONS


def _same_words(one: Stated, other: Stated) -> bool:
    """Whether both are the same sentence, white space and case aside, and long enough to tell."""
    first, second = (" ".join(s.sentence.text.casefold().split()) for s in (one, other))
    figures = sum(token.kind is not TokenKind.WORD for token in _tokens(one))
    return first == second and len(one.keys) + figures >= _ENOUGH


def _of_the_same(one: Stated, other: Stated) -> bool:
    """Whether two sentences speak of exactly the same things, under whatever headings.

    Members are asked one question, so two who say "the price per pallet is …" mean one price.
    """
    return one.keys == other.keys and len(one.keys) >= _LEAST_SAME


# --- what states something, and what says enough -------------------------------------------------


def is_statement(stated: Stated) -> bool:
    """Whether a sentence of a document states something by itself.

    Rows of tables, data, names and short lines without an end are left out.
    """
    text = stated.sentence.text
    if text.startswith("|") or len(_DATA.findall(text)) > 1:
        return False
    if len(stated.keys) < _FEW and not text.rstrip("\"'”’»)]*_").endswith(_ENDS):
        return False
    figures = any(t.kind is not TokenKind.WORD for t in _tokens(stated))
    return figures or bool(stated.keys - stated.names)


def _tokens(stated: Stated) -> tuple[Token, ...]:
    return read(stated.sentence.text, stated.evidence.language).tokens


def _says_enough(one: Stated, other: Stated) -> bool:
    """Whether two sentences share more than names, and not only two words, so as to agree."""
    facts = {t.key for t in _tokens(one) if t.kind is not TokenKind.WORD}
    facts &= {t.key for t in _tokens(other) if t.kind is not TokenKind.WORD}
    shared = one.keys & other.keys
    plain = len(shared - one.names) + len(facts)
    enough = len(shared) + len(facts) >= _ENOUGH or one.keys == other.keys
    return plain >= _LEAST_PLAIN and enough


def _is_sure(comparison: Comparison, one: Stated, other: Stated) -> bool:
    """Whether a contradiction is of what both speak of, at one time.

    A document's own dates ("In force from …") are no claims, and a figure of a year does not
    contradict one of no year.
    """
    if comparison.relation is Relation.DATE:
        return not any(_LIFE.match(s.sentence.text) for s in (one, other))
    if comparison.relation is Relation.NUMBER:
        first, second = comparison.values
        return _is_dated(one, first) == _is_dated(other, second)
    return True


def _is_dated(stated: Stated, value: str) -> bool:
    """Whether a year or month is told of a figure: in its clause, or before it."""
    clause = next((t.clause for t in _tokens(stated) if t.text == value), 0)
    return any(
        t.date
        and (t.date.year or t.date.month)
        and t.clause <= clause
        and t.preposition not in _SINCE  # what has held since then holds now
        for t in _tokens(stated)
    )


# --- what a sentence states before its rest -----------------------------------------------------


def _by_heads(one: Stated, other: Stated) -> Comparison:
    """Compare what two sentences state before their rest, where as a whole they are too unlike.

    Two that are alike have been compared, and what tells them apart may stand at their end.
    """
    if len(one.keys & other.keys) >= ALIKE * len(one.keys | other.keys):
        return _SILENT
    language = one.evidence.language or other.evidence.language
    best = _SILENT
    for first in _heads(one):
        for second in _heads(other):
            if (first is one and second is other) or not may_disagree(first, second):
                continue
            comparison = compare(first.sentence.text, second.sentence.text, language)
            if (
                contradicts(comparison)
                and comparison.relation is Relation.NUMBER
                and comparison.alike > best.alike
            ):
                best = comparison
    return best


def _heads(stated: Stated) -> Iterator[Stated]:
    """Yield a sentence, and what it states before a correction, an addition or another clause."""
    yield stated
    text, language = stated.sentence.text, stated.evidence.language
    for match in _TAIL.finditer(text):
        head = text[: match.start()]
        tokens = read(head, language).tokens
        words = [t for t in tokens if t.kind is TokenKind.WORD]
        counts = any(t.kind is TokenKind.NUMBER for t in tokens)
        if len(words) >= _HEAD and counts:
            sentence = replace(stated.sentence, end=stated.sentence.start + len(head), text=head)
            yield replace(
                stated,
                sentence=sentence,
                keys=frozenset(t.key for t in words),
                names=frozenset(t.key for t in tokens if t.name),
            )


# --- figures of one source ----------------------------------------------------------------------


@lru_cache(maxsize=4096)
def quantities(text: str, language: str) -> dict[Quantity, str]:
    """Return the counted things of a sentence, "52 passengers", with the words for them."""
    statement = read(text, language)
    found: dict[Quantity, str] = {}
    for number, token in enumerate(statement.tokens):
        if not token.number or token.number.ordinal or token.negated:
            continue
        behind = statement.tokens[number + 1 : number + 2]
        noun = next(
            (t for t in behind if t.kind is TokenKind.WORD and t.clause == token.clause), None
        )
        if noun or token.number.unit:
            words = text[token.start : (noun or token).end]
            key = (token.number.key, token.number.unit, noun.key if noun else "")
            found.setdefault(key, " ".join(words.split()))
    return found


def _of_one_source(one: Stated, other: Stated) -> Comparison | None:
    """Return an agreement where both give one figure of one source, or of a source and its own."""
    first, second = _attributions(one), _attributions(other)
    for figures, name in first:
        given = [theirs for theirs, called in second if called == name and len(name) >= _LEAST_NAME]
        if not second and name in _names_of(other.evidence):
            given = [_figures(other)]
        for common in (figures & theirs for theirs in given):
            if common:
                return _agreed(common, one, other)
    for figures, name in second if not first else ():
        common = figures & _figures(one)
        if common and name in _names_of(one.evidence):
            return _agreed(common, one, other)
    return None


def _figures(stated: Stated) -> frozenset[Quantity]:
    return frozenset(quantities(stated.sentence.text, stated.evidence.language))


def _attributions(stated: Stated) -> tuple[tuple[frozenset[Quantity], frozenset[str]], ...]:
    return _attributions_in(stated.sentence.text, stated.evidence.language)


@lru_cache(maxsize=4096)
def _attributions_in(
    text: str, language: str
) -> tuple[tuple[frozenset[Quantity], frozenset[str]], ...]:
    """Return the figures that a sentence attributes to a source, with the terms of its name."""
    found = []
    for attribution in attributions(text, language):
        begin, end = attribution.covers
        figures = frozenset(quantities(text, language)) & frozenset(
            quantities(text[begin:end], language)
        )
        name = name_terms(attribution.name, language)
        if figures and name and not attribution.own:
            found.append((figures, name))
    return tuple(found)


@lru_cache(maxsize=2048)
def _names_by(document_id: str, title: str, language: str) -> frozenset[frozenset[str]]:
    slug, _, hexadecimal = document_id.rpartition("-")
    stem = slug if _DIGITS.fullmatch(hexadecimal) else document_id
    return frozenset(name_terms(name, language) for name in (stem, title)) - {frozenset()}


def _names_of(evidence: Evidence) -> frozenset[frozenset[str]]:
    """Return the names of a document as terms: its title, and its file's name from the id."""
    return _names_by(evidence.document_id, evidence.title, evidence.language)


def _agreed(common: frozenset[Quantity], one: Stated, other: Stated) -> Comparison:
    shared, both = one.keys & other.keys, one.keys | other.keys
    words = quantities(one.sentence.text, one.evidence.language)
    subject = tuple(text for figure, text in words.items() if figure in common)
    return Comparison(Relation.AGREE, subject, alike=len(shared) / len(both) if both else 0.0)
