"""Serve: listen, answer, and stop so that nothing that was accepted is lost."""

import asyncio
import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from chapterhouse.concurrency import run_in_thread
from chapterhouse.errors import ChapterhouseError, ReadOnlyError, UsageError
from chapterhouse.interfaces.admission import admission, is_loopback, require_safe
from chapterhouse.interfaces.api.application import build_application
from chapterhouse.interfaces.api.door import HEADER_BYTES, Door
from chapterhouse.interfaces.api.problems import Refusal, problem
from chapterhouse.interfaces.api.state import ServerOptions, ServerState
from chapterhouse.interfaces.api.workers import Followers, Workers, tune_process
from chapterhouse.interfaces.api.workspaces import Workspaces
from chapterhouse.interfaces.owner_key import make_owner_key
from chapterhouse.library.access import Access

_BACKLOG: Final = 128
_HEADER_SECONDS: Final = 10.0
_IDLE_SECONDS: Final = 15
_ANSWER_SECONDS: Final = 5  # for what is on its way when the server is asked to stop
_WORKER_SECONDS: Final = 3.0
_SETTLE_SECONDS: Final = 1.0
_UNREAD_SECONDS: Final = 30.0  # in which a client reads the next piece of an answer
_SOCKET_BYTES: Final = 256 * 2**10  # of an answer that the system holds; else it takes megabytes
_CONNECTIONS: Final = 512
_CROWD: Final = 384  # connections, from which on silent ones are closed


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server listens and for whom.

    Attributes:
        port: 0 for any that is free.
        allow_hosts: Further names by which clients may call it.
        allow_origins: Origins of web pages that may call it.
    """

    host: str = "127.0.0.1"
    port: int = 8431
    allow_hosts: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Served:
    """What is served.

    Attributes:
        workspaces: Only these; all when None.
    """

    home: Path
    access: Access
    workspaces: frozenset[str] | None
    options: ServerOptions = field(default_factory=ServerOptions)


def serve(served: Served, address: Address, announce: Callable[[str], None]) -> None:
    """Serve until the process is asked to stop.

    Raises:
        RefusedError: other machines could call, and nobody said by which name, or they would not
            be asked for a key.
        UsageError: it cannot listen there.
        KeyboardInterrupt: the process was asked to stop; everything was closed before.
    """
    require_safe(
        address.host,
        address.allow_hosts,
        address.allow_origins,
        is_configured=served.access.is_configured(),
    )
    with contextlib.suppress(ChapterhouseError):  # of a home that can only be read
        served.access.record("", "server.start")
    owner_key = _owner_key(served) if is_local(address) else ""
    tune_process()
    with listen(address) as listener:
        port = listener.getsockname()[1]
        announce(url(address.host, port))
        asyncio.run(_serve(served, address, listener, owner_key))
    raise KeyboardInterrupt  # nothing else ends it


def is_local(address: Address) -> bool:
    """Whether only this machine calls: by another name, a proxy makes all callers local ones."""
    return is_loopback(address.host) and not address.allow_hosts


def _owner_key(served: Served) -> str:
    """Return the key by which the owner is let in; empty where others are, and none can be made."""
    try:
        return make_owner_key(served.home)
    except OSError as error:
        if served.access.is_configured():
            return ""
        raise ReadOnlyError(
            f"The owner's key cannot be written into {served.home}: {error.strerror}.",
            hint="Make the folder writable, or make a key there: chapterhouse key create",
        ) from None


def url(host: str, port: int) -> str:
    """Return the address that clients are given."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"


async def _serve(served: Served, address: Address, listener: socket.socket, owner_key: str) -> None:
    workspaces = Workspaces(served.home, served.workspaces)
    state = ServerState(
        workspaces=workspaces,
        access=served.access,
        workers=Workers(served.home, starts=served.options.starts_workers),
        options=served.options,
        is_local=is_local(address),
        owner_key=owner_key,
    )
    port = listener.getsockname()[1]
    admitted = admission(port, address.allow_hosts, address.allow_origins)
    door = Door(build_application(state), state, admitted)
    config = configure(door, is_proxied=is_loopback(address.host) and not state.is_local)
    followers = Followers(workspaces, state.workers)
    following = threading.Thread(target=followers.run, name="following", daemon=True)
    following.start()
    try:
        await _Server(config, state.stopping).serve(sockets=[listener])
    finally:
        await run_in_thread(followers.stop)
        await run_in_thread(lambda: state.workers.stop(_WORKER_SECONDS))
        state.workload.wait_for_threads(_SETTLE_SECONDS)
        workspaces.close()


