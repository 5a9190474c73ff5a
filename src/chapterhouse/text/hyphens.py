"""Words that a line's end parts, made whole: whether the hyphen there belongs to the word.

The text's own words say it best. Where they do not, a hyphen stays before a capital or a digit,
behind capitals, a digit or a single letter, inside a phrase (state-of-the-art), and behind words
that mostly form compounds with one (well-known). All others were put there to fill the line.
"""

import re
from collections.abc import Set as AbstractSet
from typing import Final

_LONGEST: Final = 2_000  # characters of a line of prose
_MOST: Final = 2_000_000  # characters of a text whose words are asked
_WORD: Final = re.compile(r"\w[\w'’-]*")
_HEAD: Final = re.compile(r"[\w'’-]*\w(?=[-\u00ad]\Z)")
_TAIL: Final = re.compile(r"\w[\w'’-]*")
_LISTED: Final = """
    and or und oder bzw sowie et ou och eller og tai или и
"""
_COMPOUNDS: Final = """
    well self long short high low half full two three five seven eight nine first second third
    twenty thirty forty fifty sixty seventy eighty ninety quasi pseudo demi après peut vingt
    trente quarante cinquante soixante quatre nord sud grand celui celle ceux
"""
_PHRASES: Final = """
    of the to in and by on at up out a de du la le les à en et der die das zu im am auf
"""
_JOINING: Final = frozenset(_LISTED.split())  # behind the place of a word: Vor- und Nachteile
# Words that take a hyphen before most others, and endings before which they take none.
_COMPOUNDING: Final = frozenset(_COMPOUNDS.split())
_ENDING: Final = re.compile(
    r"n?ess(?:es)?|less|ing|ings|ers?|est|ish|en(?:s|ed|ing)?|ages?|ways?|lands?|lights?|hand|cut|"
    r"fall|l?y|s|es|ed|th|hood|teen(?:th)?|ty|tieth|fold|ary|e|leurs?|eurs?|ièmes?|aines?|temps"
)
_PHRASING: Final = frozenset(_PHRASES.split())
_FOLLOWING: Final = frozenset(("même", "mêmes", "là"))
# The end of a line of prose in the middle of a word, and where the next one begins.
_TORN: Final = re.compile(r"[^\W\d_][-\u00ad] ?\n {0,8}(?=[^\W_])")
_REST: Final = re.compile(r"(\w[\w'’-]*[^\w\s]*)[ ]*")
_ADDRESS: Final = re.compile(r"[/@\\]\S*\Z")  # whose hyphens are its own
_NO_PROSE: Final = re.compile(r"[\t|{}=<>\\]|\S {3,}\S")


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, case folded, those with hyphens whole."""
    return frozenset(_WORD.findall(text[:_MOST].casefold()))


def is_torn(before: str, behind: str) -> bool:
    """Whether a line ends with the hyphen of a word that the next may go on with; not of years."""
    ends = before[-2:-1]
    return (
        before[-1:] in {"-", "\u00ad"}
        and ends.isalnum()
        and behind[:1].isalnum()
        and not (ends.isdigit() and behind[:1].isdigit())
    )


def join_torn(before: str, behind: str, vocabulary: AbstractSet[str]) -> str:
    """Return two lines as one, the first of which ends with a hyphen or soft hyphen.

    Args:
        before: Ends with a letter or digit and the hyphen, as `is_torn` says.
        behind: The next line, without white space at its beginning.
        vocabulary: Words of the whole text, as `words_of` returns them.
    """
    head, tail = _HEAD.search(before), _TAIL.match(behind)
    if head is None or tail is None:
        return f"{before} {behind}"
    first, second = head[0], tail[0]
    plain, hyphened = f"{first}{second}".casefold(), f"{first}-{second}".casefold()
    if before[-1] == "\u00ad":
        return before[:-1] + behind
    if second in _JOINING and plain not in vocabulary:
        return f"{before} {behind}"
    if plain not in vocabulary and (hyphened in vocabulary or _has_hyphen(first, second)):
        return before + behind
    is_word = second[0].islower() or (first.isupper() and second.isupper())
    return before[:-1] + behind if is_word else before + behind


def _has_hyphen(first: str, second: str) -> bool:
    """Whether a word that the text has nowhere else is written with its hyphen."""
    earlier, _, last = first.rpartition("-")
    tail, _, later = second.partition("-")
    if not second[0].islower() or len(last) == 1 or last[-1].isdigit() or last.isupper():
        return True
    last, tail = last.casefold(), tail.casefold()
    if (earlier and last in _PHRASING) or (later and tail in _PHRASING) or tail in _FOLLOWING:
        return True
    return last in _COMPOUNDING and _ENDING.fullmatch(tail) is None


def join_lines(text: str) -> str:
    """Return a plain text with the words whole that the ends of its lines part.

    The rest of a word moves up, so a line stays a line. Those of tables, programs and addresses are
    left.
    """
    ends = [match.span() for match in _TORN.finditer(text)]
    if not ends:
        return text
    vocabulary = words_of(text)
    parts: list[str] = []
    position = 0
    for start, end in ends:
        before = text[text.rfind("\n", 0, start) + 1 : start + 2]
        behind = text[end : end + _LONGEST].partition("\n")[0]
        rest = _REST.match(behind)
        is_prose = not (_NO_PROSE.search(before + behind) or _ADDRESS.search(before))
        if rest is None or start < position or not is_prose:
            continue
        joined = join_torn(before, rest[1], vocabulary)
        if joined.startswith(f"{before} "):  # the hyphen stands for a word, and so do both lines
            continue
        indent = text[start + 2 : end].partition("\n")[2]
        begins_line = f"\n{indent}" if rest.end() < len(behind) else ""
        parts += [text[position : start + 1], joined[len(before) - 1 :], begins_line]
        position = end + rest.end()
    return "".join([*parts, text[position:]])
