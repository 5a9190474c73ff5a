"""What the server is and has: health and metrics, workspaces and their settings."""

from typing import Annotated, Any, Final

from fastapi import Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import Field

from chapterhouse import __version__
from chapterhouse.concurrency import run_in_thread
from chapterhouse.interfaces.api.routing import ANYONE, needs, router
from chapterhouse.interfaces.api.schemas import Body, Name
from chapterhouse.interfaces.api.state import Exchanged, ServerState
from chapterhouse.interfaces.schemas import Result
from chapterhouse.interfaces.values import public_status
from chapterhouse.types import LibraryStatus, SettingValue
from chapterhouse.types.access import AccessLevel

health: Final = router("/api", "health")


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


READ: Final = needs(AccessLevel.READ)
ADMIN: Final = needs(AccessLevel.ADMIN, whole=True)
_MOST: Final = 1_000

workspaces: Final = router("/api/workspaces", "workspaces")
settings: Final = router("/api/settings", "settings")
SettingName = Annotated[str, Field(max_length=200)]


# --- workspaces ---------------------------------------------------------------------------------


class WorkspacesResult(Result):
    """The workspaces that the caller may use, by name."""

    workspaces: tuple[str, ...]


class WorkspaceBody(Body):
    """A workspace that is to be made."""

    name: Name


@workspaces.get("", openapi_extra=READ)
async def list_workspaces(exchange: Exchanged) -> WorkspacesResult:
    """List the workspaces that the caller may use."""
    names = await run_in_thread(exchange.server.workspaces.names)
    grant = exchange.caller.grant
    return WorkspacesResult(
        workspaces=tuple(name for name in names if grant.permits(AccessLevel.READ, name))
    )


@workspaces.post(
    "",
    status_code=201,
    openapi_extra=needs(AccessLevel.ADMIN, whole=True, everywhere=True),
)
async def create_workspace(exchange: Exchanged, body: WorkspaceBody) -> WorkspacesResult:
    """Make a workspace."""
    await run_in_thread(lambda: exchange.server.workspaces.create(body.name))
    await run_in_thread(lambda: exchange.record("workspace.create", body.name))
    return await list_workspaces(exchange)


@workspaces.get("/current", openapi_extra=needs(AccessLevel.READ, whole=True))
async def show_workspace(exchange: Exchanged) -> LibraryStatus:
    """Say what the workspace of this request holds."""
    return await exchange.look(lambda library: public_status(library.status()))


# --- settings -----------------------------------------------------------------------------------


class SettingsResult(Result):
    """Settings, section by section."""

    settings: tuple[SettingValue, ...]


class SettingsBody(Body):
    """Values by name; aliases are accepted. All of them are changed or none."""

    values: Annotated[dict[SettingName, Any], Field(min_length=1, max_length=200)]


class SettingBody(Body):
    """The value of a setting."""

    value: Any


@settings.get("", openapi_extra=ADMIN)
async def list_settings(exchange: Exchanged) -> SettingsResult:
    """List every setting with its value, and where that is stated."""
    return await exchange.look(
        lambda library: SettingsResult(settings=tuple(library.configuration.all()))
    )


@settings.patch("", openapi_extra=ADMIN)
async def change_settings(exchange: Exchanged, body: SettingsBody) -> SettingsResult:
    """Change settings; the next request is served under them."""
    by = exchange.caller.grant.name
    return await exchange.change(
        "settings.change",
        ", ".join(sorted(body.values))[:200],
        lambda library: SettingsResult(
            settings=tuple(library.configuration.change_many(body.values, by))
        ),
    )


@settings.get("/{name}", openapi_extra=ADMIN)
async def show_setting(exchange: Exchanged, name: str) -> SettingValue:
    """Show a setting, by its name or an alias."""
    return await exchange.look(lambda library: library.configuration.get(name))


@settings.put("/{name}", openapi_extra=ADMIN)
async def change_setting(exchange: Exchanged, name: str, body: SettingBody) -> SettingValue:
    """Change a setting; the next request is served under it."""
    by = exchange.caller.grant.name
    return await exchange.change(
        "settings.change",
        name[:200],
        lambda library: library.configuration.change(name, body.value, by),
    )


@settings.delete("/{name}", openapi_extra=ADMIN)
async def reset_setting(exchange: Exchanged, name: str) -> SettingValue:
    """Let the database say nothing of a setting any more."""
    by = exchange.caller.grant.name
    return await exchange.change(
        "settings.reset", name[:200], lambda library: library.configuration.reset(name, by)
    )
