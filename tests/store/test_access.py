"""Keys, users and sessions in the database of a home."""

import os
import resource
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import apsw
import apsw.ext
import pytest
from tests.databases import emptied, in_a_file

from chapterhouse.errors import ChapterhouseError, CorruptLibraryError, NewerLibraryError
from chapterhouse.store import access
from chapterhouse.store.access import (
    AccessDatabase,
    ApiKeyStore,
    AuditStore,
    LoginSession,
    LoginStore,
    UserStore,
)
from chapterhouse.store.connections import APPLICATION_ID
from chapterhouse.store.postgres import ACCESS
from chapterhouse.store.rows import ACCESS_STATEMENTS, STATEMENTS, load_migrations
from chapterhouse.types import AccessLevel, ApiKey, AuditEntry, AuditOutcome, User

KEY = ApiKey("ch_00000000", "x", AccessLevel.WRITE, ("a", "b"), (), None, 10, "ada", 99)
USER = User("Ada", AccessLevel.ADMIN, None, ("a", "b"), (), 10, "command line")
ENTRY = AuditEntry(20, "user ada", "what.ever")
NAME, OTHER = b"n" * 32, b"a" * 32


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "access.db"


@pytest.fixture
def database(path: Path, kind: str, request: pytest.FixtureRequest) -> Iterator[AccessDatabase]:
    if kind == "sqlite":
        opened = AccessDatabase(path)
    else:
        address = request.getfixturevalue("postgres")
        opened = AccessDatabase(partial(emptied, address, "chapterhouse_access_tests", ACCESS))
    yield opened
    opened.close()


@pytest.fixture
def audit(database: AccessDatabase) -> AuditStore:
    return AuditStore(database)


def times(audit: AuditStore, limit: int = 9, *about: str | None) -> list[int]:
    """When the newest entries were made: all, or those of a workspace and an actor."""
    return [entry.at for entry in audit.entries(limit, 0, *(about or (None, None)))]


def _never(_failures: int, _last: int) -> bool:
    return False


def test_a_key_comes_back_as_it_was(database: AccessDatabase) -> None:
    keys = ApiKeyStore(database)
    assert keys.all() == ()
    assert keys.find(KEY.id) is None
    other = replace(KEY, id="ch_00000001", workspaces=None, shelves=("s",), personas=("p",))
    assert keys.add(KEY, b"hash", ENTRY)
    assert keys.add(other, b"other", ENTRY)
    assert not keys.add(replace(KEY, label="again"), b"again", ENTRY)
    assert keys.find(KEY.id) == (KEY, b"hash")
    assert keys.all() == (KEY, other)
    assert keys.revoke(KEY.id, ENTRY)
    assert not keys.revoke(KEY.id, replace(ENTRY, at=30))
    assert not keys.revoke("ch_none", ENTRY)
    keys.touch(KEY.id, 40)
    keys.touch(KEY.id, 35)  # another process was earlier
    assert keys.find(KEY.id) == (replace(KEY, revoked=20, last_used=40), b"hash")
    assert len(AuditStore(database).entries(9, 0, None, None)) == 3  # of what was changed


def _rename(database: AccessDatabase, before: str, after: str) -> None:
    with database.write() as connection:
        connection.execute(f"ALTER TABLE {before} RENAME TO {after}")


def test_a_change_and_its_entry_are_one(database: AccessDatabase) -> None:
    keys, users = ApiKeyStore(database), UserStore(database)
    assert users.add(USER, "hash", ENTRY)
    _rename(database, "audit", "away")
    changes: tuple[Callable[[], bool], ...] = (
        lambda: keys.add(KEY, b"hash", ENTRY),
        lambda: users.set_password("ada", "other", ENTRY),
        lambda: users.set_disabled("ada", 20, ENTRY),
        lambda: users.remove("ada", ENTRY),
    )
    for change in changes:
        with pytest.raises((apsw.SQLError, ChapterhouseError)):
            change()
    _rename(database, "away", "audit")
    assert keys.all() == ()
    assert users.find("ada") == (USER, "hash")


def test_names_of_users_are_the_same_in_capitals(database: AccessDatabase) -> None:
    users = UserStore(database)
    assert users.add(USER, "hash", ENTRY)
    assert not users.add(replace(USER, name="ADA"), "hash", ENTRY)
    assert users.find("aDa") == (USER, "hash")
    assert users.set_password("ada", "second", ENTRY)
    users.rehash("ada", "hash", "stale")
    assert users.find("ada") == (USER, "second")
    users.rehash("ada", "second", "third")
    assert users.find("ada") == (USER, "third")
    assert users.all() == (USER,)
    assert users.remove("ADA", ENTRY)
    assert not users.remove("ada", ENTRY)
    assert not users.set_disabled("ada", 1, ENTRY)
    assert users.all() == ()


