"""Keys, users and sessions in the database of a home."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from chapterhouse.store.access import ApiKeyStore, LoginSession, LoginStore, UserStore
from chapterhouse.store.access_database import AccessDatabase, AuditStore
from chapterhouse.types import AccessLevel, ApiKey, AuditEntry, User

KEY = ApiKey("ch_00000000", "x", AccessLevel.WRITE, ("a", "b"), (), None, 10, "ada", 99)
USER = User("Ada", AccessLevel.ADMIN, None, 10, "command line")
ENTRY = AuditEntry(20, "user ada", "what.ever")
NAME, OTHER = b"n" * 32, b"a" * 32


@pytest.fixture
def database(tmp_path: Path) -> Iterator[AccessDatabase]:
    opened = AccessDatabase(tmp_path / "access.db")
    yield opened
    opened.close()


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


def test_a_change_and_its_entry_are_one(database: AccessDatabase) -> None:
    keys, users = ApiKeyStore(database), UserStore(database)
    assert users.add(USER, "hash", ENTRY)
    with database.write() as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
    changes: tuple[Callable[[], bool], ...] = (
        lambda: keys.add(KEY, b"hash", ENTRY),
        lambda: users.set_password("ada", "other", ENTRY),
        lambda: users.set_disabled("ada", 20, ENTRY),
        lambda: users.remove("ada", ENTRY),
    )
    for change in changes:
        with pytest.raises(apsw.ConstraintError):
            change()
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
        assert connection.execute("SELECT count(*) FROM session").get == 0


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
