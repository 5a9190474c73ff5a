import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from chapterhouse.store.blobs import Blobs
from chapterhouse.store.sqlite import Store
from chapterhouse.types import (
    Body,
    Chunk,
    Document,
    FileRecord,
    Kind,
    Notice,
    Page,
    Scope,
    Section,
    Status,
)


class Parts(NamedTuple):
    """The arguments of ``Store.put``."""

    document: Document
    body: Body
    chunks: tuple[Chunk, ...]
    record: FileRecord
    content: bytes


MakeParts = Callable[..., Parts]


def _make_parts(
    name: str = "note",
    text: str = "One line.\nAnother line.\nA third.\n",
    *,
    identifier: str = "",
    shelves: tuple[str, ...] = ("library",),
    padding: int = 0,
) -> Parts:
    content = text.encode() + b" " * padding
    sha256 = hashlib.sha256(content).hexdigest()
    location, source = f"/home/user/notes/{name}.txt", f"notes/{name}.txt"
    identifier = identifier or f"{name}-0001"
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:index])) for index in range(len(lines))]
    chunks = tuple(
        Chunk(
            document_id=identifier,
            ordinal=ordinal,
            start=start,
            end=start + len(line),
            text=line,
            kind=Kind.TABLE if ordinal % 2 else Kind.PROSE,
            header="| a |\n" if ordinal % 2 else "",
            section_path=("Part", "Chapter «1»"),
            page=ordinal + 1,
            page_label=f"Sheet {ordinal}",
            tokens=3,
        )
        for ordinal, (line, start) in enumerate(zip(lines, starts, strict=True))
    )
    document = Document(
        id=identifier,
        source=source,
        location=location,
        title="A note",
        format="text",
        method="test 1",
        sha256=sha256,
        text_sha256=hashlib.sha256(text.encode()).hexdigest(),
        size=len(content),
        modified=1_700_000_000,
        status=Status.PARTIAL,
        page_kind="sheet",
        language="en",
        shelves=shelves,
        notices=(Notice("pages-missing", "Page 3 is a picture.", 3), Notice("other", "Odd.")),
        metadata={"author": "Zoë", "date": "2024"},
        characters=len(text),
        chunks=len(chunks),
    )
    sections = (Section(0, 0, (), 0, 4), Section(1, 1, ("Part", "Été"), 4, len(text)))
    body = Body(text, sections, (Page(1, "", 0, 4), Page(2, "Zwei", 4, len(text))))
    record = FileRecord(
        location, source, len(content), 1_700_000_000_123_456_789, sha256, Status.PARTIAL,
        "pages-missing", "Page 3 is a picture.", identifier, "text",
    )  # fmt: skip
    return Parts(document, body, chunks, record, content)


def _put_vectors(store: Store, document_id: str, size: int = 8) -> bool:
    keys = [chunk.key for chunk in store.chunks_of(document_id, Scope.everything())]
    rows = np.eye(len(keys), size, dtype=np.float32)
    return store.embeddings().put(document_id, keys, f"test:{size}", rows)


@pytest.fixture(scope="session")
def put_vectors() -> Callable[..., bool]:
    """Give a stored document the vectors ``test:8``, or of another size."""
    return _put_vectors


@pytest.fixture(scope="session")
def make_parts() -> MakeParts:
    return _make_parts


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


@pytest.fixture
def store(open_store: Callable[[], Store]) -> Iterator[Store]:
    with open_store() as opened:
        yield opened