def test_sessions_end_with_what_they_rest_on(database: AccessDatabase) -> None:
    users, logins = UserStore(database), LoginStore(database)
    users.add(USER, "hash", ENTRY)
    assert not logins.start(USER, "stale", b"1", NAME, ENTRY)
    for secret in (b"1", b"2", b"3"):
        assert logins.start(USER, "hash", secret, NAME, ENTRY)
    assert logins.find(b"1") == LoginSession(USER, 20, 20)
    logins.touch(b"1", 25)
    assert logins.find(b"1") == LoginSession(USER, 20, 25)
    assert logins.end(b"3") == "Ada"
    assert logins.end(b"3") == ""
    users.set_password("ada", "second", ENTRY, b"2")
    assert logins.find(b"1") is None
    assert logins.find(b"2") is not None
    users.set_disabled("ada", 30, ENTRY)
    assert logins.find(b"2") is None
    assert not logins.start(USER, "second", b"4", NAME, ENTRY)
    users.set_disabled("ada", 0, ENTRY)
    assert logins.start(USER, "second", b"4", NAME, ENTRY)
    logins.drop_old(created=19, last_used=20, attempted=0)
    assert logins.find(b"4") is None
    assert logins.start(USER, "second", b"5", NAME, ENTRY)
    users.remove("ada", ENTRY)
    assert logins.find(b"5") is None
    with database.write() as connection:
        assert connection.execute("SELECT 1 FROM session").fetchall() in ([], ())


def test_a_success_forgives_its_subject_alone(database: AccessDatabase) -> None:
    users, logins = UserStore(database), LoginStore(database)
    users.add(USER, "hash", ENTRY)
    for now in (1, 2, 3):
        assert logins.begin(NAME, _never, now)
        assert logins.begin(OTHER, _never, now)
    assert logins.failures(NAME) == (3, 3)
    assert not logins.begin(NAME, lambda failures, last: (failures, last) == (3, 3), 4)
    assert logins.start(USER, "hash", b"1", NAME, ENTRY)
    assert (logins.failures(NAME), logins.failures(OTHER)) == ((0, 0), (3, 3))
    logins.drop_old(0, 0, attempted=2)
    assert logins.failures(OTHER) == (3, 3)
    logins.drop_old(0, 0, attempted=3)
    assert logins.failures(OTHER) == (0, 0)


DONE, REFUSED = AuditOutcome.DONE, AuditOutcome.REFUSED


def _entry(
    at: int, actor: str = "user ada", target: str = "", workspace: str = "", address: str = ""
) -> AuditEntry:
    return AuditEntry(at, actor, "key.create", target, workspace=workspace, address=address)


def test_every_statement_fits_the_schema() -> None:
    connection = apsw.Connection(":memory:")
    for migration in load_migrations("access_migrations"):
        connection.execute(migration)
    for sql in ACCESS_STATEMENTS.values():
        apsw.ext.query_info(connection, sql)  # raises where a table or column is not there
    assert not set(STATEMENTS) & set(ACCESS_STATEMENTS)


@in_a_file
def test_reading_makes_nothing_and_writing_a_file_of_its_owner(
    path: Path, database: AccessDatabase
) -> None:
    assert database.rows("users") == ()
    assert not path.parent.exists()
    before = os.umask(0)
    try:
        AuditStore(database).record(_entry(1))
    finally:
        os.umask(before)
    assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}
    assert path.parent.stat().st_mode & 0o777 == 0o700
    other = AccessDatabase(path)  # as another process, which finds what was made
    assert times(AuditStore(other)) == [1]
    other.close()


