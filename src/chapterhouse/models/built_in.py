"""The encoder in the box: a student of all-MiniLM-L6-v2, small enough to ship.

Six layers of 384 numbers like its teacher's, with 768 instead of 1,536 inner neurons: the most
active half of the teacher's, their output weights solved for anew by least squares, and all layers
trained to give the teacher's hidden states and vectors (``benchmarks/encoder``). The layers have
8-bit weights (7 bits used), the vocabulary's table 4-bit numbers in groups of 64. Files, data and
measurements: ``benchmarks/encoder/CARD.md``.
"""

import gzip
import hashlib
import zlib
from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse import lazy
from chapterhouse.errors import CorruptLibraryError
from chapterhouse.models.embedders import apply_each, embed_each, unit_rows
from chapterhouse.models.model_folder import open_session, run_session
from chapterhouse.types import TokenVectors

if TYPE_CHECKING:
    import tokenizers
else:
    tokenizers = lazy("tokenizers")

_GRAPH: Final = (
    "encoder.onnx",
    "f83c1b714532bd57ae7e3459940dc00a512c6f664e3502165ba48e70c9b4b9cd",
)
_TOKENIZER: Final = (
    "encoder_tokenizer.json.gz",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
_LONGEST: Final = 256  # tokens, as its teacher was trained
_MAXIMUM_CHARACTERS: Final = 20_000  # far above any chunk; bounds the work on a hostile one
_RECENT: Final = 64  # texts whose tokens' vectors are remembered, of at most 0.8 MB each

# What each token means by itself and in its text, shape (tokens, 384) each.
_Meanings = tuple[NDArray[np.float32], NDArray[np.float32]]

# English, as its teacher; of the other languages measured, those that gain (fusion: cards.json).
LANGUAGES: Final = frozenset({"en", "de", "fr", ""})


class BuiltInEncoder:
    """Unit vectors from the encoder in the box. Loads on first use; safe to share by threads."""

    dimensions = 384

    @property
    def fingerprint(self) -> str:
        """Name and version of the weights; the number is older than the file they are in now."""
        return "chapterhouse-encoder-1/59686bb9f3fa6f31"

    def serves(self, language: str) -> bool:
        """Whether vectors of texts in this language are worth searching."""
        return language in LANGUAGES

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text, shape (texts, 384); zeros for a text without a character.

        Of a longer text the first 256 tokens count.
        """
        return embed_each(texts, partial(self._vector, self._read), self.dimensions)

    def embed_question(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question, shape (384,)."""
        vector: NDArray[np.float32] = embed_each(
            [text], partial(self._vector, self._recent), self.dimensions
        )[0]
        return vector

    def embed_passage_tokens(self, texts: Sequence[str]) -> Sequence[TokenVectors]:
        """Return the tokens of each passage with their vectors.

        Of a text with more than 256 tokens each run of 254 is read by itself.
        """
        return apply_each(texts, self._tokens)

    def embed_question_tokens(self, text: str) -> TokenVectors:
        """Return the tokens of a question with their vectors."""
        return self._tokens(text)

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text has."""
        first = self._tokenizer.encode(text, add_special_tokens=False)
        return sum(len(run.ids) for run in (first, *first.overflowing))

    def _vector(
        self, read: Callable[[tuple[int, ...]], _Meanings], text: str
    ) -> NDArray[np.float32]:
        _, hidden = read(tuple(self._tokenizer.encode(text[:_MAXIMUM_CHARACTERS]).ids))
        vector: NDArray[np.float32] = unit_rows(hidden.mean(axis=0)[None])[0]
        return vector

    def _tokens(self, text: str) -> TokenVectors:
        first = self._tokenizer.encode(text[:_MAXIMUM_CHARACTERS])
        runs = [first, *first.overflowing]
        offsets = np.asarray([pair for run in runs for pair in run.offsets], dtype=np.int64)
        offsets = offsets.reshape(-1, 2)
        own = offsets[:, 0] < offsets[:, 1]  # not the marks of beginning and end
        words, vectors = map(
            np.concatenate, zip(*(self._recent(tuple(run.ids)) for run in runs), strict=True)
        )
        return TokenVectors(offsets[own, 0], offsets[own, 1], vectors[own], words[own])

    def _read(self, tokens: tuple[int, ...]) -> _Meanings:
        words, hidden = run_session(
            self._session, ["words", "hidden"], {"ids": np.asarray(tokens, dtype=np.int64)}
        )
        return words, hidden

    @cached_property
    def _recent(self) -> Callable[[tuple[int, ...]], _Meanings]:
        """Return ``_read`` with a memory: passages come back as a talk goes on."""
        return lru_cache(_RECENT)(self._read)

    @cached_property
    def _tokenizer(self) -> "tokenizers.Tokenizer":
        tokenizer = tokenizers.Tokenizer.from_str(_read_packaged(*_TOKENIZER).decode())
        tokenizer.no_padding()
        tokenizer.enable_truncation(_LONGEST)
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        return open_session(_read_packaged(*_GRAPH), _GRAPH[0])


@cache
def built_in_encoder() -> BuiltInEncoder:
    """Return the one encoder of this process: its weights are read once."""
    return BuiltInEncoder()


def _read_packaged(name: str, sha256: str) -> bytes:
    """Return the content of a file of this package, unpacked, as it was measured.

    Raises:
        CorruptLibraryError: it is another.
    """
    data = files("chapterhouse.models").joinpath(name).read_bytes()
    if name.endswith(".gz"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):  # then it is not what was measured
            data = b""
    if hashlib.sha256(data).hexdigest() != sha256:
        raise CorruptLibraryError(
            f"{name} of Chapterhouse is not the file that was measured.",
            hint="Install Chapterhouse again.",
        )
    return data
