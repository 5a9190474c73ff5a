"""Archives: the files in one, as bytes with a path. Nothing is ever written to a disk.

What cannot be had of an archive has a problem in its place; one that would unpack to more than the
limits is refused whole.
"""

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from typing import Final

from chapterhouse.errors import RejectedError
from chapterhouse.reading.limits import Limits, archive_limits
from chapterhouse.reading.members import damaged, limit_members, over, problem, too_large
from chapterhouse.reading.plain import METHOD
from chapterhouse.reading.zip_directory import Entry, inflate, read_directory
from chapterhouse.types import Extraction, Member

_ENDINGS: Final = {
    "gz": {".tgz": ".tar", ".gz": ""},
    "bz2": {".tbz2": ".tar", ".tbz": ".tar", ".bz2": ""},
    "xz": {".txz": ".tar", ".xz": ""},
}
_PIECE: Final = 1 << 20
_TAR_MARK: Final = slice(257, 262)


def read_archive(data: bytes, name: str, format_: str, limits: Limits) -> Extraction:
    """Return the files in an archive, in its order, folders left out."""
    if format_ == "zip":
        found = _of_zip(data, limits)
    elif format_ == "tar":
        found = _of_tar(data, limits)
    else:
        found = _of_compressed(data, name, format_, limits)
    return Extraction((), format_, METHOD, members=tuple(limit_members(found, limits)))


# --- ZIP -----------------------------------------------------------------------------------------


def _of_zip(data: bytes, limits: Limits) -> Iterator[Member]:
    for entry in read_directory(data, archive_limits(limits)):
        if not entry.name.endswith("/"):
            yield _zip_member(data, entry, limits)


def _zip_member(data: bytes, entry: Entry, limits: Limits) -> Member:
    if entry.encrypted:
        return problem(entry.name, "encrypted", "It is protected by a password in its archive.")
    if entry.size > limits.archive_entry_bytes:
        return over(entry.name, entry.size, limits)
    try:
        content = inflate(data, entry, entry.size + 1)
    except RejectedError as error:
        return problem(entry.name, error.code, error.message)
    if len(content) != entry.size or zlib.crc32(content) != entry.checksum:
        return problem(entry.name, "archive-damaged", "It is damaged in its archive.")
    return Member(entry.name, content, entry.modified)


# --- tar -----------------------------------------------------------------------------------------


def _of_tar(data: bytes, limits: Limits) -> Iterator[Member]:
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for entry in archive:
                if entry.issym() or entry.islnk():
                    yield problem(entry.name, "symbolic-link", "Links are not followed.")
                elif entry.isreg():
                    yield _tar_member(archive, entry, limits)
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise damaged(error) from error


def _tar_member(archive: tarfile.TarFile, entry: tarfile.TarInfo, limits: Limits) -> Member:
    if entry.size > limits.archive_entry_bytes:
        return over(entry.name, entry.size, limits)
    opened = archive.extractfile(entry)
    content = opened.read() if opened else b""
    if len(content) != entry.size:
        return problem(entry.name, "archive-damaged", "It is cut off in its archive.")
    return Member(entry.name, content, max(int(entry.mtime), 0))


# --- what is compressed alone --------------------------------------------------------------------


def _of_compressed(data: bytes, name: str, format_: str, limits: Limits) -> Iterator[Member]:
    content = _decompress(data, format_, limits.archive_bytes)
    if content[_TAR_MARK] == b"ustar":
        yield from _of_tar(content, limits)
        return
    path = _inner_name(name, format_)
    if len(content) > limits.archive_entry_bytes:
        yield over(path, len(content), limits)
        return
    yield Member(path, content)


def _decompress(data: bytes, format_: str, most: int) -> bytes:
    content = io.BytesIO()  # which gives its bytes without a copy
    try:
        with _opened(io.BytesIO(data), format_) as file:
            while piece := file.read(_PIECE):
                content.write(piece)
                if content.tell() > most:
                    raise too_large(most)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise damaged(error) from error
    return content.getvalue()


def _opened(file: io.BytesIO, format_: str) -> gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile:
    if format_ == "gz":
        return gzip.GzipFile(fileobj=file)
    return bz2.BZ2File(file) if format_ == "bz2" else lzma.LZMAFile(file)


def _inner_name(name: str, format_: str) -> str:
    lower = name.lower()
    for ending, instead in _ENDINGS[format_].items():
        if lower.endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)] + instead
    return name
