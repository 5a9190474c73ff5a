"""The application: all routes, and how errors of any of them are answered."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chapterhouse import __version__
from chapterhouse.errors import ChapterhouseError
from chapterhouse.interfaces.api import (
    access,
    analytics,
    asking,
    cloud,
    councils,
    documents,
    evaluation,
    health,
    jobs,
    memory,
    personas,
    sources,
    workspace_routes,
)
from chapterhouse.interfaces.api.mcp_route import mcp_route
from chapterhouse.interfaces.api.openai import chat, embeddings, models, responses
from chapterhouse.interfaces.api.problems import Refusal, problem
from chapterhouse.interfaces.api.state import ServerState

ROUTERS: Final = (
    health.health,
    analytics.document_analytics,  # before the documents, of which "analytics" is no id
    documents.documents,
    asking.asking,
    jobs.jobs,
    personas.personas,
    councils.councils,
    councils.meetings,
    sources.sources,
    memory.memory,
    evaluation.evaluation,
    evaluation.feedback,
    cloud.cloud,
    access.sessions,
    access.keys,
    access.users,
    access.audit,
    workspace_routes.workspaces,
    workspace_routes.settings,
    analytics.analytics,
    models.models,
    chat.chat,
    responses.responses,
    embeddings.embeddings,
)
_DESCRIPTION: Final = (
    "Cited answers from your own documents. Name the workspace in the header X-Workspace."
)


def build_application(state: ServerState) -> FastAPI:
    """Return the application behind the door; it belongs to one event loop."""
    mcp = mcp_route(state)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with mcp.run():
            yield
        await state.meetings.stop()

    application = FastAPI(
        title="Chapterhouse",
        version=__version__,
        description=_DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,  # its page would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    application.state.server = state
    for one in ROUTERS:
        application.include_router(one)
    application.router.routes.append(Route("/mcp", mcp))
    for kind in (ChapterhouseError, Refusal, RequestValidationError, HTTPException, Exception):
        application.add_exception_handler(kind, _answer)
    return application


async def _answer(request: Request, error: Exception) -> Response:
    return problem(error, request.url.path)
