"""A folder of a cloud drive: what is in it, and the bytes of its files, through rclone."""

import hashlib
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile, is_ignored
from chapterhouse.connectors.listing_cache import ListingCache
from chapterhouse.connectors.rclone_downloads import Downloads, private_folder
from chapterhouse.connectors.rclone_listing import Entry, Place, list_place
from chapterhouse.connectors.rclone_program import Rclone
from chapterhouse.errors import RejectedError
from chapterhouse.reading.names import IMAGES, claimed_format, extension
from chapterhouse.text.naming import source_name, storable_path
from chapterhouse.types import Notice

_SECOND_NS: Final = 1_000_000_000
# A file so young may change again within the second that the service counts in.
_YOUNG_NS: Final = 2 * _SECOND_NS
_LONGEST_EXTENSION: Final = 10


@dataclass(frozen=True, slots=True)
class RcloneRemote:
    """A folder of a cloud drive as a source of documents.

    Attributes:
        rclone: The program.
        place: The folder.
        label: What sources begin with.
        cache: Where its listing is remembered for browsing; also holds what is being fetched.
        transfers: How many files are fetched at once.
        maximum_bytes: Larger files are not fetched.
    """

    rclone: Rclone
    place: Place
    label: str
    cache: ListingCache
    transfers: int
    maximum_bytes: int

    def files(self) -> Iterator[SourceFile]:
        """Yield the files there are now, in order of source; listed anew, to the end, first.

        Raises:
            ChapterhouseError: the folder cannot be listed to its end.
        """
        entries = list_place(self.rclone, self.place, recursive=True)
        self.cache.store(self.place, entries, recursive=True)
        yield from source_files(self.place, self.label, entries, self.maximum_bytes)

    def contents(
        self, files: Sequence[SourceFile], maximum_bytes: int
    ) -> Generator[Content | RejectedError]:
        """Yield for each file, in order, its bytes or why they cannot be had.

        Every file has the size and the hash that were listed, or is refused.

        Raises:
            OSError: there is no room for what is fetched.
        """
        refused = [_refusal(file, maximum_bytes) for file in files]
        wanted = [file for file, error in zip(files, refused, strict=True) if error is None]
        began = time.time_ns()
        with private_folder(self.cache.folder) as folder:
            downloads = Downloads(self.rclone, self.place, folder, self.transfers)
            with closing(downloads.fetch(wanted, maximum_bytes)) as fetched:
                for file, error in zip(files, refused, strict=True):
                    got = next(fetched) if error is None else error
                    if isinstance(got, Path) and got.stat().st_size > maximum_bytes:
                        got = _too_large(file, got.stat().st_size, maximum_bytes)
                    yield got if isinstance(got, RejectedError) else _content(got, file, began)


def source_files(
    place: Place, label: str, entries: Sequence[Entry], maximum_bytes: int
) -> Iterator[SourceFile]:
    """Yield the files of a listing, in order of source; what tools leave behind is left out."""
    files = [
        _source_file(place, label, entry, maximum_bytes)
        for entry in entries
        if not entry.is_folder and not is_ignored(entry.path.split("/"))
    ]
    yield from sorted(files, key=lambda file: (file.source, file.location))


def _source_file(place: Place, label: str, entry: Entry, maximum_bytes: int) -> SourceFile:
    parts = tuple(entry.path.split("/"))
    return SourceFile(
        root=Path(),
        parts=parts,
        location=storable_path(place.location(entry.path)),
        source=source_name(label, parts),
        size=entry.size,
        mtime_ns=entry.mtime_ns,
        problem=_problem(parts[-1], entry.size, maximum_bytes),
        digest=entry.digest,
    )


def _problem(name: str, size: int, maximum_bytes: int) -> Notice | None:
    """Say why a file is not fetched, by its name and size alone."""
    if size > maximum_bytes:
        return Notice("too-large", f"It has {size:,} bytes; at most {maximum_bytes:,} are read.")
    ending, claimed = extension(name), claimed_format(name)
    if claimed in IMAGES:
        return Notice("unsupported-format", "Images in cloud drives are not fetched.")
    # "Minutes 1.2" and "Letter to Mr. Smith" have no extension; what they are, their bytes say.
    is_extension = ending.isalnum() and ending[0].isalpha() and len(ending) <= _LONGEST_EXTENSION
    if is_extension and not claimed:
        sentence = f"Files that end in .{ending} are not read, so it was not fetched."
        return Notice("unsupported-format", sentence)
    return None


def _refusal(file: SourceFile, maximum_bytes: int) -> RejectedError | None:
    if file.problem:
        return RejectedError(file.problem.code, file.problem.sentence)
    return _too_large(file, file.size, maximum_bytes) if file.size > maximum_bytes else None


def _too_large(file: SourceFile, size: int, maximum_bytes: int) -> RejectedError:
    return RejectedError(
        "too-large",
        f"{file.source} has {size:,} bytes; at most {maximum_bytes:,} are read.",
        hint="Raise the limit in the settings: reading.maximum_megabytes.",
    )


def _content(path: Path, file: SourceFile, began: int) -> Content:
    data = path.read_bytes()
    path.unlink()
    young = file.mtime_ns > began - _YOUNG_NS
    return Content(
        data=data,
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        mtime_ns=0 if young else file.mtime_ns,
        modified=file.mtime_ns // _SECOND_NS,
    )
