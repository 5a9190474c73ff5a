"""Negations in running text: the words that deny, and how far they reach.

A cue reaches to the end of its clause; in German, where the denial may close the clause, over the
whole of it. Two cues over one word strengthen each other in the Romance languages and are counted
in the others, where "not without" is not the same as "not". Turns such as "not only" or "no later than" deny nothing.
"""

# ruff: noqa: E501 - a pattern cut into pieces cannot be read

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

_CUES: Final = {
    "en": r"not|no|never|none|neither|nor|nobody|nothing|nowhere|without|cannot|\w{2,8}n['’]t|hardly"
    r"|scarcely|barely|fail(?:s|ed|ing)? to|refus(?:e|es|ed|ing) to|lack(?:s|ed|ing)?|unable|rather than|instead of"
    r"|den(?:y|ies|ied|ying)|false|untrue|incorrect|myth|except",
    "de": r"nicht|kein\w{0,2}|nie|niemals|niemand\w{0,2}|nichts|ohne|weder|nirgends|nirgendwo|kaum"
    r"|falsch|unwahr|außer|statt",
    "fr": r"pas|jamais|rien|aucun\w{0,2}|personne ne|sans|nulle part|n['’]\w+ plus|faux",
    "es": r"no|nunca|jamás|ningún|ninguno|ninguna|nada|nadie|sin|tampoco|falso",
    "it": r"non|mai|nessun\w{0,2}|niente|nulla|senza|falso",
    "pt": r"não|nunca|jamais|nenhum\w{0,2}|nada|ninguém|sem",
    "nl": r"niet|geen|nooit|niemand|niets|zonder|nergens",
    "sv": r"inte|ingen|inget|inga|aldrig|utan|ej",
    "da": r"ikke|ingen|intet|aldrig|uden",
    "no": r"ikke|ingen|intet|aldri|uten",
    "ru": r"не|нет|ни|никогда|никто|ничего|без",
}  # fmt: skip
_HARMLESS: Final = {
    "en": r"not only|not just|not merely|not least|not to mention|no (?:later|earlier|sooner|fewer"
    r"|less|more|longer than|greater|higher|lower) than|no doubt|no\.? ?\d|nos\.|no wonder|whether or not"
    r"|nothing but|not until|if not",
    "de": r"nicht nur|nicht zuletzt|nicht (?:mehr|weniger|länger|später|früher) als|kein zweifel|nichts als",
    "fr": r"pas seulement|non seulement|pas (?:plus|moins) (?:de|que)",
    "es": r"no s[óo]lo|no solamente|no (?:más|menos) (?:de|que)|no\. ?\d",
    "it": r"non solo|non soltanto|non (?:più|meno) (?:di|che)",
}
_EAST_CUE = re.compile(
    r"(?:(?<![是否])不(?![仅但断久同管论只得少足过]|一定)|没有?|无(?![论数线]|疑)|未(?!来)|(?<![南北西东中是])非(?![常洲])|别(?=[再把让])|从不|并非)"
)
_BREAK: Final = {
    "en": r"but|while|whereas|although|though|because|which|who|since|unless|yet|however",
    "de": r"aber|sondern|während|obwohl|weil|denn|jedoch|welche\w?|dass",
    "fr": r"mais|tandis que|alors que|parce que|car|qui|cependant|bien que",
    "es": r"pero|sino|mientras|aunque|porque|sin embargo|quien",
    "it": r"ma|mentre|sebbene|perché|però|bensì",
}
_STRENGTHEN: Final = frozenset({"fr", "es", "it", "pt", "ru"})
_WHOLE_CLAUSE: Final = frozenset({"de", "nl", "sv", "da", "no"})
_REACH: Final = 300  # characters at most; a clause is seldom longer
# "Neither A nor B": one denial.
_PAIRS = re.compile(r"(?:neither|weder)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Negation:
    """A cue and what it denies: ``text[scope_start:scope_end]``."""

    start: int
    end: int
    scope_start: int
    scope_end: int
    asides: tuple[tuple[int, int], ...] = ()  # what stands in parentheses there is not denied


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    name = language if language in _CUES else "en"
    cue = re.compile(rf"(?<!\w)(?:{_CUES[name]})(?!\w)", re.IGNORECASE)
    harmless = re.compile(rf"(?<!\w)(?:{_HARMLESS.get(name, '(?!)')})", re.IGNORECASE)
    words = _BREAK.get(name, "(?!)")
    breaks = re.compile(rf"[,;:—|\n]|\s[–-]\s|(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)
    return cue, harmless, breaks


_ASIDE = re.compile(r"\([^()]{0,300}\)|（[^（）]{0,300}）")
_EAST_BREAK = re.compile("[，。；：！？,;:|\n]|但是?|而且?")


def negations(text: str, language: str = "") -> tuple[Negation, ...]:
    """Return the negations of a sentence in order.

    Args:
        text: One sentence.
        language: ISO 639-1 code; one without cue words of its own is read as English.
    """
    if language in {"zh", "ja"}:
        return tuple(
            _scoped(text, m.start(), m.end(), _EAST_BREAK, language)
            for m in _EAST_CUE.finditer(text)
        )
    cue, harmless, breaks = _patterns(language)
    spared = bytearray(len(text) + 1)
    for match in harmless.finditer(text):
        spared[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    found: list[Negation] = []
    for match in cue.finditer(text):
        if spared[match.start()]:
            continue
        if match.group().lower() in {"nor", "noch"} and _PAIRS.search(
            text, max(0, match.start() - _REACH), match.start()
        ):
            continue
        found.append(_scoped(text, match.start(), match.end(), breaks, language))
    return tuple(found)


def _scoped(text: str, start: int, end: int, breaks: re.Pattern[str], language: str) -> Negation:
    following = breaks.search(text, end, end + _REACH)
    stop = following.start() if following else min(len(text), end + _REACH)
    begin = end
    if language in _WHOLE_CLAUSE:
        first = max(0, start - _REACH)
        begin = max((match.end() for match in breaks.finditer(text, first, start)), default=first)
    asides = tuple(match.span() for match in _ASIDE.finditer(text, begin, stop))
    return Negation(start, end, begin, stop, asides)


def denials(text: str, found: tuple[Negation, ...], language: str = "") -> list[int]:
    """Count for each character how often it is denied; at most once where cues strengthen.

    Args:
        text: The sentence.
        found: Its negations.
        language: ISO 639-1 code of the sentence.
    """
    counts = [0] * (len(text) + 1)
    for cue in found:
        spared = [(cue.start, cue.end), *cue.asides]
        for position in range(cue.scope_start, cue.scope_end):
            counts[position] += not any(start <= position < end for start, end in spared)
    return [min(count, 1) for count in counts] if language in _STRENGTHEN else counts
