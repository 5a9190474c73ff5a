"""What a persona knows about, told from the documents on their shelf.

Counting alone gives tags, key terms, other names and a summary; the same documents give the same
ones. A model may word them better: what it writes counts only as far as the documents carry it.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from chapterhouse.text.aliases import find_aliases, fold_name
from chapterhouse.text.canonical import stated_date
from chapterhouse.text.counting import counted
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.text.shared_terms import Source, shared_terms
from chapterhouse.types import AliasKind, Document

MOST_TAGS: Final = 8
MOST_TERMS: Final = 12
MOST_ALIASES: Final = 12
_READ: Final = 40_000  # characters of a document; its subject is told by then
_LONGEST: Final = 40  # characters of a tag
_MOST_WORDS: Final = 4
_JOINERS: Final = frozenset(" -&.'’/+#_")
_NAMED: Final = 4  # subjects in a sentence
_FEWEST: Final = 4  # tags that make a field of more documents
_MOSTLY: Final = 0.8  # of the documents: of so many the kind is told
_MAJOR_LANGUAGE: Final = 0.1  # of the documents: so many make a language of the folder
_TOP: Final = 8_000  # characters in which a curated document lists its terms
_WORD: Final = re.compile(r"[^\W_]+")
_LISTED: Final = re.compile(r"^\*\*(?:Key Terms|Also Known As)\*\*:[^\n]{0,4000}$", re.MULTILINE)
_ALSO_KNOWN_AS: Final = re.compile(
    r"^\*\*Also Known As\*\*:[ \t]*(?P<names>[^\n]{0,4000})$", re.MULTILINE
)
_KINDS: Final = {
    "html": "web page",
    "pdf": "PDF",
    **dict.fromkeys(("eml", "msg"), "e-mail"),
    **dict.fromkeys(("pptx", "odp"), "presentation"),
    **dict.fromkeys(("xlsx", "xlsb", "ods", "csv", "tsv"), "table"),
}
_LANGUAGES: Final = {
    "ar": "Arabic", "da": "Danish", "de": "German", "en": "English", "es": "Spanish",
    "fi": "Finnish", "fr": "French", "it": "Italian", "ja": "Japanese", "ko": "Korean",
    "nl": "Dutch", "no": "Norwegian", "pt": "Portuguese", "ru": "Russian", "sv": "Swedish",
    "zh": "Chinese",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Subject:
    """What is read of one document.

    Attributes:
        aliases: Names and abbreviations that it states for something.
        text: The beginning of its text, without the lines that list terms.
        kind: What a document of its format is called.
        year: That it states for itself, or empty.
    """

    document_id: str
    title: str
    aliases: tuple[str, ...]
    text: str
    language: str = ""
    kind: str = "document"
    year: str = ""


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


def subject_of(document: Document, text: str) -> Subject:
    """Return what a document is about; ``text`` is its canonical text."""
    beginning = text[:_READ]
    listed = _ALSO_KNOWN_AS.search(beginning[:_TOP])
    stated = (
        name
        for alias in find_aliases(document.title, beginning)
        if alias.kind is AliasKind.ABBREVIATION
        for name in (alias.name, alias.other)
    )
    return Subject(
        document_id=document.id,
        title=document.title,
        aliases=usable((*(listed["names"].split(",") if listed else ()), *stated)),
        text=_LISTED.sub("", beginning),
        language=document.language,
        kind=_KINDS.get(document.format, "document"),
        year=stated_date(document)[:4],
    )


def usable(entries: Iterable[str]) -> tuple[str, ...]:
    """Return those entries that can be tags: a few words of letters, digits and joining marks.

    They come from documents, and later stand where a model reads them: no sentence gets through.
    """
    clean = (sanitise_line(entry).strip(" -.'’/_&") for entry in entries)
    return tuple(dict.fromkeys(entry for entry in clean if _is_usable(entry)))


def generate(subjects: Sequence[Subject]) -> Generated:
    """Return the profile that the documents of a shelf add up to; they come in order of id."""
    shared = shared_terms(
        [Source(subject.title, subject.text, subject.language) for subject in subjects],
        2 * (MOST_TAGS + MOST_TERMS),
    )
    counts = {entry.text: entry.documents for entry in shared if usable((entry.text,))}
    names = tuple(counts)
    tags = names[:MOST_TAGS]
    total = counted(len(subjects), "document")
    return Generated(
        tags=tags,
        key_terms=names[MOST_TAGS : MOST_TAGS + MOST_TERMS],
        aliases=_aliases(subjects, names),
        expertise=_summary(tags, subjects) if subjects else "",
        why=tuple((tag, f"in {counts[tag]} of {total}") for tag in tags),
    )


def _aliases(subjects: Sequence[Subject], terms: Iterable[str]) -> tuple[str, ...]:
    """Return the names that a document states and another uses too, the most used first."""
    texts = [words_of(subject.text) for subject in subjects]
    stated = sorted({name for subject in subjects for name in subject.aliases})
    used = {name: sum(words_of(name) in text for text in texts) for name in stated}
    least = min(2, len(subjects))
    known = {words_of(term).replace(" ", "") for term in terms}
    retained: list[str] = []
    for name in sorted(stated, key=lambda name: -used[name]):
        key = words_of(name).replace(" ", "")
        if used[name] >= least and key not in known:
            known.add(key)
            retained.append(name)
    return tuple(retained[:MOST_ALIASES])


def _summary(tags: Sequence[str], subjects: Sequence[Subject]) -> str:
    """Say in one or two sentences what the first tags are, and what the documents."""
    few = len(tags) < _FEWEST and len(subjects) > _FEWEST  # no field runs through them
    field = f"{_listed(_sentence_case(tags[:_NAMED]))}. " if tags and not few else ""
    kinds = Counter(subject.kind for subject in subjects)
    kind = next((name for name, count in kinds.items() if count >= _MOSTLY * len(subjects)), "")
    languages = Counter(filter(None, (subject.language for subject in subjects)))
    by_count = sorted(languages, key=lambda code: (-languages[code], code))
    sentences = [
        _LANGUAGES[code]
        for code in by_count
        if code in _LANGUAGES and languages[code] >= _MAJOR_LANGUAGE * len(subjects)
    ]
    years = sorted(subject.year for subject in subjects if subject.year)
    dated = 2 * len(years) > len(subjects)
    return field + "".join(
        (
            counted(len(subjects), kind or "document"),
            f" in {_listed(sentences)}" if sentences else "",
            f", {_span(years[0], years[-1])}" if dated else "",
            ", on many subjects" if few else "",
            ".",
        )
    )


def _sentence_case(names: Sequence[str]) -> list[str]:
    first, *more = names
    return [first[:1].upper() + first[1:] if first.islower() else first, *more]


def _span(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


def words_of(text: str) -> str:
    """Return a text as folded words, each between spaces, so that ``in`` finds whole words."""
    return f" {' '.join(_WORD.findall(fold_name(text)))} "


def _is_usable(entry: str) -> bool:
    words = entry.replace("-", " ").replace("_", " ").split()
    return (
        1 < len(entry) <= _LONGEST
        and 0 < len(words) <= _MOST_WORDS
        and any(character.isalpha() for character in entry)
        and all(_is_plain(character) for character in entry)
        and bool(words_of(entry).strip())
    )


def _is_plain(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character)[0] in "LMN"


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
