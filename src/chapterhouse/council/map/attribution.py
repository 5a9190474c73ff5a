"""To what source a sentence attributes what it says: "as the demand study expects".

A source is what the sentence calls so: a noun for a document ("study", "Bericht") with the words
before it, or after "according to" whatever is named. What the attribution covers is told with it,
for the rest of the sentence is the author's own.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from chapterhouse.claims.wording import is_stop
from chapterhouse.text.analyse import analyse

_NOUNS: Final = {
    "en": "study studies report survey surveys policy handbook manual minutes briefing memo"
    " memorandum paper analysis census statistics notice plan budget register log letter quotation"
    " offer presentation forecast review audit standard guideline guidelines regulation regulations"
    " rules article assessment inquiry model estimate estimates figures records dataset poll"
    " evaluation inspection inventory brochure strategy contract agreement charter statutes",
    "de": "Studie Bericht Umfrage Richtlinie Handbuch Protokoll Papier Analyse Statistik Plan"
    " Haushaltsplan Haushalt Register Schreiben Brief Angebot Vorlage Prognose Gutachten Norm"
    " Ordnung Verordnung Untersuchung Erhebung Satzung Vertrag Leitfaden Merkblatt Auswertung",
}
# Ends of German compounds: "Nachfragestudie", "Sicherheitsbericht".
_ENDS: Final = {
    "de": "studie bericht umfrage richtlinie handbuch protokoll papier analyse statistik plan"
    " register schreiben angebot prognose gutachten norm ordnung untersuchung erhebung satzung"
    " vertrag auswertung",
}
_SAYS: Final = {
    "en": "expects|expected|says|said|states|stated|reports|reported|shows|showed|finds|found"
    "|estimates|estimated|forecasts|predicts|predicted|concludes|concluded|notes|noted|gives|gave"
    "|puts|recommends|recommended|suggests|suggested|assumes|assumed|counts|counted|has|reckons"
    "|calculates|calculated|mentions|records|recorded|indicates|indicated|demands|requires|sets",
    "de": "erwartet|sagt|nennt|zeigt|schätzt|ergab|ergibt|berichtet|belegt|besagt|gibt|geht"
    "|rechnet|empfiehlt|schreibt|feststellt|stellt|kommt|beziffert|prognostiziert|angibt|vorsieht"
    "|verlangt|fordert|ermittelte|ermittelt",
}
_BEFORE: Final = {
    "en": "according to|as per|as stated in|as reported in|as shown in|as given in|based on"
    "|on the basis of|drawing on|relying on|citing|quoting|taken from",
    "de": "laut|gemäß|entsprechend|auf Grundlage|auf der Grundlage|auf Basis|ausweislich",
}
_AFTER: Final = {"en": "", "de": "zufolge"}
_OWN: Final = {"en": "this our these my", "de": "dieser diese dieses diesem unser unsere unserer"}
_ARTICLES: Final = {
    "en": "the a an that its their his her",
    "de": "der die das dem den des ein eine einer einem einen ihr ihre ihrer",
}
_WORD: Final = re.compile(r"[^\W_]+(?:[-.’'/][^\W_]+)*")
_MOST_WORDS: Final = 6  # of a name
_LONGEST: Final = 1_000  # characters of a sentence that is looked into
_CLAUSE: Final = re.compile(r"[,;:()—]\s|\s[–—-]\s")
_POSSESSIVE: Final = re.compile(r"[’'](?:s)?$")


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
    name = language or "en"
    if name not in _NOUNS or len(text) > _LONGEST:
        return ()
    words = [_Word(m.start(), m.end(), m.group()) for m in _WORD.finditer(text)]
    found = {a.start: a for a in _by_preposition(text, words, name)}
    for attribution in _by_noun(text, words, name):
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


def _by_preposition(text: str, words: list[_Word], language: str) -> Iterator[Attribution]:
    """Yield what "according to" and its like name, up to the end of the name."""
    for match in _pattern(_BEFORE[language]).finditer(text):
        following = [w for w in words if w.start >= match.end()]
        name = _name_from(text, following, language)
        if name:
            yield _made(text, match.start(), name, language)


def _name_from(text: str, words: list[_Word], language: str) -> list[_Word]:
    """Return the words of a name at the beginning of ``words``: up to a document's noun.

    Without such a noun, up to the end of the clause.
    """
    limit = _CLAUSE.search(text, words[0].start) if words else None
    inside = [w for w in words if limit is None or w.start < limit.start()][: _MOST_WORDS + 1]
    for number, word in enumerate(inside):
        if _is_document(word, language):
            return inside[: number + 1]
    short = inside[:_MOST_WORDS] if len(inside) <= _MOST_WORDS else []
    return short if limit is not None else []


# --- "the demand study expects", "the demand study's 52" ----------------------------------------


def _by_noun(text: str, words: list[_Word], language: str) -> Iterator[Attribution]:
    says = _pattern(_SAYS[language])
    after = _AFTER[language]
    for number, word in enumerate(words):
        if not _is_document(word, language):
            continue
        first = _beginning(text, words, number, language)
        name = words[first : number + 1]
        behind = words[number + 1] if number + 1 < len(words) else None
        adjoins = behind is not None and text[word.end : behind.start].isspace()
        tells = bool(adjoins and behind and says.fullmatch(behind.text))
        postposed = bool(adjoins and behind and after and behind.folded == after)
        possessive = _POSSESSIVE.search(word.text) is not None and adjoins
        if behind and (tells or postposed):
            yield _made(text, name[0].start, name, language, behind.end)
        elif possessive:
            yield _made(text, name[0].start, name, language)
        elif number and _inverted(words, first, language) is not None:
            yield _made(text, words[first - 1].start, name, language)


def _inverted(words: list[_Word], first: int, language: str) -> int | None:
    """Whether "wie ... zeigt" or "as ... says" stands around a name, with the verb elsewhere."""
    if language != "de" or not first:
        return None
    return first - 1 if words[first - 1].folded == "wie" else None


def _beginning(text: str, words: list[_Word], number: int, language: str) -> int:
    """Return the place of the first word of the name that ends at ``number``."""
    limits = word_list(_ARTICLES[language]) | word_list(_OWN[language])
    first = number
    while first and number - first < _MOST_WORDS - 1:
        before = words[first - 1]
        if not text[before.end : words[first].start].isspace():
            break
        if before.folded in limits:
            return first - 1
        if is_stop(before.folded, language):
            break
        first -= 1
    # Without an article only the noun and what stands right before it are the name.
    return max(first, number - 1)


def _is_document(word: _Word, language: str) -> bool:
    plain = _POSSESSIVE.sub("", word.text)
    folded = plain.casefold()
    if language == "de" and not plain[:1].isupper():
        return False
    if folded in word_list(_NOUNS[language].casefold()):
        return True
    ends = _ENDS.get(language, "")
    return any(folded.endswith(end) for end in ends.split())


def _made(
    text: str, start: int, name: list[_Word], language: str, end: int | None = None
) -> Attribution:
    own = name[0].folded in word_list(_OWN[language])
    articles = word_list(_ARTICLES[language]) | word_list(_OWN[language])
    kept = name[1:] if name[0].folded in articles and len(name) > 1 else name
    called = _POSSESSIVE.sub("", text[kept[0].start : kept[-1].end])
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


@lru_cache(maxsize=64)
def word_list(listed: str) -> frozenset[str]:
    """Return the words of a list that is written as text."""
    return frozenset(listed.split())


@lru_cache(maxsize=16)
def _pattern(listed: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{listed})(?!\w)", re.IGNORECASE)
