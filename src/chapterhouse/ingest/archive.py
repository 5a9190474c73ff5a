"""The file format of an archive: a ZIP that ends in the checksum of everything before it.

Any unpacker opens it. The checksum covers every byte, headers and directory included, so a file
that was cut off or altered is refused before anything in it is looked at. It is no signature:
anyone can make an archive, so what is in one is checked as well (APPNOTE.TXT 6.3.10).
"""

import hashlib
import os
import re
import stat
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO, Final, Self
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from pydantic import TypeAdapter, ValidationError

from chapterhouse.errors import NewerLibraryError, NotFoundError, RefusedError, UsageError
from chapterhouse.types import ArchiveMember, Manifest

FORMAT: Final = 1
FIRST: Final = "chapterhouse-archive"  # the name of the first member, by which a file is known
DATABASE: Final = "library.db"
MANIFEST: Final = "manifest.json"
BLOBS: Final = "blobs/"
FOLDERS: Final = ("personas", "councils")
SETTINGS: Final = {"home": "settings/home.toml", "workspace": "settings/workspace.toml"}
QUESTIONS: Final = "questions.jsonl"

_FIXED: Final = frozenset({FIRST, DATABASE, QUESTIONS, *SETTINGS.values()})
_BLOB: Final = re.compile(rf"{BLOBS}[0-9a-f]{{64}}")
_UNUSABLE: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_COMMENT: Final = b"Chapterhouse archive; SHA-256 of all before: "
_DIGITS: Final = 64
_STEP: Final = 2**20
_SAMPLE: Final = 2**16  # bytes that are compressed to see whether it pays
_PAYS: Final = 0.9
_FAST: Final = 1  # level of compression: six takes a quarter more time and saves a tenth
_MOST_MEMBERS: Final = 2_000_000
_LARGEST_MANIFEST: Final = 2**29
_LARGEST_READ: Final = 2**24
_LONGEST_NAME: Final = 1_000
_LATEST_NS: Final = 2**62  # since 1970, in the year 2116
_HINT: Final = "Use another copy of it, or export the library again. Nothing was changed."


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive that is open and was found whole."""

    manifest: Manifest
    file: ZipFile

    def extract(self, member: ArchiveMember, path: Path) -> None:
        """Write a member to a new file that survives a power cut.

        Raises:
            RefusedError: it is not what the manifest says.
            OSError: it cannot be written, or is there already.
        """
        digest, size = hashlib.sha256(), 0
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(path, flags, 0o600), "wb") as target:  # noqa: PTH123 - of a descriptor
            for block in self._blocks(member.name):
                size += len(block)
                if size > member.size:
                    break
                digest.update(block)
                target.write(block)
            target.flush()
            os.fsync(target.fileno())
        if (size, digest.hexdigest()) != (member.size, member.sha256):
            raise RefusedError(f"'{member.name}' is not what its manifest says.", hint=_HINT)
        if member.modified_ns:
            os.utime(path, ns=(member.modified_ns, member.modified_ns))

    def read(self, member: ArchiveMember) -> bytes:
        """Return the bytes of a small member.

        Raises:
            RefusedError: it is not what the manifest says.
        """
        if member.size > _LARGEST_READ:
            raise RefusedError(f"'{member.name}' is too long.", hint=_HINT)
        data = b"".join(self._blocks(member.name))
        if hashlib.sha256(data).hexdigest() != member.sha256:
            raise RefusedError(f"'{member.name}' is not what its manifest says.", hint=_HINT)
        return data

    def _blocks(self, name: str) -> Iterator[bytes]:
        try:
            with self.file.open(name) as source:
                while block := source.read(_STEP):
                    yield block
        except (BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise RefusedError(f"'{name}' cannot be unpacked: {error}", hint=_HINT) from None


class ArchiveWriter:
    """Writes the members of an archive, one after the other, to a new file.

    Use it as a context manager, and call ``finish`` in the end.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        """Take a file that is open for reading and writing, and empty."""
        self._stream = stream
        self._zip = ZipFile(stream, "w", compresslevel=_FAST)
        self._members: list[ArchiveMember] = []
        self.add(FIRST, [f"{FORMAT}\n".encode()])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):  # after a failure: nobody reads what it still writes
            self._zip.close()

    @property
    def members(self) -> Sequence[ArchiveMember]:
        """What was added."""
        return tuple(self._members)

    def add(self, name: str, blocks: Iterable[bytes], modified_ns: int = 0) -> None:
        """Add a member; compressed where its beginning shrinks."""
        source = iter(blocks)
        block = next(source, b"")
        sample = block[:_SAMPLE]
        shrinks = len(zlib.compress(sample, _FAST)) < _PAYS * len(sample)
        digest, size = hashlib.sha256(), 0
        self._zip.compression = ZIP_DEFLATED if shrinks else ZIP_STORED
        with self._zip.open(name, "w", force_zip64=True) as target:
            while block:
                target.write(block)
                digest.update(block)
                size += len(block)
                block = next(source, b"")
        self._members.append(ArchiveMember(name, size, digest.hexdigest(), modified_ns))

    def finish(self, manifest: Manifest) -> str:
        """Add the manifest and the checksum; return the SHA-256 of the whole file."""
        self._zip.compression = ZIP_DEFLATED
        with self._zip.open(MANIFEST, "w", force_zip64=True) as target:
            target.write(_adapter().dump_json(manifest, indent=1))
        self._zip.comment = _COMMENT + b"0" * _DIGITS
        self._zip.close()
        length = self._stream.seek(0, os.SEEK_END) - _DIGITS
        digest = _digest(self._stream, length)
        digits = digest.hexdigest().encode()
        self._stream.seek(length)
        self._stream.write(digits)
        self._stream.flush()
        digest.update(digits)
        return digest.hexdigest()


