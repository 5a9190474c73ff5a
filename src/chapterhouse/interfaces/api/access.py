"""Who may use the home, over HTTP: log in, keys, users, and what was done."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Query, Request, Response
from pydantic import Field, SecretStr

from chapterhouse.concurrency import run_in_thread
from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.api.problems import Refusal
from chapterhouse.interfaces.api.routing import ANYONE, COOKIE, needs, router
from chapterhouse.interfaces.api.schemas import LARGEST, STRICT, Body, Name, Names
from chapterhouse.interfaces.api.state import Exchange, Exchanged, ServerState
from chapterhouse.interfaces.schemas import Result
from chapterhouse.interfaces.values import extended
from chapterhouse.library.access import NewKey, NewSession
from chapterhouse.types.access import AccessLevel, ApiKey, AuditEntry, Grant, User

ADMIN: Final = needs(AccessLevel.ADMIN, whole=True)
READ: Final = needs(AccessLevel.READ)
_MOST: Final = 1_000
_WRONG_SECONDS: Final = 1.0  # until a wrong password is answered

sessions: Final = router("/api", "access")
keys: Final = router("/api/keys", "access")
users: Final = router("/api/users", "access")
audit: Final = router("/api/audit", "access")


# --- sessions -----------------------------------------------------------------------------------


class LoginBody(Body):
    """Who logs in."""

    name: Name
    password: Annotated[SecretStr, Field(max_length=1_000)]


@dataclass(frozen=True, slots=True)
class CallerGrant(Grant):
    """What the caller may do."""

    workspace: str = ""


@sessions.post("/session", openapi_extra=ANYONE)
async def log_in(request: Request, response: Response, body: LoginBody) -> NewSession:
    """Begin a session for a user whose password it is; the cookie comes with the answer."""
    return await start_session(request, response, body.name, body.password.get_secret_value())


async def start_session(
    request: Request, response: Response, name: str, password: str
) -> NewSession:
    """Begin a session for a user whose password it is; its cookie goes with a response."""
    state: ServerState = request.app.state.server
    address = request.client.host if request.client else ""
    session = await run_in_thread(lambda: state.access.log_in(name, password, address))
    if session is None:
        seconds = await run_in_thread(lambda: state.access.seconds_until_log_in(name, address))
        if seconds:
            raise Refusal(
                429, "Too many attempts to log in.", headers={"Retry-After": str(seconds)}
            )
        await asyncio.sleep(_WRONG_SECONDS)
        raise Refusal(401, "The name or the password is wrong.")
    response.set_cookie(
        COOKIE,
        session.secret,
        httponly=True,
        samesite="strict",
        secure=not state.is_local,
        path="/",
    )
    return session


@sessions.delete("/session", status_code=204, openapi_extra=READ)
async def log_out(request: Request, response: Response, exchange: Exchanged) -> None:
    """End the session whose cookie is sent."""
    secret = request.cookies.get(COOKIE, "")
    await run_in_thread(lambda: exchange.server.access.log_out(secret))
    response.delete_cookie(COOKIE, path="/")


@sessions.get("/me", openapi_extra=READ)
async def show_caller(exchange: Exchanged) -> CallerGrant:
    """Say what the caller may do."""
    caller = exchange.caller
    return extended(CallerGrant, caller.grant, workspace=caller.workspace)


# --- keys ---------------------------------------------------------------------------------------


class GrantBody(Body):
    """What somebody may do; no more than the caller."""

    level: AccessLevel = AccessLevel.READ
    workspaces: Names | None = Field(default=None, description="Null: all.")
    shelves: Names | None = Field(default=None, description="Null: every document.")
    personas: Names | None = Field(default=None, description="Null: all.")

    @property
    def grant(self) -> Grant:
        """What it permits."""
        return Grant("", self.level, self.workspaces, self.shelves, self.personas)


class KeyBody(GrantBody):
    """A key that is to be made; it may permit no more than the caller's own."""

    label: Annotated[str, Field(min_length=1, max_length=100)]
    expires: Annotated[int, Field(ge=0, le=LARGEST), STRICT] = Field(
        default=0, description="In seconds since 1970; 0: never."
    )


class KeysResult(Result):
    """Keys, newest first."""

    keys: tuple[ApiKey, ...]


@keys.get("", openapi_extra=ADMIN)
async def list_keys(exchange: Exchanged) -> KeysResult:
    """List the keys that permit no more than the caller may."""
    found = await run_in_thread(exchange.server.access.keys)
    own = exchange.caller.grant
    return KeysResult(keys=tuple(key for key in found if own.includes(key.grant)))


@keys.post("", status_code=201, openapi_extra=ADMIN)
async def create_key(exchange: Exchanged, body: KeyBody) -> NewKey:
    """Make a key. Its secret is shown this once, and stored nowhere."""
    _require_included(exchange, body.grant)
    return await run_in_thread(
        lambda: exchange.server.access.create_key(
            body.label,
            body.level,
            body.workspaces,
            shelves=body.shelves,
            personas=body.personas,
            expires=body.expires,
            by=exchange.caller.grant.name,
        )
    )


