"""An independent count of the words that a file shows, to compare with what was read from it.

Web pages are counted by their reader, on the tree that it has. The count goes another and much
simpler way than the readers, so that what a reader drops by mistake is noticed: the bare text of
PDF pages, and the sentences of a web page before its content is looked for. It is bounded; what
lies beyond the bounds is not counted, which is never an alarm.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from chapterhouse.text.sanitise import sanitise
from chapterhouse.types import ExtractedPage, Notice

_SINGLE = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # scripts without spaces: each character
_WORD = re.compile(rf"[{_SINGLE}]|[^\W_{_SINGLE}]+")
# Shares below which text is missing. All real PDFs at hand have .96 and more; of real web pages
# 3 % have less than .8, all of which show the beginnings of other articles.
_LEAST_SHARE = {"html": 0.8}
_DEFAULT_SHARE = 0.9
_COUNTED = {"html": "words in its sentences, menus not counted,"}
_LEAST_WORDS = 30  # of fewer no share is worth a notice


def count(text: str) -> Counter[str]:
    """Count the words of a text."""
    return Counter(words(text))


def words(text: str) -> list[str]:
    """Return the words of a text: runs of letters and digits, case folded, compatibly composed.

    What cannot be seen parts no words, as it is not in the library's text.
    """
    return _WORD.findall(unicodedata.normalize("NFKC", sanitise(text).text).casefold())


def missing(
    visible: Counter[str], format_: str, pages: Sequence[ExtractedPage]
) -> tuple[Notice, ...]:
    """Return a notice where the pages lack more of the visible words than readers tear apart."""
    found = share(visible, pages)
    if visible.total() < _LEAST_WORDS or found >= _LEAST_SHARE.get(format_, _DEFAULT_SHARE):
        return ()
    what = _COUNTED.get(format_, "words that the file shows")
    sentence = f"{found:.0%} of the {what} were taken; open the file for the others."
    return (Notice("incomplete", sentence),)


def share(visible: Counter[str], pages: Sequence[ExtractedPage]) -> float:
    """Return the share of the visible words that the pages hold, 0 to 1; 1 where none are."""
    total = visible.total()
    if not total:
        return 1.0
    taken = count("\n".join(page.text for page in pages))
    return (visible & taken).total() / total