def blocks_of(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks."""
    while block := stream.read(_STEP):
        yield block


def is_archive(data: bytes) -> bool:
    """Whether a file that begins like this is an archive, so that a newer one may replace it."""
    return data.startswith(b"PK\x03\x04") and data[30:].startswith(FIRST.encode())


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open an archive once it is clear that it is whole.

    Raises:
        NotFoundError: it is not there.
        UsageError: it is a folder or a device.
        RefusedError: it was cut off or altered, or is no archive of Chapterhouse.
        NewerLibraryError: a newer Chapterhouse wrote it.
        OSError: it cannot be read.
    """
    if not path.exists():
        raise NotFoundError(f"There is no file {path}.")
    if not path.is_file():  # a pipe would keep us waiting
        raise UsageError(f"{path} is no file.", hint="Name a file that export wrote.")
    with path.open("rb") as stream:
        _require_checksum(stream, path)
        with _opened(stream, path) as file:
            entries = _entries(file, path)
            manifest = _manifest(file, path)
            _require_agreement(entries, manifest, path)
            yield Archive(manifest, file)


def _require_checksum(stream: IO[bytes], path: Path) -> None:
    end = len(_COMMENT) + _DIGITS
    length = os.fstat(stream.fileno()).st_size
    stream.seek(max(length - end, 0))
    comment, digits = stream.read(len(_COMMENT)), stream.read(_DIGITS)
    if length < end or comment != _COMMENT:
        raise RefusedError(
            f"{path} is cut off, or no archive of Chapterhouse: its checksum is missing.",
            hint=_HINT,
        )
    if _digest(stream, length - _DIGITS).hexdigest().encode() != digits:
        raise RefusedError(f"{path} was altered or damaged: its checksum is wrong.", hint=_HINT)


def _digest(stream: IO[bytes], length: int) -> "hashlib._Hash":
    digest = hashlib.sha256()
    stream.seek(0)
    while length and (block := stream.read(min(length, _STEP))):
        digest.update(block)
        length -= len(block)
    return digest


# --- what nobody who made an archive by hand can be trusted with ---


def _opened(stream: IO[bytes], path: Path) -> ZipFile:
    try:
        return ZipFile(stream)
    except (BadZipFile, ValueError, NotImplementedError, EOFError) as error:
        raise _forged(path, str(error)) from None


def _entries(file: ZipFile, path: Path) -> dict[str, ZipInfo]:
    """Return the members by name; what none of ours looks like is refused."""
    infos = file.infolist()
    if len(infos) > _MOST_MEMBERS:
        raise _forged(path, f"it has {len(infos):,} members")
    end = 0
    for info in infos:
        kind = stat.S_IFMT(info.external_attr >> 16)
        if info.flag_bits & 1 or kind not in {0, stat.S_IFREG}:
            raise _forged(path, "a member is encrypted, or no file")
        if info.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
            raise _forged(path, "a member is compressed in another way")
        if info.header_offset < end:
            raise _forged(path, "members overlap or are out of order")
        end = info.header_offset + info.compress_size
    entries = {info.orig_filename: info for info in infos}
    if len(entries) != len(infos) or any(info.filename != name for name, info in entries.items()):
        raise _forged(path, "names are repeated or not plain")
    return entries


def _manifest(file: ZipFile, path: Path) -> Manifest:
    try:
        with file.open(MANIFEST) as source:
            data = source.read(_LARGEST_MANIFEST + 1)
        if len(data) > _LARGEST_MANIFEST:
            raise _forged(path, "its manifest is too long")
        number = _number().validate_json(data)["format"]
        if isinstance(number, int) and number > FORMAT:
            raise NewerLibraryError(
                f"{path} has format {number}; this Chapterhouse knows formats up to {FORMAT}.",
                hint="Upgrade Chapterhouse, then import it again.",
            )
        return _adapter().validate_json(data)
    except (KeyError, ValidationError, BadZipFile, zlib.error, EOFError, NotImplementedError):
        raise _forged(path, "its manifest cannot be read") from None


def _require_agreement(entries: dict[str, ZipInfo], manifest: Manifest, path: Path) -> None:
    """Refuse an archive whose manifest names other members than it has, or names of no use."""
    names = [member.name for member in manifest.members]
    if len(set(names)) != len(names) or {*names, MANIFEST} != entries.keys():
        raise _forged(path, "its manifest names other members")
    if not {FIRST, DATABASE} <= set(names):
        raise _forged(path, "it has no database")
    if any(entries[member.name].file_size != member.size for member in manifest.members):
        raise _forged(path, "its manifest states other sizes")
    blobs = [member for member in manifest.members if _BLOB.fullmatch(member.name)]
    if any(member.name != f"{BLOBS}{member.sha256}" for member in blobs):
        raise _forged(path, "a blob is not named after its bytes")
    if any(abs(member.modified_ns) > _LATEST_NS for member in manifest.members):
        raise _forged(path, "its manifest states times that no file has")
    above = {str(parent) for name in names for parent in PurePosixPath(name).parents}
    bad = [name for name in names if not is_plain(name) or name in above]
    if bad:
        raise _forged(path, f"it has a member of the name {bad[0]!a}")
    if not manifest.folders.keys() <= set(FOLDERS):
        raise _forged(path, "it has other folders")


def is_plain(name: str) -> bool:
    """Whether a name is one that this program gives: it cannot lead out of its folder."""
    if name in _FIXED or _BLOB.fullmatch(name):
        return True
    first, *rest = name.split("/")
    plain = len(name) <= _LONGEST_NAME and not _UNUSABLE.search(name)
    return plain and first in FOLDERS and bool(rest) and not {"", ".", ".."} & set(rest)


def _forged(path: Path, reason: str) -> RefusedError:
    return RefusedError(f"{path} is no archive as Chapterhouse writes them: {reason}.", hint=_HINT)


@cache
def _adapter() -> TypeAdapter[Manifest]:
    return TypeAdapter(Manifest)


@cache
def _number() -> TypeAdapter[dict[str, object]]:
    return TypeAdapter(dict[str, object])
