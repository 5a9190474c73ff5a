"""Whether the title that a file states of itself is its title, judged by its text.

Programs write what they like there: the name of a template, of the file or of another document,
letters in the wrong code page, the alphabet backwards.
"""

import re
import unicodedata
from collections import Counter

from chapterhouse.text.sanitise import sanitise

_SINGLE = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # scripts without spaces: each character
_WORD = re.compile(rf"[{_SINGLE}]|[^\W_{_SINGLE}]+")
_LONGEST = 300
_SHORTEST = 3
_HEAD = 20_000  # characters of the text that are looked at
_LEAST_TEXT = 600  # characters, from which a text says something about its title
_DISTINCTIVE = 4  # letters of a word that stands in few texts by chance
_KNOWN = 0.3  # share of a title's telling words that its text knows
_PARTS = re.compile(r"\s+[|–—»•·-]\s+|\s*::\s*|\s*\|\s*")
_FILE = r"docx?|dotx?|pptx?|xlsx?|pdf|tex|dvi|indd|qx[dp]|od[tps]|rtf|txt|html?|pub|wpd|p65|pmd|fm"
_PLACEHOLDER = re.compile(
    r"\W*(?:(?:untitled|unbenannt|sans titre|sin título|senza titolo|no title|anonymous)"
    r"(?:[ -]?(?:document|dokument|page|\d+))*"
    r"|(?:(?:page |document )?title|document|dokument|home|index|new page|slide|page|presentation)"
    r"[ -]*\d*|(?:microsoft )?powerpoint[ -]pr\w+|microsoft (?:word|excel|powerpoint) - .*"
    r"|pr[eäé]senta\w+(?: powerpoint)?|(?:documento|book|mappe|classeur|libro|folie|diapositive)"
    rf"[ \d()]*|.*\.(?:{_FILE})|print|layout \d+)\W*",
    re.IGNORECASE,
)
# UTF-8 that was read as another encoding, and bytes that no encoding explained.
_MISREAD = re.compile("[ÃÂÐÑ][\u0080-\u00bf\u0152-\u0178\u2018-\u2122]|\ufffd|[\u0080-\u009f]")

_ROWS = (
    "abcdefghijklmnopqrstuvwxyz",
    "qwertyuiop",
    "qwertzuiop",
    "asdfghjkl",
    "zxcvbnm",
    "yxcvbnm",
)
_RUN = 5  # letters in the order of the alphabet or the keyboard, which no word has
_TYPED = re.compile(
    "|".join(
        sorted(
            {
                run
                for row in _ROWS
                for place in range(len(row) - _RUN + 1)
                for run in (row[place : place + _RUN], row[place : place + _RUN][::-1])
            }
        )
    )
)
_VOWELLESS = re.compile(r"\b(?=[a-z]{7,}\b)[^aeiouy]+\b", re.IGNORECASE)


def believable_title(stated: str, text: str) -> bool:
    """Whether a stated title fits a text.

    It must look like a title, and one of its parts (before or behind the name of a site) must
    share a telling word with the text, where there is enough text to tell.
    """
    title = " ".join(stated.split())
    if not _SHORTEST <= len(title) <= _LONGEST or not any(map(str.isalpha, title)):
        return False
    if _PLACEHOLDER.fullmatch(title) or _MISREAD.search(title) or _is_typed_at_random(title):
        return False
    if len(text) < _LEAST_TEXT:
        return True
    parts = [part for part in _PARTS.split(title) if part]
    head = text[:_HEAD].casefold()
    if any(_fits(part, head) for part in parts):
        return True
    head = unicodedata.normalize("NFKC", head)
    return any(_fits(part, head) for part in parts)


def _is_typed_at_random(title: str) -> bool:
    return bool(_VOWELLESS.search(title) or _TYPED.search(title.lower()))


def _fits(part: str, known: str) -> bool:
    """Whether the text knows a good part of the telling words."""
    words = count(part)
    distinctive = [word for word in words if len(word) >= _DISTINCTIVE or not word.isascii()]
    distinctive = distinctive or list(words)
    return sum(word in known for word in distinctive) >= max(1, _KNOWN * len(distinctive))


def count(text: str) -> Counter[str]:
    """Count the words of a text: runs of letters and digits, case folded, compatibly composed.

    What cannot be seen parts no words, as it is not in the library's text.
    """
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", sanitise(text).text).casefold()))
