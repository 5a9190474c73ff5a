"""What every test shares: no network beyond loopback, no settings of the person who runs them."""

import csv
import ipaddress
import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import hypothesis
import pytest
from tests.buckets import BucketServer, running_bucket
from tests.clouds import BUCKET, Drive, connected
from tests.databases import NewPlace, OpenStore, emptied, own_database, running_server

from chapterhouse import Library
from chapterhouse.connectors import content
from chapterhouse.ingest import encoders
from chapterhouse.library import opening
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.postgres import PostgresDatabase
from chapterhouse.store.sqlite import Store

# ``make soak`` asks for the long form of what is tested in small by ``make test``.
LARGE = "CHAPTERHOUSE_LARGE" in os.environ

# Any test whose homes are its own, with its libraries in PostgreSQL. A home of a whole module or
# session is made before the test's database is: it is in files, unless it names one itself.
EVERYTHING_IN_BUCKETS = os.environ.get("CHAPTERHOUSE_TEST_OBJECTS") == "s3"
EVERYTHING_IN_POSTGRES = os.environ.get("CHAPTERHOUSE_TEST_STORE") == "postgresql"

# A busy machine is no fault of the code: nothing in the tests depends on time.
hypothesis.settings.register_profile(
    "chapterhouse", deadline=None, max_examples=1_000 if LARGE else 15
)
hypothesis.settings.load_profile("chapterhouse")

# In the background of a shell SIGINT is ignored, and programs that tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Fixtures of a module or a session are made before the one below that says it for each test.
os.environ["CHAPTERHOUSE_BACKGROUND"] = "0"  # no process outlives its test


def _is_loopback(address: object) -> bool:
    host = address[0] if isinstance(address, tuple) else address
    if not isinstance(host, str):  # AF_UNIX in bytes, or a family that leaves no machine
        return True
    if host in {"localhost", ""} or host.startswith(("/", "\0")):
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: object) -> None:
        if not _is_loopback(address):
            pytest.fail(f"a test tried to connect to {address!r}")
        connect(self, address)  # type: ignore[arg-type]  # whatever the test passed

    def guarded_look_up(host: object, *arguments: object, **options: object) -> object:
        if not _is_loopback(host if host is not None else ""):
            pytest.fail(f"a test tried to look up {host!r}")
        return look_up(host, *arguments, **options)  # type: ignore[arg-type]  # passed on as given

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_look_up)


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Forget the environment's settings; a library opened without a home lands in a new folder."""
    for name in list(os.environ):
        if name.startswith("CHAPTERHOUSE_") and name != "CHAPTERHOUSE_DATA":
            monkeypatch.delenv(name)
    monkeypatch.setenv("CHAPTERHOUSE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CHAPTERHOUSE_BACKGROUND", "0")  # no process outlives its test