@keys.delete("/{key_id}", openapi_extra=ADMIN)
async def revoke_key(exchange: Exchanged, key_id: str) -> ApiKey:
    """Revoke a key: the next request with it is refused."""

    def revoke() -> ApiKey:
        access = exchange.server.access
        known = {one.id: one for one in access.keys()}  # noqa: SIM118 - no dictionary
        key = known.get(key_id)
        if key is None or not exchange.caller.grant.includes(key.grant):
            raise NotFoundError("There is no such key.")
        return access.revoke_key(key_id, by=exchange.caller.grant.name)

    return await run_in_thread(revoke)


# --- users --------------------------------------------------------------------------------------


class UserBody(GrantBody):
    """A user who is to be added; they may do no more than the caller."""

    name: Name
    password: Annotated[SecretStr, Field(max_length=1_000)]


class PasswordBody(Body):
    """A new password."""

    password: Annotated[SecretStr, Field(max_length=1_000)]


class UsersResult(Result):
    """Users by name."""

    users: tuple[User, ...]


@users.get("", openapi_extra=ADMIN)
async def list_users(exchange: Exchanged) -> UsersResult:
    """List the users who may do no more than the caller."""
    found = await run_in_thread(exchange.server.access.users)
    own = exchange.caller.grant
    return UsersResult(users=tuple(user for user in found if own.includes(user.grant)))


@users.post("", status_code=201, openapi_extra=ADMIN)
async def add_user(exchange: Exchanged, body: UserBody) -> User:
    """Add a user."""
    _require_included(exchange, body.grant)
    return await run_in_thread(
        lambda: exchange.server.access.create_user(
            body.name,
            body.password.get_secret_value(),
            body.level,
            body.workspaces,
            shelves=body.shelves,
            personas=body.personas,
            by=exchange.caller.grant.name,
        )
    )


@users.put("/{name}/password", status_code=204, openapi_extra=ADMIN)
async def set_password(exchange: Exchanged, name: str, body: PasswordBody) -> None:
    """Change a password; the user's sessions end."""
    password = body.password.get_secret_value()

    def change() -> None:
        _own_user(exchange, name)
        exchange.server.access.set_password(name, password, by=exchange.caller.grant.name)

    await run_in_thread(change)


@users.post("/{name}/disable", openapi_extra=ADMIN)
async def disable_user(exchange: Exchanged, name: str) -> User:
    """Let a user log in no more; their sessions end."""

    def disable() -> User:
        _own_user(exchange, name)
        return exchange.server.access.disable_user(name, by=exchange.caller.grant.name)

    return await run_in_thread(disable)


@users.post("/{name}/enable", openapi_extra=ADMIN)
async def enable_user(exchange: Exchanged, name: str) -> User:
    """Let a user who was disabled log in again."""

    def enable() -> User:
        _own_user(exchange, name)
        return exchange.server.access.enable_user(name, by=exchange.caller.grant.name)

    return await run_in_thread(enable)


@users.delete("/{name}", status_code=204, openapi_extra=ADMIN)
async def remove_user(exchange: Exchanged, name: str) -> None:
    """Remove a user; their sessions end."""

    def remove() -> None:
        _own_user(exchange, name)
        exchange.server.access.remove_user(name, by=exchange.caller.grant.name)

    await run_in_thread(remove)


# --- audit --------------------------------------------------------------------------------------


class AuditPage(Result):
    """Entries, newest first."""

    entries: tuple[AuditEntry, ...]
    next: int = Field(description="What ``before`` is for the next page; 0 on the last.")


@audit.get("", openapi_extra=ADMIN)
async def list_audit(
    exchange: Exchanged,
    before: Annotated[int, Query(ge=0, le=2**62, description="Of the page before.")] = 0,
    limit: Annotated[int, Query(ge=1, le=_MOST)] = 100,
) -> AuditPage:
    """List what was done and refused; in one workspace alone for whom has but some."""
    caller = exchange.caller
    workspace = None if caller.grant.workspaces is None else caller.workspace
    found = await run_in_thread(
        lambda: exchange.server.access.entries(limit, before=before, workspace=workspace)
    )
    following = found[-1].id if len(found) == limit else 0
    return AuditPage(entries=found, next=following)


# --- inside -------------------------------------------------------------------------------------


def _require_included(exchange: Exchange, wanted: Grant) -> None:
    """See that a caller gives others no more than they have."""
    if not exchange.caller.grant.includes(wanted):
        raise Refusal(403, "Nobody can permit more than they may themselves.")


def _own_user(exchange: Exchange, name: str) -> User:
    """Return a user who may do no more than the caller."""
    user = next((one for one in exchange.server.access.users() if one.name == name), None)
    if user is None or not exchange.caller.grant.includes(user.grant):
        raise NotFoundError(f"There is no user '{name[:100]}'.")
    return user
