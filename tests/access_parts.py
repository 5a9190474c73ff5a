"""Who may use a home, opened with a clock that tests move and hashes that cost nothing."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from argon2 import PasswordHasher

from chapterhouse.library.access import Access
from chapterhouse.library.passwords import Passwords
from chapterhouse.store.places import open_access_database

PASSWORD = "four unlikely words here"
NOW = 1_800_000_000


@dataclass
class Clock:
    now: int = NOW

    def __call__(self) -> int:
        return self.now


class CountingHasher(PasswordHasher):
    def __init__(self, time_cost: int = 1) -> None:
        super().__init__(time_cost=time_cost, memory_cost=8, parallelism=1)
        self.calls = 0

    def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
        self.calls += 1
        return super().hash(password, salt=salt)

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:  # noqa: A002 - as it is named there
        self.calls += 1
        return super().verify(hash, password)


def open_access(
    home: Path, clock: Clock | None = None, hasher: PasswordHasher | None = None
) -> Access:
    passwords = Passwords(hasher or CountingHasher())
    return Access(open_access_database(home), passwords, clock or Clock())


def stored_bytes(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(home.glob("access.db*")))
