"""Write the entries of the lexical index anew from its own terms, without reading any text.

The forward file has the terms of each chunk as numbers, Tantivy has the terms themselves: together
they give every entry again. Analysing all texts takes four times as long.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import tantivy
from numpy.typing import NDArray

from chapterhouse.index.forward import Forward
from chapterhouse.index.schema import entry_of
from chapterhouse.ports.store import Store
from chapterhouse.text.terms import term_numbers
from chapterhouse.types import Scope

_AT_ONCE: Final = 10_000  # chunks
_ALL: Final = Scope.everything()


def terms_by_number(
    searcher: tantivy.Searcher, numbers: NDArray[np.uint32]
) -> Mapping[int, str] | None:
    """Return the terms of an index by number; None where that of a number is not known for sure."""
    terms = [term for term, _ in searcher.terms_with_prefix("body", "")]
    known = dict(zip(term_numbers(terms).tolist(), terms, strict=True))
    if len(known) < len(terms) or not np.isin(numbers, np.fromiter(known, np.uint32)).all():
        return None
    return known


def write_entries(
    writer: tantivy.IndexWriter,
    loaded: Forward,
    keys: Sequence[int],
    terms: Mapping[int, str],
    store: Store,
) -> None:
    """Add an entry for each of ``keys`` whose chunk is still there."""
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        owners = store.documents_of(some, _ALL)
        documents = store.documents_among(set(owners.values()), _ALL)
        rows = loaded.terms_of(some)
        names = list(map(terms.__getitem__, rows.terms.tolist()))
        starts, sections, titles = (
            marks.tolist() for marks in (rows.starts, rows.sections, rows.titles)
        )
        for place, key in enumerate(some):
            document = documents.get(owners.get(key, ""))
            if document is not None:
                begin, section, title, end = (
                    starts[place], sections[place], titles[place], starts[place + 1]
                )  # fmt: skip
                fields = names[begin:section], names[section:title], names[title:end]
                writer.add_document(entry_of(document, key, fields))
