"""The embedders of a workspace that are open, each with the index of its vectors."""

import hashlib
import json
import shutil
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from chapterhouse.errors import ChapterhouseError, EngineError
from chapterhouse.models.cards import card_of
from chapterhouse.ports.index import Index, VectorSearch
from chapterhouse.ports.models import Embedder
from chapterhouse.settings import EmbeddingSettings
from chapterhouse.types import EncoderRecord, Fusion

Open = Callable[[EmbeddingSettings], Embedder]
OpenIndex = Callable[[Path, Embedder], "SearchedVectors"]
_FOLDER: Final = "vectors-"  # in the index folder, followed by a hash of the fingerprint
_HASH_LENGTH: Final = 12


class SearchedVectors(Index, VectorSearch, Protocol):
    """An index of the vectors of one embedder."""


@dataclass(frozen=True, slots=True)
class VectorLayer:
    """An embedder, the index of its vectors, and how they count."""

    embedder: Embedder
    index: "SearchedVectors"
    fusion: Fusion


def recorded_settings(record: EncoderRecord) -> EmbeddingSettings:
    """Return the settings by which an encoder is opened, but for those that are gone since."""
    stated = json.loads(record.settings)
    known = stated.keys() & EmbeddingSettings.model_fields.keys()
    return EmbeddingSettings.model_validate({name: stated[name] for name in known})


class VectorLayers:
    """Opens each embedder once. Safe to share between threads.

    Args:
        base: What is made while documents are added.
    """

    def __init__(
        self, folder: Path, base: VectorLayer, open_embedder: Open, open_index: OpenIndex
    ) -> None:
        self._folder = folder
        self.base = base
        self._open_embedder = open_embedder
        self._open_index = open_index
        self._known = {base.embedder.fingerprint: base}
        self._problems: dict[str, str] = {}
        self._lock = threading.Lock()

    def add(self, embedder: Embedder) -> None:
        """Take an embedder that is open already."""
        name = embedder.fingerprint
        index = self._open_index(self._folder / _index_name(name), embedder)
        self._known[name] = VectorLayer(embedder, index, card_of(name).fusion)

    def known(self, fingerprint: str) -> VectorLayer | None:
        """Return the layer of an embedder that is open."""
        return self._known.get(fingerprint)

    def problem(self, fingerprint: str) -> str:
        """Return why an embedder could not be opened, or nothing."""
        return self._problems.get(fingerprint, "")

    def opened(self, record: EncoderRecord) -> VectorLayer:
        """Return the layer of a recorded encoder; the base where it cannot be opened."""
        name = record.fingerprint
        with self._lock:
            if name not in self._known and name not in self._problems:
                try:
                    self._open(record)
                except (ChapterhouseError, ValueError) as error:
                    self._problems[name] = (
                        "The encoder in use cannot be opened, so the built-in table is used: "
                        f"{error}"
                    )
            return self._known.get(name, self.base)

    def drop_indexes(self, fingerprints: Iterable[str]) -> None:
        """Delete the indexes of all encoders but those with these fingerprints."""
        names = {_index_name(fingerprint) for fingerprint in fingerprints}
        for path in self._folder.glob(f"{_FOLDER}*"):
            if path.name not in names:
                shutil.rmtree(path, ignore_errors=True)  # a reader may hold it: next time

    def _open(self, record: EncoderRecord) -> None:
        embedder = self._open_embedder(recorded_settings(record))
        if embedder.fingerprint != record.fingerprint:
            raise EngineError(
                f"The model's files have changed: they give {embedder.fingerprint}, not "
                f"{record.fingerprint}.",
                hint="Choose an encoder anew: chapterhouse model use --embedder NAME",
            )
        self.add(embedder)


def _index_name(fingerprint: str) -> str:
    return _FOLDER + hashlib.sha256(fingerprint.encode()).hexdigest()[:_HASH_LENGTH]