@pytest.fixture
def in_postgres(postgres: str, no_settings: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Let the homes of the test have their stores in PostgreSQL, in an empty database."""
    with own_database(postgres) as address:
        monkeypatch.setenv("CHAPTERHOUSE_STORE", address)
        yield address


@pytest.fixture
def each_store(kind: str, request: pytest.FixtureRequest) -> None:
    """Let the homes of the test have their stores in files, and once more in PostgreSQL."""
    if kind == "postgresql":
        request.getfixturevalue("in_postgres")


@pytest.fixture(autouse=True)
def wanted_store(request: pytest.FixtureRequest) -> None:
    """Let the homes of a test itself be in PostgreSQL, where the environment says so."""
    known = request.node._fixtureinfo.name2fixturedefs.values()
    lasting = (one[-1] for one in known if one[-1].scope in {"module", "session"})
    are_own = all(one.baseid in {"", "tests"} for one in lasting)  # as those of this file
    if EVERYTHING_IN_POSTGRES and are_own and "kind" not in request.fixturenames:
        request.getfixturevalue("in_postgres")
    if EVERYTHING_IN_BUCKETS:
        request.getfixturevalue("in_bucket")


@pytest.fixture(scope="session", autouse=True)
def vectors_at_once() -> Iterator[None]:
    """Let no test depend on how many vectors a busy machine makes in two seconds."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(encoders, "_SOON", 600.0)
        yield


@pytest.fixture(scope="module")
def vectors_later() -> Iterator[None]:
    """Let nobody who adds documents wait for vectors: few tests of a folder are about them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(encoders, "_SOON", 0.0)
        yield


@pytest.fixture
def vectors_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the vectors of small documents be made while they are added, as by default."""
    monkeypatch.setattr(encoders, "_SOON", 2.0)


class LentReaders:
    """A reading pool for a library, whose workers those after it go on using.

    To start a worker takes most of the time that reading the small files of a test takes.
    """

    lent: ClassVar[dict[tuple[int, Limits], ReadingPool]] = {}

    def __init__(self, workers: int, limits: Limits) -> None:
        if (workers, limits) not in self.lent:
            self.lent[workers, limits] = ReadingPool(workers, limits)
        self.submit = self.lent[workers, limits].submit
        self.show = self.lent[workers, limits].show

    def close(self) -> None:
        """Leave the workers running."""


@pytest.fixture(scope="session", autouse=True)
def readers() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(opening, "ReadingPool", LentReaders)
        yield
    for pool in LentReaders.lent.values():
        pool.close()


@pytest.fixture(scope="session", autouse=True)
def fine_clock() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(content, "_TICK_NS", 8_000_000)
        yield


@pytest.fixture(autouse=True)
def csv_limit() -> Iterator[None]:
    limit = csv.field_size_limit()
    yield
    csv.field_size_limit(limit)


@pytest.fixture(autouse=True)
def no_sender() -> Iterator[None]:
    """Wait for senders of spans: one that tries again draws random numbers in the next test."""
    yield
    for thread in threading.enumerate():
        if thread.name == "telemetry" or thread.name.startswith("OtelBatch"):
            thread.join(30)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server; the test is skipped where none can be started."""
    with running_server() as address:
        yield address


@pytest.fixture(scope="session")
def bucket_server() -> Iterator[BucketServer]:
    """A server of S3 with a bucket; the test is skipped where none can be started."""
    with running_bucket() as server:
        yield server


@pytest.fixture
def in_bucket(
    bucket_server: BucketServer, no_settings: None, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Let the homes of the test have larger files in a bucket; where these are, as files."""
    prefix = f"test-{secrets.token_hex(4)}"
    for name, value in bucket_server.variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CHAPTERHOUSE_OBJECTS", f"s3://{BUCKET}/{prefix}")
    return bucket_server.folder / prefix


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> str:
    """In what the stores of the test are."""
    return str(request.param)


@pytest.fixture(scope="session")
def new_place(kind: str, request: pytest.FixtureRequest) -> NewPlace:
    """Make an empty place for a store; what it gives opens that, again and again.

    Of two with one name in PostgreSQL the later one takes the place of the other.
    """

    def make(folder: Path, name: str = "tests") -> OpenStore:
        blobs = Blobs(folder / "blobs")
        if kind == "sqlite":
            return lambda: Store(folder / "library.db", blobs=blobs)
        address = request.getfixturevalue("postgres")
        emptied(address, f"chapterhouse_{name}").close()
        return lambda: Store(PostgresDatabase(address, f"chapterhouse_{name}"), blobs=blobs)

    return make


@pytest.fixture
def open_store(tmp_path: Path, new_place: NewPlace) -> OpenStore:
    """Open the store of the test, which is empty at first."""
    return new_place(tmp_path)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The shared data folder; the test is skipped where it is absent."""
    named = os.environ.get("CHAPTERHOUSE_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}")
    return folder


@pytest.fixture(scope="session")
def example_folder() -> Path:
    return Path(__file__).parents[1] / "examples" / "varnholm-ferry"


RULES = """# Harbour rules

## Speed

Inside the harbour no vessel may exceed 4 knots. The duty officer may grant exceptions.

## Opening

The gate closes at 21:30 from April to September.

| Berth | Length | Owner |
|---|---|---|
| B1 | 24 m | Ferry cooperative |
| B7 | 12 m | Guests |
"""


def _write_documents(place: Path) -> Path:
    documents = place / "documents"
    documents.mkdir()
    (documents / "rules.md").write_text(RULES)
    (documents / "weather.txt").write_text(
        "The crossing is suspended above force eight. Passengers are told by loudspeaker.\n"
    )
    (documents / "ERR.md").write_text("# Faults\n\nERR-4012 means that the ramp did not lock.\n")
    return documents


@pytest.fixture(scope="session")
def write_documents() -> Callable[[Path], Path]:
    return _write_documents


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return _write_documents(tmp_path)


@pytest.fixture
def library(folder: Path) -> Iterator[Library]:
    with Library.open() as opened:
        opened.documents.add(folder)
        yield opened


@pytest.fixture
def drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Drive]:
    with connected("webdav", tmp_path) as made:
        monkeypatch.setenv("RCLONE_CONFIG", str(made.config))
        yield made


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Drive]:
    with connected("s3", tmp_path) as made:
        monkeypatch.setenv("RCLONE_CONFIG", str(made.config))
        yield made
