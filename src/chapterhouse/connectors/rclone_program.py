"""The ``rclone`` program: found, run with a time limit, its failures told without secrets."""

import os
import re
import shutil
import signal
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from chapterhouse.errors import (
    ChapterhouseError,
    EngineError,
    MissingExtraError,
    NotFoundError,
    RefusedError,
)
from chapterhouse.text.sanitise import sanitise_line

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
class ProcessResult:
    """How a run ended.

    Attributes:
        code: The exit code; negative where a signal ended it.
        timed_out: Whether it was stopped because it took too long.
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

    def run(self, arguments: Sequence[str], *, limit: float = 0.0) -> ProcessResult:
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
            return ProcessResult(-signal.SIGKILL, errors, timed_out=True)
        errors = done.stderr.decode("utf-8", "replace")
        return ProcessResult(done.returncode, errors, output=done.stdout)

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


# --- failures ------------------------------------------------------------------------------------


class Failure(StrEnum):
    """What kind of failure it was."""

    UNKNOWN_REMOTE = "unknown-remote"
    NOT_FOUND = "not-found"
    CORRUPT = "corrupt"
    LOGIN = "login"
    ENCRYPTED = "encrypted"
    BUSY = "busy"
    NETWORK = "network"
    OTHER = "other"


# Those that another try may not meet.
PASSING: Final = frozenset({Failure.BUSY, Failure.NETWORK})
# Those that the next file would meet as well.
GENERAL: Final = PASSING | {Failure.LOGIN, Failure.ENCRYPTED, Failure.UNKNOWN_REMOTE}

_NO_FOLDER, _NO_FILE, _TRY_AGAIN = 3, 4, 5  # exit codes; https://rclone.org/docs/#exit-code
# In this order: Google says "403 userRateLimitExceeded", which is no matter of the login.
_SIGNS: Final = (
    (Failure.CORRUPT, r"corrupted on transfer|source file is being updated|gzip: |flate: "),
    (Failure.UNKNOWN_REMOTE, r"didn't find section in config file|didn't find backend called"),
    (Failure.ENCRYPTED, r"unable to decrypt configuration|configuration .*password|RCLONE_CONFIG_"),
    (
        Failure.BUSY,
        r"\b(429|503|509)\b|rate.?limit|too many requests|slow.?down|quota|throttl|unavailable",
    ),
    (
        Failure.LOGIN,
        (
            r"\b(401|403)\b|unauthori[sz]ed|denied|forbidden|invalid_grant|oauth|token|invalidaccess|"
            r"signaturedoesnot|unable to authenticate|knownhosts"
        ),
    ),
    (Failure.NOT_FOUND, r"(directory|object|file|bucket|container) not found|nosuchbucket"),
    (
        Failure.NETWORK,
        (
            r"no such host|connection|unreachable|no route|timeout|timed out|deadline|\beof\b|"
            r"broken pipe|tls|x509|\b(500|502|504)\b|server misbehaving|lookup "
        ),
    ),
)
_LATER: Final = "Then run the same command again: it goes on with the rest."
# What is raised, what it says, and what to do.
_ERRORS: Final[Mapping[Failure, tuple[type[ChapterhouseError], str, str]]] = {
    Failure.UNKNOWN_REMOTE: (
        NotFoundError,
        "There is no remote '{remote}' in rclone's configuration.",
        "See: chapterhouse cloud list\nMake one: chapterhouse cloud connect PROVIDER {remote}",
    ),
    Failure.NOT_FOUND: (
        NotFoundError,
        "There is no folder '{place}'.",
        "See: chapterhouse cloud folders {remote}:",
    ),
    Failure.LOGIN: (
        RefusedError,
        "The service of '{remote}' refuses access: {reason}",
        "Renew the login: rclone config reconnect {remote}:\nOr check what it may read.",
    ),
    Failure.ENCRYPTED: (
        RefusedError,
        "rclone's configuration is encrypted, and its password is not known here.",
        "Set RCLONE_CONFIG_PASS or RCLONE_PASSWORD_COMMAND in the environment.",
    ),
    Failure.BUSY: (
        EngineError,
        "The service of '{remote}' takes no more requests now: {reason}",
        f"Wait a few minutes. {_LATER}",
    ),
    Failure.NETWORK: (
        EngineError,
        "The service of '{remote}' cannot be reached: {reason}",
        f"Check the network. {_LATER}",
    ),
}
_OTHERWISE: Final = (
    EngineError,
    "rclone could not read '{place}': {reason}",
    "Try it by itself: rclone lsf {remote}:",
)
_ADDRESS: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://[^\s\"'<>]+")
_SECRET: Final = re.compile(r"[A-Za-z0-9+/_=.~-]{24,}")
_NAMED_SECRET: Final = re.compile(
    r"(?i)((?:pass(?:word)?|secret|token|key|auth\w*|bearer|basic)[\"']?\s*[:= ]\s*"
    r"(?:(?:bearer|basic)\s+)?)(\S+)"
)
_STAMP: Final = re.compile(r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d +\w+ *: *")
_LONGEST: Final = 300


def kind_of(run: ProcessResult) -> Failure:
    """Say what kind of failure it was."""
    if run.timed_out:
        return Failure.NETWORK
    for kind, sign in _SIGNS:
        if re.search(sign, run.errors, re.IGNORECASE):
            return kind
    if run.code in {_NO_FOLDER, _NO_FILE}:
        return Failure.NOT_FOUND
    return Failure.NETWORK if run.code == _TRY_AGAIN else Failure.OTHER


def arrived_short(run: ProcessResult) -> bool:
    """Whether bytes came, and not all of them."""
    return re.search(r"unexpected EOF|sizes differ", run.errors) is not None


def error_of(run: ProcessResult, place: str) -> ChapterhouseError:
    """Return the error for a run that failed."""
    kind, message, hint = _ERRORS.get(kind_of(run), _OTHERWISE)
    remote = place.partition(":")[0]
    filled = message.format(remote=remote, place=place, reason=reason_of(run))
    return kind(filled, hint=hint.format(remote=remote))


def reason_of(run: ProcessResult) -> str:
    """Return the last thing that rclone said, without what may be secret in it."""
    if run.timed_out:
        return "it took too long."
    lines = [line for line in run.errors.splitlines() if line.strip()]
    line = _STAMP.sub("", lines[-1]) if lines else f"exit code {run.code}"
    _, _, last = line.rpartition("last error was: ")
    return f"{redacted(last or line)[:_LONGEST].rstrip('.')}."


def redacted(text: str) -> str:
    """Return a message without passwords, keys and tokens; of addresses, only the host stays."""
    text = _ADDRESS.sub(_host_only, sanitise_line(text))
    return _SECRET.sub("…", _NAMED_SECRET.sub(r"\1…", text))


def _host_only(match: re.Match[str]) -> str:
    try:
        parts = urlsplit(match.group())
        host, port = parts.hostname, parts.port
    except ValueError:
        return "…"
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}/…"
