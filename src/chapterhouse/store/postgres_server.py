"""The PostgreSQL server of an address: how it is reached, and which workspaces it has."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import psycopg
from psycopg.adapt import Dumper, Loader
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper

from chapterhouse.errors import (
    ChapterhouseError,
    CorruptLibraryError,
    NotFoundError,
    ReadOnlyError,
    RefusedError,
    UnavailableError,
    UsageError,
)

HOME_SCHEMA: Final = "chapterhouse"  # who may use the libraries; with a name behind it a workspace
VERSIONS: Final = "chapterhouse_schema"  # the table by which a schema is known as ours
_LONGEST: Final = 63  # bytes of a name
_SLICE_SECONDS: Final = 0.2  # after which somebody is heard who wants an end
_AWAY_SECONDS: Final = 1.0  # between attempts to reach a server that is away
_ANYWAY_SECONDS: Final = 60.0
_OLDEST: Final = 180_000  # the first with casefold()
_DEFAULTS: Final = {
    "connect_timeout": "10",
    "application_name": "chapterhouse",
    # A server that is gone without a word is noticed within half a minute.
    "keepalives_idle": "20",
    "tcp_user_timeout": "30000",
}

Driver = psycopg.Connection[Any]


class _BooleanDumper(Dumper):
    """Booleans are numbers, as SQLite has them."""

    oid = Int8Dumper.oid

    def dump(self, obj: bool) -> bytes:  # noqa: FBT001 - as its class has it
        """Return the number."""
        return b"1" if obj else b"0"


class _TextDumper(StrDumper):
    """PostgreSQL has no text with a zero byte; U+FFFD takes its place."""

    def dump(self, obj: str) -> Any:
        """Return the text in UTF-8."""
        return super().dump(obj.replace("\0", "\ufffd") if "\0" in obj else obj)


class _NumericLoader(Loader):
    """Sums of whole numbers are whole numbers."""

    def load(self, data: Any) -> int | float:
        """Return the number."""
        text = bytes(data)
        return float(text) if b"." in text else int(text)


def connect(address: str) -> Driver:
    """Open a connection on which every statement is a transaction by itself.

    Raises:
        RefusedError: the server is too old, or the database is not in UTF-8.
    """
    connection: Driver = psycopg.connect(
        **{**_DEFAULTS, **_parsed(address)},
        autocommit=True,
        cursor_factory=psycopg.RawCursor,
    )
    info = connection.info
    if info.server_version < _OLDEST or info.parameter_status("server_encoding") != "UTF8":
        found = f"PostgreSQL {info.server_version // 10_000}"
        encoding = info.parameter_status("server_encoding")
        connection.close()
        raise RefusedError(
            f"{place_of(address)} is {found} in {encoding}; a library needs PostgreSQL"
            f" {_OLDEST // 10_000} or later and a database in UTF8.",
            hint="Upgrade the server, or make another database: CREATE DATABASE chapterhouse"
            " ENCODING 'UTF8' TEMPLATE template0",
        )
    # Every number and text has one type, so that a statement is prepared once.
    for kind, dumper in ((int, Int8Dumper), (str, _TextDumper), (bool, _BooleanDumper)):
        connection.adapters.register_dumper(kind, dumper)
    connection.adapters.register_loader("numeric", _NumericLoader)
    return connection


def _parsed(address: str) -> dict[str, Any]:
    try:
        return conninfo_to_dict(address)
    except psycopg.Error:  # whose message repeats the address, and with it a password
        raise UsageError(
            "The address of the store is not one of PostgreSQL.",
            hint="They look like: postgresql://USER:PASSWORD@HOST:5432/DATABASE; in a user or"
            " password write @ as %40, : as %3A and / as %2F.",
        ) from None


def place_of(address: str) -> str:
    """Return server and database of an address, without user and password."""
    known = _parsed(address)
    host = known.get("host") or known.get("hostaddr") or "localhost"
    port = f":{known['port']}" if known.get("port") else ""
    return f"{known.get('dbname') or known.get('user') or 'postgres'} on {host}{port}"


def schema_of(workspace: str) -> str:
    """Return the name of the schema of a workspace.

    Raises:
        UsageError: it is too long for PostgreSQL.
    """
    name = f"{HOME_SCHEMA}_{workspace}"
    if len(name) > _LONGEST:
        raise UsageError(
            f"The name of the workspace '{workspace}' is too long for PostgreSQL.",
            hint=f"Use at most {_LONGEST - len(HOME_SCHEMA) - 1} characters.",
        )
    return name


def workspace_names(address: str) -> tuple[str, ...]:
    """Return the names of the workspaces in a database that its user may see, sorted."""
    with explained(place_of(address)), connect(address) as connection:
        found = connection.execute(
            "SELECT nspname FROM pg_namespace AS n JOIN pg_class AS c ON c.relnamespace = n.oid"
            " WHERE c.relname = $1 AND starts_with(nspname, $2)"
            " AND has_schema_privilege(n.oid, 'USAGE')",
            [VERSIONS, f"{HOME_SCHEMA}_"],
        ).fetchall()
    return tuple(sorted(str(name).removeprefix(f"{HOME_SCHEMA}_") for (name,) in found))


def has_versions(connection: Driver, schema: str) -> bool:
    """Whether a schema is there and has tables of ours."""
    found = connection.execute(
        "SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE n.nspname = $1 AND c.relname = $2",
        [schema, VERSIONS],
    ).fetchone()
    return found is not None


class Changes:
    """Hears what is committed to the workspaces of a database, on a connection of its own.

    A connection that is lost is made anew, and as nobody knows what was committed meanwhile, every
    workspace counts as changed then. So does each once a minute, whatever was heard. For one
    thread.
    """

    notifies = True

    def __init__(self, address: str) -> None:
        self._address = address
        self._connection: Driver | None = None
        self._connected = 0  # how often
        self._notified: Counter[str] = Counter()

    def seen(self, workspace: str) -> tuple[int, ...]:
        """Return what differs whenever something was heard of a workspace."""
        minute = int(time.monotonic() / _ANYWAY_SECONDS)
        return self._connected, minute, self._notified[schema_of(workspace)]

    def wait(self, seconds: float, stop: threading.Event, workspace: str = "") -> None:
        """Wait until something is committed, to one workspace or any, or until ``stop`` is set.

        Args:
            seconds: At most.
            workspace: Its name; of any where it is empty.
        """
        deadline = time.monotonic() + seconds
        before = self._sum(workspace)
        while self._sum(workspace) == before and not stop.is_set():
            left = deadline - time.monotonic()
            if left <= 0:
                return
            try:
                self._listen(min(left, _SLICE_SECONDS))
            except (psycopg.Error, ChapterhouseError):  # who looks is told what is wrong
                self.close()
                stop.wait(min(left, _AWAY_SECONDS))

    def _sum(self, workspace: str) -> tuple[int, int]:
        notified = self._notified[schema_of(workspace)] if workspace else self._notified.total()
        return self._connected, notified

    def _listen(self, seconds: float) -> None:
        if self._connection is None:
            self._connection = connect(self._address)
            self._connection.execute(f"LISTEN {HOME_SCHEMA}")
            self._connected += 1
        for one in self._connection.notifies(timeout=seconds, stop_after=1):
            self._notified[one.payload] += 1

    def close(self) -> None:
        """Hear no more."""
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None


# --- errors -------------------------------------------------------------------------------------


@contextmanager
def explained(place: str) -> Iterator[None]:
    """Turn what PostgreSQL raises into errors that say what to do."""
    try:
        yield
    except psycopg.Error as error:
        raise _explained(error, place) from error
    except UnicodeEncodeError as error:
        raise UsageError(
            f"A text for the library holds the lone surrogate {error.object[error.start]!a}"
            f" at position {error.start}, which is no character.",
            hint="Clean the text with chapterhouse.text.sanitise before storing it.",
        ) from error


_Kind = type[ChapterhouseError]
# By the beginning of an SQLSTATE, the longest first: what is raised, what is said, and a hint.
_BY_STATE: Final[dict[str, tuple[_Kind, str, str]]] = {
    "25006": (ReadOnlyError, "can only be read", "Name the address of the primary server."),
    "28": (
        RefusedError,
        "refuses the user or the password",
        "Look at store.address, or CHAPTERHOUSE_STORE.",
    ),
    "3D000": (NotFoundError, "is not there", "Make it first: CREATE DATABASE"),
    "42501": (
        RefusedError,
        "does not let its user do that",
        "As its owner: GRANT CREATE ON DATABASE … TO …; or make the schema for the user.",
    ),
    "3F000": (UnavailableError, "has lost a schema", "Open the workspace again."),
    "42P01": (UnavailableError, "has lost a table", "Open the workspace again."),
    "22021": (UsageError, "does not take a text", "Clean it with chapterhouse.text.sanitise."),
    "54000": (UsageError, "does not take a value of this size", "Leave that file out."),
    "53100": (
        UnavailableError,
        "has no space left. What was there before is unharmed",
        "Free some disk space on the server, and repeat the command.",
    ),
    "53": (UnavailableError, "has no room for this now", "Repeat the command later."),
    "55P03": (
        UnavailableError,
        "was kept busy by another process for too long",
        "Wait until it has finished and repeat the command.",
    ),
    "57014": (UnavailableError, "took too long", "Repeat the command later."),
    "40": (UnavailableError, "undid what collided with another process", "Repeat the command."),
    "XX001": (CorruptLibraryError, "is damaged", "Restore a backup of the server."),
    "XX002": (CorruptLibraryError, "has a damaged index", "On the server: REINDEX DATABASE"),
}
_AWAY: Final = ("08", "57P")  # the server or its connection ended, or it is starting


def _explained(error: psycopg.Error, place: str) -> Exception:
    """Return the error to raise instead; one that says a statement is wrong stays as it is."""
    reason = " ".join(str(error).split("\n", 1)[0].split()).rstrip(".")
    state = error.sqlstate or _state_of(error, reason)
    explanation: ChapterhouseError | None = None
    for length in (2, 5):
        if found := _BY_STATE.get(state[:length]):
            kind, what, hint = found
            explanation = kind(f"The database {place} {what}: {reason}.", hint=hint)
    if explanation is None and state.startswith(_AWAY):
        explanation = UnavailableError(
            f"The PostgreSQL server of {place} cannot be reached: {reason}.",
            hint="See that it runs and that this machine may connect. What was acknowledged is"
            " stored; repeat what was not.",
        )
    if isinstance(explanation, UnavailableError):
        explanation.is_interrupted = state.startswith((*_AWAY, "40"))
    return explanation or error


def _state_of(error: psycopg.Error, reason: str) -> str:
    """Return the SQLSTATE of an error that has none: libpq passes on no state while connecting."""
    if not isinstance(error, psycopg.OperationalError):
        return ""
    if error.pgconn and (error.pgconn.needs_password or "authentication failed" in reason):
        return "28000"
    if "database" in reason and "does not exist" in reason:
        return "3D000"
    return "08006"
