"""OLE compound files ([MS-CFB]), read by olefile, in the worker only, and written."""

import io
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.errors import RejectedError
from chapterhouse.types import Range

if TYPE_CHECKING:
    import olefile
else:
    olefile = lazy("olefile")

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# What olefile raises on damage; storages nested deeper than anyone does are a RecursionError.
_BROKEN: Final = (OSError, struct.error, LookupError, ValueError, AssertionError, RecursionError)
_STRICT: Final = 30  # olefile.DEFECT_INCORRECT: what contradicts itself is refused
_MINI_SECTOR = 64
_STORAGE, _STREAM, _ROOT = 1, 2, 5
_UNICODE_VERSION = 0xC1  # nFib of Word 97
# By language id, or its primary part ([MS-LCID]).
_CODE_PAGES = {
    **dict.fromkeys((0x05, 0x0E, 0x15, 0x18, 0x1A, 0x1B, 0x1C, 0x24), "cp1250"),
    **dict.fromkeys((0x02, 0x19, 0x22, 0x23, 0x2F), "cp1251"),
    **dict.fromkeys((0x25, 0x26, 0x27), "cp1257"),
    0x01: "cp1256",
    0x08: "cp1253",
    0x0D: "cp1255",
    0x1F: "cp1254",
    0x2A: "cp1258",
    0x04: "gbk",
    0x404: "big5",
    0xC04: "big5",
    0x11: "cp932",
    0x12: "cp949",
    0x1E: "cp874",
}
_SECTOR: Final = 4_096
_MINI_CUTOFF: Final = 4_096  # streams that are shorter share one
_PER_SECTOR: Final = _SECTOR // 4  # numbers
_IN_HEADER: Final = 109  # sectors of the table that the header names: enough for 450 MB
_TABLE, _END, _NONE = 0xFFFFFFFD, 0xFFFFFFFE, 0xFFFFFFFF
_BLACK: Final = 1


class CompoundFile:
    """The streams of one file, by paths such as ``__attach_version1.0_#00000000/name``."""

    def __init__(self, data: bytes) -> None:
        """Read the tables and the directory."""
        self._data = data
        with _as_damage():
            self._file = olefile.OleFileIO(io.BytesIO(data), raise_defects=_STRICT)
            self._paths = {"/".join(path): path for path in self._file.listdir()}
        # Names are compared without case ([MS-CFB] 2.6.4).
        self._by_case = {name.casefold(): path for name, path in self._paths.items()}

    def names(self) -> tuple[str, ...]:
        """Return the paths of all streams."""
        return tuple(self._paths)

    def has(self, path: str) -> bool:
        """Tell whether there is such a stream, whatever the case of its name."""
        return path.casefold() in self._by_case

    def read(self, path: str) -> bytes:
        """Return a stream's content whatever the case of its name, empty where there is none."""
        found = self._paths.get(path) or self._by_case.get(path.casefold())
        if found is None:
            return b""
        with _as_damage():
            content: bytes = self._file.openstream(found).read()
        return content

    def blanked(self, path: str, spans: Iterable[Range]) -> bytes:
        """Return the whole file with zeros in some spans of one of its streams."""
        content = bytearray(self.read(path))
        if not content:
            return self._data
        for start, end in spans:
            content[start:end] = bytes(len(content[start:end]))
        target = io.BytesIO(self._data)
        with _as_damage(), olefile.OleFileIO(target, write_mode=True) as file:
            file.write_stream(self._by_case[path.casefold()], bytes(content))
        return target.getvalue()


@contextmanager
def _as_damage() -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        reason = " ".join(str(error).split()).rstrip(".")[:200] or "it nests too deeply"
        message = f"The Office file is damaged: {reason}."
        raise RejectedError("unreadable", message) from error


def is_encrypted(file: CompoundFile) -> bool:
    """Tell whether a Word, Excel or PowerPoint file needs a password.

    Sources: [MS-OFFCRYPTO] 2.2 (EncryptedPackage), [MS-DOC] 2.5.2 (fEncrypted), [MS-XLS]
    2.4.117 (FilePass), [MS-PPT] 2.1.1.
    """
    if file.has("EncryptedPackage") or file.has("EncryptedSummary"):
        return True
    if word := file.read("WordDocument"):
        return bool(int.from_bytes(word[10:12], "little") & 0x0100)
    return _has_file_pass(file.read("Workbook") or file.read("Book"))


def code_page(data: bytes) -> str:
    """Return the encoding of a Word 6 or 95 file by its language, or nothing if it is Western.

    Later files are in Unicode. Source: [MS-DOC] 2.5.2 (nFib, lid), whose layout is older.
    """
    header = CompoundFile(data).read("WordDocument")[:8].ljust(8, b"\0")
    version, _, language = struct.unpack_from("<3H", header, 2)
    if version >= _UNICODE_VERSION:
        return ""
    return _CODE_PAGES.get(language, _CODE_PAGES.get(language & 0x3FF, ""))


