"""The steps of a write, each inside a transaction that its caller holds."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.store import rows
from chapterhouse.store.rows import Connection, Row, first, run, run_many
from chapterhouse.types import Body, Chunk, Document, FileMove, FileRecord, shelf_names

Rows = Sequence[Row]
Content = tuple[Any, ...]  # what is embedded of a chunk: title, section, header, text
KnownVectors = Mapping[str, Mapping[Content, bytes]]


def require_agreement(
    document: Document,
    chunks: Sequence[Chunk],
    record: FileRecord,
    content: bytes,
) -> None:
    """Refuse a document whose parts contradict each other: it would fail ``doctor`` later."""
    if hashlib.sha256(content).hexdigest() != document.sha256:
        raise ValueError(f"The content of {document.source} does not have its sha256.")
    if document.location != record.location:
        raise ValueError(f"The record of {document.source} is of {record.location}.")
    if document.chunks != len(chunks):
        raise ValueError(f"{document.source} says {document.chunks} chunks, not {len(chunks)}.")
    if [chunk.ordinal for chunk in chunks] != list(range(len(chunks))):
        raise ValueError(f"The chunks of {document.source} are not numbered from 0.")


def next_sequence(connection: Connection) -> int:
    """Count one change and return its number; kept answers were given before it and go."""
    found = first(connection, "next_sequence")
    if not found:
        raise CorruptLibraryError(
            "The library's count of changes is gone.", hint="Run: chapterhouse doctor"
        )
    number = found[0]
    run(connection, "drop_cached_answers", number)
    return int(number)


def free_id(connection: Connection, document: Document) -> str:
    """Return the document's id, or with the first number that makes it free."""
    identifier, number = document.id, 1
    while first(connection, "document_named", identifier):
        number += 1
        identifier = f"{document.id}-{number}"
    return identifier


def write_parts(connection: Connection, key: int, body: Body, chunks: Sequence[Chunk]) -> None:
    """Write the text of a document, its shape and its chunks."""
    run(connection, "put_body", key, body.text)
    sections = (rows.section_row(key, section) for section in body.sections)
    run_many(connection, "put_section", sections)
    pages = (rows.page_row(key, ordinal, page) for ordinal, page in enumerate(body.pages))
    run_many(connection, "put_page", pages)
    run_many(connection, "put_chunk", (rows.chunk_row(key, chunk) for chunk in chunks))


def write_chunks_anew(connection: Connection, key: int, chunks: Sequence[Chunk]) -> None:
    """Write other chunks of a document; the vectors of those of before go."""
    run(connection, "clear_chunks", key)
    run(connection, "clear_embeddings", key)
    run_many(connection, "put_chunk", (rows.chunk_row(key, chunk) for chunk in chunks))
    write_checksum(connection, key)


def vectors_by_content(connection: Connection, key: int) -> KnownVectors:
    """Return the vectors of a stored document: of each embedder by what was embedded of a chunk."""
    contents, known = _contents(connection, key), {}
    for fingerprint, dimensions, vectors in run(connection, "embeddings_of", key):
        size = 2 * dimensions
        parts = (vectors[at : at + size] for at in range(0, len(vectors), size))
        known[str(fingerprint)] = dict(zip(contents, parts, strict=False))
    return known


def write_known_vectors(connection: Connection, key: int, known: KnownVectors) -> None:
    """Give a document that was written anew the vectors that it had, without asking an encoder.

    Only where it had one of every chunk.
    """
    contents = _contents(connection, key)
    for name, vectors in known.items():
        if contents and vectors.keys() >= set(contents):
            halves = b"".join(vectors[content] for content in contents)
            ((sequence,),) = run(connection, "next_embedding")
            values = key, name, len(halves) // 2 // len(contents), halves, sequence
            run(connection, "put_embedding", *values)


def _contents(connection: Connection, key: int) -> list[Content]:
    ((title, *_),) = run(connection, "document_facts", key)
    return [(title, row[6], row[5], row[3]) for row in run(connection, "chunk_rows", key)]


