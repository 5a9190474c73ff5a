"""Serve: listen, answer, and stop so that nothing that was accepted is lost.

The process that is started listens, follows folders and starts those that do jobs. It also answers,
unless there are several processes for that, which it starts anew where one dies.
"""

import contextlib
import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from chapterhouse.errors import ChapterhouseError, ReadOnlyError, UsageError
from chapterhouse.interfaces.admission import admission, is_loopback, make_owner_key, require_safe
from chapterhouse.interfaces.api.application import build_application
from chapterhouse.interfaces.api.door import HEADER_BYTES, Door
from chapterhouse.interfaces.api.problems import Refusal, problem
from chapterhouse.interfaces.api.state import ServerOptions, ServerState
from chapterhouse.interfaces.api.workers import Followers, Workers, tune_process
from chapterhouse.interfaces.background import ONE_THREAD
from chapterhouse.interfaces.web.frame import page_problem
from chapterhouse.interfaces.web.site import PAGES
from chapterhouse.interfaces.workspaces import Workspaces
from chapterhouse.library.access import Access
from chapterhouse.library.opening import open_access
from chapterhouse.store.shared import ALONE, SharedDatabase

if TYPE_CHECKING:
    from asyncio import TimerHandle

_BACKLOG: Final = 128
_HEADER_SECONDS: Final = 10.0
_IDLE_SECONDS: Final = 15
_ANSWER_SECONDS: Final = 5  # for what is on its way when the server is asked to stop
_SILENT_SECONDS: Final = 20  # after which a process that does not say that it lives is replaced
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

    @property
    def is_local(self) -> bool:
        """Whether only this machine calls: by another name, a proxy makes all callers local."""
        return is_loopback(self.host) and not self.allow_hosts

    @property
    def is_proxied(self) -> bool:
        """Whether all connections come from one address, whoever calls."""
        return is_loopback(self.host) and not self.is_local


@dataclass(frozen=True, slots=True)
class Site:
    """What a process of the server answers, and where; another process may be given it.

    Attributes:
        shared: Path of what the processes count together.
        orders: Where it tells the process that started it which workspaces have jobs.
    """

    home: Path
    address: Address
    options: ServerOptions = field(default_factory=ServerOptions)
    owner_key: str = ""
    entrance: str = field(default="", repr=False)
    shared: str = ALONE
    orders: Connection | None = None

    def __call__(self) -> Door:
        """Return what answers in a process that another one has started, and ends with that."""
        tune_process()
        threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()
        return self.open(self._order)

    def open(self, wake: Callable[[str], None], workspaces: Workspaces | None = None) -> Door:
        """Return what answers; see ``ServerState`` for ``wake``."""
        state = ServerState(
            workspaces or Workspaces(self.home),
            open_access(self.home),
            SharedDatabase(self.shared),
            wake,
            self.options,
            is_local=self.address.is_local,
            owner_key=self.owner_key,
            entrance=self.entrance,
        )
        address = self.address
        admitted = admission(address.port, address.allow_hosts, address.allow_origins)
        application = build_application(state, PAGES, page_problem)
        return Door(application, state, admitted, page_problem)

    def _order(self, workspace: str) -> None:
        if self.orders is not None:
            self.orders.send(workspace)


