"""The way in and out: a name and a password, the owner's key or link; and which workspace."""

from http import HTTPStatus
from typing import Annotated, Final

from fastapi import Form, Query, Request, Response
from pydantic import Field, SecretStr

from chapterhouse.interfaces.api.access import log_out, start_session
from chapterhouse.interfaces.api.problems import Refusal
from chapterhouse.interfaces.api.routing import ANYONE, COOKIE, WORKSPACE_COOKIE, needs
from chapterhouse.interfaces.api.schemas import Body
from chapterhouse.interfaces.api.state import Exchanged, ServerState
from chapterhouse.interfaces.web.frame import (
    own_path,
    pages,
    redirect,
    render,
)
from chapterhouse.library.access import owner_session
from chapterhouse.types.access import AccessLevel

Next = Annotated[str, Query(max_length=2_000)]
_REFUSED: Final = frozenset({401, 429})


class LoginForm(Body):
    """Who comes in: a user, or who shows the key of the home's owner."""

    name: str = Field(default="", max_length=100)
    password: SecretStr = Field(default=SecretStr(""), max_length=1_000)
    key: SecretStr = Field(default=SecretStr(""), max_length=100)
    next: str = Field(default="/", max_length=2_000)


@pages.get("/login", openapi_extra=ANYONE)
async def show_login(request: Request, next: Next = "/") -> Response:  # noqa: A002 - in addresses
    """Show the way in."""
    return _way_in(request, next)


@pages.post("/login", openapi_extra=ANYONE)
async def log_in(request: Request, form: Annotated[LoginForm, Form()]) -> Response:
    """Let a user in, or the owner."""
    state: ServerState = request.app.state.server
    answer = redirect(request, own_path(form.next))
    if form.key.get_secret_value():
        if not state.is_owner(form.key.get_secret_value().strip()):
            return _way_in(request, form.next, "That is not the key of this server's owner.", 401)
        _let_owner_in(answer, state)
        return answer
    try:
        await start_session(request, answer, form.name, form.password.get_secret_value())
    except Refusal as refusal:
        if refusal.status not in _REFUSED:
            raise
        return _way_in(request, form.next, str(refusal), refusal.status)
    return answer


@pages.get("/enter", openapi_extra=ANYONE)
async def enter(request: Request, code: Annotated[str, Query(max_length=100)] = "") -> Response:
    """Let the owner's browser in by the link of ``serve --open``, which works once."""
    state: ServerState = request.app.state.server
    if not state.enter(code):
        return _way_in(request, "/", "This link has been used: sign in.", 401)
    answer = redirect(request, "/")
    _let_owner_in(answer, state)
    return answer


@pages.post("/logout", openapi_extra=needs(AccessLevel.READ))
async def leave(request: Request, exchange: Exchanged) -> Response:
    """End the session."""
    answer = redirect(request, "/login")
    await log_out(request, answer, exchange)
    return answer


class WorkspaceForm(Body):
    """Which workspace a browser is to look at."""

    workspace: str = Field(min_length=1, max_length=100)


@pages.post("/workspace", openapi_extra=needs(AccessLevel.READ))
async def choose_workspace(
    request: Request, exchange: Exchanged, form: Annotated[WorkspaceForm, Form()]
) -> Response:
    """Look at another workspace; one that the caller may not see is never chosen."""
    answer = redirect(request, "/")
    if exchange.caller.grant.permits(AccessLevel.READ, form.workspace):
        _set_cookie(answer, WORKSPACE_COOKIE, form.workspace, exchange.server)
    return answer


def _way_in(
    request: Request, following: str, problem: str = "", status: int = HTTPStatus.OK
) -> Response:
    state: ServerState = request.app.state.server
    values = {"next": following, "problem": problem, "has_owner": bool(state.owner_key)}
    return render(request, "login.html", values, status)


def _let_owner_in(answer: Response, state: ServerState) -> None:
    _set_cookie(answer, COOKIE, owner_session(state.owner_key), state)


def _set_cookie(answer: Response, name: str, value: str, state: ServerState) -> None:
    answer.set_cookie(
        name, value, httponly=True, samesite="strict", secure=not state.is_local, path="/"
    )
