"""Terms and tokens as numbers, for what needs to look at many chunks at once."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class TermRows:
    """The terms of some chunks, one row a chunk, each term as a 32-bit hash (``text/terms.py``).

    A row holds, in order, the terms of the chunk's header and text, of its section path, and of
    its document's title. A chunk that is not known has an empty row.

    Attributes:
        terms: All rows one after the other, shape (terms,).
        starts: Where each row starts, and the end of the last one, shape (rows + 1,).
        sections: Where the terms of the section path start in each row, shape (rows,).
        titles: Where the terms of the title start in each row, shape (rows,).
    """

    terms: "NDArray[np.uint32]"
    starts: "NDArray[np.int64]"
    sections: "NDArray[np.int64]"
    titles: "NDArray[np.int64]"


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """The tokens of a text, in order, those of no character left out.

    Attributes:
        starts: Where each starts in the text, shape (tokens,).
        ends: Where each ends, shape (tokens,).
        vectors: What each means in this text, shape (tokens, dimensions).
        words: What each means by itself, shape (tokens, dimensions).
    """

    starts: "NDArray[np.int64]"
    ends: "NDArray[np.int64]"
    vectors: "NDArray[np.float32]"
    words: "NDArray[np.float32]"