@in_a_file
def test_on_a_full_disk_there_is_no_database_or_a_whole_one(path: Path, audit: AuditStore) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8_192, limits[1]))  # as if there were no more space
    try:
        with pytest.raises(ChapterhouseError):
            audit.record(_entry(1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(path.parent.iterdir()) == []
    assert times(audit) == []
    audit.record(_entry(2))
    assert times(audit) == [2]


@in_a_file
def test_a_file_that_takes_its_place_is_read(path: Path, tmp_path: Path, audit: AuditStore) -> None:
    audit.record(_entry(1))
    other = AccessDatabase(tmp_path / "other.db")
    AuditStore(other).record(_entry(2))
    other.close()
    assert times(audit) == [1]
    for name in ("access.db-wal", "access.db-shm"):
        path.with_name(name).unlink()
    (tmp_path / "other.db").replace(path)
    assert times(audit) == [2]
    path.rename(path.with_name("away"))
    assert times(audit) == []


def test_a_newer_a_foreign_and_a_damaged_file_are_refused(path: Path) -> None:
    AuditStore(database := AccessDatabase(path)).record(_entry(1))
    database.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(NewerLibraryError):
        AccessDatabase(path).rows("users")
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE contact (name TEXT)")
    connection.close()
    with pytest.raises(CorruptLibraryError, match="not one of Chapterhouse"):
        AccessDatabase(path).rows("users")
    path.write_bytes(b"no database " * 1_000)
    with pytest.raises(CorruptLibraryError) as damaged:
        AccessDatabase(path).rows("users")
    assert "repair" not in damaged.value.hint


def test_entries_come_newest_first_in_pages_and_by_what_they_are_about(audit: AuditStore) -> None:
    for number in range(1, 11):
        actor, workspace = ("user ada", "notes") if number % 2 else ("key ch_00000000", "")
        audit.record(_entry(number, actor=actor, workspace=workspace, address="192.0.2.7"))
    pages, before = [], 0
    while page := audit.entries(4, before, None, None):
        pages.append([entry.at for entry in page])
        before = page[-1].id
    assert pages == [[10, 9, 8, 7], [6, 5, 4, 3], [2, 1]]
    assert times(audit, 99, "notes", None) == [9, 7, 5, 3, 1]
    assert times(audit, 99, "", None) == [10, 8, 6, 4, 2]
    assert times(audit, 3, None, "user ada") == [9, 7, 5]
    (last,) = audit.entries(1, 0, None, None)
    assert last == AuditEntry(
        10, "key ch_00000000", "key.create", "", AuditOutcome.DONE, "", "192.0.2.7", last.id
    )


def test_the_oldest_entries_are_dropped_and_what_is_refused_pushes_out_nothing_that_was_done(
    audit: AuditStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("_MOST", 20), ("_PERIOD", 10), ("_OLDEST", 1_000), ("_MOST_REFUSED", 20)):
        monkeypatch.setattr(access, name, value)
    for number in range(1, 51):
        audit.record(_entry(number))
    assert times(audit, 99) == list(range(50, 30, -1))
    for _ in range(10):
        audit.record(_entry(1_045))  # from 45 on they are young enough
    assert times(audit, 99)[-6:] == list(range(50, 44, -1))
    for number in range(1_101, 1_500):
        outcome = REFUSED if number % 25 else DONE
        audit.record(replace(_entry(number), outcome=outcome))
    done = [one.at for one in audit.entries(999, 0, None, None) if one.outcome is DONE]
    assert [at for at in done if at > 1_100] == list(range(1_475, 1_100, -25))
    assert 20 <= len(times(audit, 999)) - len(done) < 30


@in_a_file
def test_entries_without_a_time_get_that_of_the_one_before(path: Path, audit: AuditStore) -> None:
    first, *_ = load_migrations("access_migrations")
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.executescript(first)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
        for at in (0, 70, 0, 0, 80, 0):
            connection.execute(
                "INSERT INTO audit (at, actor, action, target, outcome, workspace, address)"
                " VALUES (?, 'x', 'document.add', '', 'done', '', '')",
                (at,),
            )
    connection.close()
    assert times(audit) == [80, 80, 70, 70, 70, 70]


def test_who_was_a_user_before_is_not_limited(path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        for migration in load_migrations("access_migrations")[:2]:
            connection.executescript(migration)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 2")
        connection.execute(
            "INSERT INTO user (name, level, created, created_by, password_hash)"
            " VALUES ('Ada', 'admin', 10, 'command line', 'hash')"
        )
    connection.close()
    users = UserStore(database := AccessDatabase(path))
    assert users.find("ada") == (replace(USER, shelves=None, personas=None), "hash")
    database.close()


@in_a_file
def test_texts_are_bounded_and_without_the_secret_of_a_key(
    path: Path, database: AccessDatabase
) -> None:
    audit, secret = AuditStore(database), "ch_0a1b2c3d_" + "s" * 43
    audit.record(_entry(1, target=f"/path?key={secret}&" + "x" * 900 + "\udc80"))
    (found,) = audit.entries(1, 0, None, None)
    assert found.target.startswith("/path?key=ch_0a1b2c3d_…")
    assert len(found.target) == 200
    database.close()
    assert b"sssss" not in path.read_bytes()
