"""A library in a folder, with the real store and pipeline and a reader in this process."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chapterhouse.chunking.sentence import chunk_by_sentence
from chapterhouse.errors import RejectedError
from chapterhouse.ingest.doctor import check_library
from chapterhouse.ingest.embedding import embed_pending
from chapterhouse.ingest.ingest import add
from chapterhouse.ingest.look import ReadingContext
from chapterhouse.ingest.prepare import Cutter, prepare
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.postgres import PostgresDatabase
from chapterhouse.store.sqlite import Store
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.types import DEFAULT_SHELF, AddReport, ExtractedPage, Extraction, Notice, Scope

OLD = 1_600_000_000


class HashEmbedder:
    """Unit vectors from a hash of the text: deterministic, and different for every text."""

    fingerprint = "hash:8"
    dimensions = 8

    def serves(self, language: str) -> bool:
        return language != "zh"

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self.embed_question(text) for text in texts])

    def embed_question(self, text: str) -> NDArray[np.float32]:
        digest = np.frombuffer(hashlib.sha256(text.encode()).digest()[:8], dtype=np.uint8)
        vector = digest.astype(np.float32) - 127.5
        return vector / np.float32(np.linalg.norm(vector))


def read_marked(data: bytes, name: str) -> Extraction:
    """Read Markdown; the first word decides about failures."""
    text = data.decode()
    notices: tuple[Notice, ...] = ()
    match text.split(maxsplit=1)[:1]:
        case ["ENCRYPTED"]:
            raise RejectedError("encrypted", f"{name} needs a password.", hint="Remove it.")
        case ["PICTURE"]:
            raise RejectedError("unsupported-format", f"{name} is no document.")
        case ["BROKEN"]:
            raise ZeroDivisionError("a bug in a reader")
        case ["HALF"]:
            notices = (Notice("pages-missing", "Page 2 is\u202e missing.", 2),)
        case ["NOTED"]:
            notices = (Notice("encoding-guessed", "It may be Latin-1."),)
        case _:
            pass
    metadata = {"author": "Ada\ud800\nLovelace", "empty": "\u200b"}
    return Extraction(
        (ExtractedPage(text),), "markdown", "test 1", metadata=metadata, notices=notices
    )


@dataclass
class Home:
    """A folder of documents and the library made of it."""

    folder: Path
    store: Store
    blobs: Blobs
    executor: ThreadPoolExecutor
    reader: Callable[[bytes, str], Extraction] = read_marked
    read_names: list[str] = field(default_factory=list)

    @property
    def prepare(self) -> Any:
        cutter = Cutter(chunk_by_sentence, estimate_tokens)
        return partial(prepare, cutter=cutter)

    def read(self, data: bytes, name: str) -> Future[Extraction]:
        self.read_names.append(name)
        return self.executor.submit(self.reader, data, name)

    def write(self, name: str, text: str, *, time: int = OLD) -> Path:
        """Write a document with a time that is long past, so that its stamp is trusted."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (time, time))
        return path

    def add(self, *paths: Path, **options: Any) -> AddReport:
        self.read_names.clear()
        work = ReadingContext(self.store, self.read, self.prepare, DEFAULT_SHELF)
        return add(paths or (self.folder,), replace(work, **options))

    def embed(self) -> int:
        return embed_pending(self.store, HashEmbedder())

    def sources(self) -> list[str]:
        return sorted(document.source for document in self.store.documents(Scope.everything()))

    def faults(self) -> list[str]:
        checks = check_library(self.store, self.blobs, {}, thorough=True)
        return [check.sentence for check in checks if not check.passed]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    folder = tmp_path / "docs"
    folder.mkdir()
    blobs = Blobs(tmp_path / "home" / "blobs")
    address = os.environ.get("CHAPTERHOUSE_STORE")
    path = tmp_path / "home" / "library.db"
    place = PostgresDatabase(address, "chapterhouse_default") if address else path
    with (
        Store(place, blobs=blobs) as store,
        ThreadPoolExecutor(2) as executor,
    ):
        yield Home(folder, store, blobs, executor)


@pytest.fixture(scope="module", autouse=True)
def words_first(vectors_later: None) -> None:
    """Make no vectors while documents are added."""
