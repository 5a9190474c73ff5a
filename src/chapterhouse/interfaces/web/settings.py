"""What a server is set to: settings, models, keys, people, workspaces, what was done, health."""

import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import date, timedelta
from typing import Annotated, Any, Final, Literal

from fastapi import Form, Query, Request, Response
from pydantic import BeforeValidator, Field

from chapterhouse.errors import ChapterhouseError, UsageError
from chapterhouse.evaluation.model_trial import try_engine
from chapterhouse.interfaces.api import access, jobs, memory, workspace_routes
from chapterhouse.interfaces.api.problems import Refusal, refusal_of
from chapterhouse.interfaces.api.routing import needs
from chapterhouse.interfaces.api.schemas import Names
from chapterhouse.interfaces.api.state import Exchange, Exchanged
from chapterhouse.interfaces.service import without_paths
from chapterhouse.interfaces.web.frame import BARE, PageForm, page_router, redirect, show
from chapterhouse.settings_stored import schema_of
from chapterhouse.types import Analytics, Check, JobState, OutcomeCounts
from chapterhouse.types.access import AccessLevel

READ: Final = needs(AccessLevel.READ)
READ_WHOLE: Final = memory.READ
ADMIN: Final = access.ADMIN
EVERYWHERE: Final = needs(AccessLevel.ADMIN, whole=True, everywhere=True)
_TABS: Final = ("", "models", "keys", "people", "workspaces", "audit", "health")
_SHOWN: Final = frozenset({400, 403, 409})  # on the page whose form it was
_DAY: Final = 86_400  # seconds
_ROWS: Final = 50  # of a list, and entries of the audit log on a page
_MOST_DAYS: Final = 366  # that are drawn

settings: Final = page_router("/settings")


async def _page(
    request: Request, exchange: Exchange, tab: str, values: Mapping[str, Any] | None = None
) -> Response:
    """Show a tab, with what it always shows and more."""
    grant = exchange.caller.grant
    tabs = _TABS if grant.is_whole and grant.level is AccessLevel.ADMIN else ("",)
    shown = {"tabs": (*tabs, "unanswered") if grant.is_whole else tabs, "tab": tab, "problem": ""}
    shown |= await _VALUES[tab](exchange) if tab in _VALUES else {}
    return await show(request, exchange, f"settings_{tab}.html", {**shown, **(values or {})})


async def _change(
    request: Request, exchange: Exchange, tab: str, change: Awaitable[object], place: str = ""
) -> Response:
    """Go back to a tab after a change; what does not fit is said on it."""
    try:
        await change
    except (ChapterhouseError, Refusal) as error:
        found = refusal_of(error)
        if found.status not in _SHOWN:
            raise
        problem = without_paths(f"{found.detail} {found.hint}".strip())
        answer = await _page(request, exchange, tab, {"problem": problem})
        answer.status_code = found.status
        return answer
    return redirect(request, f"/settings/{tab}".removesuffix("/values") + place)


@settings.get("", openapi_extra=READ)
async def show_settings(request: Request, exchange: Exchanged) -> Response:
    """Show every setting; to who is no admin, what they may do."""
    grant = exchange.caller.grant
    is_admin = grant.level is AccessLevel.ADMIN and grant.is_whole
    return await _page(request, exchange, "values" if is_admin else "you")


# --- settings -----------------------------------------------------------------------------------


class ValueForm(PageForm):
    """The value of a setting as it was typed, or that the database is to say nothing of it."""

    value: str = Field(default="", max_length=10_000)
    reset: bool = False


async def _values(exchange: Exchange) -> dict[str, Any]:
    """Return every setting by its section, with what values it may have."""
    sections: dict[str, list[dict[str, Any]]] = {}
    for one in (await workspace_routes.list_settings(exchange)).settings:
        schema = schema_of(one.name)
        schema = {**schema, **next(iter(schema.get("anyOf", ())), {})}
        text, default = (_text(value) for value in (one.value, one.default))
        row = {"setting": one, "schema": schema, "text": text, "default": default}
        sections.setdefault(one.name.partition(".")[0], []).append(row)
    return {"sections": sections}


