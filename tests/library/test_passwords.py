import threading
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.access_parts import PASSWORD, CountingHasher

from chapterhouse.errors import CorruptLibraryError, UsageError
from chapterhouse.library.passwords import Passwords, pause_after, seconds_left, subject_of


@pytest.mark.parametrize("password", ["", "x" * 11, "x" * 1_001, "é" * 501, "x" * 12 + "\udc80"])
def test_what_cannot_be_a_password_is_refused_and_never_matches(password: str) -> None:
    hasher = CountingHasher()
    passwords = Passwords(hasher)
    with pytest.raises(UsageError, match="at least 12 characters"):
        passwords.hash(password)
    stored = passwords.hash(PASSWORD)
    assert not passwords.verify(stored, password)
    assert not passwords.verify(None, password)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=12, max_size=80), st.data())
def test_a_password_matches_its_hash_and_no_other_one(password: str, data: st.DataObject) -> None:
    passwords = Passwords(CountingHasher())
    normal = unicodedata.normalize("NFC", password)
    if len(normal) < 12:
        return
    stored = passwords.hash(password)
    assert stored.startswith("$argon2id$")
    assert passwords.verify(stored, password)
    assert passwords.verify(stored, unicodedata.normalize("NFD", password))  # another keyboard
    place = data.draw(st.integers(0, len(normal) - 1))
    other = (
        normal[:place] + data.draw(st.characters(exclude_categories=["Cs"])) + normal[place + 1 :]
    )
    same = unicodedata.normalize("NFC", other) == normal
    assert passwords.verify(stored, other) == same


def test_a_damaged_hash_is_no_wrong_password() -> None:
    with pytest.raises(CorruptLibraryError, match="nobody can read"):
        Passwords(CountingHasher()).verify("$argon2id$torn", PASSWORD)


def test_only_a_few_are_hashed_at_a_time() -> None:
    class Slow(CountingHasher):
        inside = most = 0
        guard, gate = threading.Lock(), threading.Barrier(2)

        def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
            with self.guard:
                self.inside += 1
                self.most = max(self.most, self.inside)
            self.gate.wait(60)  # until a second one is here
            with self.guard:
                self.inside -= 1
            return super().hash(password, salt=salt)

    hasher = Slow()
    passwords = Passwords(hasher)
    threads = [threading.Thread(target=passwords.hash, args=(PASSWORD,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (hasher.most, hasher.calls) == (2, 8)


@given(st.integers(0, 10**9))
def test_pauses_grow_up_to_a_limit(failures: int) -> None:
    assert pause_after(failures) <= pause_after(failures + 1) <= 900
    assert (pause_after(failures) == 0) == (failures < 5)


def test_a_pause_is_counted_from_the_last_failure() -> None:
    assert seconds_left(0, 0, 100) == seconds_left(4, 100, 100) == seconds_left(5, 70, 100) == 0
    assert seconds_left(6, 80, 100) == 40


def test_failures_are_counted_by_name_and_network_together() -> None:
    ada = subject_of("ada", "192.0.2.7")
    assert len(ada) == 32
    assert ada == subject_of("aDA", "::ffff:192.0.2.7")
    others = (("ada", ""), ("ada", "192.0.2.8"), ("x", "192.0.2.7"))
    assert ada not in {subject_of(*other) for other in others}
    assert subject_of("x", "2001:db8::1") == subject_of("x", "2001:db8::ffff:1")
    assert subject_of("x", "2001:db8:0:1::1") != subject_of("x", "2001:db8::1")
    assert subject_of("x", "fe80::1%eth0") == subject_of("x", "fe80::2")
    assert subject_of("a\udc80", "unix:\udc80")  # what is no address either
