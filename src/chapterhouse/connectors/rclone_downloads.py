"""Files of a cloud drive, fetched into a private folder and compared with the listing.

One run of rclone copies a group of files, which is many times faster than a run for each. What it
does not bring, or not whole, is fetched again by itself, another way. While one group is read, the
next one is fetched.
"""

import hashlib
import os
import shutil
import tempfile
import zipfile
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Final

from chapterhouse.connectors.folder import SourceFile
from chapterhouse.connectors.rclone_failures import (
    GENERAL,
    PASSING,
    Failure,
    kind_of,
    reason_of,
)
from chapterhouse.connectors.rclone_listing import EXPORTS, Place, pauses, wait
from chapterhouse.connectors.rclone_program import Finished, Rclone
from chapterhouse.errors import RejectedError
from chapterhouse.files import lock_folder, make_folder

_VANISHED: Final = "vanished"
_UNREACHABLE: Final = "cannot-open"
# What arrived and is not what was listed.
_WRONG: Final = frozenset({"truncated", "changed-while-reading"})

_GROUP_FILES: Final = 16
_GROUP_BYTES: Final = 32 * 2**20
_GROUPS_AHEAD: Final = 1
_MARGIN: Final = 2**20  # bytes that a run may bring beyond twice those that were listed
_PREFIX: Final = "downloads-"
_LOCK: Final = "lock"
_PACKAGES: Final = (".docx", ".xlsx", ".pptx")
_BLOCK: Final = 2**20

Got = Path | RejectedError


@dataclass(frozen=True, slots=True)
class Downloads:
    """Where files come from and go to.

    Attributes:
        place: The folder of the drive that they are below.
        folder: Where they go until they are read.
        transfers: How many are fetched at once.
    """

    rclone: Rclone
    place: Place
    folder: Path
    transfers: int

    def fetch(self, files: Sequence[SourceFile], maximum_bytes: int) -> Generator[Got]:
        """Yield for each file, in order, where it is now, whole, or why it cannot be had.

        What was yielded may be deleted before the next is asked for. Where the service answers
        nothing any more, the files that are left are not tried.

        Args:
            files: Of the place, each at most ``maximum_bytes`` long as far as is known.
            maximum_bytes: No longer file is fetched.
        """
        stop, health = Event(), _Health(self.transfers)
        mine = replace(self, rclone=replace(self.rclone, stop=stop))
        waiting: deque[Future[list[Got]]] = deque()
        with ThreadPoolExecutor(1, thread_name_prefix="download") as ahead:
            try:
                for group in _groups(files):
                    waiting.append(ahead.submit(mine.fetch_group, group, maximum_bytes, health))
                    if len(waiting) > _GROUPS_AHEAD:
                        yield from waiting.popleft().result()
                while waiting:
                    yield from waiting.popleft().result()
            finally:
                stop.set()
                for future in waiting:
                    future.cancel()

    def fetch_group(
        self, files: Sequence[SourceFile], maximum_bytes: int, health: "_Health"
    ) -> list[Got]:
        """Fetch some files together, then those by themselves that did not come whole."""
        if health.failure:
            return [_untried(file, health.failure) for file in files]
        with tempfile.TemporaryDirectory(dir=self.folder) as together:
            target = Path(together)
            run = self._copy(files, target, maximum_bytes)
            arrived = [self._arrived(file, target) for file in files]
            with ThreadPoolExecutor(self.transfers) as pool:
                futures = [
                    pool.submit(self._settle, file, path, run, maximum_bytes, health)
                    for file, path in zip(files, arrived, strict=True)
                ]
                return [future.result() for future in futures]

    def _arrived(self, file: SourceFile, target: Path) -> Path | None:
        """Move a file out of the folder in which a group came, to a name that always fits."""
        path = target.joinpath(*_below(self.place, file).split("/"))
        try:
            if not path.is_file() or path.is_symlink():
                return None
            return path.rename(self._free_name())
        except OSError:  # a name that this file system does not take
            return None

    def _free_name(self) -> Path:
        descriptor, name = tempfile.mkstemp(dir=self.folder)
        os.close(descriptor)
        return Path(name)

    def _settle(
        self,
        file: SourceFile,
        path: Path | None,
        run: Finished,
        maximum_bytes: int,
        health: "_Health",
    ) -> Got:
        """Return a file once it is whole, or why it cannot be had."""
        seen = fault = _fault(path, file, run)
        for attempt, pause in enumerate(pauses(self.rclone)):
            if fault is None or health.failure:
                break
            if path is not None:
                path.unlink(missing_ok=True)
                seen = fault
            if fault.code != _VANISHED:
                wait(self.rclone, pause)
            # Not as before: first as one stream that is compared here, then copied alone.
            again = self._cat if attempt % 2 == 0 else self._copy_alone
            path, run = again(file, maximum_bytes)
            fault = _fault(path, file, run)
        if fault is None:
            assert path is not None
            health.note(None)
            return path
        if path is not None:
            path.unlink(missing_ok=True)
        general = fault.code == _UNREACHABLE and kind_of(run) in GENERAL
        health.note(kind_of(run) if general else None)
        # Bytes that came wrong say more than a later attempt that brought none.
        return seen if seen is not None and seen.code in _WRONG else fault

    # --- ways to fetch ---------------------------------------------------------------------------

    def _copy(self, files: Sequence[SourceFile], target: Path, maximum_bytes: int) -> Finished:
        """Copy files below ``target``; rclone compares sizes, and hashes where there are any."""
        names = [_below(self.place, file) for file in files]
        names = [
            name for name in names if not {"\n", "\r"} & {*name}
        ]  # else they are fetched alone
        if not names:
            return Finished(0)
        most = sum(
            min(file.size, maximum_bytes) if file.size >= 0 else maximum_bytes for file in files
        )
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=self.folder) as listed:
            listed.write("\n".join(names) + "\n")
            listed.flush()
            options = (
                f"--files-from-raw={listed.name}",
                "--no-traverse",
                f"--transfers={self.transfers}",
                f"--checkers={self.transfers}",
                f"--max-transfer={2 * most + _MARGIN}B",
                "--multi-thread-streams=0",  # several streams of one file are several transfers
                *EXPORTS,
            )
            return self.rclone.run(
                ["copy", *options, str(self.place), str(target)], limit=self._limit(most)
            )

    def _copy_alone(self, file: SourceFile, maximum_bytes: int) -> tuple[Path | None, Finished]:
        with tempfile.TemporaryDirectory(dir=self.folder) as alone:
            target = Path(alone)
            run = self._copy([file], target, maximum_bytes)
            return self._arrived(file, target), run

    def _cat(self, file: SourceFile, maximum_bytes: int) -> tuple[Path | None, Finished]:
        path = self._free_name()
        place = Place(self.place.remote, file.location.partition(":")[2].partition(":")[2])
        with path.open("wb") as output:
            arguments = ["cat", *EXPORTS, f"--count={maximum_bytes + 1}", str(place)]
            run = self.rclone.run(arguments, output, limit=self._limit(max(file.size, 0)))
        return path, run

    def _limit(self, length: int) -> float:
        patience = self.rclone.patience
        return patience.total_seconds + length / patience.bytes_per_second