def rows_checksum(facts: Row, sections: Rows, pages: Rows, chunks: Rows) -> str:
    """Return the SHA-256 of a document's rows, which ``doctor`` compares.

    Args:
        facts: What ``document_facts`` selects, and the shelves.
        sections: As ``section_rows`` selects them.
        pages: As ``page_rows`` selects them.
        chunks: As ``chunk_rows`` selects them.
    """
    digest = hashlib.sha256()
    for row in ((*facts,), *sections, *pages, *chunks):
        digest.update(json.dumps(row).encode())
    return digest.hexdigest()


def checksum_now(connection: Connection, key: int, shelves: str) -> str:
    """Return what the rows of a document come to, on these shelves."""
    facts = run(connection, "document_facts", key)[0]
    parts = (run(connection, f"{part}_rows", key) for part in ("section", "page", "chunk"))
    return rows_checksum((*facts, shelves), *parts)


def write_checksum(connection: Connection, key: int) -> None:
    """Record what the rows of a document come to; call it after every change of one of them."""
    ((shelves,),) = run(connection, "shelves_of", key)
    run(connection, "put_checksum", key, shelves, checksum_now(connection, key, shelves))


def write_shelves(connection: Connection, key: int, shelves: Sequence[str]) -> None:
    """Put a document whose rows are written on these shelves, or on the default one."""
    memberships = ((key, shelf) for shelf in shelf_names(shelves))
    run_many(connection, "put_membership", memberships)
    write_checksum(connection, key)


def write_file(connection: Connection, record: FileRecord, document_id: str) -> None:
    """Write a file's record, naming the document it gave, or none."""
    run(connection, "put_file", *rows.file_row(replace(record, document_id=document_id)))


def clear_parts(connection: Connection, key: int, sha256: str) -> None:
    """Delete everything that belonged to the last version of a document."""
    for part in ("memberships", "body", "sections", "pages", "chunks", "embeddings"):
        run(connection, f"clear_{part}", key)
    run(connection, "drop_content", sha256)


def remove_document(connection: Connection, found: Row) -> int:
    """Remove the document of a row of ``document_at``; its parts go with it."""
    key, identifier, sha256, _ = found
    sequence = next_sequence(connection)
    run(connection, "remove_document", key)
    # Questions that it had to do with may repeat its words.
    run(connection, "forget_texts_of_document", identifier)
    run(connection, "drop_question_documents", identifier)
    run(connection, "put_removal", identifier, sequence)
    run(connection, "drop_content", sha256)
    return sequence


def move_files(connection: Connection, moves: Sequence[FileMove]) -> list[str]:
    """Move files and their documents; return the hashes of documents that gave way and are gone."""
    # Another process may have moved or changed some of them meanwhile.
    moves = [
        move
        for move in moves
        if first(connection, "file_names", move.location, move.record.document_id)
    ]
    for number, move in enumerate(moves):  # out of the way, so that two may change places
        run(connection, "drop_file", move.location)
        run(connection, "set_location", move.location, f"moving:{number}")
    replaced = []
    for move in moves:
        record = move.record
        found = first(connection, "document_at", record.location)
        if found:
            remove_document(connection, found)
            replaced.append(str(found[2]))
        if record.document_id:
            _move_document(connection, move)
        write_file(connection, record, record.document_id)
    return replaced


def _move_document(connection: Connection, move: FileMove) -> None:
    """Give a document its new place, and its chunks new keys.

    Titles and names of files are among the terms of a chunk, and what indexes have of a key never
    changes.
    """
    record = move.record
    found = first(connection, "document_named", record.document_id)
    if not found:
        return
    key = found[0]
    values = record.location, record.source, move.title, move.modified
    run(connection, "move_document", record.document_id, *values, next_sequence(connection))
    chunks = run(connection, "chunk_rows", key)
    run(connection, "clear_chunks", key)
    run_many(connection, "put_chunk", [(key, *row) for row in chunks])
    write_checksum(connection, key)
