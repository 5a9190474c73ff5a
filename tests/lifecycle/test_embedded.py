"""Vectors of another embedder than the settings name."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chapterhouse.errors import UsageError
from chapterhouse.lifecycle.embedded import foreign_vectors
from chapterhouse.models.no_embedder import NoEmbedder


class Named:
    """An embedder of a given name."""

    dimensions = 2

    def __init__(self, fingerprint: str) -> None:
        self.fingerprint = fingerprint

    def serves(self, language: str) -> bool:
        return bool(language)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.tile(np.asarray([1, 0], dtype=np.float32), (len(texts), 1))

    def embed_question(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self.embed_passages([text])[0]
        return vector


def test_an_empty_library_has_no_foreign_vectors(home: Any) -> None:
    assert home.store.fingerprints() == {}
    assert foreign_vectors(home.store, Named("new")) == ""


def test_vectors_are_counted_by_their_embedder(home: Any) -> None:
    home.write("one.md", "# One\n\nSome words in English stand here.\n")
    home.write("two.md", "# Two\n\nSome other words in English stand here.\n")
    home.add()
    ((fingerprint, number),) = home.store.fingerprints().items()
    assert number == 2
    assert foreign_vectors(home.store, Named(fingerprint)) == ""
    assert foreign_vectors(home.store, NoEmbedder()) == ""
    with pytest.raises(UsageError, match=f"2 of 2 .*{fingerprint}.*new") as caught:
        foreign_vectors(home.store, Named("new"))
    assert "chapterhouse docs reprocess" in caught.value.hint