def configure(door: Door, *, is_proxied: bool = False) -> uvicorn.Config:
    """Return how connections are served; those of a proxy come from one address, whoever calls."""
    return uvicorn.Config(
        door,
        http=_ProxiedProtocol if is_proxied else _Protocol,
        lifespan="on",
        log_config=None,  # its own would print on standard output
        access_log=False,
        server_header=False,
        proxy_headers=False,  # the address of a client is that of its connection
        ws="none",
        limit_concurrency=_CONNECTIONS,
        backlog=_BACKLOG,
        h11_max_incomplete_event_size=HEADER_BYTES,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_ANSWER_SECONDS,
    )


class _Server(uvicorn.Server):
    """A server that ends when it is asked to, and leaves what comes then to its caller."""

    def __init__(self, config: uvicorn.Config, stopping: asyncio.Event) -> None:
        super().__init__(config)
        self._stopping = stopping

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Note the signals; uvicorn's own would raise them again for whoever listened before."""
        loop, numbers = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
        for number in numbers:
            loop.add_signal_handler(number, self._stop, number)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)

    def _stop(self, number: int) -> None:
        self._stopping.set()  # streams end with an event that says so
        self.handle_exit(number, None)


class _Protocol(H11Protocol):
    """HTTP/1.1 in which a client that says or reads nothing takes no place from the others."""

    most_of_an_address = 64

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._slow = self.loop.call_later(_HEADER_SECONDS, self._give_up)
        self._unread: asyncio.TimerHandle | None = None
        self.since = self.loop.time()
        if not (self._make_way(self.most_of_an_address, of=self.address) and self._make_way()):
            self.app = _refuse

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._slow.cancel()
        self.resume_writing()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the next request; the time between two is limited by keep-alive."""
        super().on_response_complete()
        self.since = self.loop.time()
        self._slow.cancel()
        self._slow = self.loop.call_later(_IDLE_SECONDS + _HEADER_SECONDS, self._give_up)

    def pause_writing(self) -> None:
        """Begin to wait until the client reads what was sent."""
        super().pause_writing()
        self._unread = self.loop.call_later(_UNREAD_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()

    @property
    def address(self) -> str:
        """That of the client."""
        return self.client[0] if self.client else ""

    @property
    def waits(self) -> bool:
        """Whether it has no request that is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _give_up(self) -> None:
        """Close a connection on which no request has come to its end of headers."""
        if self.waits:
            self.transport.abort()  # at once, whether the last answer was read or not

    def _make_way(self, most: int = _CROWD, *, of: str | None = None) -> bool:
        """Where there are too many, close the one that has waited longest; say if there is one.

        A client with a request sends it within moments, long before it is that one's turn.
        """
        others = [
            one
            for one in self.connections
            if isinstance(one, _Protocol)
            and (of is None or one.address == of)
            and not one.transport.is_closing()
            and one is not self
        ]
        if len(others) < most:
            return True
        silent = min((one for one in others if one.waits), key=lambda one: one.since, default=None)
        if silent is not None:
            silent.transport.abort()
        return silent is not None


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer that there are too many requests of one address, or of all."""
    headers = {"Retry-After": "1", "Connection": "close"}
    error = Refusal(503, "Too many requests are being answered.", headers=headers)
    await problem(error, scope["path"])(scope, receive, send)


class _ProxiedProtocol(_Protocol):
    """The same where all come from the address of a proxy."""

    most_of_an_address = _CROWD


def listen(address: Address) -> socket.socket:
    """Return a socket that listens.

    Raises:
        UsageError: it cannot listen there.
    """
    try:
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        listener = socket.create_server(
            (address.host.strip("[]"), address.port), family=family, backlog=_BACKLOG
        )
        # Connections inherit it. An answer is written in two pieces, of which the second would wait
        # 40 ms for the client's word that it has the first; asyncio sees to that only for sockets
        # that name their protocol.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SOCKET_BYTES)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"The server cannot listen at {address.host}, port {address.port}: {reason}.",
            hint="Is another one running? Choose another port with --port.",
        ) from None
    return listener
