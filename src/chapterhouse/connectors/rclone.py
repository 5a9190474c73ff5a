"""A folder of a cloud drive: its files, and their bytes, which ``rclone copy`` brings.

What is to be read is copied into a folder of the workspace, a group of files at a time. Each is
read there like any file, and deleted.
"""

import hashlib
import re
import shutil
import tempfile
import zipfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from time import time_ns
from typing import Final

from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import REMOTE, SourceFile, is_ignored
from chapterhouse.connectors.rclone_listing import OPTIONS, Entry, Place
from chapterhouse.connectors.rclone_program import (
    GENERAL,
    PASSING,
    Failure,
    ProcessResult,
    Rclone,
    arrived_short,
    kind_of,
    reason_of,
)
from chapterhouse.errors import RejectedError
from chapterhouse.files import lock_folder, make_folder
from chapterhouse.reading.formats import IMAGES, claimed_format, extension
from chapterhouse.text.naming import source_name, storable_path
from chapterhouse.types import Notice

_SECOND_NS: Final = 1_000_000_000
# A file so young may change again within the second that the service counts in.
_YOUNG_NS: Final = 2 * _SECOND_NS
_LONGEST_EXTENSION: Final = 10
_GROUP_FILES: Final = 48
_GROUP_BYTES: Final = 256 * 2**20
_MARGIN: Final = 2**20  # bytes that a run may bring beyond what was listed, with all attempts
_LONGEST_NAME: Final = 200  # bytes; rclone writes to a longer name first, and 255 are allowed
_AGAIN: Final = "Run the same command again later: it goes on with the rest."
_CHANGED: Final = (
    "changed-while-reading",
    "is not what was listed: it changed meanwhile, or arrives altered.",
)
_TRANSFERS: Final = 3  # files fetched at once
_PACKAGES: Final = (".docx", ".xlsx", ".pptx")


@dataclass(frozen=True, slots=True)
class Copies:
    """Copies of files of a drive.

    Attributes:
        folder: Where copies are until they are read; of this place alone.
    """

    rclone: Rclone
    place: Place
    folder: Path

    def contents(
        self, files: Sequence[SourceFile], maximum_bytes: int
    ) -> Generator[Content | RejectedError]:
        """Yield for each file, none with a problem, in order, its bytes or why they cannot be had.

        Every file has the size that was listed, and the hash of the service, or is refused. Once
        the service does not answer any more, the rest is not tried.

        Raises:
            OSError: there is no room for what is fetched.
        """
        began, failures, above = time_ns(), 0, self.folder.parent
        with lock_folder(above, f"{self.folder.name}.lock"), ExitStack() as ending:
            shutil.rmtree(self.folder, ignore_errors=True)  # of a process that died
            make_folder(self.folder)
            ending.callback(shutil.rmtree, self.folder, ignore_errors=True)
            for group in _groups(files):
                is_tried = failures < _TRANSFERS
                run = self._copy(group, maximum_bytes) if is_tried else ProcessResult(0)
                for file in group:
                    path, own, fault = self._path(file), _about(file, run), _untried(file)
                    if is_tried:
                        fault = _fault(path, file, own, maximum_bytes)
                        is_general = fault is not None and fault.code == "cannot-open"
                        failures = failures + 1 if is_general and kind_of(own) in GENERAL else 0
                    yield fault or _content(path, file, began)
                    path.unlink(missing_ok=True)

    def _copy(self, files: Sequence[SourceFile], maximum_bytes: int) -> ProcessResult:
        """Copy files; rclone compares sizes, and hashes where there are any, and tries again."""
        sizes = [one.size if one.size >= 0 else maximum_bytes for one in files]
        patience = self.rclone.patience
        options = (
            f"--transfers={_TRANSFERS}",
            f"--checkers={_TRANSFERS}",
            f"--max-transfer={sum(sizes) * (patience.attempts + 1) + _MARGIN}B",
            "--multi-thread-streams=0",  # several streams of one file are several transfers
            "--local-encoding=Slash,Dot,Ctl,Del",  # a name is on disk as it is listed
            "--no-traverse",
            *OPTIONS,
        )
        limit = patience.total_seconds + sum(sizes) / patience.bytes_per_second
        short = [one for one in files if _is_short(one)]
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=self.folder.parent) as listed:
            listed.write("".join(f"{'/'.join(one.parts)}\n" for one in short))
            listed.flush()
            many = ["copy", f"--files-from-raw={listed.name}", *options]
            ends = (str(self.place), str(self.folder))
            runs = [self.rclone.run([*many, *ends], limit=limit)] if short else []
        for file in files:
            if file not in short:
                place = file.location.removeprefix(REMOTE)
                alone = ["copyto", *options, place, str(self._path(file))]
                runs.append(self.rclone.run(alone, limit=limit))
        errors = "".join(run.errors for run in runs)
        return ProcessResult(
            max(abs(one.code) for one in runs), errors, any(r.timed_out for r in runs)
        )

    def _path(self, file: SourceFile) -> Path:
        """Return where a file is copied to: its own name, unless that is long."""
        if _is_short(file):
            return self.folder.joinpath(*file.parts)
        return self.folder / hashlib.sha256(file.location.encode()).hexdigest()


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


