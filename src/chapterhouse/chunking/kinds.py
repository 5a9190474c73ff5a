"""What kind of document a body is, told from its shape."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from chapterhouse.chunking.analysed import Analysed, analysed
from chapterhouse.types import Body, Kind


class DocumentKind(StrEnum):
    """Kinds that are cut by different strategies."""

    DOCUMENTATION = "documentation"  # prose under headings
    REFERENCE = "reference"  # entries under headings that are names in a program
    PAPER = "paper"  # a scholarly article
    CODE = "code"  # a source file
    MIXED = "mixed"  # prose with much code or many tables
    PLAIN = "plain"  # prose without headings


DEFAULT_STRATEGIES: Final[Mapping[DocumentKind, str]] = {
    DocumentKind.DOCUMENTATION: "topic",
    DocumentKind.REFERENCE: "hierarchical",
    DocumentKind.PAPER: "semantic",
    DocumentKind.CODE: "code",
    DocumentKind.MIXED: "adaptive",
    DocumentKind.PLAIN: "hierarchical",
}

_CODE_FORMATS = frozenset({"code", "json", "xml"})
_MOSTLY, _MUCH = 0.9, 0.3  # shares of the text that is code or table
_SAMPLE = 200_000  # characters; the kind of a book shows in its first chapters
# A name in a program: a call, a path of names, snake_case, camelCase, an option.
_NAME = re.compile(r"\w\(|\w\.\w+$|\w_\w|::|->|[a-z][A-Z]|^-{1,2}\w|^[/$@]\w|^(?:GET|POST|PUT)\s/")
_PAPER_LINE = re.compile(
    r"^[#\s*\d.IVX]*(abstract|introduction|background|related work|methods?|materials and methods"
    r"|methodology|experiments?|evaluation|results?|discussion|conclusions?|references|bibliography"
    r"|acknowledge?ments?)[\s*:.]*$",
    re.IGNORECASE | re.MULTILINE,
)
_PAPER_WORDS = 4  # different ones; "introduction" and "conclusion" alone make no paper
_CITATION = re.compile(r"\[\d+(?:[,–-]\s?\d+)*\]|\bet al\b|\(\w+,? (?:19|20)\d\d\)")
_CITATIONS = 5
_HEADINGS = 3
_NAMES = 0.4  # share of headings that are names


def kind_of(body: Body) -> DocumentKind:
    """Return the kind of a document; the first of code, paper, reference, mixed, documentation.

    What no rule fits is plain. The rules look at the format, at how much of the text is code or
    table, at its headings, and for papers at their usual section names and citations.
    """
    known = analysed(body)
    if _CODE_FORMATS.intersection(known.formats):
        return DocumentKind.CODE
    technical, code = _shares(known)
    titles = [section.path[-1] for section in known.sections if section.level]
    if code > _MOSTLY and not titles:
        return DocumentKind.CODE
    text = known.text[:_SAMPLE]
    words = {match[1].lower() for match in _PAPER_LINE.finditer(text)}
    if len(words) >= _PAPER_WORDS and len(_CITATION.findall(text)) >= _CITATIONS:
        return DocumentKind.PAPER
    if len(titles) >= _HEADINGS and sum(map(_is_name, titles)) >= _NAMES * len(titles):
        return DocumentKind.REFERENCE
    if technical > _MUCH:
        return DocumentKind.MIXED
    return DocumentKind.DOCUMENTATION if len(titles) >= _HEADINGS else DocumentKind.PLAIN


def _is_name(title: str) -> bool:
    return _NAME.search(title) is not None


def _shares(known: Analysed) -> tuple[float, float]:
    """Return the shares of the text that are code or table, and code."""
    lengths = dict.fromkeys(Kind, 0)
    for unit in known.whole_units:
        if unit.start >= _SAMPLE:
            break
        lengths[unit.kind] += unit.end - unit.start
    total = max(sum(lengths.values()), 1)
    return (lengths[Kind.TABLE] + lengths[Kind.CODE]) / total, lengths[Kind.CODE] / total
