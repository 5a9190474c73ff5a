import string
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.access_parts import NOW, PASSWORD, Clock, CountingHasher, open_access, stored_bytes

from chapterhouse.errors import CorruptLibraryError, NotFoundError, ReadOnlyError, UsageError
from chapterhouse.library import opening
from chapterhouse.library.access import (
    IDLE_SECONDS,
    SESSION_SECONDS,
    Access,
    NewKey,
    check_label,
    check_names,
    describe,
)
from chapterhouse.store import connections
from chapterhouse.types import AccessLevel, AuditOutcome, Grant

READ, WRITE, ADMIN = AccessLevel
WRONG = "some other words there"
HERE = "192.0.2.7"
SAFE = string.ascii_letters + string.digits + "-_"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def hasher() -> CountingHasher:
    return CountingHasher()


@pytest.fixture
def access(tmp_path: Path, clock: Clock, hasher: CountingHasher) -> Iterator[Access]:
    opened = open_access(tmp_path, clock, hasher)
    yield opened
    opened.close()


@pytest.fixture
def ada(access: Access) -> str:
    access.create_user("Ada", PASSWORD, WRITE, ["notes"], by="test")
    return "Ada"


def test_a_key_lets_in_as_far_as_it_was_made_for(access: Access) -> None:
    made = access.create_key(
        "backup", WRITE, ["b", "a"], shelves=["library"], personas=[], by="user ada"
    )
    key = made.key
    assert made.secret.startswith(f"{key.id}_")
    assert len(made.secret) == len("ch_") + 8 + 1 + 43
    assert made.secret not in repr(made)
    grant = access.authenticate(made.secret)
    assert grant == Grant(f"key {key.id}", WRITE, ("a", "b"), ("library",), ())
    assert access.keys() == (replace(key, last_used=NOW),)
    assert (key.created, key.created_by, key.label) == (NOW, "user ada", "backup")


def test_a_key_ends(access: Access, clock: Clock) -> None:
    made = access.create_key("x", READ, None, expires=NOW + 10, by="test")
    clock.now += 9
    assert access.authenticate(made.secret)
    assert access.is_configured()
    clock.now += 1
    assert access.authenticate(made.secret) is None
    assert not access.is_configured()
    with pytest.raises(UsageError, match="expired"):
        access.create_key("x", READ, None, expires=NOW + 10, by="test")


def test_a_revoked_key_lets_nobody_in(access: Access, clock: Clock) -> None:
    one, other = (access.create_key(name, READ, None, by="test") for name in ("one", "other"))
    clock.now += 5
    assert access.revoke_key(one.key.id, by="user ada").revoked == NOW + 5
    clock.now += 5
    assert access.revoke_key(one.key.id, by="user eve").revoked == NOW + 5  # it was already
    assert access.authenticate(one.secret) is None
    assert access.authenticate(other.secret)
    assert [entry.actor for entry in access.entries() if entry.action == "key.revoke"] == [
        "user ada"
    ]


def test_what_is_no_key_is_named_only_if_it_is_no_secret(access: Access) -> None:
    made = access.create_key("x", READ, None, by="test")
    with pytest.raises(UsageError) as refusal:
        access.revoke_key(made.secret, by="test")
    assert made.secret not in str(refusal.value)
    with pytest.raises(NotFoundError, match="ch_00000000"):
        access.revoke_key("ch_00000000", by="test")


@pytest.fixture(scope="module")
def opened_key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Access, NewKey, str]]:
    """A key and the secret of a session, which nothing changes."""
    access = open_access(tmp_path_factory.mktemp("home"))
    access.create_user("ada", PASSWORD, ADMIN, None, by="test")
    session = access.log_in("ada", PASSWORD)
    assert session is not None
    yield access, access.create_key("x", READ, None, by="test"), session.secret
    access.close()


