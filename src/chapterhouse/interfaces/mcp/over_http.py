"""The server over streamable HTTP, for clients on this machine."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, cast

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.middleware.cors import CORSMiddleware

from chapterhouse.errors import UsageError
from chapterhouse.interfaces.mcp.guard import (
    Admission,
    Application,
    admission,
    guarded,
    require_safe,
)
from chapterhouse.interfaces.mcp.over_stdio import SETTLE_SECONDS
from chapterhouse.interfaces.mcp.server import build_server
from chapterhouse.interfaces.mcp.service import Service
from chapterhouse.library import Library

PATH: Final = "/mcp"
_SESSIONS: Final = 1_000
_GRACE_SECONDS: Final = 2  # for answers that are on their way when the server is asked to stop
_WAITING: Final = 128


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
        service.settle(SETTLE_SECONDS)


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


def _application(service: Service, admitted: Admission, address: Address) -> Application:
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
    return guarded(cast("Application", app), admitted)


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
