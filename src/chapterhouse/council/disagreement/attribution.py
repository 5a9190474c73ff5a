"""To what source a sentence attributes what it says: "as the demand study expects".

A source is what the sentence calls so: a noun for a document ("study", "Bericht") with the words
before it, or after "according to" whatever is named. What the attribution covers is told with it,
for the rest of the sentence is the author's own. The words are in ``attribution.toml``.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final

from chapterhouse.claims.wording import is_stop
from chapterhouse.text.analyse import analyse

_WORD: Final = re.compile(r"[^\W_]+(?:[-.’'/][^\W_]+)*")
_MOST_WORDS: Final = 6  # of a name
_LONGEST: Final = 1_000  # characters of a sentence that is looked into
_CLAUSE: Final = re.compile(r"[,;:()—]\s|\s[–—-]\s")
_POSSESSIVE: Final = re.compile(r"[’'](?:s)?$")


@dataclass(frozen=True, slots=True)
class _Language:
    """How sentences of a language name sources; see ``attribution.toml``."""

    nouns: frozenset[str]
    ends: tuple[str, ...]
    says: re.Pattern[str]
    before: re.Pattern[str]
    after: frozenset[str]
    own: frozenset[str]
    articles: frozenset[str]


@cache
def _languages() -> Mapping[str, _Language]:
    listed = (
        files("chapterhouse.council.disagreement").joinpath("attribution.toml").read_text("utf-8")
    )
    return {code: _language(words) for code, words in tomllib.loads(listed).items()}


def _language(words: Mapping[str, Any]) -> _Language:
    own = frozenset(words["own"].split())
    return _Language(
        nouns=frozenset(words["nouns"].casefold().split()),
        ends=tuple(words.get("ends", "").split()),
        says=_pattern(words["says"]),
        before=_pattern(words["before"]),
        after=frozenset(words.get("after", ())),
        own=own,
        articles=own | frozenset(words["articles"].split()),
    )


def _pattern(phrases: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(phrases)})(?!\w)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Attribution:
    """A source that a sentence names for what it says.

    Attributes:
        name: The source as the sentence calls it, without the article.
        start: Offset of the whole turn in the sentence, with the verb that tells.
        covers: The stretch of the sentence that is said to come from it.
        own: Whether it is the document itself: "this report".
    """

    name: str
    start: int
    end: int
    covers: tuple[int, int]
    own: bool = False


@dataclass(frozen=True, slots=True)
class _Word:
    start: int
    end: int
    text: str

    @property
    def folded(self) -> str:
        return self.text.casefold()


@lru_cache(maxsize=4096)
def attributions(text: str, language: str = "") -> tuple[Attribution, ...]:
    """Return the sources that a sentence names for what it says, in order.

    Args:
        text: One sentence; one of more than 1,000 characters names none.
        language: ISO 639-1 code; other languages than English and German name none.
    """
    known = _languages().get(language or "en")
    if known is None or len(text) > _LONGEST:
        return ()
    words = [_Word(m.start(), m.end(), m.group()) for m in _WORD.finditer(text)]
    found = {a.start: a for a in _by_preposition(text, words, known)}
    for attribution in _by_noun(text, words, known, language or "en"):
        taken = any(a.start <= attribution.start < a.end for a in found.values())
        if not taken:
            found[attribution.start] = attribution
    return tuple(found[start] for start in sorted(found))


def name_terms(name: str, language: str = "") -> frozenset[str]:
    """Return the terms under which names of sources are compared, numbers aside."""
    return frozenset(
        term
        for word in _WORD.findall(name.replace("_", " ").replace("-", " "))
        if not any(character.isdigit() for character in word)
        for term in analyse(_POSSESSIVE.sub("", word), language or "en")[:1]
        if not is_stop(word.casefold(), language)
    )


# --- what follows "according to" ----------------------------------------------------------------


def _by_preposition(text: str, words: list[_Word], known: _Language) -> Iterator[Attribution]:
    """Yield what "according to" and its like name, up to the end of the name."""
    for match in known.before.finditer(text):
        following = [w for w in words if w.start >= match.end()]
        name = _name_from(text, following, known)
        if name:
            yield _made(text, match.start(), name, known)


def _name_from(text: str, words: list[_Word], known: _Language) -> list[_Word]:
    """Return the words of a name at the beginning of ``words``: up to a document's noun.

    Without such a noun, up to the end of the clause.
    """
    limit = _CLAUSE.search(text, words[0].start) if words else None
    inside = [w for w in words if limit is None or w.start < limit.start()][: _MOST_WORDS + 1]
    for number, word in enumerate(inside):
        if _is_document(word, known):
            return inside[: number + 1]
    short = inside[:_MOST_WORDS] if len(inside) <= _MOST_WORDS else []
    return short if limit is not None else []


# --- "the demand study expects", "the demand study's 52" ----------------------------------------


def _by_noun(
    text: str, words: list[_Word], known: _Language, language: str
) -> Iterator[Attribution]:
    for number, word in enumerate(words):
        if not _is_document(word, known):
            continue
        first = _beginning(text, words, number, known, language)
        name = words[first : number + 1]
        behind = words[number + 1] if number + 1 < len(words) else None
        adjoins = behind is not None and text[word.end : behind.start].isspace()
        is_attribution = behind and (
            known.says.fullmatch(behind.text) or behind.folded in known.after
        )
        if adjoins and behind and is_attribution:
            yield _made(text, name[0].start, name, known, behind.end)
        elif adjoins and _POSSESSIVE.search(word.text):
            yield _made(text, name[0].start, name, known)
        elif first and words[first - 1].folded == "wie":  # "wie die Studie von 2025 zeigt"
            yield _made(text, words[first - 1].start, name, known)


def _beginning(text: str, words: list[_Word], number: int, known: _Language, language: str) -> int:
    """Return the place of the first word of the name that ends at ``number``."""
    first = number
    while first and number - first < _MOST_WORDS - 1:
        before = words[first - 1]
        if not text[before.end : words[first].start].isspace():
            break
        if before.folded in known.articles:
            return first - 1
        if is_stop(before.folded, language):
            break
        first -= 1
    # Without an article only the noun and what stands right before it are the name.
    return max(first, number - 1)


def _is_document(word: _Word, known: _Language) -> bool:
    plain = _POSSESSIVE.sub("", word.text)
    if known.ends and not plain[:1].isupper():  # where nouns are joined they are capitals, too
        return False
    return plain.casefold() in known.nouns or plain.casefold().endswith(known.ends)


def _made(
    text: str, start: int, name: list[_Word], known: _Language, end: int | None = None
) -> Attribution:
    own = name[0].folded in known.own
    words = name[1:] if name[0].folded in known.articles and len(name) > 1 else name
    called = _POSSESSIVE.sub("", text[words[0].start : words[-1].end])
    stop = end if end is not None else name[-1].end
    return Attribution(called, start, stop, _covered(text, start, stop), own)


def _covered(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the stretch that a turn speaks for.

    A turn between commas speaks for the clause before it, one at the beginning for all behind
    it, any other for its own clause.
    """
    breaks = [match.span() for match in _CLAUSE.finditer(text)]
    before = [b for b in breaks if b[1] <= start]
    behind = [b for b in breaks if b[0] >= end]
    opens = before[-1][1] if before else 0
    lead = text[opens:start].strip().casefold()
    closed = bool(behind) and not text[end : behind[0][0]].strip()
    at_end = not text[end:].strip(" .!\n")
    if before and lead in {"", "as", "so", "wie"} and (closed or at_end):
        earlier = [b[1] for b in before[:-1]]
        return (earlier[-1] if earlier else 0, start)
    if not before and closed:
        return (0, len(text))
    return (opens, behind[0][0] if behind else len(text))