@settings.post("/values/{name}", openapi_extra=ADMIN)
async def change_value(
    request: Request, exchange: Exchanged, name: str, form: Annotated[ValueForm, Form()]
) -> Response:
    """Change a setting in the database, or let the files decide again."""

    async def change() -> None:
        if form.reset:
            await workspace_routes.reset_setting(exchange, name)
        else:
            body = workspace_routes.SettingBody(value=_value(name, form.value.strip()))
            await workspace_routes.change_setting(exchange, name, body)

    return await _change(request, exchange, "values", change(), f"#{name}")


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _value(name: str, text: str) -> object:
    """Return a value that was typed; what is no text is written as JSON."""
    schema = schema_of(name)
    if schema.get("type", "string") == "string" and "anyOf" not in schema:
        return text
    try:
        return json.loads(text or "null")
    except ValueError:
        raise UsageError(f"'{text[:100]}' cannot be the value of {name}.") from None


# --- models -------------------------------------------------------------------------------------


class TrialForm(PageForm):
    """Which model is to be tried out, by the section of its settings."""

    engine: Literal["language_model", "embedding", "rerank"]


async def _models(exchange: Exchange) -> dict[str, Any]:
    chosen = await exchange.look(lambda library: library.settings)
    status = await workspace_routes.show_workspace(exchange)
    return {"chosen": chosen, "encoders": status.encoders, "trial": None}


@settings.post("/models", openapi_extra=ADMIN)
async def try_model(
    request: Request, exchange: Exchanged, form: Annotated[TrialForm, Form()]
) -> Response:
    """Call a model, and show what came of it and how long it took."""
    trial = await exchange.look_long(lambda library: try_engine(form.engine, library))
    return await _page(request, exchange, "models", {"trial": _public(trial)})


def _public(check: Check) -> Check:
    sentence, hint = without_paths(check.sentence), without_paths(check.hint)
    return Check(check.name, check.passed, sentence, hint)


# --- keys and people ----------------------------------------------------------------------------


def _split(value: object) -> object:
    """Return the names in a field, with spaces or commas between; None where there is none."""
    texts = value if isinstance(value, list | tuple) else [value or ""]
    return " ".join(map(str, texts)).replace(",", " ").split() or None


Typed = Annotated[Names | None, BeforeValidator(_split)]


class GrantForm(PageForm):
    """What somebody may do, as it is typed."""

    workspaces: Typed = None
    shelves: Typed = None
    personas: Typed = None


class KeyForm(GrantForm, access.KeyBody):
    """A key that is to be made."""

    days: int = Field(default=0, ge=0, le=36_500)


class UserForm(GrantForm, access.UserBody):
    """A user who is to be added."""


class PasswordForm(PageForm, access.PasswordBody):
    """A new password."""


async def _keys(exchange: Exchange) -> dict[str, Any]:
    found = (await access.list_keys(exchange)).keys
    return {"keys": found, "now": int(time.time()), "secret": ""}


async def _people(exchange: Exchange) -> dict[str, Any]:
    return {"people": (await access.list_users(exchange)).users}


@settings.post("/keys", openapi_extra=ADMIN)
async def create_key(
    request: Request, exchange: Exchanged, form: Annotated[KeyForm, Form()]
) -> Response:
    """Make a key; its secret is on the answer, this once."""
    made: list[str] = []

    async def create() -> None:
        expires = int(time.time()) + form.days * _DAY if form.days else 0
        new = await access.create_key(exchange, form.model_copy(update={"expires": expires}))
        made.append(new.secret)

    answer = await _change(request, exchange, "keys", create())
    return await _page(request, exchange, "keys", {"secret": made[0]}) if made else answer


@settings.post("/keys/{key_id}/revoke", openapi_extra=ADMIN, dependencies=[BARE])
async def revoke_key(request: Request, exchange: Exchanged, key_id: str) -> Response:
    """Revoke a key for good."""
    return await _change(request, exchange, "keys", access.revoke_key(exchange, key_id))


@settings.post("/people", openapi_extra=ADMIN)
async def add_user(
    request: Request, exchange: Exchanged, form: Annotated[UserForm, Form()]
) -> Response:
    """Add somebody."""
    return await _change(request, exchange, "people", access.add_user(exchange, form))


@settings.post("/people/{name}/password", openapi_extra=ADMIN)
async def set_password(
    request: Request, exchange: Exchanged, name: str, form: Annotated[PasswordForm, Form()]
) -> Response:
    """Change a password; the user's sessions end."""
    return await _change(request, exchange, "people", access.set_password(exchange, name, form))


