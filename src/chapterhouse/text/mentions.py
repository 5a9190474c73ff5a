"""Names by which one document mentions another: titles, file names, other names it gives itself."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

LONGEST_NAME: Final = 8  # words
_LONGEST_PLAIN: Final = 4  # words, in text whose capitals say nothing
_LEAST_SINGLE: Final = 4  # letters of a name of one word
_WORD: Final = re.compile(r"[^\W_]+")
_BRACKETS: Final = re.compile(r"\s*\([^()]*\)\s*$")
# Looking behind changes no match: it saves trying again from every letter of a word.
_FILE_NAME: Final = re.compile(r"(?<![\w\-])[\w\-]+(?:\.[\w\-]+)*\.[A-Za-z][A-Za-z0-9]{0,4}(?!\w)")


def fold_words(text: str) -> str:
    """Return the words of a name in the form in which names are looked up."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def names_of(title: str, source: str, others: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the folded names by which other documents may mention a document.

    Args:
        title: Its title; what stands in brackets at the end tells it from others of its name and
            may be left out.
        source: Its file's name with or without folders.
        others: Other names that it gives itself.
    """
    file_name = source.rpartition("/")[2]
    stem = file_name.rpartition(".")[0]
    names = map(fold_words, (title, _BRACKETS.sub("", title), file_name, stem, *others))
    return tuple(dict.fromkeys(name for name in names if _is_distinct(name)))


def _is_distinct(name: str) -> bool:
    words = name.split()
    single = len(words) == 1 and len(name) >= _LEAST_SINGLE and not name.isdecimal()
    return single or 1 < len(words) <= LONGEST_NAME


def names_in(text: str) -> tuple[str, ...]:
    """Return every run of words in ``text`` that may be a name, folded, in order.

    A name begins with a capital or a digit; in a script without capitals with any letter. File
    names are found however they are written.
    """
    found = dict.fromkeys(_runs(text))
    files = (fold_words(match.group()) for match in _FILE_NAME.finditer(text))
    found.update((name, None) for name in files if _is_distinct(name))
    return tuple(found)


def _runs(text: str) -> list[str]:
    words = _WORD.findall(unicodedata.normalize("NFKC", text))
    folded = [word.casefold() for word in words]
    beginnings = [place for place, word in enumerate(words) if not word[0].islower()]
    # Where most words may begin a name, as in Arabic or in capitals, there would be too many.
    longest = LONGEST_NAME if len(beginnings) * 2 <= len(words) else _LONGEST_PLAIN
    runs: list[str] = []
    for start in beginnings:
        run = folded[start]
        if _is_distinct(run):
            runs.append(run)
        for word in folded[start + 1 : start + longest]:
            run = f"{run} {word}"
            runs.append(run)
    return runs
