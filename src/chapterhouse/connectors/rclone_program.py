"""The ``rclone`` program: found, and run with a time limit."""

import os
import shutil
import signal
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from chapterhouse.errors import MissingExtraError, NotFoundError

PROGRAM: Final = "rclone"
EXTRA: Final = "cloud"

# What rclone needs of the environment: its own settings, the ways out of this machine, and what its
# back ends read where a remote says ``env_auth``. Keys of our own are not among them.
_VARIABLES: Final = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "TZ", "SSH_AUTH_SOCK", "BROWSER"}
    | {"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "GOOGLE_APPLICATION_CREDENTIALS"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR"}
)
_PREFIXES: Final = ("RCLONE_", "AWS_", "AZURE_", "XDG_", "LC_")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long and how often a service is tried.

    Attributes:
        stall_seconds: Without a byte, after which a transfer is broken off.
        connect_seconds: Of each try to connect.
        low_level_tries: Of each request, by rclone itself.
        attempts: Of what has failed.
        pause_seconds: Before each further attempt.
        total_seconds: Of one run, apart from the time that bytes take.
        bytes_per_second: A slower transfer is broken off.
    """

    stall_seconds: float = 60.0
    connect_seconds: float = 15.0
    low_level_tries: int = 4
    attempts: int = 3
    pause_seconds: float = 1.0
    total_seconds: float = 1_200.0
    bytes_per_second: int = 20_000


@dataclass(frozen=True, slots=True)
class Finished:
    """How a run ended.

    Attributes:
        code: The exit code; negative where a signal ended it.
        errors: What it wrote to standard error.
        timed_out: Whether it was stopped because it took too long.
        output: What it printed.
    """

    code: int
    errors: str = ""
    timed_out: bool = False
    output: bytes = b""


@dataclass(frozen=True, slots=True)
class Rclone:
    """The program, and how patiently it is run."""

    path: Path
    patience: Patience = field(default_factory=Patience)

    def run(self, arguments: Sequence[str], *, limit: float = 0.0) -> Finished:
        """Run it to its end and say how it ended; it is asked nothing and has no terminal.

        Args:
            limit: Seconds after which it is stopped; 0 for those of the patience.

        Raises:
            OSError: it cannot be started.
        """
        try:
            done = subprocess.run(  # noqa: S603 - no shell; what users name is one argument
                [str(self.path), *arguments, *self._flags()],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=environment(),
                start_new_session=True,  # Ctrl-C reaches us, and we end it
                timeout=limit or self.patience.total_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            errors = (error.stderr or b"").decode("utf-8", "replace")
            return Finished(-signal.SIGKILL, errors, timed_out=True)
        errors = done.stderr.decode("utf-8", "replace")
        return Finished(done.returncode, errors, output=done.stdout)

    def _flags(self) -> tuple[str, ...]:
        patience = self.patience
        return (
            "--ask-password=false",
            "--log-level=NOTICE",
            "--stats=0",
            f"--retries={patience.attempts}",
            f"--retries-sleep={patience.pause_seconds}s",
            f"--low-level-retries={patience.low_level_tries}",
            f"--timeout={patience.stall_seconds}s",
            f"--contimeout={patience.connect_seconds}s",
        )


def find_rclone(named: str = "") -> Path:
    """Return the program: the one that the settings name, on PATH, or that the extra installed.

    Raises:
        NotFoundError: the settings name one that is not there.
        MissingExtraError: there is none.
    """
    if named:
        found = shutil.which(str(Path(named).expanduser()))
        if found is None:
            raise NotFoundError(
                f"There is no program {named!r}, which the setting cloud.rclone names.",
                hint="Correct the setting, or take it out to use the rclone on PATH.",
            )
        return Path(found)
    # Behind PATH: the folder of this Python's programs, which is on it only in an activated one.
    found = shutil.which(PROGRAM) or shutil.which(PROGRAM, path=sysconfig.get_path("scripts"))
    if found is None:
        raise MissingExtraError("A cloud drive", EXTRA)
    return Path(found)


def environment() -> Mapping[str, str]:
    """Return what of the environment rclone is given."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _VARIABLES or name.startswith(_PREFIXES)
    }
