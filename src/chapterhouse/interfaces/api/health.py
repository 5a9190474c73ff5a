"""What the server is, whether it lives and is ready, and what it has done, in numbers."""

from typing import Final

from fastapi import Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse

from chapterhouse import __version__
from chapterhouse.concurrency import run_in_thread
from chapterhouse.interfaces.api.routing import ANYONE, needs, router
from chapterhouse.interfaces.api.state import Exchanged, ServerState
from chapterhouse.interfaces.schemas import Result
from chapterhouse.types.access import AccessLevel

_PAGE: Final = f"""\
<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Chapterhouse</title></head>
<body>
<h1>Chapterhouse {__version__}</h1>
<p>A council that has read your documents: this server answers programs, with citations.</p>
<ul>
<li><code>/api</code>: documents, search, questions, councils.
<a href="/api/openapi.json">/api/openapi.json</a> describes every route (with a key).</li>
<li><code>/v1</code>: the protocol of OpenAI's clients.</li>
<li><code>/mcp</code>: the Model Context Protocol.</li>
</ul>
<p>Requests need a key: <code>Authorization: Bearer ch_…</code>. <code>chapterhouse serve</code>
says where its owner's is; <code>chapterhouse key create</code> makes others.</p>
</body>
</html>
"""

page: Final = router("", "page")
health: Final = router("/api", "health")


@page.get("/", openapi_extra=ANYONE, response_class=HTMLResponse)
async def show_page() -> HTMLResponse:
    """Say in HTML what this server is and where its interfaces are."""
    return HTMLResponse(_PAGE)


@health.get("/openapi.json", openapi_extra=needs(AccessLevel.READ))
async def describe(request: Request) -> JSONResponse:
    """Describe all routes (OpenAPI 3.1)."""
    return JSONResponse(request.app.openapi())


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
