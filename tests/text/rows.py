"""Rows of terms made from texts, as an index keeps them on disk."""

from collections.abc import Iterable

import numpy as np

from chapterhouse.text.analyse import analyse
from chapterhouse.text.terms import term_numbers
from chapterhouse.types import TermRows


def term_rows(fields: Iterable[tuple[str, str, str, str]]) -> TermRows:
    """Return rows made from (text, section, title, language) of each chunk.

    An index keeps the same rows on disk; this makes them from texts.
    """
    rows = []
    lengths: list[tuple[int, int]] = []
    for text, section, title, language in fields:
        parts = [term_numbers(analyse(part, language)) for part in (text, section, title)]
        rows.append(np.concatenate(parts))
        lengths.append((len(parts[0]), len(parts[0]) + len(parts[1])))
    starts = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=starts[1:])
    within = np.asarray(lengths, dtype=np.int64).reshape(-1, 2)
    return TermRows(
        terms=np.concatenate([np.zeros(0, np.uint32), *rows]),
        starts=starts,
        sections=starts[:-1] + within[:, 0],
        titles=starts[:-1] + within[:, 1],
    )