@given(st.data())
def test_altered_secrets_fail(opened_key: tuple[Access, NewKey, str], data: st.DataObject) -> None:
    access, made, session = opened_key
    for secret in (made.secret, session):
        place = data.draw(st.integers(0, len(secret) - 1))
        alphabet = st.sampled_from(SAFE) | st.characters()
        character = data.draw(alphabet.filter(secret[place].__ne__))
        other = secret[:place] + character + secret[place + 1 :]
        for wrong in (other, secret[:place], secret + character, f"{secret}\n"):
            assert access.authenticate(wrong) is None
            assert access.authenticate_session(wrong) is None
    assert access.authenticate(made.secret)
    assert access.authenticate_session(session)


SECRETS = st.builds(
    "ch_{:08x}_{}".format, st.integers(0, 2**32 - 1), st.text(SAFE, min_size=43, max_size=43)
)


@given(SECRETS | st.text())
def test_no_random_secret_lets_in(opened_key: tuple[Access, NewKey, str], secret: str) -> None:
    access, made, _ = opened_key
    assert access.authenticate(secret) is None
    assert access.authenticate(made.key.id + secret[11:]) is None  # of an id that there is
    assert access.authenticate_session(secret[-43:]) is None


def test_what_cannot_be_a_secret_is_refused_without_a_look_at_the_disk(tmp_path: Path) -> None:
    (tmp_path / "access.db").write_bytes(b"nothing that could be read " * 99)
    access = open_access(tmp_path)
    for secret in ("", "x", "Bearer ch_0", "ch_0000000g_" + "a" * 43, "ä" * 43):
        assert access.authenticate(secret) is None
        assert access.authenticate_session(secret) is None
        access.log_out(secret)
    with pytest.raises(CorruptLibraryError):
        access.authenticate("ch_00000000_" + "a" * 43)
    with pytest.raises(CorruptLibraryError):
        access.authenticate_session("a" * 43)


def test_use_is_noted_once_a_minute(access: Access, clock: Clock) -> None:
    made = access.create_key("x", READ, None, by="test")
    seen = []
    for seconds in (0, 59, 1, 30, 30):
        clock.now += seconds
        access.authenticate(made.secret)
        seen.append(access.find_key(made.key.id).last_used - NOW)
    assert seen == [0, 0, 60, 60, 120]


OTHER_PROCESS = """
import sys
from pathlib import Path
from chapterhouse.library.opening import open_access

access = open_access(Path(sys.argv[1]))
for line in sys.stdin:
    print(bool(access.authenticate(line.strip())), flush=True)
"""


