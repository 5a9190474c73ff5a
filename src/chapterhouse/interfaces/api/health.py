"""Whether the server lives and is ready, and what it has done, in numbers."""

from typing import Final

from fastapi import Request, Response
from fastapi.responses import PlainTextResponse

from chapterhouse import __version__
from chapterhouse.concurrency import run_in_thread
from chapterhouse.interfaces.api.routing import ANYONE, needs, router
from chapterhouse.interfaces.api.state import Exchanged, ServerState
from chapterhouse.interfaces.schemas import Result
from chapterhouse.types.access import AccessLevel

health: Final = router("/api", "health")


class HealthResult(Result):
    """That the server lives."""

    status: str
    version: str


@health.get("/health", openapi_extra=ANYONE)
async def alive() -> HealthResult:
    """Say that the server lives; nothing is looked at."""
    return HealthResult(status="ok", version=__version__)


@health.get("/ready", openapi_extra=ANYONE)
async def ready(request: Request, response: Response) -> HealthResult:
    """Say whether the server takes requests: it can read who may call, and does not stop."""
    state: ServerState = request.app.state.server
    await run_in_thread(state.access.is_configured)
    if state.stopping.is_set():
        response.status_code = 503
        response.headers["Retry-After"] = "5"
        return HealthResult(status="stopping", version=__version__)
    return HealthResult(status="ok", version=__version__)


@health.get(
    "/metrics",
    openapi_extra=needs(AccessLevel.ADMIN, everywhere=True),
    response_class=PlainTextResponse,
)
async def metrics(exchange: Exchanged) -> Response:
    """Return counters in the text format of Prometheus: no names, no content."""
    return Response(exchange.server.metrics.text(), media_type="text/plain; version=0.0.4")
