"""What rclone can reach: what is in a folder, its back ends and remotes, and how one is made.

Logins and keys stay in rclone's own configuration; they are neither read nor stored here.
"""

import json
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Self

from chapterhouse.connectors.folder import REMOTE
from chapterhouse.connectors.rclone_program import PASSING, Rclone, environment, error_of, kind_of
from chapterhouse.errors import EngineError, NotFoundError, UsageError

# A document of Google's own has no bytes: it is exported to a format of Office. And a bucket would
# answer one more request for each file to say a better time than its own.
OPTIONS: Final = ("--drive-export-formats=docx,xlsx,pptx", "--use-server-modtime")
_NAME: Final = re.compile(r"[\w+@.][\w+@. -]*")
_SECOND_NS: Final = 1_000_000_000
_FRACTION: Final = re.compile(r"\.(\d{1,9})\d*")


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of a remote that rclone's configuration names.

    Attributes:
        path: Below it, without slashes at either end; empty for all of it.
    """

    remote: str
    path: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``REMOTE:PATH``."""
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
    """

    path: str
    size: int
    mtime_ns: int
    is_folder: bool = False


def list_place(rclone: Rclone, place: Place, *, recursive: bool) -> tuple[Entry, ...]:
    """Return what is in a folder now, in order of path.

    Raises:
        ChapterhouseError: it cannot be listed to its end.
    """
    options = (*OPTIONS, "--no-mimetype", *(("-R",) if recursive else ()))
    found = read_json(rclone, ["lsjson", *options, str(place)], str(place))
    newest: dict[str, Entry] = {}
    for entry in map(_entry, found):  # two files of one name, as Google Drive has: the newer
        known = newest.get(entry.path)
        if known is None or known.mtime_ns < entry.mtime_ns:
            newest[entry.path] = entry
    return tuple(newest[path] for path in sorted(newest))


def read_json(rclone: Rclone, arguments: Sequence[str], place: str) -> Any:
    """Return what rclone prints as JSON; what may pass is tried again."""
    for attempt in range(rclone.patience.attempts):
        time.sleep(rclone.patience.pause_seconds * attempt)
        run = rclone.run(arguments)
        if not run.code or kind_of(run) not in PASSING:
            break
    if run.code:
        raise error_of(run, place)
    try:
        return json.loads(run.output)
    except ValueError as error:
        raise EngineError(f"rclone printed no listing of '{place}'.") from error


def _entry(item: Mapping[str, Any]) -> Entry:
    return Entry(
        path=str(item["Path"]),
        size=int(item["Size"]),
        mtime_ns=_nanoseconds(str(item.get("ModTime") or "")),
        is_folder=bool(item["IsDir"]),
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


# The well-known first, in this order; the others follow by name.
_WELL_KNOWN: Final = ("drive", "dropbox", "onedrive", "box", "s3", "webdav", "sftp")
_ALSO_CALLED: Final[Mapping[str, str]] = {
    "gdrive": "drive",
    "google": "drive",
    "googledrive": "drive",
    "microsoft": "onedrive",
    "amazon": "s3",
    "aws": "s3",
    "nextcloud": "webdav",
    "owncloud": "webdav",
    "ssh": "sftp",
}
_NO_OUTPUT: Final = "--no-output"
# What is asked for beforehand: nothing here ever writes to a drive.
_READ_ONLY: Final[Mapping[str, str]] = {"drive": "scope=drive.readonly"}


@dataclass(frozen=True, slots=True)
class Provider:
    """A kind of cloud drive that rclone can read."""

    name: str
    description: str
    by_browser: bool


@dataclass(frozen=True, slots=True)
class Remote:
    """A drive that rclone's configuration names."""

    name: str
    provider: str


def providers(rclone: Rclone) -> tuple[Provider, ...]:
    """Return what rclone can read, the well-known first."""
    found = [
        Provider(
            str(item["Prefix"]),
            str(item["Description"]),
            any(option["Name"] == "token" for option in item["Options"]),
        )
        for item in read_json(rclone, ["config", "providers"], "")
    ]
    order = {name: place for place, name in enumerate(_WELL_KNOWN)}
    return tuple(sorted(found, key=lambda one: (order.get(one.name, len(order)), one.name)))


def remotes(rclone: Rclone) -> tuple[Remote, ...]:
    """Return the remotes of rclone's configuration, by name, and nothing else that it says."""
    found = read_json(rclone, ["config", "dump"], "")
    return tuple(Remote(name, str(found[name].get("type", ""))) for name in sorted(found))


def find_provider(name: str, offered: Sequence[Provider]) -> Provider:
    """Return the provider that a name means.

    Raises:
        NotFoundError: there is none of that name.
    """
    plain = "".join(filter(str.isalnum, name.lower()))
    wanted = _ALSO_CALLED.get(plain, plain)
    found = next((one for one in offered if one.name == wanted), None)
    if found is None:
        raise NotFoundError(
            f"rclone knows no provider '{name}'.", hint="See: chapterhouse cloud providers"
        )
    return found


def connect_command(rclone: Rclone, provider: Provider, name: str) -> tuple[str, ...]:
    """Return the command that makes a remote, asking on the terminal or in the browser."""
    asked = () if provider.by_browser else ("--all",)
    read_only = (_READ_ONLY[provider.name],) if provider.name in _READ_ONLY else ()
    return (str(rclone.path), "config", "create", name, provider.name, *read_only, *asked)


def connect(rclone: Rclone, provider: Provider, name: str) -> Remote:
    """Let rclone make a remote at this terminal; one that is not finished is deleted again.

    Raises:
        UsageError: the name is taken, or cannot be one.
        EngineError: it was not made.
    """
    require_free(name, remotes(rclone))
    command = (*connect_command(rclone, provider, name), *_silence(rclone))
    finished = False
    try:
        done = subprocess.run(command, env=environment(), check=False)  # noqa: S603 - no shell
        finished = done.returncode == 0
    finally:
        if not finished:
            rclone.run(["config", "delete", name])
    if not finished:
        raise EngineError(
            f"The remote '{name}' was not made: rclone ended with exit code {done.returncode}.",
            hint="Run the command again, or make it with: rclone config",
        )
    return Remote(name, provider.name)


def _silence(rclone: Rclone) -> tuple[str, ...]:
    """Return the option without which the new remote is printed, login and all, if there is one."""
    shown = rclone.run(["config", "create", "--help"]).output
    return (_NO_OUTPUT,) if _NO_OUTPUT.encode() in shown else ()


def require_free(name: str, known: Sequence[Remote]) -> None:
    """Refuse a name that a remote has, or cannot have."""
    if Place.parse(f"{name}:") and any(remote.name == name for remote in known):
        raise UsageError(
            f"There is a remote '{name}' already.",
            hint=f"Use it: chapterhouse cloud folders {name}:\n"
            "Or give another name: chapterhouse cloud connect PROVIDER NAME",
        )