def _content(path: Path, file: SourceFile, began: int) -> Content:
    data = path.read_bytes()
    return Content(
        data=data,
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        mtime_ns=0 if file.mtime_ns > began - _YOUNG_NS else file.mtime_ns,
        modified=file.mtime_ns // _SECOND_NS,
    )


def _groups(files: Sequence[SourceFile]) -> Iterator[list[SourceFile]]:
    group: list[SourceFile] = []
    length = 0
    for file in files:
        length += max(file.size, 0)
        if group and (len(group) == _GROUP_FILES or length > _GROUP_BYTES):
            yield group
            group, length = [], max(file.size, 0)
        group.append(file)
    if group:
        yield group


def _is_short(file: SourceFile) -> bool:
    return all(len(part.encode()) <= _LONGEST_NAME for part in file.parts)


# --- what arrived --------------------------------------------------------------------------------


def _about(file: SourceFile, run: ProcessResult) -> ProcessResult:
    """Return a run with what rclone said of one file; of all, where it names none."""
    name = re.escape("/".join(file.parts))
    own = re.findall(rf" : {name}(?:\.\w+\.partial)?: (.+)", run.errors)
    return replace(run, errors="\n".join(own)) if own else run


def _fault(
    path: Path, file: SourceFile, run: ProcessResult, maximum_bytes: int
) -> RejectedError | None:
    """Say why a file that arrived is not the one that was listed; None where it is."""
    if not path.is_file() or path.is_symlink():
        return _missing(file, run)
    size = path.stat().st_size
    if size > maximum_bytes:
        what = f"has {size:,} bytes; at most {maximum_bytes:,} are read."
        hint = "Raise the limit in the settings: reading.maximum_megabytes."
        return _rejected(file, "too-large", what, hint)
    # Of a document that is exported nobody states the size.
    is_package = path.suffix.lower() in _PACKAGES
    if file.size < 0 and (not size or (is_package and not zipfile.is_zipfile(path))):
        return _rejected(file, "truncated", f"did not arrive whole: {size:,} bytes.")
    return _rejected(file, *_CHANGED) if file.size not in {size, -1} else None


def _missing(file: SourceFile, run: ProcessResult) -> RejectedError:
    kind = kind_of(run)
    if not run.code or kind is Failure.NOT_FOUND:
        return _rejected(file, "vanished", "is no longer there.", "")
    if arrived_short(run):
        what = f"did not arrive whole, in several attempts: {reason_of(run)}"
        return _rejected(file, "truncated", what)
    if kind is Failure.CORRUPT:
        return _rejected(file, *_CHANGED)
    what = f"could not be fetched: {reason_of(run)}"
    return _rejected(file, "cannot-open", what, _AGAIN if kind in PASSING else "")


def _untried(file: SourceFile) -> RejectedError | None:
    return _rejected(file, "cannot-open", "was not tried: the service does not answer.")


def _rejected(file: SourceFile, code: str, what: str, hint: str = _AGAIN) -> RejectedError:
    return RejectedError(code, f"{file.source} {what}", hint=hint)
