"""The embedder that works everywhere: a static table of token vectors, no model to run.

The table and its tokenizer come from WordLlama 0.4 (``l2_supercat``, 256 dimensions, MIT licence;
https://github.com/dleemiller/WordLlama): the table byte for byte, the tokenizer without white space
between its parts. Both are compared with their hashes.

A text's vector is the weighted sum of its tokens' vectors, normalised. Texts are lower-cased
before the cased tokenizer sees them, and a token weighs the square root of its inverse document
frequency: on the trial sets this lifted the table alone from .469 to .545 mean nDCG@10. The
weights come from a general table computed once (``benchmarks/tokens.py``), so that stored
vectors never change when the library grows.
"""

import gzip
import hashlib
import zlib
from collections.abc import Sequence
from functools import cache, cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse import lazy
from chapterhouse.errors import CorruptLibraryError

if TYPE_CHECKING:
    import tokenizers
else:
    tokenizers = lazy("tokenizers")

# Files beside this module and the SHA-256 of what was evaluated.
_WEIGHTS: Final = (
    "static.safetensors",
    "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
)
_TOKENIZER: Final = (
    "static_tokenizer.json.gz",
    "96b2cb654e53218d1a430561f234b78015c767875e421f2c994abd40e37169a0",
)
_IDF_TABLE = "token_weights.npy"
_MAXIMUM_CHARACTERS = 20_000  # far above any chunk; bounds the work on a hostile one
_BATCH = 256

# Languages in which ``make eval`` measures that the vectors gain something over BM25 alone, and
# texts too short to tell. Arabic, for one, loses: its vectors alone reach .27.
SERVED_LANGUAGES = frozenset({"en", "de", "zh", ""})


class StaticEmbedder:
    """Unit vectors from the static table. Loads on first use; safe to share between threads."""

    dimensions = 256

    @property
    def fingerprint(self) -> str:
        """Name of table, text treatment and token weights."""
        return "wordllama-l2-supercat-256/lower/sqrt-idf-1"

    def serves(self, language: str) -> bool:
        """Whether vectors of texts in this language are worth searching."""
        return language in SERVED_LANGUAGES

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text (a zero vector for a text without tokens)."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = [text[:_MAXIMUM_CHARACTERS].lower() for text in texts[start : start + _BATCH]]
            encodings = self._tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            for row, encoding in enumerate(encodings, start):
                vectors[row] = self._pool(encoding.ids)
        return vectors

    def embed_question(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question."""
        vector: NDArray[np.float32] = self.embed_passages([text])[0]
        return vector

    def count_tokens(self, text: str) -> int:
        """Count the tokens of the table's tokenizer (Llama 2) in ``text`` as it is written."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def token_offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Return start and end in ``text`` of each of those tokens; a leading space is part."""
        offsets: list[tuple[int, int]] = self._tokenizer.encode(
            text, add_special_tokens=False
        ).offsets
        return offsets

    def _pool(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        ids = np.asarray(tokens, dtype=np.intp)
        if not len(ids):
            return np.zeros(self.dimensions, dtype=np.float32)
        vector = self._token_weights[ids] @ self._table[ids].astype(np.float32)
        length = float(np.sqrt(vector @ vector))
        scaled: NDArray[np.float32] = vector / length if length else vector
        return scaled

    @cached_property
    def _table(self) -> NDArray[np.float16]:
        # Eight bytes with the length of a description, the description, and one table.
        data = read_packaged(*_WEIGHTS)
        begin = 8 + int.from_bytes(data[:8], "little")
        table: NDArray[np.float16] = np.frombuffer(data, dtype="<f2", offset=begin)
        return table.reshape(-1, self.dimensions)

    @cached_property
    def _tokenizer(self) -> "tokenizers.Tokenizer":
        tokenizer = tokenizers.Tokenizer.from_str(read_packaged(*_TOKENIZER).decode())
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer

    @cached_property
    def _token_weights(self) -> NDArray[np.float32]:
        with files("chapterhouse.models").joinpath(_IDF_TABLE).open("rb") as stream:
            weights: NDArray[np.float32] = np.load(stream, allow_pickle=False).astype(np.float32)
        return weights


class NoEmbedder:
    """Serves no language, so nothing is embedded and nothing is searched by meaning."""

    fingerprint = "none"
    dimensions = 1

    def serves(self, language: str) -> bool:  # noqa: ARG002 - the seam's signature
        """Serve nothing."""
        return False

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a zero vector a text."""
        return np.zeros((len(texts), self.dimensions), dtype=np.float32)

    def embed_question(self, text: str) -> NDArray[np.float32]:  # noqa: ARG002 - likewise
        """Return a zero vector."""
        return np.zeros(self.dimensions, dtype=np.float32)


@cache
def static_embedder() -> StaticEmbedder:
    """Return the one table of this process: it is read once, however many libraries are opened."""
    return StaticEmbedder()


def read_packaged(name: str, sha256: str) -> bytes:
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