def _has_file_pass(workbook: bytes) -> bool:
    """Look for the record that announces encryption, which stands right behind the first."""
    place = 0
    for _ in range(8):
        if place + 4 > len(workbook):
            return False
        kind, length = struct.unpack_from("<2H", workbook, place)
        if kind == 0x2F:  # noqa: PLR2004 - FilePass
            return True
        place += 4 + length
    return False


def compound_file(streams: Mapping[str, bytes]) -> bytes:
    """Return a compound file with these streams by path, such as ``folder/name``.

    Raises:
        ValueError: a name has more than 31 characters, or they are more than 450 MB together.
    """
    file = _Sectors()
    small = _Sectors(_MINI_SECTOR)
    starts = {
        path: (small if len(content) < _MINI_CUTOFF else file).add(content)
        for path, content in streams.items()
    }
    mini_start = file.add(bytes(small.content))
    mini_table = file.add(_numbers(small.table))
    directory = _directory(streams, starts, (mini_start, len(small.content)))
    directory_start = file.add(directory)
    count = -(-len(file.table) // (_PER_SECTOR - 1))  # the table holds its own sectors, too
    if count > _IN_HEADER:
        raise ValueError("too much for one compound file")
    own = range(len(file.table), len(file.table) + count)
    header = struct.pack(
        "<8s16x5H6x9I",
        SIGNATURE,
        *(0x3E, 4, 0xFFFE, 12, 6),
        *(len(directory) // _SECTOR, count, directory_start, 0, _MINI_CUTOFF),
        *(mini_table, -(-len(small.table) // _PER_SECTOR), _END, 0),
    )
    named = struct.pack(f"<{_IN_HEADER}I", *own, *[_NONE] * (_IN_HEADER - count))
    table = _numbers([*file.table, *[_TABLE] * count])
    return (header + named).ljust(_SECTOR, b"\0") + file.content + table


class _Sectors:
    """Contents one behind the other, and the table that says which sectors belong together."""

    def __init__(self, size: int = _SECTOR) -> None:
        self._size = size
        self.content = bytearray()
        self.table: list[int] = []

    def add(self, content: bytes) -> int:
        """Append a content and return its first sector; of nothing, the mark for none."""
        if not content:
            return _END
        first = len(self.table)
        count = -(-len(content) // self._size)
        self.table += [*range(first + 1, first + count), _END]
        self.content += content.ljust(count * self._size, b"\0")
        return first


def _numbers(numbers: Sequence[int]) -> bytes:
    padded = [*numbers, *[_NONE] * (-len(numbers) % _PER_SECTOR)]
    return struct.pack(f"<{len(padded)}I", *padded)


def _directory(
    streams: Mapping[str, bytes], starts: Mapping[str, int], mini: tuple[int, int]
) -> bytes:
    """Return the entries of all streams and of the storages that they are in."""
    children: defaultdict[str, set[str]] = defaultdict(set, {"": set()})
    for path in streams:
        while path:
            folder = path.rpartition("/")[0]
            children[folder].add(path)
            path = folder  # noqa: PLW2901 - up to the root
    paths = sorted({"", *(path for inside in children.values() for path in inside)})
    number = {path: place for place, path in enumerate(paths)}
    sides: dict[str, tuple[int, int]] = {}

    def tree(ordered: Sequence[str]) -> int:
        """Link siblings to a balanced tree and return the number of its top."""
        if not ordered:
            return _NONE
        middle = len(ordered) // 2
        sides[ordered[middle]] = (tree(ordered[:middle]), tree(ordered[middle + 1 :]))
        return number[ordered[middle]]

    # By length first, then without case ([MS-CFB] 2.6.4).
    tops = {
        folder: tree(sorted(inside, key=lambda path: (len(path), path.upper())))
        for folder, inside in children.items()
    }
    entries = []
    for path in paths:
        left, right = sides.get(path, (_NONE, _NONE))
        if path in streams:
            entry = (_STREAM, left, right, _NONE, starts[path], len(streams[path]))
        else:
            start, size = (0, 0) if path else mini
            entry = (_STORAGE if path else _ROOT, left, right, tops[path], start, size)
        entries.append(_entry(path.rpartition("/")[2] or "Root Entry", *entry))
    empty = struct.pack("<64xHBB3I48x", 0, 0, 0, _NONE, _NONE, _NONE)
    per_sector = _SECTOR // len(empty)
    return b"".join(entries) + empty * (-len(entries) % per_sector)


def _entry(name: str, kind: int, left: int, right: int, child: int, start: int, size: int) -> bytes:
    encoded = f"{name}\0".encode("utf-16-le")
    if len(encoded) > 64:  # noqa: PLR2004 - bytes that an entry has for it
        raise ValueError(f"the name {name!r} is too long for a compound file")
    return struct.pack(
        "<64sHBB3I36xIQ",
        *(encoded, len(encoded), kind, _BLACK, left, right, child, start, size),
    )
