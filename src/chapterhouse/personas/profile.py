"""What a persona knows about, told from the documents on their shelf.

Statistics alone give tags, key terms, other names and a sentence; the same documents give the same
ones. A model may word them better: what it writes counts only as far as the documents carry it.
"""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from chapterhouse.text.aliases import find_aliases, fold_name
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import AliasKind, Document

MOST_TAGS: Final = 12
MOST_TERMS: Final = 24
MOST_ALIASES: Final = 24
_TERMS_OF_ONE: Final = 12  # key terms of a document
_AS_TAGS: Final = 4  # of them, where a document has no tags
_READ: Final = 40_000  # characters of a document; its subject is told by then
_LONGEST: Final = 40  # characters of a tag
_MOST_WORDS: Final = 4
_JOINERS: Final = frozenset(" -&.'’/+#_")
_NAMED: Final = 4  # subjects in a sentence
_ORDINARY: Final = 0.4  # weight of one ordinary word: it says little of a field
_TOP: Final = 8_000  # characters in which a curated document lists its terms
_WORD: Final = re.compile(r"[^\W_]+")
_LISTED: Final = re.compile(
    r"^\*\*(?P<label>Key Terms|Also Known As)\*\*:[ \t]*(?P<names>[^\n]{0,4000})$", re.MULTILINE
)

