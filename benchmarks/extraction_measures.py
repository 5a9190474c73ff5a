"""Measures of extracted text against a reference, as pure functions.

All take Markdown on both sides. ``word_f1`` compares bags of words, ``order`` the sequence of
characters, ``heading_f1`` the texts of ``#`` lines and ``table_row_f1`` whole rows of tables;
``shingle_counts`` is the measure of article-extraction-benchmark.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]*)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^>\n]{0,200}>")
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&nbsp;", " "), ("&amp;", "&"))
_LINE_MARK = re.compile(
    r"^\s*(?:#{1,6}\s+|>\s?|[-*+]\s+(?:\[[ xX]\]\s+)?|```.*$|~~~.*$)", re.MULTILINE
)
_RULE_ROW = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$", re.MULTILINE)
_EMPHASIS = re.compile(r"\*\*|__|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])|`|~~")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~&$^'\"])")
_LEADERS = re.compile(r"(?:[.·…_]\s?){4,}")
_TYPOGRAPHY = str.maketrans("“”„‘’‚‐‑–—\u00a0", "\"\"\"'''---- ")
_ITEM_IN_CELL = re.compile(r"(?:^|(?<=\s))(?:[-*+]|\d{1,2}\.)\s+")
_WORD = re.compile(r"\w+", re.UNICODE)
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
_CELL_BREAK = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much of two bags is shared."""

    shared: float
    found: float
    wanted: float

    @property
    def precision(self) -> float:
        """Share of what was found that was wanted; 1 where nothing was found nor wanted."""
        return self.shared / self.found if self.found else float(not self.wanted)

    @property
    def recall(self) -> float:
        """Share of what was wanted that was found; 1 where nothing was wanted."""
        return self.shared / self.wanted if self.wanted else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return harmonic_mean(self.precision, self.recall)


def harmonic_mean(precision: float, recall: float) -> float:
    """Return the harmonic mean of two numbers from 0 to 1; 0 where both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def overlap(found: Iterable[Hashable], wanted: Iterable[Hashable]) -> Overlap:
    """Compare two bags: an item counts as often as it stands in both."""
    left, right = Counter(found), Counter(wanted)
    return Overlap((left & right).total(), left.total(), right.total())


def plain_text(markdown: str) -> str:
    """Return Markdown as one line of plain text: marks, targets and dot leaders removed.

    Typographic quotes and dashes count as the plain ones, which references use in their place.
    """
    text = _COMMENT.sub(" ", markdown).translate(_TYPOGRAPHY)
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", text))
    text = _RULE_ROW.sub(" ", text)
    text = _LINE_MARK.sub("", text)
    text = _TAG.sub(" ", text)
    text = _ESCAPE.sub(r"\1", text).replace("|", " ")
    text = _EMPHASIS.sub("", text)
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    text = _LEADERS.sub(" ", unicodedata.normalize("NFKC", text))
    return " ".join(text.split())


def words(markdown: str) -> list[str]:
    """Return the words of a text, case folded, marks removed."""
    return _WORD.findall(plain_text(markdown).casefold())


def word_f1(found: str, wanted: str) -> float:
    """Compare two texts as bags of words."""
    return overlap(words(found), words(wanted)).f1


def order(found: str, wanted: str) -> float:
    """Compare two texts as sequences of characters: Indel similarity, 0 to 1."""
    from rapidfuzz.distance import Indel  # noqa: PLC0415 - only the benchmark has it

    return float(Indel.normalized_similarity(plain_text(found), plain_text(wanted)))


def headings(markdown: str) -> list[str]:
    """Return the texts of the headings, marks removed and case folded, in order."""
    outside = re.sub(r"^(```|~~~).*?^\1", "", markdown, flags=re.MULTILINE | re.DOTALL)
    texts = (plain_text(match) for match in _HEADING.findall(outside))
    return [text.casefold() for text in texts if text]


def heading_f1(found: str, wanted: str) -> float:
    """Compare the headings of two texts; the level does not count."""
    return overlap(headings(found), headings(wanted)).f1


def table_rows(markdown: str) -> list[tuple[str, ...]]:
    """Return the rows of all pipe tables as cells without marks; empty cells at the end dropped.

    The marks of a list inside a cell are dropped too: Markdown has no lists there.
    """
    rows = []
    for line in markdown.splitlines():
        if not line.lstrip().startswith("|") or _RULE_ROW.fullmatch(line):
            continue
        inner = re.sub(r"(?<!\\)\|\s*$", "", line.strip().removeprefix("|"))
        cells = [
            plain_text(_ITEM_IN_CELL.sub("", cell)).casefold() for cell in _CELL_BREAK.split(inner)
        ]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            rows.append(tuple(cells))
    return rows


def table_row_f1(found: str, wanted: str) -> float:
    """Compare the rows of the tables of two texts; a row counts only if all its cells agree."""
    return overlap(table_rows(found), table_rows(wanted)).f1


def shingle_counts(found: str, wanted: str, size: int = 4) -> Overlap:
    """Compare plain texts by their runs of ``size`` words, as article-extraction-benchmark does.

    Source: https://github.com/scrapinghub/article-extraction-benchmark, ``evaluate.py``.
    """
    return overlap(_shingles(found, size), _shingles(wanted, size))


def _shingles(text: str, size: int) -> list[tuple[str, ...]]:
    tokens = _WORD.findall(text)
    last = max(1, len(tokens) - size + 1)
    return [tuple(tokens[start : start + size]) for start in range(last)] if tokens else []


def mean(values: Iterable[float]) -> float | None:
    """Return the mean, or None where there is nothing to average."""
    listed = list(values)
    return sum(listed) / len(listed) if listed else None
