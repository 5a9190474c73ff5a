"""What rclone can reach: its back ends, the remotes in its configuration, and how one is made.

Logins and keys stay in rclone's own configuration; they are neither read nor stored here.
"""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from chapterhouse.connectors.rclone_listing import Place, read_json
from chapterhouse.connectors.rclone_program import Rclone, environment
from chapterhouse.errors import EngineError, NotFoundError, UsageError

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
    """A kind of cloud drive that rclone can read.

    Attributes:
        by_browser: Whether a login in the browser is all that it needs.
    """

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