_ACTIONS: Final[Mapping[str, Callable[[Exchange, str], Awaitable[object]]]] = {
    "disable": access.disable_user,
    "enable": access.enable_user,
    "remove": access.remove_user,
}


@settings.post("/people/{name}/{action}", openapi_extra=ADMIN, dependencies=[BARE])
async def change_user(
    request: Request,
    exchange: Exchanged,
    name: str,
    action: Literal["disable", "enable", "remove"],
) -> Response:
    """Disable, enable or remove somebody."""
    return await _change(request, exchange, "people", _ACTIONS[action](exchange, name))


# --- workspaces, what was done, health ----------------------------------------------------------


class WorkspaceForm(PageForm, workspace_routes.WorkspaceBody):
    """A workspace that is to be made."""


async def _workspaces(exchange: Exchange) -> dict[str, Any]:
    return {"names": (await workspace_routes.list_workspaces(exchange)).workspaces}


@settings.post("/workspaces", openapi_extra=EVERYWHERE)
async def create_workspace(
    request: Request, exchange: Exchanged, form: Annotated[WorkspaceForm, Form()]
) -> Response:
    """Make a workspace."""
    change = workspace_routes.create_workspace(exchange, form)
    return await _change(request, exchange, "workspaces", change)


@settings.get("/audit", openapi_extra=ADMIN)
async def show_audit(
    request: Request, exchange: Exchanged, before: Annotated[int, Query(ge=0, le=2**62)] = 0
) -> Response:
    """Show what was done and refused, newest first."""
    found = await access.list_audit(exchange, before, _ROWS)
    return await _page(request, exchange, "audit", {"found": found, "before": before})


async def _health(exchange: Exchange) -> dict[str, Any]:
    running = await jobs.list_jobs(exchange, (JobState.RUNNING,), 1_000)
    waiting = await jobs.list_jobs(exchange, (JobState.PENDING,), 1_000)
    return {
        "status": await workspace_routes.show_workspace(exchange),
        "running": len(running.jobs),
        "waiting": len(waiting.jobs),
        "processes": exchange.server.options.processes,
        "checks": (),
    }


@settings.post("/health", openapi_extra=EVERYWHERE, dependencies=[BARE])
async def check_health(request: Request, exchange: Exchanged) -> Response:
    """Check the workspace and the machine that it is on, as ``chapterhouse doctor`` does."""
    found = await exchange.look_long(lambda library: library.doctor())
    return await _page(request, exchange, "health", {"checks": tuple(map(_public, found))})


@settings.get("/unanswered", openapi_extra=READ_WHOLE)
async def show_unanswered(
    request: Request, exchange: Exchanged, days: Annotated[int, Query(ge=0, le=36_500)] = 30
) -> Response:
    """Show what was asked, day by day, and what the documents did not answer."""
    found = await memory.show_analytics(exchange, days, _ROWS)
    is_recorded = await exchange.look(lambda library: library.settings.analytics.text)
    values = {"found": found, "columns": list(_columns(found)), "is_recorded": is_recorded}
    return await _page(request, exchange, "unanswered", values)


def _columns(found: Analytics) -> Iterator[tuple[str, int, int]]:
    """Yield each day of a period with its questions, and how many of them were answered."""
    last = date.fromisoformat(found.last_day)
    first = max(date.fromisoformat(found.first_day), last - timedelta(_MOST_DAYS - 1))
    for number in range((last - first).days + 1):
        day = (first + timedelta(number)).isoformat()
        counts = found.by_day.get(day, OutcomeCounts())
        yield day, counts.questions, counts.answered


# What each tab shows, whatever led there.
_VALUES: Final[Mapping[str, Callable[[Exchange], Awaitable[dict[str, Any]]]]] = {
    "values": _values,
    "models": _models,
    "keys": _keys,
    "people": _people,
    "workspaces": _workspaces,
    "health": _health,
}


@settings.get("/{tab}", openapi_extra=ADMIN)
async def show_tab(
    request: Request,
    exchange: Exchanged,
    tab: Literal["models", "keys", "people", "workspaces", "health"],
) -> Response:
    """Show what there is of something, with the forms that change it."""
    return await _page(request, exchange, tab)