def test_every_process_sees_a_key_and_its_end_at_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    command = [sys.executable, "-c", OTHER_PROCESS, str(home)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdin
        assert other.stdout

        def is_let_in(secret: str) -> str:
            assert other.stdin
            assert other.stdout
            other.stdin.write(f"{secret}\n")
            other.stdin.flush()
            return other.stdout.readline().strip()

        assert is_let_in("ch_00000000_" + "a" * 43) == "False"
        assert not home.exists()  # it asked, and made nothing
        access = open_access(home)
        for number in range(5):
            made = access.create_key(f"number {number}", READ, None, by="test")
            assert is_let_in(made.secret) == "True"
            access.revoke_key(made.key.id, by="test")
            assert is_let_in(made.secret) == "False"
        access.close()
        other.stdin.close()


def test_a_home_without_access_has_nobody_and_stays_as_it_is(tmp_path: Path) -> None:
    access = opening.open_access(tmp_path / "none")
    assert (access.keys(), access.users(), access.entries()) == ((), (), ())
    assert not access.has_users()
    assert not access.is_configured()
    assert access.authenticate("ch_00000000_" + "a" * 43) is None
    assert access.authenticate_session("a" * 43) is None
    assert access.seconds_until_log_in("ada", HERE) == 0
    access.log_out("too short")
    access.close()
    assert list(tmp_path.iterdir()) == []


def test_a_read_only_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    owner = open_access(tmp_path, clock)
    owner.create_user("ada", PASSWORD, WRITE, None, by="test")
    made = owner.create_key("x", READ, None, by="test")
    session = owner.log_in("ada", PASSWORD)
    assert session is not None
    owner.close()
    before = stored_bytes(tmp_path)
    monkeypatch.setattr(connections, "is_writable", lambda _: False)
    reader = open_access(tmp_path, clock)
    clock.now += 1_000
    assert reader.authenticate(made.secret)
    assert reader.authenticate_session(session.secret)
    assert reader.find_key(made.key.id).last_used == 0
    for change in (
        lambda: reader.log_in("ada", PASSWORD),
        lambda: reader.create_key("y", READ, None, by="test"),
        lambda: reader.revoke_key(made.key.id, by="test"),
        lambda: reader.record("", "x"),
    ):
        with pytest.raises(ReadOnlyError):
            change()
    assert stored_bytes(tmp_path) == before
    monkeypatch.undo()
    owner = open_access(tmp_path, clock)  # who may write does, elsewhere
    owner.revoke_key(made.key.id, by="test")
    owner.disable_user("ada", by="test")
    assert reader.authenticate(made.secret) is None
    assert reader.authenticate_session(session.secret) is None
    owner.close()
    assert reader.authenticate(made.secret) is None
    reader.close()


def test_users_are_added_changed_and_removed(access: Access, ada: str, clock: Clock) -> None:
    (user,) = access.users()
    assert (user.name, user.level, user.workspaces, user.created) == ("Ada", WRITE, ("notes",), NOW)
    assert access.has_users()
    assert access.is_configured()
    assert access.find_user("ADA") == user
    with pytest.raises(UsageError, match="already"):
        access.create_user("ada", PASSWORD, READ, None, by="test")
    with pytest.raises(UsageError, match="cannot be the name"):
        access.create_user("a b", PASSWORD, READ, None, by="test")
    with pytest.raises(UsageError, match="at least 12"):
        access.create_user("eve", "short", READ, None, by="test")
    clock.now += 5
    assert access.disable_user("ada", by="test").disabled == NOW + 5
    assert access.log_in("ada", PASSWORD) is None
    assert access.has_users()  # nobody becomes the owner by disabling the users
    assert access.enable_user("ada", by="test").disabled == 0
    assert access.log_in("ada", PASSWORD)
    access.remove_user("ada", by="test")
    assert access.users() == ()
    for change in (access.remove_user, access.disable_user, access.enable_user):
        with pytest.raises(NotFoundError):
            change(ada, by="test")
    with pytest.raises(NotFoundError):
        access.set_password(ada, PASSWORD, by="test")


def test_every_change_is_recorded_with_who_made_it(access: Access, ada: str) -> None:
    made = access.create_key("x", READ, None, shelves=["s"], by="user Ada")
    access.revoke_key(made.key.id, by="user Ada")
    access.set_password(ada, WRONG, by="command line")
    session = access.log_in("ADA", WRONG, HERE)
    assert session is not None
    access.log_out(session.secret)
    access.log_out(session.secret)  # has ended already
    assert access.log_in(ada, PASSWORD, HERE) is None
    access.disable_user("ada", by="command line")
    access.remove_user("ada", by="command line")
    assert [
        (entry.actor, entry.action, entry.target, entry.outcome.value, entry.address)
        for entry in reversed(access.entries())
    ] == [
        ("test", "user.create", "Ada write in notes", "done", ""),
        ("user Ada", "key.create", f"{made.key.id} read shelves s", "done", ""),
        ("user Ada", "key.revoke", made.key.id, "done", ""),
        ("command line", "user.password", "Ada", "done", ""),
        ("user Ada", "user.log_in", "Ada", "done", HERE),
        ("user Ada", "user.log_out", "Ada", "done", ""),
        ("", "user.log_in", "Ada", "refused", HERE),
        ("command line", "user.disable", "Ada", "done", ""),
        ("command line", "user.remove", "Ada", "done", ""),
    ]


def test_a_session_is_its_users_until_it_is_over(access: Access, ada: str, clock: Clock) -> None:
    session = access.log_in("ada", PASSWORD, HERE)
    assert session is not None
    assert session.expires == NOW + SESSION_SECONDS
    assert session.secret not in repr(session)
    found = access.authenticate_session(session.secret)
    assert found == Grant(f"user {ada}", WRITE, ("notes",))
    other = access.log_in("ada", PASSWORD)
    assert other is not None
    clock.now += IDLE_SECONDS - 1
    assert access.authenticate_session(session.secret)
    clock.now += 1
    assert access.authenticate_session(session.secret)  # it was used a second ago
    assert access.authenticate_session(other.secret) is None
    while clock.now < NOW + SESSION_SECONDS - IDLE_SECONDS:
        clock.now += IDLE_SECONDS - 60  # its use was noted up to a minute before the last one
        assert access.authenticate_session(session.secret)
    clock.now = NOW + SESSION_SECONDS - 1
    assert access.authenticate_session(session.secret)
    clock.now += 1
    assert access.authenticate_session(session.secret) is None


@pytest.mark.parametrize("ending", ["log_out", "disable", "remove"])
def test_sessions_end_at_once(access: Access, ada: str, ending: str) -> None:
    session = access.log_in(ada, PASSWORD)
    assert session is not None
    match ending:
        case "log_out":
            access.log_out(session.secret)
        case "disable":
            access.disable_user(ada, by="test")
            access.enable_user(ada, by="test")  # brings none back
        case _:
            access.remove_user(ada, by="test")
            access.create_user(ada, PASSWORD, ADMIN, None, by="test")  # is somebody else
    assert access.authenticate_session(session.secret) is None


def test_another_password_ends_all_other_sessions(access: Access, ada: str) -> None:
    sessions = [access.log_in(ada, PASSWORD) for _ in range(3)]
    secrets = [session.secret for session in sessions if session]
    access.set_password(ada, WRONG, by="user Ada", session=secrets[1])
    assert [bool(access.authenticate_session(secret)) for secret in secrets] == [False, True, False]
    access.set_password(ada, PASSWORD, by="test")
    assert access.authenticate_session(secrets[1]) is None


def test_a_password_changed_meanwhile_starts_no_session(tmp_path: Path) -> None:
    class Slow(CountingHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:  # noqa: A002 - as it is named there
            right = super().verify(hash, password)
            other.set_password("ada", WRONG, by="test")  # while we look
            return right

    access, other = open_access(tmp_path, hasher=Slow()), open_access(tmp_path)
    other.create_user("ada", PASSWORD, READ, None, by="test")
    assert access.log_in("ada", PASSWORD) is None
    assert other.log_in("ada", WRONG)
    access.close()
    other.close()


def test_hashes_follow_their_parameters(tmp_path: Path) -> None:
    hashers = [CountingHasher(cost) for cost in (1, 2, 2)]
    access, later, again = (open_access(tmp_path, hasher=hasher) for hasher in hashers)
    access.create_user("ada", PASSWORD, READ, None, by="test")
    assert later.log_in("ada", PASSWORD)
    assert again.log_in("ada", PASSWORD)
    assert [hasher.calls for hasher in hashers] == [1, 2, 1]  # made anew once
    assert b"t=2" in stored_bytes(tmp_path)
    for one in (access, later, again):
        one.close()


def test_who_is_not_is_refused_alike(access: Access, ada: str, hasher: CountingHasher) -> None:
    access.create_user("gone", PASSWORD, READ, None, by="test")
    access.disable_user("gone", by="test")
    for name, password in ((ada, WRONG), ("nobody", PASSWORD), ("gone", PASSWORD), ("", WRONG)):
        hasher.calls = 0
        before = len(access.entries())
        assert access.log_in(name, password) is None
        assert (hasher.calls, len(access.entries()) - before) == (1, 1), name


@pytest.mark.parametrize("name", ["ada", "nobody"])
def test_after_five_failures_there_is_a_pause_that_grows(
    access: Access, ada: str, hasher: CountingHasher, clock: Clock, tmp_path: Path, name: str
) -> None:
    for _ in range(5):
        assert access.seconds_until_log_in(name) == 0
        assert access.log_in(name, WRONG) is None
    hasher.calls = 0
    for pause in (30, 60, 120, 240, 480, 900, 900):
        assert access.seconds_until_log_in(name.upper()) == pause
        clock.now += pause - 1
        restarted = open_access(tmp_path, clock, hasher)
        assert restarted.log_in(name, PASSWORD) is None  # right as it may be
        assert hasher.calls == 0
        restarted.close()
        clock.now += 1
        assert access.log_in(name, WRONG) is None
        assert hasher.calls == 1
        hasher.calls = 0
    clock.now += 3_600
    assert access.seconds_until_log_in(name) == 0
    assert bool(access.log_in(name, PASSWORD)) == (name == "ada")


def test_failures_are_forgiven_to_the_name_that_logs_in(access: Access, ada: str) -> None:
    for _ in range(9):
        for _ in range(4):
            assert access.log_in(ada, WRONG) is None
        assert access.log_in(ada, PASSWORD)


def test_wrong_passwords_keep_nobody_else_out(access: Access, ada: str, clock: Clock) -> None:
    for number in range(6):  # names that there are not, as behind a proxy that all come through
        assert access.log_in(f"name{number}", WRONG, HERE) is None
    assert access.log_in(ada, PASSWORD, HERE) is not None
    for _ in range(5):
        assert access.log_in(ada, WRONG, HERE) is None
    assert access.log_in(ada, PASSWORD, HERE) is None
    assert access.seconds_until_log_in(ada, HERE) == 30
    assert access.log_in(ada, PASSWORD, "192.0.2.8") is not None  # where she really is
    clock.now += 30
    assert access.log_in(ada, PASSWORD, HERE) is not None


def test_many_at_once_are_no_more_tries(access: Access, ada: str, hasher: CountingHasher) -> None:
    hasher.calls = 0
    threads = [threading.Thread(target=access.log_in, args=(ada, WRONG)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert hasher.calls == 5


def test_no_secret_is_in_the_database(access: Access, ada: str, tmp_path: Path) -> None:
    made = access.create_key("x", READ, None, by="test")
    session = access.log_in(ada, PASSWORD)
    assert session is not None
    access.log_in("typed-where-the-name-belongs", PASSWORD, HERE)
    access.authenticate(made.secret)
    access.authenticate_session(session.secret)
    access.record("", "request", f"/x?key={made.secret}", AuditOutcome.REFUSED)
    stored = stored_bytes(tmp_path)
    assert made.key.id.encode() in stored
    random = made.secret.removeprefix(f"{made.key.id}_")
    for text in (random, session.secret, PASSWORD, "typed-where-the-name"):
        assert text.encode() not in stored


def test_names_and_labels_are_checked_and_a_grant_has_words() -> None:
    assert check_names("shelf", ["b", "a", "b"]) == ("a", "b")
    assert (check_names("shelf", []), check_names("shelf", None)) == ((), None)
    for name in ("", "a b", "../x", "x" * 65, "ä", "-x", "a\n"):
        with pytest.raises(UsageError, match="name of a workspace"):
            check_names("workspace", ["fine", name])
    with pytest.raises(UsageError, match="abc"):  # one text is not taken for its letters
        check_names("workspace", "abc")
    assert check_label("  nightly backup ") == "nightly backup"
    assert check_label("a\u202eb") == "a\\u202eb"
    for label in ("", "  ", "x" * 101):
        with pytest.raises(UsageError, match="1 to 100"):
            check_label(label)
    assert describe(Grant("user ada", ADMIN, None)) == "admin"
    grant = Grant("user ada", READ, ("a", "b"), (), ("maria",))
    assert describe(grant) == "read in a,b shelves none personas maria"
