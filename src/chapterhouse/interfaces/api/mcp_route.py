"""MCP in the server: the same tools, for each caller over the library that they may see."""

import logging
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, cast

from mcp.server import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import QueryParams
from starlette.types import Receive, Scope, Send

from chapterhouse.interfaces.api.routing import require_known
from chapterhouse.interfaces.api.state import Exchange, ServerState
from chapterhouse.interfaces.mcp.server import build_server

if TYPE_CHECKING:
    from starlette.requests import Request


class McpRoute:
    """The address of MCP: an ASGI application.

    Every request stands alone, so no session is ever another caller's.
    """

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    def run(self) -> AbstractAsyncContextManager[None]:
        """Serve as long as the block runs."""
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; its address has no parameters."""
        require_known(QueryParams(scope["query_string"]), ())
        await self._manager.handle_request(scope, receive, send)


def mcp_route(state: ServerState) -> McpRoute:
    """Return the address of MCP on a server."""

    def exchange_of(context: ServerRequestContext[Any, Any]) -> Exchange:
        return Exchange(state, cast("Request", context.request).state.caller)

    # At DEBUG it writes every piece of every answer to the log.
    logging.getLogger("sse_starlette").setLevel(logging.INFO)
    server = build_server(exchange_of, remember=state.options.remember)
    return McpRoute(
        StreamableHTTPSessionManager(
            server,
            stateless=True,
            # The door has looked at both headers, on every path and before anything was read.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
    )
