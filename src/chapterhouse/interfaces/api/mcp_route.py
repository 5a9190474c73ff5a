"""MCP in the server: the same tools, for each caller over the library that they may see."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from mcp.server import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from chapterhouse.concurrency import run_in_thread
from chapterhouse.interfaces.api.state import Exchange, ServerState
from chapterhouse.interfaces.mcp.server import build_server
from chapterhouse.interfaces.service import Service


@dataclass(frozen=True, slots=True)
class McpRoute:
    """The address of MCP. Every request stands alone, so no session is ever another caller's."""

    manager: StreamableHTTPSessionManager

    def running(self) -> AbstractAsyncContextManager[None]:
        """Serve as long as the block runs."""
        return self.manager.run()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self.manager.handle_request(scope, receive, send)


def mcp_route(state: ServerState) -> McpRoute:
    """Return the address of MCP on a server."""

    @asynccontextmanager
    async def service_of(context: ServerRequestContext[Any, Any]) -> AsyncIterator[Service]:
        exchange = Exchange(state, cast("Request[Any]", context.request).state.caller)
        caller = exchange.caller
        with ExitStack() as stack:
            borrowed = state.workspaces.borrow(caller.workspace)
            library, follow = await run_in_thread(lambda: stack.enter_context(borrowed))
            seen = await run_in_thread(lambda: exchange.seen(library))
            remember = state.options.remember and caller.grant.is_whole
            yield Service(seen, remember=remember, workload=state.workload, follow=follow)

    server = build_server(service_of, remember=state.options.remember)
    return McpRoute(
        StreamableHTTPSessionManager(
            server,
            stateless=True,
            # The door has looked at both headers, on every path and before anything was read.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
    )
