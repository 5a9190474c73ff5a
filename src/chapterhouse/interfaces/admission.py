"""Who may speak to a server: by headers that a browser cannot choose, and by the owner's key.

A web page can make a browser call any address, also one of this machine, and a name of its own
can be made to lead there (DNS rebinding). It cannot choose Host, Origin and Sec-Fetch-…. The
owner's key is a file in the home, so that who can read the home is known to its server.
"""

import ipaddress
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from chapterhouse.errors import RefusedError, UsageError
from chapterhouse.files import OTHERS, lock_folder, write_whole

MISDIRECTED, FORBIDDEN = 421, 403
_OTHER_SITES: Final = ("cross-site", "same-site")  # a site has other ports and subdomains, too
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Admission:
    """What the headers of a request may say.

    Attributes:
        hosts: In lower case, with the port where one is to be named.
        origins: In lower case, as ``http://localhost:8431``.
    """

    hosts: frozenset[str]
    origins: frozenset[str]


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own and no other's."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def require_safe(
    host: str, allow_hosts: Sequence[str], allow_origins: Sequence[str], *, is_configured: bool
) -> None:
    """See that the server is not laid open by accident.

    Raises:
        RefusedError: other machines could call it, and it would not ask them who they are, or
            nobody said under which name.
        UsageError: a name or an origin cannot be meant so.
    """
    if not (is_loopback(host) and not allow_hosts) and not is_configured:
        way = f"At {host}" if not is_loopback(host) else f"As {allow_hosts[0]}"  # through a proxy
        raise RefusedError(
            f"{way} other machines could read the library: there is no key and no user yet.",
            hint="Make a key first: chapterhouse key create, or leave --host and --allow-host out.",
        )
    if not is_loopback(host) and not allow_hosts:
        raise RefusedError(
            f"At {host} other machines could call the server, and it has no name for them.",
            hint="Name what they may call it by, as --allow-host library.example.org, or leave "
            "--host out.",
        )
    for name in allow_hosts:
        if not name.strip() or any(mark in name for mark in "/*@ "):
            raise UsageError(
                f"'{name}' is no host.", hint="Write a name or address, with its port if need be."
            )
    for origin in allow_origins:
        scheme, mark, name = origin.partition("://")
        if scheme.lower() not in {"http", "https"} or not mark or not name.strip("/"):
            raise UsageError(f"'{origin}' is no origin.", hint="Write http://NAME:PORT.")


def admission(port: int, allow_hosts: Iterable[str], allow_origins: Iterable[str]) -> Admission:
    """Return what may stand in the headers.

    A host that is allowed without a port may be called with the server's, or with none.
    """
    hosts = {f"{name}:{port}" for name in _LOOPBACK}
    for name in map(str.lower, allow_hosts):
        hosts |= {name, f"{name}:{port}"}
    origins = {f"http://{name}:{port}" for name in _LOOPBACK}
    origins |= {origin.lower().rstrip("/") for origin in allow_origins}
    return Admission(frozenset(hosts), frozenset(origins))


def refusal(
    hosts: Sequence[str],
    origins: Sequence[str],
    admitted: Admission,
    site: str = "",
    mode: str = "",
) -> int | None:
    """Return the status with which a request is refused, if it is.

    Args:
        hosts: Values of the header Host; there must be just one.
        origins: Values of the header Origin, which only browsers send.
        admitted: What they may be.
        site: Value of the header Sec-Fetch-Site: where the page is from. Of an image a browser
            sends it alone.
        mode: Value of the header Sec-Fetch-Mode; who follows a link here navigates.
    """
    if len(hosts) != 1 or hosts[0].strip().lower() not in admitted.hosts:
        return MISDIRECTED
    if any(origin.strip().lower() not in admitted.origins for origin in origins):
        return FORBIDDEN
    if not origins and site.lower() in _OTHER_SITES and mode.lower() != "navigate":
        return FORBIDDEN
    return None


OWNER_KEY: Final = "owner.key"
_WAIT_SECONDS: Final = 10.0
_KEY: Final = re.compile(r"ch_owner_[A-Za-z0-9_-]{43}\n?", re.ASCII)


def read_owner_key(home: Path) -> str:
    """Return the owner's key; empty where no server has made one, or others could read it."""
    path = home / OWNER_KEY
    try:
        text = "" if path.stat().st_mode & OTHERS else path.read_text("ascii", "replace")
    except OSError:
        return ""
    return text.strip() if _KEY.fullmatch(text) else ""


def make_owner_key(home: Path) -> str:
    """Return the owner's key, which is made where it is missing or others could read it.

    Raises:
        OSError: it cannot be written.
    """
    with lock_folder(home, wait_seconds=_WAIT_SECONDS):  # servers that start at once share it
        found = read_owner_key(home)
        if not found:
            found = f"ch_owner_{secrets.token_urlsafe(32)}"
            write_whole(home / OWNER_KEY, f"{found}\n")
        return found
