"""Write an OLE compound file ([MS-CFB], version 4): a message inside a message as a file."""

import struct
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from chapterhouse.reading.ole import SIGNATURE

_SECTOR: Final = 4_096
_MINI_SECTOR: Final = 64
_MINI_CUTOFF: Final = 4_096  # streams that are shorter share one
_PER_SECTOR: Final = _SECTOR // 4  # numbers
_IN_HEADER: Final = 109  # sectors of the table that the header names: enough for 450 MB
_TABLE, _END, _NONE = 0xFFFFFFFD, 0xFFFFFFFE, 0xFFFFFFFF
_STORAGE, _STREAM, _ROOT = 1, 2, 5
_BLACK: Final = 1


def compound_file(streams: Mapping[str, bytes]) -> bytes:
    """Return a compound file with these streams by path, such as ``folder/name``.

    Args:
        streams: Their names have at most 31 characters; 450 MB together are the most.

    Raises:
        ValueError: a name is too long, or there is too much.
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
