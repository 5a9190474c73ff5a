"""The names that one document gives, as rows of the index of names."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Final

import apsw
import numpy as np

from chapterhouse.store.sqlite import Store
from chapterhouse.text.aliases import find_aliases, fold_name, names_of
from chapterhouse.text.mentions import (
    LEAST_LETTERS,
    Mentions,
    edit_cost,
    edit_distances,
    most_edits,
    words_of,
)
from chapterhouse.types import Alias, AliasKind, Document, Scope

_CODE: Final = re.compile(
    r"(?<![^\W_])(?=[^\W_]{2,12}(?![^\W_]))(?:\d+[^\W\d_]|[^\W\d_]+\d)[^\W_]*"
)
_JOINTS: Final = re.compile(r"[\W_]+")
TABLES: Final = ("alias", "titled", "membership")  # whose rows are a document's
Rows = Counter[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class DocumentNames:
    """What a document gives: rows of ``alias``, of ``titled`` and of ``shelf_word``."""

    aliases: Sequence[tuple[str, str, str, str, str]]
    titled: Sequence[tuple[str, str]]
    words: AbstractSet[tuple[str, str]]


def names_in(document: Document, text: str) -> DocumentNames:
    """Return what a document and its text give."""
    aliases = find_aliases(document.title, text)
    return DocumentNames(
        [row for alias in aliases for row in _rows(document.id, alias)],
        [(name, document.id) for name in _names(document, aliases)],
        set(product(document.shelves, _words(document, text))),
    )


def rows_by_document(connection: apsw.Connection, name: str) -> dict[str, Rows]:
    """Return the rows of a table by document, without it."""
    columns = {"alias": "folded, name, other, kind", "titled": "name", "membership": "shelf"}
    rows: dict[str, Rows] = {}
    for document, *values in connection.execute(
        f"SELECT document, {columns[name]} FROM {name}"  # noqa: S608 - one of three names
    ):
        rows.setdefault(str(document), Counter())[tuple(map(str, values))] += 1
    return rows


def has_names(
    document: Document,
    store: Store,
    found: Mapping[str, Mapping[str, Rows]],
    words: AbstractSet[tuple[str, str]],
) -> bool:
    """Whether the rows of a document are what its text gives."""
    body = store.body(document.id, Scope.everything())
    if body is None:
        return False
    wanted = names_in(document, body.text)
    nothing: Rows = Counter()
    return (
        found["alias"].get(document.id, nothing) == Counter(row[1:] for row in wanted.aliases)
        and found["titled"].get(document.id, nothing) == Counter((n,) for n, _ in wanted.titled)
        and wanted.words <= words
    )


def _names(document: Document, aliases: Sequence[Alias]) -> tuple[str, ...]:
    """Return the names by which other documents may mention this one."""
    title = fold_name(document.title)
    others = [
        alias.name
        for alias in aliases
        if alias.kind is not AliasKind.KEY_TERM and fold_name(alias.other) == title
    ]
    return names_of(document.title, document.source, others)


def _words(document: Document, text: str) -> Iterator[str]:
    """Yield the words of text, title and path, and what has letters and digits as one word.

    The lexical index has only parts of a code that stands inside a longer word.
    """
    yield from words_of(f"{document.title}\n{document.source}\n{text}")
    yield from (code.casefold() for code in set(_CODE.findall(text)))
    for name in document.source.split("/"):
        if any(map(str.isdigit, name)):
            yield _JOINTS.sub("", name.casefold())


def _rows(document: str, alias: Alias) -> list[tuple[str, str, str, str, str]]:
    """Return the pair in both directions: who asks with one name shall find the other."""
    kind = alias.kind.value
    return [
        (document, fold_name(alias.name), alias.name, alias.other, kind),
        (document, fold_name(alias.other), alias.other, alias.name, kind),
    ]


_BITS: Final = np.uint64(63)  # the letters of one alphabet fall on different bits


class Vocabulary:
    """Distinct words, each of at least one letter; folded, with a line feed between them.

    Filters that no near word can fail leave a few hundred of a million words to be compared: two
    words that are n edits apart differ in length by at most n, and in at most 2n of their letters.
    """

    def __init__(self, lines: str) -> None:
        self._lines = lines
        text = f"{lines}\n" if lines else ""
        codes = np.frombuffer(text.encode("utf-32-le", "replace"), dtype=np.uint32)
        self._ends = np.flatnonzero(codes == ord("\n"))
        self._starts = np.concatenate([[0], self._ends[:-1] + 1])[: len(self._ends)]
        self._lengths = self._ends - self._starts
        self._first = codes[self._starts]
        bits = np.uint64(1) << (codes.astype(np.uint64) & _BITS)
        bits[self._ends] = 0
        self._letters = np.bitwise_or.reduceat(bits, self._starts) if len(bits) else bits

    def __len__(self) -> int:
        return len(self._ends)

    @cached_property
    def mentions(self) -> Mentions:
        """The same, for finding any form of a word."""
        return Mentions(self._lines)

    def near(self, word: str) -> dict[str, float]:
        """Return the words that a folded word may be meant for, with what the misspelling costs."""
        most = most_edits(word)
        if not most or not len(self):
            return {}
        codes = np.frombuffer(word.encode("utf-32-le", "replace"), dtype=np.uint32)
        bits = np.bitwise_or.reduce(np.uint64(1) << (codes.astype(np.uint64) & _BITS))
        wanted = np.abs(self._lengths - len(word)) <= most
        wanted &= self._lengths >= LEAST_LETTERS
        wanted &= np.bitwise_count(self._letters ^ bits) <= 2 * most
        places = np.flatnonzero(wanted).tolist()
        others = [self._lines[self._starts[place] : self._ends[place]] for place in places]
        others = [other for other in others if other != word and other.isalpha()]
        if not others:
            return {}
        found: dict[str, float] = {}
        for place in np.flatnonzero(edit_distances(word, others) <= most).tolist():
            cost = edit_cost(word, others[place])
            if cost is not None:
                found[others[place]] = cost
        return found
