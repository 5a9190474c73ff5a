"""The embedder of a library that has no vectors."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


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