class _Health:
    """Whether the service still answers: after so many failures in a row it is left alone."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._failures: list[Failure] = []

    @property
    def failure(self) -> Failure | None:
        """The last failure, once there were too many."""
        return self._failures[-1] if len(self._failures) >= self._most else None

    def note(self, failure: Failure | None) -> None:
        """Note how a file ended: with a failure that others would meet too, or otherwise."""
        if failure is None:
            self._failures.clear()
        else:
            self._failures.append(failure)


@contextmanager
def private_folder(above: Path) -> Iterator[Path]:
    """Give a new folder for downloads; it goes with the block, and those of processes that died.

    Raises:
        OSError: it cannot be made.
    """
    make_folder(above)
    with ExitStack() as held:
        with lock_folder(above, _LOCK):  # nobody takes a new folder for an abandoned one
            for old in above.glob(f"{_PREFIX}*"):
                with lock_folder(old, _LOCK, wait_seconds=0) as abandoned:
                    if abandoned:
                        shutil.rmtree(old, ignore_errors=True)
            folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=above))
            held.callback(shutil.rmtree, folder, ignore_errors=True)
            held.enter_context(lock_folder(folder, _LOCK))
        yield folder


def _groups(files: Iterable[SourceFile]) -> Iterator[list[SourceFile]]:
    group: list[SourceFile] = []
    length = 0
    for file in files:
        size = max(file.size, 0)
        if group and (len(group) == _GROUP_FILES or length + size > _GROUP_BYTES):
            yield group
            group, length = [], 0
        group.append(file)
        length += size
    if group:
        yield group


def _below(place: Place, file: SourceFile) -> str:
    return file.location.removeprefix(place.prefix)


# --- what arrived --------------------------------------------------------------------------------


def _fault(path: Path | None, file: SourceFile, run: Finished) -> RejectedError | None:
    """Say why a file that arrived is not the one that was listed; None where it is."""
    size = path.stat().st_size if path is not None else 0
    if path is None or (not size and (run.code or file.size > 0)):
        return _missing(file, run)  # of what is gone from a bucket, nothing comes, and no error
    if (0 <= size < file.size) or (file.size < 0 and not _is_whole(path, file, run)):
        return _truncated(file, f"{size:,} of {max(file.size, size):,} bytes")
    if (file.size >= 0 and size != file.size) or not _has_digest(path, file.digest):
        return RejectedError(
            "changed-while-reading",
            f"{file.source} is not what was listed: it changed meanwhile, or arrives altered.",
            hint="Run the same command again later.",
        )
    return None


def _missing(file: SourceFile, run: Finished) -> RejectedError:
    kind = kind_of(run)
    if not run.code or kind is Failure.NOT_FOUND:
        return RejectedError("vanished", f"{file.source} is no longer there.")
    if kind is Failure.CORRUPT:
        return _truncated(file, reason_of(run).rstrip("."))
    hint = "Run the same command again later." if kind in PASSING else ""
    return RejectedError(
        "cannot-open", f"{file.source} could not be fetched: {reason_of(run)}", hint=hint
    )


def _truncated(file: SourceFile, what: str) -> RejectedError:
    return RejectedError(
        "truncated",
        f"{file.source} did not arrive whole, in several attempts: {what}.",
        hint="Run the same command again later.",
    )


def _untried(file: SourceFile, failure: Failure) -> RejectedError:
    return RejectedError(
        "cannot-open",
        f"{file.source} was not tried: the service does not answer ({failure.value}).",
        hint="Run the same command again later: it goes on with the rest.",
    )


def _is_whole(path: Path, file: SourceFile, run: Finished) -> bool:
    """Whether a file whose size nobody stated looks complete: documents are exported as ZIPs."""
    if run.code or not path.stat().st_size:
        return False
    return not file.name.lower().endswith(_PACKAGES) or zipfile.is_zipfile(path)


def _has_digest(path: Path, digest: str) -> bool:
    """Whether the bytes have a hash; those that Python cannot make, rclone has compared."""
    name, _, stated = digest.partition(":")
    if name not in hashlib.algorithms_guaranteed:
        return True
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, name).hexdigest() == stated
