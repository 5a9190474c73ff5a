"""The server over streamable HTTP, for clients on this machine."""

import asyncio
import contextlib
import ipaddress
import signal
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from chapterhouse.errors import RefusedError, UsageError
from chapterhouse.interfaces.mcp.over_stdio import SETTLE_SECONDS
from chapterhouse.interfaces.mcp.server import build_server
from chapterhouse.interfaces.service import Service
from chapterhouse.library import Library

MISDIRECTED, FORBIDDEN = 421, 403
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_REFUSALS: Final = {
    MISDIRECTED: "This server is not called so. Start it with --allow-host to name it.\n",
    FORBIDDEN: "Pages of this origin may not call. Start it with --allow-origin to let them.\n",
}

PATH: Final = "/mcp"
_SESSIONS: Final = 1_000
_GRACE_SECONDS: Final = 2  # for answers that are on their way when the server is asked to stop
_WAITING: Final = 128


# --- who may speak to it ------------------------------------------------------------------------

# A web page can make a browser call any address, also one of this machine, and a name of its own
# can be made to lead there (DNS rebinding). It cannot choose the headers Host and Origin.


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


def require_safe(host: str, allow_hosts: Sequence[str], allow_origins: Sequence[str]) -> None:
    """See that the server is not laid open by accident.

    Raises:
        RefusedError: other machines could call it and nobody said under which name.
        UsageError: a name or an origin cannot be meant so.
    """
    if not is_loopback(host) and not allow_hosts:
        raise RefusedError(
            f"At {host} other machines could read the library, and there is no login yet.",
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


def refusal(hosts: Sequence[str], origins: Sequence[str], admitted: Admission) -> int | None:
    """Return the status with which a request is refused, if it is.

    Args:
        hosts: Values of the header Host; there must be just one.
        origins: Values of the header Origin, which only browsers send.
        admitted: What they may be.
    """
    if len(hosts) != 1 or hosts[0].strip().lower() not in admitted.hosts:
        return MISDIRECTED
    if any(origin.strip().lower() not in admitted.origins for origin in origins):
        return FORBIDDEN
    return None


def guard(application: ASGIApp, admitted: Admission) -> ASGIApp:
    """Return an ASGI application that refuses strangers before anything else runs."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            status = refusal(headers.getlist("host"), headers.getlist("origin"), admitted)
            if status is not None:
                await PlainTextResponse(_REFUSALS[status], status)(scope, receive, send)
                return
        await application(scope, receive, send)

    return guard


# --- the server -----------------------------------------------------------------------------------


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


def serve(
    library: Library, address: Address, *, remember: bool, announce: Callable[[str], None]
) -> None:
    """Serve until the process is asked to stop.

    Args:
        library: What is served.
        address: Where and for whom.
        remember: Whether questions and meetings go into the memory.
        announce: Is told the address once clients can connect.

    Raises:
        RefusedError: other machines could call and nobody said under which name.
        UsageError: it cannot listen there.
        KeyboardInterrupt: the process was asked to stop; everything was closed before.
    """
    require_safe(address.host, address.allow_hosts, address.allow_origins)
    with _listening(address) as listener:
        port = listener.getsockname()[1]
        announce(url(address.host, port))
        asyncio.run(_serve(library, address, listener, port, remember=remember))
    raise KeyboardInterrupt  # nothing else ends it


def url(host: str, port: int) -> str:
    """Return the address that clients are given."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}{PATH}"


async def _serve(
    library: Library, address: Address, listener: socket.socket, port: int, *, remember: bool
) -> None:
    service = Service(library, remember=remember)
    admitted = admission(port, address.allow_hosts, address.allow_origins)
    config = uvicorn.Config(
        _application(service, admitted, address),
        lifespan="on",
        log_config=None,  # its own would print on standard output
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    try:
        await _Server(config).serve(sockets=[listener])
    finally:
        service.wait_for_threads(SETTLE_SECONDS)


class _Server(uvicorn.Server):
    """A server that ends when it is asked to, and leaves what comes then to its caller."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Note the signals; uvicorn's own would raise them again for whoever listened before."""
        loop, numbers = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
        for number in numbers:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)


def _application(service: Service, admitted: Admission, address: Address) -> ASGIApp:
    """Return the server as an ASGI application behind its guard."""
    app = build_server(service).streamable_http_app(
        streamable_http_path=PATH,
        host=address.host,
        max_sessions=_SESSIONS,
        # The guard in front has looked at both headers, on every path and before anything was read.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    if address.allow_origins:  # pages of other origins need to be told that they may
        app.add_middleware(
            CORSMiddleware,
            allow_origins=[origin.rstrip("/") for origin in address.allow_origins],
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=["Mcp-Session-Id"],
        )
    return guard(app, admitted)


def _listening(address: Address) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        return socket.create_server(
            (address.host.strip("[]"), address.port), family=family, backlog=_WAITING
        )
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"The server cannot listen at {address.host}, port {address.port}: {reason}.",
            hint="Is another one running? Choose another port with --port.",
        ) from None
