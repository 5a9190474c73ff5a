"""Files inside a file: those of archives, as bytes with a path, and the limits for all of them.

Nothing is ever written to a disk. What cannot be had of an archive has a problem in its place; one
that would unpack to more than the limits is refused whole. A path is a label here: it cannot lead
anywhere, but it is cleaned all the same, so that nobody who reads it is led astray.
"""

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from chapterhouse.errors import RejectedError
from chapterhouse.reading.detect import is_tar
from chapterhouse.reading.formats import METHOD
from chapterhouse.reading.limits import Limits, archive_limits
from chapterhouse.reading.zip_directory import Entry, inflate, read_directory
from chapterhouse.types import Extraction, Member, Notice

_ENDINGS: Final = {
    "gz": {".tgz": ".tar", ".gz": ""},
    "bz2": {".tbz2": ".tar", ".tbz": ".tar", ".bz2": ""},
    "xz": {".txz": ".tar", ".xz": ""},
}
_PIECE: Final = 1 << 20
_WINDOWS_DRIVE: Final = 2  # characters, as in C:


def read_archive(data: bytes, name: str, format_: str, limits: Limits) -> Extraction:
    """Return the files in an archive, in its order, folders left out."""
    found: Iterator[Member]
    if format_ == "zip":
        entries = read_directory(data, archive_limits(limits))
        files = (entry for entry in entries if not entry.name.endswith("/"))
        found = (_zip_member(data, entry, limits) for entry in files)
    elif format_ == "tar":
        found = _of_tar(data, limits)
    else:
        found = _of_compressed(data, name, format_, limits)
    return Extraction((), format_, METHOD, members=tuple(limit_members(found, limits)))


def _zip_member(data: bytes, entry: Entry, limits: Limits) -> Member:
    if entry.encrypted:
        return problem_member(
            entry.name, "encrypted", "It is protected by a password in its archive."
        )
    if entry.size > limits.archive_entry_bytes:
        return oversized_member(entry.name, entry.size, limits)
    try:
        content = inflate(data, entry, entry.size + 1)
    except RejectedError as error:
        return problem_member(entry.name, error.code, error.message)
    if len(content) != entry.size or zlib.crc32(content) != entry.checksum:
        return problem_member(entry.name, "archive-damaged", "It is damaged in its archive.")
    return Member(entry.name, content, entry.modified)


def _of_tar(data: bytes, limits: Limits) -> Iterator[Member]:
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for entry in archive:
                if entry.issym() or entry.islnk():
                    yield problem_member(entry.name, "symbolic-link", "Links are not followed.")
                elif entry.isreg():
                    yield _tar_member(archive, entry, limits)
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise _damaged(error) from error


def _tar_member(archive: tarfile.TarFile, entry: tarfile.TarInfo, limits: Limits) -> Member:
    if entry.size > limits.archive_entry_bytes:
        return oversized_member(entry.name, entry.size, limits)
    opened = archive.extractfile(entry)
    content = opened.read() if opened else b""
    if len(content) != entry.size:
        return problem_member(entry.name, "archive-damaged", "It is cut off in its archive.")
    return Member(entry.name, content, max(int(entry.mtime), 0))


def _of_compressed(data: bytes, name: str, format_: str, limits: Limits) -> Iterator[Member]:
    content = _decompress(data, format_, limits.archive_bytes)
    if is_tar(content):
        yield from _of_tar(content, limits)
        return
    path = _inner_name(name, format_)
    if len(content) > limits.archive_entry_bytes:
        yield oversized_member(path, len(content), limits)
        return
    yield Member(path, content)


def _decompress(data: bytes, format_: str, most: int) -> bytes:
    content = io.BytesIO()  # which gives its bytes without a copy
    try:
        with _opened(io.BytesIO(data), format_) as file:
            while piece := file.read(_PIECE):
                content.write(piece)
                if content.tell() > most:
                    raise _too_large(most)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise _damaged(error) from error
    return content.getvalue()


def _opened(file: io.BytesIO, format_: str) -> gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile:
    if format_ == "gz":
        return gzip.GzipFile(fileobj=file)
    return bz2.BZ2File(file) if format_ == "bz2" else lzma.LZMAFile(file)


def _inner_name(name: str, format_: str) -> str:
    for ending, instead in _ENDINGS[format_].items():
        if name.lower().endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)] + instead
    return name


# --- members of any file -------------------------------------------------------------------------


def clean_path(path: str) -> str:
    """Return the path of a file in an archive, relative and without ways up; never empty."""
    parts = path.replace("\\", "/").split("/")
    if len(parts[0]) == _WINDOWS_DRIVE and parts[0][1] == ":":
        parts = parts[1:]
    return "/".join(part for part in parts if part not in {"", ".", ".."}) or "file"


def limit_members(found: Iterable[Member], limits: Limits) -> Iterator[Member]:
    """Yield members with paths of their own, and stop at the limits."""
    seen: dict[str, int] = {}
    total = 0
    for count, member in enumerate(found, start=1):
        total += len(member.data)
        if count > limits.archive_files:
            sentence = f"The archive holds more than {limits.archive_files:,} files."
            hint = "Unpack it and add the folder."
            raise RejectedError("archive-too-many-entries", sentence, hint=hint)
        if total > limits.archive_bytes:
            raise _too_large(limits.archive_bytes)
        path = clean_path(member.path)
        seen[path] = seen.get(path, 0) + 1
        yield replace(member, path=_numbered(path, seen[path]) if seen[path] > 1 else path)


def _numbered(path: str, number: int) -> str:
    folder, slash, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    name = f"{stem} ({number}).{suffix}" if stem and dot else f"{name} ({number})"
    return f"{folder}{slash}{name}"


def _too_large(most: int) -> RejectedError:
    sentence = f"It unpacks to more than {most:,} bytes."
    return RejectedError("archive-too-large", sentence, hint="Unpack it.")


def _damaged(error: object) -> RejectedError:
    reason = " ".join(str(error).split()).rstrip(".")[:200]
    return RejectedError("archive-damaged", f"The archive is damaged: {reason}.")


def problem_member(path: str, code: str, sentence: str) -> Member:
    """Return what stands in the place of a file that cannot be had."""
    return Member(path, b"", problem=Notice(code, sentence))


def oversized_member(path: str, size: int, limits: Limits) -> Member:
    """Return what stands in the place of a file with more bytes than one may have."""
    sentence = f"It has {size:,} bytes; the limit is {limits.archive_entry_bytes:,}."
    return problem_member(path, "too-large", sentence)
