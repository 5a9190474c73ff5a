"""Embedders without a model: the same numbers on every machine, in no time."""

import re
import zlib
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import EngineError
from chapterhouse.types import TokenVectors

_WORD = re.compile(r"\w+")
_SIZE = 256
_Result = TypeVar("_Result")


class LetterEmbedder:
    """Unit vectors of the letters of a text: words that share a stem are near each other."""

    dimensions = _SIZE
    fingerprint = "letters/256"

    def serves(self, language: str) -> bool:  # noqa: ARG002 - the seam's signature
        """Serve every language."""
        return True

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text; zeros for a text without a word."""
        vectors = np.zeros((len(texts), _SIZE), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._vectors(text)[2].sum(axis=0)
            vectors[row] /= np.linalg.norm(vectors[row]) or 1
        return vectors

    def embed_question(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question."""
        vector: NDArray[np.float32] = self.embed_passages([text])[0]
        return vector

    def read_passages(
        self, texts: Sequence[str], use: Callable[[int, TokenVectors], _Result]
    ) -> tuple[NDArray[np.float32], list[_Result]]:
        """Return the vectors, and what is made of the tokens of each text."""
        tokens = enumerate(self.embed_passage_tokens(texts))
        return self.embed_passages(texts), [use(*one) for one in tokens]

    def embed_passage_tokens(self, texts: Sequence[str]) -> Sequence[TokenVectors]:
        """Return the words of each text with their vectors."""
        return [self.embed_question_tokens(text) for text in texts]

    def embed_question_tokens(self, text: str) -> TokenVectors:
        """Return the words of a text with their vectors."""
        starts, ends, vectors = self._vectors(text)
        return TokenVectors(starts, ends, vectors, vectors)

    def count_tokens(self, text: str) -> int:
        """Return how many words a text has."""
        return len(_WORD.findall(text))

    def _vectors(
        self, text: str
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
        words = list(_WORD.finditer(text))
        vectors = np.zeros((len(words), _SIZE), dtype=np.float32)
        for row, word in enumerate(words):
            marked = f"<{word.group().casefold()}>"
            for start in range(len(marked) - 2):
                vectors[row, zlib.crc32(marked[start : start + 3].encode()) % _SIZE] += 1
            vectors[row] /= np.linalg.norm(vectors[row]) or 1
        spans = np.asarray([word.span() for word in words], dtype=np.int64).reshape(-1, 2)
        return spans[:, 0], spans[:, 1], vectors


class WordsAlone(LetterEmbedder):
    """One that gains nothing in any language."""

    def serves(self, language: str) -> bool:  # noqa: ARG002 - the seam's signature
        """Serve none."""
        return False


class Broken(LetterEmbedder):
    """One that cannot be reached."""

    def embed_question(self, text: str) -> NDArray[np.float32]:
        """Fail."""
        raise EngineError(f"no service for {len(text)} characters")
