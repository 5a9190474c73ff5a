"""What the entities of a document are called: one key for all ways to write a name.

A key is the name without case, marks, articles, possessive endings and forms of companies. Within a
document the last name alone means the one person who has it, and a short name what the document
says that it is short for.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from chapterhouse.text.aliases import find_aliases
from chapterhouse.text.entities import EntityHead, find_mentions
from chapterhouse.text.markdown import sentence_spans
from chapterhouse.types import AliasKind, Body, Chunk, Document
from chapterhouse.types.engines import TokenEmbedder
from chapterhouse.types.graph import EntityKind, EntityNames, Mention, NamedMention, SharedName

_LANGUAGES: Final = frozenset({"en", ""})  # that the head was fitted on, or may be
_LEAST: Final = 0.35  # confidence of a mention
_LONGEST: Final = 100  # characters of a name
_MARKS: Final = re.compile(r"[\u0300-\u036f]")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_ARTICLE: Final = re.compile(
    r"^(?:the|an?|der|die|das|le|la|les|l['’]|el|los|las|il|lo|gli)\s+", re.IGNORECASE
)
_COMPANY: Final = re.compile(
    r",?\s+(?:inc|ltd|llc|llp|plc|corp|co|gmbh|ag|kg|se|sa|s\.a|srl|bv|nv|ab|oy|as)\.?$"
)
_EDGES: Final = " \t\n.,;:!?\"'“”„«»‹›‘’()[]{}*_`|#<>"
_SPACE: Final = re.compile(r"\s+")
_PERSONS: Final = 2  # words of a person's name in full, at least


def entity_key(name: str) -> str:
    """Return a name in the form in which entities are told apart; empty where nothing is left."""
    plain = unicodedata.normalize("NFKD", _SPACE.sub(" ", name).strip(_EDGES))
    plain = unicodedata.normalize("NFC", _MARKS.sub("", plain)).casefold()
    plain = _COMPANY.sub("", _POSSESSIVE.sub("", _ARTICLE.sub("", plain)))
    return plain.strip(_EDGES)


def without_article(name: str) -> str:
    """Return a name as it is written, without an article before it."""
    return _ARTICLE.sub("", name) or name


def entities_in(
    document: Document,
    body: Body,
    chunks: Sequence[Chunk],
    encoder: TokenEmbedder,
    head: EntityHead,
) -> EntityNames:
    """Return what a document speaks of; nothing in languages in which names would be guessed."""
    if document.language not in _LANGUAGES:
        return EntityNames()
    spans, mentions, end = [], [], 0
    read = encoder.embed_passage_tokens([chunk.text for chunk in chunks])
    for chunk, tokens in zip(chunks, read, strict=True):
        at = chunk.start
        mentions += [
            replace(one, start=at + one.start, end=at + one.end)
            for one in find_mentions(chunk.text, tokens, head)
            if at + one.start >= end  # chunks may overlap
        ]
        spans.append((max(chunk.start, end), chunk.end))
        end = max(end, chunk.end)
    return name_entities(document.title, body.text, spans, mentions)


def name_entities(
    title: str, text: str, spans: Sequence[tuple[int, int]], mentions: Sequence[Mention]
) -> EntityNames:
    """Return the mentions of a document with keys and sentences, and what its short names mean.

    Args:
        spans: Parts of the text that follow one another, such as its chunks; no sentence is
            looked for across them.
        mentions: In order.
    """
    likely = [
        one
        for one in _with_sentences(text, spans, mentions)
        if one.entity and one.mention.confidence >= _LEAST
    ]
    persons = _persons_by_last_name(likely)
    shared = {
        entity_key(alias.name): entity_key(alias.other)
        for alias in find_aliases(title, text)
        if alias.kind is AliasKind.ABBREVIATION
    }
    known = {one.entity for one in likely}
    shared = {short: long for short, long in shared.items() if short != long and long}
    return EntityNames(
        tuple(replace(one, entity=persons.get(one.entity, one.entity)) for one in likely),
        tuple(
            SharedName(short, long)
            for short, long in sorted(shared.items())
            if short in known or long in known
        ),
    )


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


def _persons_by_last_name(named: Sequence[NamedMention]) -> dict[str, str]:
    """Return the full name that the last word of it means, where it is that of one person alone."""
    full: dict[str, set[str]] = defaultdict(set)
    for one in named:
        words = one.entity.split()
        if one.mention.kind is EntityKind.PERSON and len(words) >= _PERSONS:
            full[words[-1]].add(one.entity)
    alone = {one.entity for one in named if one.mention.kind is EntityKind.PERSON}
    return {
        last: next(iter(names)) for last, names in full.items() if len(names) == 1 and last in alone
    }
