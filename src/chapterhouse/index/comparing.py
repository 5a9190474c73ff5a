"""How the entries of an index differ from the chunks of the store, document by document."""

import json
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.ports.store import Store
from chapterhouse.text.counting import counted
from chapterhouse.types import Difference, Remedy

_BATCH: Final = 512
_FOOTER_MAGIC: Final = 1337  # https://docs.rs/tantivy: the last four bytes of its files
_NUMBER: Final = 4  # bytes
_PARTS: Final = ("fast", "fieldnorm", "idx", "pos", "store", "term")  # files of every segment
# Its lists, its locks, and what a killed process leaves of a list that it was writing.
_OWN: Final = re.compile(
    r"meta\.json|\.managed\.json|\.tantivy-(meta|writer)\.lock|\.tmp[0-9A-Za-z]{6}"
)


def changed_since(store: Store, sequence: int) -> frozenset[str]:
    """Return the documents that changed after ``sequence``: an index need not have them yet."""
    changed: set[str] = set()
    while changes := store.changes(sequence, _BATCH):
        changed.update(change.document_id for change in changes)
        sequence = changes[-1].sequence
    return frozenset(changed)


def compare_entries(
    expected: Mapping[str, Sequence[int]],
    found: Mapping[str, Sequence[int]],
    ignored: Collection[str] = (),
) -> Iterator[str]:
    """Yield how the chunk keys that an index has of documents differ from those of the store.

    Args:
        expected: The store's, in order, by document.
        found: The index's, in any order, by document.
        ignored: Documents that may differ.
    """
    for name in sorted(expected.keys() | found.keys()):
        if name in ignored:
            continue
        wanted, there = Counter(expected.get(name, ())), Counter(found.get(name, ()))
        if missing := (wanted - there).total():
            yield f"lacks {counted(missing, 'chunk')} of document {name}"
        doubled = sum(number - 1 for key, number in there.items() if number > 1 and key in wanted)
        if doubled:
            yield f"has {counted(doubled, 'chunk')} of document {name} more than once"
        if strange := sum(number for key, number in there.items() if key not in wanted):
            yield f"has {counted(strange, 'chunk')} of document {name} that the library has not"


def damaged_segments(folder: Path) -> Iterator[Difference]:
    """Yield which files of a Tantivy index are missing, foreign, or not what their checksum says.

    Raises:
        OSError: they cannot be read.
        ValueError, KeyError, TypeError: the list of segments cannot be parsed.
    """
    meta = json.loads((folder / "meta.json").read_text("utf-8"))
    wanted = {
        f"{str(segment['segment_id']).replace('-', '')}.{part}"
        for segment in meta["segments"]
        for part in _PARTS
    }
    segments = {name.partition(".")[0] for name in wanted}
    managed = set(json.loads((folder / ".managed.json").read_text("utf-8")))
    found = {path.name: path for path in folder.iterdir()}
    for name in sorted(wanted - found.keys()):
        yield Difference(f"lacks its file {name}")
    for name, path in sorted(found.items()):
        if name.partition(".")[0] in segments and not _has_checksum(path.read_bytes()):
            yield Difference(f"has a damaged file: {name}")
        elif name not in managed and not _OWN.fullmatch(name):
            yield Difference(f"has a file that is not its own: {name}", Remedy.NONE)


def foreign_files(folder: Path, known: "re.Pattern[str]") -> Iterator[str]:
    """Yield the names in a folder of the index that nothing in the index has written."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not known.fullmatch(path.name):
            yield path.name


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


@contextmanager
def explain_damage() -> Iterator[None]:
    """Say what to do where Tantivy only says that something failed."""
    try:
        yield
    except (ValueError, OSError, KeyError, TypeError, IndexError) as error:
        raise CorruptLibraryError(
            f"The lexical index cannot be used: {error}",
            hint="If the disk is full, make room. Then run: chapterhouse reindex",
        ) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # Rust's, which is no Exception
            raise
        raise CorruptLibraryError(
            f"The lexical index is damaged: {error}", hint="Run: chapterhouse reindex"
        ) from error
