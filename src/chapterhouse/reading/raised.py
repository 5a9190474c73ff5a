"""Raised and lowered text as characters: without its place, 2 to the power of 31 reads as 231."""

import re
from typing import Final

_RAISED: Final = str.maketrans(
    "0123456789+-−=()abcdefghijklmnoprstuvwxyz",
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ",
)
_LOWERED: Final = str.maketrans(
    "0123456789+-−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"
)
# 1st, XXe, no, Mme, trademarks: what is raised belongs to the word. A letter behind a variable,
# a number or a bracket is a power.
_POWER: Final = re.compile(r"(?:(?:^|[^\W_]*\d|\W)[a-z]?|\))\Z")
_ENDINGS: Final = frozenset(
    ("st", "nd", "rd", "th", "er", "re", "ère", "ème", "ième", "nde", "de", "os", "tm", "sm", "md")
)
_LETTER_ENDINGS: Final = frozenset("eoaºª")


def raised(text: str, before: str) -> str:
    """Return raised text as it reads in a line; ``before`` is what stands before it."""
    plain = text.strip()
    if not any(map(str.isalnum, plain)) or plain.startswith("["):  # a mark, a note's number
        return text
    if plain.isalpha() and not _is_power(plain, before):
        return text
    return _written(plain, _RAISED, "^")


def lowered(text: str) -> str:
    """Return lowered text as it reads in a line."""
    plain = text.strip()
    return _written(plain, _LOWERED, "_") if any(map(str.isalnum, plain)) else text


def _is_power(text: str, before: str) -> bool:
    if text.casefold() in _ENDINGS or not _POWER.search(before[-20:]):
        return False
    return text.casefold() not in _LETTER_ENDINGS or not before[-1:].isdigit()


def _written(text: str, table: dict[int, int], mark: str) -> str:
    if all(ord(character) in table for character in text):
        return text.translate(table)
    return f"{mark}({text})"
