"""What is in a folder of a cloud drive, as rclone lists it."""

import json
import random
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any, Final, Self

from chapterhouse.connectors.folder import REMOTE
from chapterhouse.connectors.rclone_failures import PASSING, error_of, kind_of
from chapterhouse.connectors.rclone_program import Finished, Rclone, StoppedError
from chapterhouse.errors import EngineError, UsageError

# Hashes that are compared with the bytes here, the best first; others rclone compares itself.
_DIGESTS: Final = ("sha256", "sha1", "md5")
# A document of Google's own has no bytes: it is exported to a format of Office.
EXPORTS: Final = ("--drive-export-formats=docx,xlsx,pptx",)
# Without them a bucket answers one more request for each file.
_FEW_REQUESTS: Final = ("--no-mimetype", "--use-server-modtime")
_NAME: Final = re.compile(r"[\w+@.][\w+@. -]*")
_SECOND_NS: Final = 1_000_000_000
_FRACTION: Final = re.compile(r"\.(\d{1,9})\d*")


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of a remote that rclone's configuration names.

    Attributes:
        remote: Its name there.
        path: Below it, without slashes at either end; empty for all of it.
    """

    remote: str
    path: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``REMOTE:PATH``.

        Raises:
            UsageError: it is something else.
        """
        remote, colon, path = text.partition(":")
        parts = [part for part in path.split("/") if part]
        # A remote that is described on the spot, as ":s3,secret=…:", would be stored and shown.
        if remote.lower() in {"http", "https"} and path.startswith("//"):
            raise UsageError(
                "That is the address of a web page, no folder.",
                hint="Write addresses into a file that ends in .links, one a line, and add that.",
            )
        if not colon or not _NAME.fullmatch(remote) or {".", ".."} & {*parts} or "\0" in path:
            raise UsageError(
                "A folder of a cloud drive is written REMOTE:PATH, like gdrive:Papers/2026.",
                hint="See the remotes with: chapterhouse cloud list",
            )
        return cls(remote, "/".join(parts))

    def __str__(self) -> str:
        return f"{self.remote}:{self.path}"

    @property
    def name(self) -> str:
        """What its sources begin with, unless somebody says otherwise."""
        return self.path.rpartition("/")[2] or self.remote

    def location(self, path: str = "") -> str:
        """Return where a file below it is, as the ledger has it."""
        return f"{REMOTE}{self.remote}:{'/'.join(filter(None, (self.path, path)))}"

    @property
    def prefix(self) -> str:
        """What the locations of all that is below it begin with."""
        return self.location() + ("/" if self.path else "")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or folder, as it was listed.

    Attributes:
        path: Below the folder that was listed.
        size: In bytes; -1 where nobody knows before it is fetched.
        digest: Its hash, like ``md5:…``, where the service states one.
    """

    path: str
    size: int
    mtime_ns: int
    is_folder: bool = False
    digest: str = ""


def list_place(rclone: Rclone, place: Place, *, recursive: bool) -> tuple[Entry, ...]:
    """Return what is in a folder now, in order of path.

    Args:
        rclone: The program.
        place: The folder.
        recursive: Whether folders below it are listed too, then with hashes.

    Raises:
        ChapterhouseError: it cannot be listed to its end.
    """
    options = [*EXPORTS, *_FEW_REQUESTS]
    if recursive:
        options += ["-R", *_hashes(rclone, place)]
    found = read_json(rclone, ["lsjson", *options, str(place)], str(place))
    newest: dict[str, Entry] = {}
    for entry in map(_entry, found):  # two files of one name, as Google Drive has: the newer
        known = newest.get(entry.path)
        if known is None or known.mtime_ns < entry.mtime_ns:
            newest[entry.path] = entry
    return tuple(newest[path] for path in sorted(newest))


def read_json(rclone: Rclone, arguments: Sequence[str], place: str) -> Any:
    """Return what rclone prints as JSON; what may pass is tried again.

    Raises:
        ChapterhouseError: it fails, or prints something else.
    """
    with tempfile.TemporaryFile() as output:
        for pause in (*pauses(rclone), None):
            run = _fresh_run(rclone, arguments, output)
            if run.code == 0 and not run.timed_out:
                break
            if pause is None or kind_of(run) not in PASSING:
                raise error_of(run, place)
            wait(rclone, pause)
        output.seek(0)
        try:
            return json.load(output)
        except ValueError as error:
            raise EngineError(f"rclone printed no listing of '{place}'.") from error


def pauses(rclone: Rclone) -> Iterator[float]:
    """Yield the seconds to wait before each further attempt: each twice as long, with jitter."""
    for attempt in range(rclone.patience.attempts - 1):
        yield rclone.patience.pause_seconds * 2**attempt * random.uniform(0.5, 1.5)  # noqa: S311


def wait(rclone: Rclone, seconds: float) -> None:
    """Wait before another attempt.

    Raises:
        StoppedError: nobody wants it any more.
    """
    if rclone.stop.wait(seconds):
        raise StoppedError


def _fresh_run(rclone: Rclone, arguments: Sequence[str], output: IO[bytes]) -> Finished:
    output.seek(0)
    output.truncate()
    return rclone.run(arguments, output)


def _hashes(rclone: Rclone, place: Place) -> Iterable[str]:
    """Return the option that lists hashes, unless the service would read every file for them."""
    known = read_json(rclone, ["backend", "features", f"{place.remote}:"], str(place))
    slow = known["Features"].get("SlowHash", False)  # which older ones do not say
    return ("--hash",) if known["Hashes"] and not slow else ()


def _entry(item: Mapping[str, Any]) -> Entry:
    hashes: Mapping[str, str] = item.get("Hashes") or {}
    name = next((name for name in (*_DIGESTS, *sorted(hashes)) if hashes.get(name)), "")
    return Entry(
        path=str(item["Path"]),
        size=int(item["Size"]),
        mtime_ns=_nanoseconds(str(item.get("ModTime") or "")),
        is_folder=bool(item["IsDir"]),
        digest=f"{name}:{hashes[name].lower()}" if name else "",
    )


def _nanoseconds(time_text: str) -> int:
    """Read a time as RFC 3339 has it, with up to nine decimals; 0 where there is none."""
    if not time_text:
        return 0
    fraction = _FRACTION.search(time_text)
    whole = datetime.fromisoformat(_FRACTION.sub("", time_text))
    return int(whole.timestamp()) * _SECOND_NS + int(
        (fraction[1] if fraction else "").ljust(9, "0")
    )
