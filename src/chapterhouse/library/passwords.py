"""Passwords: what is one, how it is hashed, and how often one may be tried.

Hashes are Argon2id (RFC 9106) with the parameters of argon2-cffi, which are in each hash.
"""

import hashlib
import threading
import unicodedata
from ipaddress import IPv4Address, IPv6Network, ip_address
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError, VerifyMismatchError

from chapterhouse.errors import CorruptLibraryError, UsageError

SHORTEST: Final = 12  # characters of a password
LONGEST: Final = 1_000  # bytes of it
FORGOTTEN_AFTER: Final = 3_600  # seconds after the last failure
_FREE: Final = 5  # failures before there is a pause
_PAUSE: Final = 30  # seconds; twice as long after each further failure
_LONGEST_PAUSE: Final = 900  # seconds
_AT_A_TIME: Final = 2  # hashes: each takes 64 MiB
_NETWORK: Final = 64  # bits of an IPv6 address; who has one has all that begin so


class Passwords:
    """Hashes passwords, a few at a time, and compares them."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        """Hash with ``hasher``, which only tests need to choose."""
        self._hasher = hasher or PasswordHasher()
        self._places = threading.Semaphore(_AT_A_TIME)

    def hash(self, password: str) -> str:
        """Return the hash of a new password.

        Raises:
            UsageError: it is too short, too long, or no text.
        """
        text = _normalise(password)
        if text is None or len(text) < SHORTEST:
            raise UsageError(
                f"A password has at least {SHORTEST} characters and at most {LONGEST:,} bytes.",
                hint="Several words that do not belong together make a good one.",
            )
        return self._hash(text)

    def rehash(self, password: str) -> str:
        """Return a new hash of a password that was right; it may be shorter than is allowed now."""
        return self._hash(_normalise(password) or "")

    def _hash(self, text: str) -> str:
        with self._places:
            return self._hasher.hash(text)

    def verify(self, stored: str | None, password: str) -> bool:
        """Whether a password has the hash ``stored``.

        Without a hash, of a user that there is not, it takes as long: one is made.

        Raises:
            CorruptLibraryError: ``stored`` is no hash.
        """
        text = _normalise(password)
        if text is None:
            return False
        with self._places:
            if stored is None:
                self._hasher.hash(text)
                return False
            try:
                return self._hasher.verify(stored, text)
            except VerifyMismatchError:
                return False
            except (InvalidHashError, VerificationError) as error:
                raise CorruptLibraryError(
                    "The password of a user is stored in a form that nobody can read.",
                    hint="Set it anew: chapterhouse user password NAME",
                ) from error

    def is_outdated(self, stored: str) -> bool:
        """Whether a hash was made with other parameters than those of now."""
        return self._hasher.check_needs_rehash(stored)


def _normalise(password: str) -> str | None:
    """Return a password as every keyboard writes it; None where it cannot be one."""
    if len(password) > LONGEST:
        return None
    text = unicodedata.normalize("NFC", password)
    try:
        return text if len(text.encode()) <= LONGEST else None
    except UnicodeEncodeError:  # half a character
        return None


# --- how often ----------------------------------------------------------------------------------


def subject_of(name: str, address: str) -> bytes:
    """Return by what failures are counted: a hash of the name and the address together.

    By the name alone a stranger could keep its user out, by the address alone all its users.

    Args:
        name: As it was typed; capital and small letters are the same.
        address: Of the client, such as ``192.0.2.7``; empty on this machine.
    """
    text = f"{_network(address)} {name.lower()}"
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def pause_after(failures: int) -> int:
    """Return for how many seconds after so many failures nothing may be tried."""
    if failures < _FREE:
        return 0
    return min(_PAUSE << min(failures - _FREE, 16), _LONGEST_PAUSE)


def seconds_left(failures: int, last: int, now: int) -> int:
    """Return how long to wait after a number of failures, the last of them at a time."""
    return max(last + pause_after(failures) - now, 0)


def _network(address: str) -> str:
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or IPv6Network((int(found), _NETWORK), strict=False))
