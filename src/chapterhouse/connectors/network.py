"""Connections that go where they were checked to go, and end in time.

Imported where something is fetched, and not before: it loads the HTTP library.
"""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpcore2

from chapterhouse.connectors.urls import (
    URL_REFUSED,
    URL_TIMEOUT,
    URL_UNREACHABLE,
    Address,
    parse_address,
)
from chapterhouse.errors import RejectedError

Resolve = Callable[[str, int], Sequence[str]]
Permits = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment of ``time.monotonic`` by which everything must be done."""

    end: float

    def remaining(self) -> float:
        """Return the seconds that are left, above 0."""
        left = self.end - time.monotonic()
        if left <= 0:
            raise _late()
        return left


class PinnedNetwork(httpcore2.NetworkBackend):
    """Looks a host up once, checks all of its addresses, and connects to one of those.

    Between the check and the connection there is no other look-up that could answer differently;
    and before a byte is sent, the peer of the open socket is checked again.
    """

    def __init__(
        self, resolve: Resolve, permits: Permits, deadline: Deadline, connect_seconds: float
    ) -> None:
        self._resolve = resolve
        self._permits = permits
        self._deadline = deadline
        self._connect_seconds = connect_seconds

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - of the base class; the deadline counts
        local_address: str | None = None,  # noqa: ARG002 - of the base class
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002 - of the base class
    ) -> httpcore2.NetworkStream:
        """Connect to the host's first address that answers."""
        error: OSError | None = None
        for address in self._checked(host, port):
            try:
                return self._connect(address, port)
            except OSError as failure:
                error = failure
        raise _late() if isinstance(error, TimeoutError) else _unreachable(error)

    def _checked(self, host: str, port: int) -> list[Address]:
        literal = parse_address(host)
        found = (host,) if literal else self._look_up(host, port)
        if not found:
            raise RejectedError(URL_UNREACHABLE, "The host has no address.")
        addresses = []
        for text in found:
            address = parse_address(text)
            if address is None or not self._permits(text):
                raise _forbidden()  # one bad address among good ones refuses the lot
            addresses.append(address)
        return addresses

    def _look_up(self, host: str, port: int) -> Sequence[str]:
        """Ask the resolver, whose own patience has no limit that we could set, in a thread."""
        answer: Future[Sequence[str]] = Future()

        def ask() -> None:
            try:
                answer.set_result(self._resolve(host, port))
            except BaseException as error:  # noqa: BLE001 - raised again where the answer is awaited
                answer.set_exception(error)

        threading.Thread(target=ask, name="chapterhouse-resolve", daemon=True).start()
        try:
            return answer.result(self._deadline.remaining())
        except TimeoutError:
            raise _late() from None
        except (OSError, UnicodeError):
            raise RejectedError(
                URL_UNREACHABLE,
                "The host is not known.",
                hint="Check the spelling, and that this machine is online.",
            ) from None

    def _connect(self, address: Address, port: int) -> httpcore2.NetworkStream:
        family = socket.AF_INET if address.version == 4 else socket.AF_INET6  # noqa: PLR2004
        plug = socket.socket(family, socket.SOCK_STREAM)
        try:
            plug.settimeout(min(self._connect_seconds, self._deadline.remaining()))
            plug.connect((str(address), port))
            self._require_peer(plug, address)
            plug.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except BaseException:
            plug.close()
            raise
        return _Stream(plug, self._deadline)

    def _require_peer(self, plug: socket.socket, address: Address) -> None:
        peer = str(plug.getpeername()[0])
        if parse_address(peer) != address or not self._permits(peer):
            raise _forbidden()


class _Stream(httpcore2.NetworkStream):
    """An open socket, each of whose calls ends by the deadline."""

    def __init__(self, plug: socket.socket, deadline: Deadline) -> None:
        self._plug = plug
        self._deadline = deadline

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        try:
            self._plug.settimeout(self._deadline.remaining())
            yield
        except TimeoutError:
            raise _late() from None
        except OSError as error:
            raise _unreachable(error) from None

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 - as above
        with self._in_time():
            return self._plug.recv(max_bytes)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002 - as above
        with self._in_time():
            self._plug.sendall(buffer)

    def close(self) -> None:
        self._plug.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002 - as above
    ) -> httpcore2.NetworkStream:
        try:
            with self._in_time():
                encrypted = self._encrypted(ssl_context, server_hostname)
        except RejectedError:
            self.close()
            raise
        return _Stream(encrypted, self._deadline)

    def _encrypted(self, context: ssl.SSLContext, host: str | None) -> ssl.SSLSocket:
        try:
            return context.wrap_socket(self._plug, server_hostname=host)
        except ssl.SSLCertVerificationError as error:
            raise RejectedError(
                URL_UNREACHABLE,
                f"The host's certificate is not trusted: {error.verify_message}.",
                hint="If you trust it, save the page as a file yourself.",
            ) from None

    def get_extra_info(self, info: str) -> Any:
        return self._plug if info == "socket" else None


def resolve_host(host: str, port: int) -> tuple[str, ...]:
    """Return the addresses that this system knows for a host, in its order of preference."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def _forbidden() -> RejectedError:
    # Which address it was stays unsaid: answers to strangers must not map this network.
    return RejectedError(
        URL_REFUSED,
        "The host is not on the public internet.",
        hint="Pages of this machine and of local networks are never fetched; save them as files.",
    )


def _late() -> RejectedError:
    return RejectedError(URL_TIMEOUT, "The page did not arrive in time.", hint="Try again later.")


def _unreachable(error: OSError | None) -> RejectedError:
    reason = (error and error.strerror) or "the connection failed"
    return RejectedError(
        URL_UNREACHABLE, f"The host could not be reached: {reason}.", hint="Try again later."
    )
