"""What a server is set to: settings, models, keys, people, workspaces, what was done, health."""

import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Final, Literal

from fastapi import Form, Query, Response
from pydantic import BeforeValidator, Field

from chapterhouse.errors import ChapterhouseError
from chapterhouse.evaluation.model_trial import try_engine
from chapterhouse.interfaces.api import access, jobs, workspace_routes
from chapterhouse.interfaces.api.problems import Refusal, refusal_of
from chapterhouse.interfaces.api.routing import needs
from chapterhouse.interfaces.api.schemas import Body, Names
from chapterhouse.interfaces.service import without_paths
from chapterhouse.interfaces.web import words
from chapterhouse.interfaces.web.frame import (
    Typed,
    Visit,
    Visited,
    page_hint,
    pages,
)
from chapterhouse.settings_stored import schema_of
from chapterhouse.types import Check, JobState
from chapterhouse.types.access import AccessLevel

ADMIN: Final = access.ADMIN
EVERYWHERE: Final = needs(AccessLevel.ADMIN, whole=True, everywhere=True)
_SHOWN: Final = frozenset({400, 403, 409})  # on the page whose form it was
_DAY: Final = 86_400  # seconds
_TEMPLATES: Final = {
    "values": "settings_values.html",
    **dict.fromkeys(("keys", "people"), "settings_access.html"),
}
_ROWS: Final = 50  # of a list, and entries of the audit log on a page


async def _page(visit: Visit, tab: str, **values: Any) -> Response:
    """Show a tab, with what it always shows and more."""
    shown = await _VALUES[tab](visit) if tab in _VALUES else {}
    template = _TEMPLATES.get(tab, "settings.html")
    return await visit.show(template, {"tab": tab, "problem": "", **shown, **values})


async def _change(
    visit: Visit, tab: str, change: Awaitable[object], place: str = "", **typed: Any
) -> Response:
    """Go back to a tab after a change; what does not fit is said on it."""
    try:
        await change
    except (ChapterhouseError, Refusal) as error:
        found = refusal_of(error)
        if found.status not in _SHOWN:
            raise
        problem = without_paths(f"{found.detail} {found.hint}".strip())
        answer = await _page(visit, tab, problem=problem, **typed)
        answer.status_code = found.status
        return answer
    return visit.redirect(f"/settings/{tab}".removesuffix("/values") + place)


@pages.get("/settings", openapi_extra=needs(AccessLevel.READ))
async def show_settings(visit: Visited) -> Response:
    """Show every setting; to who is no admin, what they may do."""
    grant = visit.caller.grant
    is_admin = grant.level is AccessLevel.ADMIN and grant.is_whole
    return await _page(visit, "values" if is_admin else "you")


# --- settings -----------------------------------------------------------------------------------


async def _values(visit: Visit) -> dict[str, Any]:
    """Return every setting by its section, in the order in which people look for them."""
    sections: dict[str, list[Any]] = {name: [] for name in words.TITLES}
    for one in (await workspace_routes.list_settings(visit)).settings:
        sections.setdefault(one.name.partition(".")[0], []).append(one)
    sections = {name: rows for name, rows in sections.items() if rows}
    return {"sections": sections, "schema": _schema, "words": words, "typed": {}}


@pages.post("/settings/values", openapi_extra=ADMIN)
async def change_values(visit: Visited, typed: Typed) -> Response:
    """Change what is new of a form in the database, or let the files decide again on a setting."""
    reset = typed.pop("reset", "")

    async def change() -> None:
        if reset:
            await workspace_routes.reset_setting(visit, reset)
            return
        known = (await workspace_routes.list_settings(visit)).settings
        before = {one.name: json.loads(json.dumps(one.value)) for one in known}
        values = {name: _read(name, text) for name, text in typed.items()}
        new = {name: one for name, one in values.items() if one != before.get(name)}
        if new:
            await workspace_routes.change_settings(visit, workspace_routes.SettingsBody(values=new))

    place = reset or next(iter(typed), "")
    return await _change(visit, "values", change(), f"#{place}", typed=typed)


def _schema(name: str) -> Mapping[str, Any]:
    """Return the schema of a setting; of one that may be empty that of its values."""
    schema = schema_of(name)
    return {**schema, **next(iter(schema.get("anyOf", ())), {})}


def _read(name: str, text: str) -> object:
    """Return what is typed for a setting; one that means nothing as it stands: the model says."""
    schema = _schema(name)
    if schema.get("type") == "string":
        return text
    try:
        return json.loads(text) if text else schema.get("default")
    except ValueError:
        return text


# --- models -------------------------------------------------------------------------------------


class TrialForm(Body):
    """Which model is to be tried out, by the section of its settings."""

    engine: Literal["language_model", "embedding", "rerank"]


async def _models(visit: Visit) -> dict[str, Any]:
    chosen = await visit.look(lambda library: library.settings)
    status = await workspace_routes.show_workspace(visit)
    return {"chosen": chosen, "encoders": status.encoders, "trial": None}


@pages.post("/settings/models", openapi_extra=ADMIN)
async def try_model(visit: Visited, form: Annotated[TrialForm, Form()]) -> Response:
    """Call a model, and show what came of it and how long it took."""
    trial = await visit.look_long(lambda library: try_engine(form.engine, library))
    return await _page(visit, "models", trial=_public(trial))