# Text and language to the terms that tell it from other texts, the best first.
KeyTerms = Callable[[str, str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Subject:
    """What one document says that it is about.

    Attributes:
        tags: Of its front matter, or its first key terms where it has none.
        text: The beginning of its text, without the lines that list terms.
    """

    document_id: str
    title: str
    tags: tuple[str, ...]
    key_terms: tuple[str, ...]
    aliases: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Generated:
    """A profile as it was generated.

    Attributes:
        why: What speaks for a tag, by tag.
        method: ``statistics``, or a model's name.
        warnings: What did not work and what was done instead.
    """

    tags: tuple[str, ...] = ()
    key_terms: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    expertise: str = ""
    why: tuple[tuple[str, str], ...] = ()
    method: str = "statistics"
    warnings: tuple[str, ...] = ()


def subject_of(document: Document, text: str, key_terms: KeyTerms) -> Subject:
    """Return what a document is about; ``text`` is its canonical text."""
    beginning = text[:_READ]
    listed = {match["label"].casefold(): match for match in _LISTED.finditer(beginning[:_TOP])}
    terms_line, names_line = listed.get("key terms"), listed.get("also known as")
    terms = usable(
        terms_line["names"].split(",") if terms_line else key_terms(beginning, document.language)
    )[:_TERMS_OF_ONE]
    stated = (
        name
        for alias in find_aliases(document.title, beginning)
        if alias.kind is AliasKind.ABBREVIATION
        for name in (alias.name, alias.other)
    )
    return Subject(
        document_id=document.id,
        title=document.title,
        tags=usable(document.metadata.get("tags", "").split(",")) or terms[:_AS_TAGS],
        key_terms=terms,
        aliases=usable((*(names_line["names"].split(",") if names_line else ()), *stated)),
        text=_LISTED.sub("", beginning),
    )


def usable(entries: Iterable[str]) -> tuple[str, ...]:
    """Return those entries that can be tags: a few words of letters, digits and joining marks.

    They come from documents, and later stand where a model reads them: no sentence gets through.
    """
    clean = (sanitise_line(entry).strip(" -.'’/_&") for entry in entries)
    return tuple(dict.fromkeys(entry for entry in clean if _is_usable(entry)))


def generate(subjects: Sequence[Subject], elsewhere: Sequence[str] = ()) -> Generated:
    """Return the profile that the documents of a shelf add up to.

    Args:
        subjects: Of the documents of the shelf, in order of id.
        elsewhere: Texts of documents on other shelves, to tell what is special here.
    """
    spelling: dict[str, Counter[str]] = defaultdict(Counter)
    for subject in subjects:
        entries = (*subject.tags, *subject.key_terms)
        for key, entry in {_key(entry): entry for entry in reversed(entries)}.items():
            spelling[key][entry] += 1
    here = _holding(map(_everything, subjects), spelling)
    there = _holding(elsewhere, spelling)
    weights = {
        key: _weight(spelt, here[key] / len(subjects), (there[key] + 0.5) / (len(elsewhere) + 1))
        for key, spelt in spelling.items()
    }
    best = sorted(weights, key=lambda key: (-round(weights[key], 9), key))
    names = {key: _usual(spelling[key]) for key in best}
    tags = tuple(names[key] for key in best[:MOST_TAGS])
    key_terms = tuple(names[key] for key in best[MOST_TAGS : MOST_TAGS + MOST_TERMS])
    known_as = Counter(name for subject in subjects for name in subject.aliases)
    aliases = sorted(known_as, key=lambda name: (-known_as[name], fold_name(name), name))
    titles = _holding([subject.title for subject in subjects], spelling)
    return Generated(
        tags=tags,
        key_terms=key_terms,
        aliases=tuple(aliases[:MOST_ALIASES]),
        expertise=_sentence(
            # One word of one document is no field, though it may be a name of something.
            names[key]
            for key in sorted(best, key=lambda key: not titles[key])
            if " " in names[key] or spelling[key].total() > 1
        ),
        why=tuple(
            (names[key], _reason(here[key], len(subjects), there[key], len(elsewhere)))
            for key in best[:MOST_TAGS]
        ),
    )


def _everything(subject: Subject) -> str:
    return "\n".join((subject.title, subject.text, *subject.tags, *subject.key_terms))


def _key(entry: str) -> str:
    """Return an entry as words in a row, in the form in which they are looked for."""
    return " ".join(_WORD.findall(fold_name(entry)))


def _holding(texts: Iterable[str], keys: Iterable[str]) -> Counter[str]:
    """Count the texts that hold each key, word after word. One pass over the texts."""
    by_first: dict[str, list[tuple[str, list[str]]]] = defaultdict(list)
    for key in keys:
        words = key.split()
        by_first[words[0]].append((key, words))
    counts: Counter[str] = Counter()
    for text in texts:
        words = _WORD.findall(fold_name(text))
        counts.update(
            {
                key
                for place, word in enumerate(words)
                for key, wanted in by_first.get(word, ())
                if words[place : place + len(wanted)] == wanted
            }
        )
    return counts


def _weight(spelt: Counter[str], share: float, elsewhere: float) -> float:
    """Weigh a term by where it is listed, where it stands, and how special it is here.

    The contrast to other shelves counts by its logarithm, so that being rare elsewhere never
    outweighs being here.
    """
    usual = _usual(spelt)
    ordinary = usual.islower() and " " not in usual and "-" not in usual
    return (spelt.total() + share) * math.log1p(1 / elsewhere) * (_ORDINARY if ordinary else 1)


def _reason(count: int, total: int, elsewhere: int, others: int) -> str:
    here = f"in {count} of {total} document{'s' if total > 1 else ''}"
    return f"{here}, and in {elsewhere} of {others} elsewhere" if others else here


def _usual(spelt: Counter[str]) -> str:
    return min(spelt, key=lambda text: (-spelt[text], text))


def _sentence(names: Iterable[str]) -> str:
    """Return a field of knowledge in one or two sentences; empty where nothing is known of it."""
    chosen: list[str] = []
    for name in names:
        words = set(_key(name).split())
        if not any(words & set(_key(other).split()) for other in chosen):
            chosen.append(name)
    first, more = chosen[:_NAMED], chosen[_NAMED : 2 * _NAMED - 1]
    if not first:
        return ""
    also = f" Their documents also treat {_listed(more)}." if more else ""
    return f"Knows about {_listed([_in_words(name) for name in first])}.{also}"


def _is_usable(entry: str) -> bool:
    words = entry.replace("-", " ").replace("_", " ").split()
    return (
        1 < len(entry) <= _LONGEST
        and 0 < len(words) <= _MOST_WORDS
        and any(character.isalpha() for character in entry)
        and all(_is_plain(character) for character in entry)
        and bool(_key(entry))
    )


def _is_plain(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character)[0] in "LMN"


def _in_words(tag: str) -> str:
    return tag.replace("-", " ").replace("_", " ") if tag.islower() else tag


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
