"""Which columns of a table a question asks for, and whether a row answers it."""

from collections.abc import Sequence
from typing import Final

from chapterhouse.answering.parts import Part
from chapterhouse.retrieval.exact import ExactDate, ExactTerm
from chapterhouse.retrieval.question import plain_words
from chapterhouse.text.analyse import analyse
from chapterhouse.text.markdown import table_cells
from chapterhouse.text.terms import terms_in
from chapterhouse.types import Hit, Question

_ABBREVIATION: Final = 3  # letters, the fewest
_FAMILY: Final = 5  # letters with which words of one family begin, the fewest


def columns_to_show(question: Question, header: str, row: str, hit: Hit) -> frozenset[int]:
    """Return the columns of a row to show: those asked for, and those that say whose they are.

    The latter have words of the question in their cells, as "Roy" and "Berry" of "Roy Berry's
    address". No column stands for all, where none is asked for.
    """
    language = hit.document.language
    asked = _asked_columns(header, language, question) - {0}
    terms = frozenset(term for _, own in question.words for term in own)
    named = {
        number
        for number, cell in enumerate(table_cells(row, hit.document.format))
        if not terms.isdisjoint(terms_in(cell, language))
    }
    return asked | named if asked else asked


def names_column(
    question: Question, codes: Sequence[ExactTerm | ExactDate], part: Part, row: str
) -> bool:
    """Whether a question names a column of a row other than that in which a code of it is."""
    language = part.hit.document.language
    others = {
        number
        for number, cell in enumerate(table_cells(row))
        if not any(code.is_in(cell, language) for code in codes)
    }
    return bool(part.header and others & _asked_columns(part.header, language, question))


def has_all_words(question: Question, part: Part, row: str) -> bool:
    """Whether a row has each word of a question, in a cell or in the name of a column asked for.

    At least one is in a cell and one names another column: "Roy Berry's address".
    """
    language, format_ = part.hit.document.language, part.hit.document.format
    if not part.header or not question.words:
        return False
    names, cells = table_cells(part.header), table_cells(row, format_)
    in_cells = frozenset(terms_in("\n".join(cells), language))
    others = [one for one in question.words if in_cells.isdisjoint(one[1])]
    asked = [_names_asked(names, language, [one]) for one in others]
    return len(others) < len(question.words) and bool(others) and all(asked)


def _asked_columns(header: str, language: str, question: Question) -> frozenset[int]:
    """Return the columns whose names have a word of the question, or one of its family."""
    names = table_cells(header.split("\n", 1)[0])
    return _names_asked(names, language, question.words)


def _names_asked(
    names: Sequence[str], language: str, asked: Sequence[tuple[str, tuple[str, ...]]]
) -> frozenset[int]:
    """Return which names of columns have one of some words of a question."""
    terms = frozenset(term for _, own in asked for term in own)
    words = [word.casefold() for word, _ in asked]

    def is_asked(name: str) -> bool:
        own = enumerate(plain_words(name.casefold()))
        return any(_is_family(one, word, place == 0) for place, one in own for word in words)

    return frozenset(
        number
        for number, name in enumerate(names)
        if not terms.isdisjoint(analyse(name, language)) or is_asked(name)
    )


def _is_family(name: str, word: str, is_first: bool) -> bool:  # noqa: FBT001 - of a column's name
    """Whether two words begin alike: "Supplier" and "supplies", or first "Min" and "minimum".

    Stems leave them apart in many languages, as "Lieferant" and "liefert".
    """
    pairs = enumerate(zip(name, word, strict=False))
    same = next((place for place, (one, other) in pairs if one != other), min(len(name), len(word)))
    is_short = is_first and _ABBREVIATION <= same == len(name)  # not "per" of "person"
    return is_short or (same >= _FAMILY and same * 2 >= max(len(name), len(word)))
