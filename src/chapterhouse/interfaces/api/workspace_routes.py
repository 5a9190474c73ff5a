"""Workspaces and their settings over HTTP."""

from typing import Annotated, Any, Final

from pydantic import Field

from chapterhouse.concurrency import run_in_thread
from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.schemas import Body, Name
from chapterhouse.interfaces.api.state import Exchanged
from chapterhouse.interfaces.schemas import Result
from chapterhouse.types import SettingValue
from chapterhouse.types.access import AccessLevel

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


class StatusResult(Result):
    """What a workspace holds."""

    workspace: str
    documents: int
    chunks: int
    by_format: dict[str, int]
    by_status: dict[str, int]
    by_shelf: dict[str, int]
    embedder: str
    disk_bytes: int


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
async def show_workspace(exchange: Exchanged) -> StatusResult:
    """Say what the workspace of this request holds."""
    return await exchange.look(lambda library: StatusResult.model_validate(library.status()))


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
