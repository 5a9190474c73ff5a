"""The application: all routes, MCP among them, and how errors of any of them are answered."""

import logging
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any, Final, cast

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from mcp.server import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from chapterhouse import __version__
from chapterhouse.concurrency import run_in_thread
from chapterhouse.errors import ChapterhouseError
from chapterhouse.interfaces.api import (
    access,
    asking,
    councils,
    documents,
    graph,
    jobs,
    memory,
    sources,
    uploads,
    workspace_routes,
)
from chapterhouse.interfaces.api.openai import completions, questions
from chapterhouse.interfaces.api.problems import OpenAIError, Problem, Refusal, api_problem
from chapterhouse.interfaces.api.routing import COOKIE, WORKSPACE, require_known
from chapterhouse.interfaces.api.state import Exchange, ServerState
from chapterhouse.interfaces.mcp.server import build_server

ROUTERS: Final = (
    workspace_routes.health,
    memory.document_analytics,  # before the documents, of which "analytics" is no id
    uploads.uploads,
    documents.documents,
    asking.asking,
    jobs.jobs,
    councils.personas,
    councils.councils,
    councils.meetings,
    sources.sources,
    graph.graph,
    memory.memory,
    memory.feedback,
    sources.cloud,
    access.sessions,
    access.keys,
    access.users,
    access.audit,
    workspace_routes.workspaces,
    workspace_routes.settings,
    memory.analytics,
    questions.models,
    completions.chat,
    completions.responses,
    questions.embeddings,
)
_PARAMETER: Final = re.compile(r"\{[^}]*\}")
_DESCRIPTION: Final = (
    "Cited answers from your own documents. Name the workspace in the header X-Workspace."
)
# How a request says who sends it, and where; the door looks at both.
_SECURITY: Final = {
    "key": {"type": "http", "scheme": "bearer", "description": "A key: ch_…"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
}
_WORKSPACE: Final = {
    "name": WORKSPACE,
    "in": "header",
    "description": "The workspace; the only one of the key, or ``default``, when left out.",
    "schema": {"type": "string"},
}


class Application(FastAPI):
    """The application; its description says how to call it, too."""

    def openapi(self) -> dict[str, Any]:
        """Return the description of all routes (OpenAPI 3.1), made once."""
        if self.openapi_schema is None:
            found = super().openapi()
            parts = found.setdefault("components", {})
            schemas = parts.setdefault("schemas", {})
            for kind in (Problem, OpenAIError):
                schema = kind.model_json_schema(ref_template="#/components/schemas/{model}")
                schemas |= {**schema.pop("$defs"), kind.__name__: schema}
            parts["securitySchemes"] = _SECURITY
            parts["parameters"] = {"Workspace": _WORKSPACE}
            found["security"] = [{name: []} for name in _SECURITY]
            for path in found["paths"].values():
                path["parameters"] = [{"$ref": "#/components/parameters/Workspace"}]
        return self.openapi_schema or {}


def build_application(
    state: ServerState,
    pages: Sequence[APIRouter] = (),
    problem_of: Callable[[Exception, Scope], Response] = api_problem,
) -> FastAPI:
    """Return the application behind the door; it belongs to one event loop.

    Args:
        pages: What people open in a browser; programs are not told of it.
        problem_of: What is answered instead for an error of a request.
    """
    mcp = mcp_route(state)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with mcp.run():
            yield
        await state.meetings.stop()
        await run_in_thread(state.close)

    application = Application(
        title="Chapterhouse",
        version=__version__,
        description=_DESCRIPTION,
        openapi_url=None,  # a route of ours, with a level as all have
        docs_url=None,  # its page would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    application.state.server = state
    for one in ROUTERS:
        application.include_router(one)
    for one in pages:
        application.include_router(one, include_in_schema=False)
    # GET would open a stream on which nothing ever comes, and which nothing ends.
    application.router.routes.append(Route("/mcp", mcp, methods=["POST"]))

    async def answer_problem(request: Request, error: Exception) -> Response:
        answer = problem_of(error, request.scope)
        if answer.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            answer.headers["Allow"] = ", ".join(_methods_at(request, (*ROUTERS, *pages)))
        return answer

    for kind in (ChapterhouseError, Refusal, RequestValidationError, HTTPException, Exception):
        application.add_exception_handler(kind, answer_problem)
    return application


def _methods_at(request: Request, routers: Sequence[APIRouter]) -> list[str]:
    """Return the methods of all routes at an address, of which a router names the first alone."""
    inner = [route for one in routers for route in one.routes]
    routes = [one for one in (*request.app.routes, *inner) if isinstance(one, Route | APIRoute)]
    fitting = [one for one in routes if one.matches(request.scope)[0] is not Match.NONE]
    most = max((_literal(one.path) for one in fitting), default=0)  # else a name would be an id
    closest = [one for one in fitting if _literal(one.path) == most]
    return sorted({method for one in closest for method in one.methods or ()})


def _literal(path: str) -> int:
    """Return how many characters of a path no parameter stands for."""
    return len(_PARAMETER.sub("", path))


class McpRoute(StreamableHTTPSessionManager):
    """The address of MCP. Every request stands alone: no session is ever another caller's."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; its address has no parameters."""
        require_known(QueryParams(scope["query_string"]), ())
        await self.handle_request(scope, receive, send)


def mcp_route(state: ServerState) -> McpRoute:
    """Return the address of MCP on a server."""

    def exchange_of(context: ServerRequestContext[Any, Any]) -> Exchange:
        return Exchange(state, cast("Request", context.request).state.caller)

    # At DEBUG it writes every piece of every answer to the log.
    logging.getLogger("sse_starlette").setLevel(logging.INFO)
    server = build_server(exchange_of, remember=state.options.remember)
    # The door has looked at Host and Origin, on every path and before anything was read.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    return McpRoute(server, stateless=True, security_settings=unchecked)
