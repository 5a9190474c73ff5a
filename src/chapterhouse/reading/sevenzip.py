"""7-Zip archives through py7zr, which comes with the extra ``archives``.

Sizes are judged as the archive declares them: py7zr unpacks no more of a file than its declared
size. It is shown numbers in place of the files' names, so that none is refused or joined to
another for its name.
"""

import io
import lzma
import struct
import zlib
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Final, cast

from py7zr import SevenZipFile, archiveinfo
from py7zr.exceptions import (
    ArchiveError,
    PasswordRequired,
    UnsupportedCompressionMethodError,
)
from py7zr.io import Py7zIO, WriterFactory
from py7zr.py7zr import ArchiveFile

from chapterhouse.errors import RejectedError
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.members import damaged, over, problem, too_large, too_many
from chapterhouse.types import Member

# What py7zr and the decompressors below it raise on damage; an unexpected end is an OSError,
# a ValueError or an index beyond a list of the header, as it comes.
_BROKEN: Final = (
    *(ArchiveError, lzma.LZMAError, zlib.error, struct.error),
    *(OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, OverflowError),
    AssertionError,
)
_UNREADABLE: Final = "It is compressed or damaged in a way that cannot be read"


def method() -> str:
    """Return the library's name and version."""
    return f"py7zr {version('py7zr')}"


def read_7z(data: bytes, limits: Limits) -> Iterator[Member]:
    """Yield the files in a 7-Zip archive in its order; one that cannot be had with its problem.

    Raises:
        RejectedError: ``archive-damaged``, ``archive-too-large``, ``archive-too-many-entries``
            or ``encrypted``.
    """
    archiveinfo.MAX_NUMFILES = 2 * limits.archive_files  # its own bound may take gigabytes
    try:
        archive = SevenZipFile(io.BytesIO(data))
        entries = [entry for entry in archive.files if not entry.is_directory]
        sizes = [entry.uncompressed or 0 for entry in archive.files]  # whatever they say they are
    except PasswordRequired as error:
        raise _encrypted() from error
    except _BROKEN as error:
        raise (too_many(limits) if "numfiles" in str(error) else damaged(error)) from error
    if archive.needs_password():
        raise _encrypted()
    if len(entries) > limits.archive_files:
        raise too_many(limits)
    if min(sizes, default=0) < 0 or sum(sizes) > limits.archive_bytes:
        raise too_large(limits.archive_bytes)
    yield from _members(archive, entries, limits)


def _members(archive: SevenZipFile, entries: list[ArchiveFile], limits: Limits) -> Iterator[Member]:
    # A wrong checksum of one file is no reason against the others, so that py7zr sees none.
    stated = {entry.id: (entry.filename, entry.crc32) for entry in entries}
    for number, row in enumerate(archive.files.files_list):
        row["filename"] = str(number)
        cast("dict[str, object]", row).pop("digest", None)
    sinks = _Sinks({entry.id: entry.uncompressed for entry in entries}, limits)
    reason = _extract(archive, sinks)
    for entry in entries:
        name, checksum = stated[entry.id]
        sink = sinks.made.get(entry.id)
        if entry.is_symlink or entry.is_junction:
            yield problem(name, "symbolic-link", "Links are not followed.")
        elif entry.uncompressed > limits.archive_entry_bytes:
            yield over(name, entry.uncompressed, limits)
        elif sink is None or sink.size() != entry.uncompressed:
            yield problem(name, "archive-damaged", f"{_UNREADABLE} ({reason or 'cut off'}).")
        elif checksum is not None and zlib.crc32(sink.content()) != checksum:
            yield problem(name, "archive-damaged", "It is damaged in its archive.")
        else:
            yield Member(name, sink.content(), _seconds(entry))


def _extract(archive: SevenZipFile, sinks: "_Sinks") -> str:
    """Unpack as much as can be; return what stopped it, or an empty string."""
    try:
        archive.extractall(factory=sinks)
    except UnsupportedCompressionMethodError as error:
        return str(error.args[-1]).rstrip(".")
    except _BROKEN as error:
        return " ".join(str(error).split()).rstrip(".")[:200] or type(error).__name__
    return ""


def _seconds(entry: ArchiveFile) -> int:
    """Return when a file was changed in seconds since 1970; 0 where that is not stated."""
    stated = entry.lastwritetime
    return 0 if stated is None else max(int(stated.totimestamp()), 0)


def _encrypted() -> RejectedError:
    return RejectedError(
        "encrypted",
        "The archive is protected by a password.",
        hint="Unpack it and add the folder.",
    )


class _Sink(Py7zIO):
    """Takes the bytes of one file; of one that is too large, none."""

    def __init__(self, *, buffers: bool) -> None:
        self._buffers = buffers
        self._buffer = io.BytesIO()

    def write(self, s: bytes | bytearray) -> int:
        return self._buffer.write(s) if self._buffers else len(s)

    def content(self) -> bytes:
        """Return what was written."""
        return self._buffer.getvalue()

    def read(self, size: int | None = None) -> bytes:
        return self._buffer.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._buffer.seek(offset, whence)

    def flush(self) -> None:
        """Do nothing: it is all in memory."""

    def size(self) -> int:
        return self._buffer.getbuffer().nbytes


class _Sinks(WriterFactory):
    """Makes a sink for each file, which py7zr knows by its number."""

    def __init__(self, sizes: Mapping[int, int], limits: Limits) -> None:
        self._sizes = sizes
        self._most = limits.archive_entry_bytes
        self.made: dict[int, _Sink] = {}

    def create(self, filename: str) -> Py7zIO:
        number = int(filename)
        self.made[number] = _Sink(buffers=self._sizes.get(number, 0) <= self._most)
        return self.made[number]
