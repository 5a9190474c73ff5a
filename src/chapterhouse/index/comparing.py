"""How the entries of the lexical index differ from the chunks of the store, and its damage."""

import json
import zlib
from collections import Counter
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Final

import tantivy

from chapterhouse.index.forward import Forward
from chapterhouse.index.ranking import fields_of, name_terms
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Document, Scope

_FOOTER_MAGIC: Final = 1337  # https://docs.rs/tantivy: the last four bytes of its files
_NUMBER: Final = 4  # bytes
_PARTS: Final = ("fast", "fieldnorm", "idx", "pos", "store", "term")  # files of every segment
_ALL: Final = Scope.everything()


def differing_documents(
    every: Iterable[int],
    schema: tantivy.Schema,
    searcher: tantivy.Searcher,
    rows: Forward,
    store: Store,
    *,
    thorough: bool,
) -> set[str]:
    """Return the documents whose chunks, shelves or terms are not those of the store.

    ``every`` has the chunk keys of all entries; with ``thorough`` the terms of every chunk are
    compared with its text, too.

    Raises:
        ValueError: the rows of terms cannot be those of chunks.
    """
    if fault := rows.fault():
        raise ValueError(fault)
    keys, documents = store.examination().chunk_keys(), list(store.documents(_ALL))
    owners = {key: name for name, own in keys.items() for key in own}
    # One for each name in a field of each chunk: an entry too many differs as one that is missing.
    wanted = Counter(
        (field, name, key)
        for one in documents
        for field, name in [("document", one.id), *(("shelf", shelf) for shelf in one.shelves)]
        for key in keys.get(one.id, ())
    )
    looked_up = dict.fromkeys((field, name) for field, name, _ in wanted)
    found = Counter((*place, key) for place in looked_up for key in _keys(schema, searcher, *place))
    differing = {key for *_, key in (wanted - found) + (found - wanted)}
    differing |= set(every).symmetric_difference(owners)
    return {owners.get(key, "of no document") for key in differing} | {
        one.id
        for one in documents
        if not rows.has(keys.get(one.id, ())) or (thorough and not _has_terms(rows, store, one))
    }


def _keys(schema: tantivy.Schema, searcher: tantivy.Searcher, field: str, name: str) -> list[int]:
    """Return the chunk keys of the entries with a name in a field, repeats included."""
    query = tantivy.Query.term_query(schema, field, name, index_option="basic")
    hits = searcher.search(query, limit=max(searcher.num_docs, 1), count=False).hits
    found = searcher.fast_field_values("key", [address for _, address in hits])
    return [int(key or 0) for key in found]


def _has_terms(rows: Forward, store: Store, document: Document) -> bool:
    """Whether the forward file has the terms that the text of a document gives."""
    chunks = store.chunks_of(document.id, _ALL)
    names = name_terms(document)
    fields = [fields_of(chunk, names, document.language) for chunk in chunks]
    return rows.has_fields([chunk.key for chunk in chunks], fields)


def require_whole_segments(folder: Path) -> None:
    """Refuse a Tantivy index of which a file is not what its checksum says.

    Raises:
        OSError: a file is missing, or cannot be read.
        ValueError, KeyError, TypeError: that is so, or the list of segments cannot be parsed.
    """
    meta = json.loads((folder / "meta.json").read_text("utf-8"))
    segments = {str(one["segment_id"]).replace("-", "") for one in meta["segments"]}
    there = (path.name for path in folder.iterdir() if path.name.partition(".")[0] in segments)
    for name in sorted({*there, *map(".".join, product(segments, _PARTS))}):
        if not _has_checksum((folder / name).read_bytes()):
            raise ValueError(f"its file {name} is damaged")


def _has_checksum(data: bytes) -> bool:
    """Whether a file of Tantivy has the CRC-32 that its footer states."""
    if len(data) < 2 * _NUMBER:
        return False
    magic = int.from_bytes(data[-_NUMBER:], "little")
    length = int.from_bytes(data[-2 * _NUMBER : -_NUMBER], "little")
    end = len(data) - 2 * _NUMBER - length
    if magic != _FOOTER_MAGIC or end < 0:
        return False
    try:
        stated = json.loads(data[end : -2 * _NUMBER])["crc"]
    except (ValueError, KeyError, TypeError):
        return False
    return bool(zlib.crc32(data[:end]) == stated)
