"""Between frozen values and rows of the database."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from functools import lru_cache

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.store.statements import Row, Value
from chapterhouse.types import (
    Body,
    Chunk,
    Document,
    FileRecord,
    Kind,
    Notice,
    Page,
    Range,
    Section,
    Status,
)

_SHOWN = 40  # characters of what cannot be read
_KINDS = {kind.value: kind for kind in Kind}
_STATUSES = {status.value: status for status in Status}


def to_json(value: object) -> str:
    """Return compact JSON. A lone surrogate stays one, so that SQLite refuses it too."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def document_row(document: Document, identifier: str, sequence: int) -> tuple[Value, ...]:
    """Return the bindings of ``put_document``."""
    return (
        identifier,
        document.source,
        document.location,
        document.title,
        document.format,
        document.method,
        document.sha256,
        document.text_sha256,
        document.size,
        document.modified,
        document.status.value,
        document.page_kind,
        document.language,
        to_json([astuple(notice) for notice in document.notices]),
        to_json(dict(sorted(document.metadata.items()))),
        document.characters,
        document.chunks,
        sequence,
        document.ingested,
        document.cut_by,
    )


def document_from(row: Row) -> Document:
    """Return the document of a row of ``document.*`` followed by its shelves."""
    (
        _key,
        identifier,
        source,
        location,
        title,
        format_,
        method,
        sha256,
        text_sha256,
        size,
        modified,
        status,
        page_kind,
        language,
        notices,
        metadata,
        characters,
        chunks,
        _sequence,
        ingested,
        cut_by,
        shelves,
    ) = row
    try:
        return Document(
            id=identifier,
            source=source,
            location=location,
            title=title,
            format=format_,
            method=method,
            sha256=sha256,
            text_sha256=text_sha256,
            size=size,
            modified=modified,
            status=Status(status),
            page_kind=page_kind,
            language=language,
            shelves=tuple(sorted(json.loads(shelves))),
            notices=tuple(Notice(*notice) for notice in json.loads(notices)),
            metadata=_mapping(metadata),
            characters=characters,
            chunks=chunks,
            ingested=ingested,
            cut_by=cut_by,
        )
    except (ValueError, TypeError) as error:
        raise _unreadable(f"row of document {identifier}", error) from error


def sequence_of(row: Row) -> int:
    """Return the sequence of a row that ``document_from`` takes."""
    return int(row[-4])


def _mapping(text: str) -> Mapping[str, str]:
    found: object = {} if text == "{}" else json.loads(text)
    if not isinstance(found, dict):
        raise TypeError(f"not an object: {text[:_SHOWN]}")
    return found


def _unreadable(what: str, error: Exception) -> CorruptLibraryError:
    return CorruptLibraryError(
        f"The {what} is damaged: {type(error).__name__}: {error}", hint="Run: chapterhouse doctor"
    )


def section_row(document: int, section: Section) -> tuple[Value, ...]:
    """Return the bindings of ``put_section``."""
    path = to_json(section.path)
    return (document, section.ordinal, section.level, path, section.start, section.end)


def page_row(document: int, ordinal: int, page: Page) -> tuple[Value, ...]:
    """Return the bindings of ``put_page``."""
    return (document, ordinal, page.number, page.label, page.start, page.end)


def body_from(text: str, sections: Sequence[Row], pages: Sequence[Row]) -> Body:
    """Return the body of its text, its rows of ``sections`` and its rows of ``pages``."""
    try:
        return Body(
            text,
            tuple(
                Section(ordinal, level, tuple(json.loads(path)), start, end)
                for ordinal, level, path, start, end in sections
            ),
            tuple(Page(*page) for page in pages),
        )
    except (ValueError, TypeError) as error:
        raise _unreadable("section or page of a document", error) from error


def chunk_row(document: int, chunk: Chunk) -> tuple[Value, ...]:
    """Return the bindings of ``put_chunk``."""
    return (
        document,
        chunk.ordinal,
        chunk.start,
        chunk.end,
        chunk.text,
        chunk.kind.value,
        chunk.header,
        to_json(chunk.section_path) if chunk.section_path else "[]",
        chunk.page,
        chunk.page_label,
        chunk.tokens,
        to_json(chunk.parents) if chunk.parents else "[]",
    )


@lru_cache(maxsize=4096)
def _parents(text: str) -> tuple[Range, ...]:
    """Parse the parents of a chunk; neighbouring chunks share theirs."""
    return tuple((start, end) for start, end in json.loads(text))


@lru_cache(maxsize=4096)
def _path(text: str) -> tuple[str, ...]:
    """Parse a section path; neighbouring chunks share theirs."""
    return tuple(json.loads(text))


def chunk_from(row: Row) -> Chunk:
    """Return the chunk of a row of ``chunk`` or ``chunks_of``."""
    document_id, ordinal, start, end, text, kind, header, path, page, label, *rest = row
    tokens, parents, key = rest
    try:
        return Chunk(
            document_id=document_id,
            ordinal=ordinal,
            start=start,
            end=end,
            text=text,
            kind=_KINDS[kind],
            header=header,
            section_path=_path(path),
            page=page,
            page_label=label,
            tokens=tokens,
            parents=() if parents == "[]" else _parents(parents),
            key=key,
        )
    except (ValueError, TypeError, KeyError) as error:
        raise _unreadable(f"chunk {ordinal} of {document_id}", error) from error


def file_row(record: FileRecord) -> tuple[Value, ...]:
    """Return the bindings of ``put_file``."""
    return (
        record.location,
        record.source,
        record.size,
        record.mtime_ns,
        record.sha256,
        record.status.value,
        record.code,
        record.sentence,
        record.document_id,
        record.format,
        record.ctime_ns,
        record.attempts,
        record.volume,
    )


def file_from(row: Row) -> FileRecord:
    """Return the record of a row of ``file``."""
    location, source, size, mtime_ns, sha256, status, code, sentence, *rest = row
    document_id, format_, ctime_ns, attempts, volume = rest
    try:
        return FileRecord(
            location=location,
            source=source,
            size=size,
            mtime_ns=mtime_ns,
            sha256=sha256,
            status=_STATUSES[status],
            code=code,
            sentence=sentence,
            document_id=document_id,
            format=format_,
            ctime_ns=ctime_ns,
            attempts=attempts,
            volume=volume,
        )
    except KeyError as error:
        raise _unreadable(f"record of file {location}", error) from error