def serve(
    home: Path,
    address: Address,
    options: ServerOptions,
    announce: Callable[[str], None],
    log: Mapping[str, Any] | None = None,
    entrance: str = "",
) -> None:
    """Serve until the process is asked to stop.

    Args:
        log: How each of several processes writes its log, as ``logging.config`` takes it.
        entrance: Lets a browser of the owner in once, where only this machine can call.

    Raises:
        RefusedError: other machines could call, and nobody said by which name, or they would not
            be asked for a key.
        UsageError: it cannot listen there.
        KeyboardInterrupt: the process was asked to stop; everything was closed before.
    """
    with closing(open_access(home)) as access:
        require_safe(
            address.host,
            address.allow_hosts,
            address.allow_origins,
            is_configured=access.is_configured(),
        )
        with contextlib.suppress(ChapterhouseError):  # of a home that can only be read
            access.record("", "server.start")
        owner_key = _owner_key(home, access) if address.is_local else ""
    tune_process()
    workspaces = Workspaces(home)
    followers = Followers(workspaces, Workers(home, starts=options.starts_workers))
    with listen(address) as listener:
        own = replace(address, port=listener.getsockname()[1])
        site = Site(home, own, options, owner_key, entrance if owner_key else "")
        announce(url(address.host, site.address.port))
        threading.Thread(target=followers.run, name="following", daemon=True).start()
        try:
            if options.processes == 1:
                door = partial(site.open, followers.wake, workspaces)
                uvicorn.Server(configure(door, site.address)).run([listener])
            else:
                _supervise(site, listener, followers, log)
        finally:
            followers.stop()
            workspaces.close()
    raise KeyboardInterrupt  # nothing else ends it


def _supervise(
    site: Site, listener: socket.socket, followers: Followers, log: Mapping[str, Any] | None
) -> None:
    """Have several processes answer, and start another where one dies."""
    # Each process has a core: threads of its libraries would only wait for one (1.45 → 1.7 times as
    # many questions a second as of one process, on two cores).
    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")
    orders, sender = multiprocessing.Pipe(duplex=False)

    def obey() -> None:
        while True:
            name = orders.recv()
            with contextlib.suppress(ChapterhouseError):  # the next look at its jobs comes soon
                followers.wake(name)

    threading.Thread(target=obey, name="orders", daemon=True).start()
    with TemporaryDirectory(prefix="chapterhouse-serve-") as folder:
        site = replace(site, shared=str(Path(folder) / "shared.db"), orders=sender)
        config = configure(site, site.address, processes=site.options.processes, log=log)
        Multiprocess(config, [listener]).run()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _owner_key(home: Path, access: Access) -> str:
    """Return the key by which the owner is let in; empty where others are, and none can be made."""
    try:
        return make_owner_key(home)
    except OSError as error:
        if access.is_configured():
            return ""
        raise ReadOnlyError(
            f"The owner's key cannot be written into {home}: {error.strerror}.",
            hint="Make the folder writable, or make a key there: chapterhouse key create",
        ) from None


def url(host: str, port: int) -> str:
    """Return the address that clients are given."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"


def configure(
    door: Callable[[], Door],
    address: Address,
    *,
    processes: int = 1,
    log: Mapping[str, Any] | None = None,
) -> uvicorn.Config:
    """Return how connections are served."""
    return uvicorn.Config(
        door,
        factory=True,
        workers=processes,
        http=_ProxiedProtocol if address.is_proxied else _Protocol,
        lifespan="on",
        log_config=dict(log) if log else None,  # its own would print on standard output
        access_log=False,
        server_header=False,
        proxy_headers=False,  # the address of a client is that of its connection
        ws="none",
        limit_concurrency=_CONNECTIONS,
        backlog=_BACKLOG,
        h11_max_incomplete_event_size=HEADER_BYTES,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_ANSWER_SECONDS,
        timeout_worker_healthcheck=_SILENT_SECONDS,
    )


class _Protocol(H11Protocol):
    """HTTP/1.1 in which a client that says or reads nothing takes no place from the others."""

    most_of_an_address = 64

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._slow = self.loop.call_later(_HEADER_SECONDS, self._give_up)
        self._unread: TimerHandle | None = None
        self.since = self.loop.time()
        if not (self._make_way(self.most_of_an_address, of=self.address) and self._make_way()):
            self.app = _refuse

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._slow.cancel()
        self.resume_writing()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Let streams end, too, when the server is asked to stop."""
        if isinstance(self.app, Door):
            self.app.stop()
        super().shutdown()

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