def _public(check: Check) -> Check:
    sentence, hint = without_paths(check.sentence), page_hint(without_paths(check.hint), "Settings")
    return Check(check.name, check.passed, sentence, hint)


# --- keys and people ----------------------------------------------------------------------------


def _split(value: object) -> object:
    """Return the names in a field, with spaces or commas between; None where there is none."""
    texts = value if isinstance(value, list | tuple) else [value or ""]
    return " ".join(map(str, texts)).replace(",", " ").split() or None


NamesTyped = Annotated[Names | None, BeforeValidator(_split)]


class GrantForm(Body):
    """What somebody may do, as it is typed."""

    workspaces: NamesTyped = None
    shelves: NamesTyped = None
    personas: NamesTyped = None


class KeyForm(GrantForm, access.KeyBody):
    """A key that is to be made."""

    days: int = Field(default=0, ge=0, le=36_500)


class UserForm(GrantForm, access.UserBody):
    """A user who is to be added."""


class PasswordForm(access.PasswordBody):
    """A new password."""


async def _keys(visit: Visit) -> dict[str, Any]:
    return {"keys": (await access.list_keys(visit)).keys, "now": int(time.time()), "secret": ""}


async def _people(visit: Visit) -> dict[str, Any]:
    return {"people": (await access.list_users(visit)).users}


@pages.post("/settings/keys", openapi_extra=ADMIN)
async def create_key(visit: Visited, form: Annotated[KeyForm, Form()]) -> Response:
    """Make a key; its secret is on the answer, this once."""
    made: list[str] = []

    async def create() -> None:
        expires = int(time.time()) + form.days * _DAY if form.days else 0
        new = await access.create_key(visit, form.model_copy(update={"expires": expires}))
        made.append(new.secret)

    answer = await _change(visit, "keys", create())
    return await _page(visit, "keys", secret=made[0]) if made else answer


@pages.post("/settings/people", openapi_extra=ADMIN)
async def add_user(visit: Visited, form: Annotated[UserForm, Form()]) -> Response:
    """Add somebody."""
    return await _change(visit, "people", access.add_user(visit, form))


@pages.post("/settings/people/{name}/password", openapi_extra=ADMIN)
async def set_password(
    visit: Visited, name: str, form: Annotated[access.PasswordBody, Form()]
) -> Response:
    """Change a password; the user's sessions end."""
    return await _change(visit, "people", access.set_password(visit, name, form))


@pages.post("/settings/keys/{key_id}/revoke", openapi_extra=ADMIN)
async def revoke_key(visit: Visited, key_id: str) -> Response:
    """Revoke a key for good."""
    return await _change(visit, "keys", access.revoke_key(visit, key_id))


@pages.post("/settings/people/{name}/{action}", openapi_extra=ADMIN)
async def change_user(
    visit: Visited, name: str, action: Literal["disable", "enable", "remove"]
) -> Response:
    """Disable, enable or remove somebody."""
    does = {"disable": access.disable_user, "enable": access.enable_user}
    change = does.get(action, access.remove_user)
    return await _change(visit, "people", change(visit, name))


# --- workspaces, what was done, health ----------------------------------------------------------


class WorkspaceForm(workspace_routes.WorkspaceBody):
    """A workspace that is to be made."""


async def _workspaces(visit: Visit) -> dict[str, Any]:
    return {"names": (await workspace_routes.list_workspaces(visit)).workspaces}


@pages.post("/settings/workspaces", openapi_extra=EVERYWHERE)
async def create_workspace(
    visit: Visited, form: Annotated[workspace_routes.WorkspaceBody, Form()]
) -> Response:
    """Make a workspace."""
    change = workspace_routes.create_workspace(visit, form)
    return await _change(visit, "workspaces", change)


@pages.get("/settings/audit", openapi_extra=ADMIN)
async def show_audit(visit: Visited, before: Annotated[int, Query(ge=0, le=2**62)] = 0) -> Response:
    """Show what was done and refused, newest first."""
    found = await access.list_audit(visit, before, _ROWS)
    return await _page(visit, "audit", found=found, before=before)


async def _health(visit: Visit) -> dict[str, Any]:
    states = {"running": JobState.RUNNING, "waiting": JobState.PENDING}
    found = {
        name: len((await jobs.list_jobs(visit, (one,), 1_000)).jobs) for name, one in states.items()
    }
    processes = visit.server.options.processes
    status = await workspace_routes.show_workspace(visit)
    return {**found, "status": status, "processes": processes, "checks": ()}


@pages.post("/settings/health", openapi_extra=EVERYWHERE)
async def check_health(visit: Visited) -> Response:
    """Check the workspace and the machine that it is on, as ``chapterhouse doctor`` does."""
    found = await visit.look_long(lambda library: library.doctor())
    return await _page(visit, "health", checks=tuple(map(_public, found)))


# What each tab shows, whatever led there.
_VALUES: Final[Mapping[str, Callable[[Visit], Awaitable[dict[str, Any]]]]] = {
    "values": _values,
    "models": _models,
    "keys": _keys,
    "people": _people,
    "workspaces": _workspaces,
    "health": _health,
}


@pages.get("/settings/{tab}", openapi_extra=ADMIN)
async def show_tab(
    visit: Visited, tab: Literal["values", "models", "keys", "people", "workspaces", "health"]
) -> Response:
    """Show what there is of something, with the forms that change it."""
    return await _page(visit, tab)
