"""What a failure of rclone means, in words that hold no secret."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from chapterhouse.connectors.rclone_program import Finished
from chapterhouse.errors import ChapterhouseError, EngineError, NotFoundError, RefusedError
from chapterhouse.text.sanitise import sanitise_line


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


def kind_of(run: Finished) -> Failure:
    """Say what kind of failure it was."""
    if run.timed_out:
        return Failure.NETWORK
    for kind, sign in _SIGNS:
        if re.search(sign, run.errors, re.IGNORECASE):
            return kind
    if run.code in {_NO_FOLDER, _NO_FILE}:
        return Failure.NOT_FOUND
    return Failure.NETWORK if run.code == _TRY_AGAIN else Failure.OTHER


def arrived_short(run: Finished) -> bool:
    """Whether bytes came, and not all of them."""
    return re.search(r"unexpected EOF|sizes differ", run.errors) is not None


def error_of(run: Finished, place: str) -> ChapterhouseError:
    """Return the error for a run that failed."""
    kind, message, hint = _ERRORS.get(kind_of(run), _OTHERWISE)
    remote = place.partition(":")[0]
    filled = message.format(remote=remote, place=place, reason=reason_of(run))
    return kind(filled, hint=hint.format(remote=remote))


def reason_of(run: Finished) -> str:
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
