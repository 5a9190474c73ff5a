"""Who calls, and routes that state who may call them and with what, before a body is read."""

from collections.abc import Callable, Collection, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.datastructures import Headers, QueryParams
from starlette.requests import cookie_parser

from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.api.problems import Refusal, common_problems
from chapterhouse.interfaces.schemas import no_such_parameter
from chapterhouse.library import Library
from chapterhouse.text.naming import valid_name
from chapterhouse.types import Scope
from chapterhouse.types.access import AccessLevel, Grant

COOKIE: Final = "chapterhouse_session"
WORKSPACE_COOKIE: Final = "chapterhouse_workspace"  # which one a browser looks at
WORKSPACE: Final = "X-Workspace"
_DEFAULT: Final = "default"
_PROGRAMS: Final = frozenset({"api", "v1", "mcp"})

# Who shows the key in the home, to a server that only this machine can reach.
OWNER: Final = Grant("owner", AccessLevel.ADMIN, None)


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a request brings along; at most one of them counts."""

    key: str
    session: str


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, and where.

    Attributes:
        is_session: Whether they signed in, in a browser, rather than show a key.
        expect: Is called with the bytes of an answer that may be large before it is made; raises
            ``Refusal`` while the caller does not read others.
    """

    grant: Grant
    workspace: str
    address: str
    request_id: str
    is_session: bool = False
    expect: Callable[[int], None] = field(default=lambda _: None, compare=False)


def credentials(headers: Headers) -> Credentials:
    """Return what the headers of a request bring along."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    bearer = value.strip() if scheme.lower() == "bearer" else ""
    key = headers.get("x-api-key", "").strip()
    if key and bearer and key != bearer:
        raise Refusal(400, "The request brings two keys.", hint="Send one of them.")
    cookies = cookie_parser(headers.get("cookie", ""))
    return Credentials(key or bearer, cookies.get(COOKIE, ""))


def workspace_of(headers: Headers, grant: Grant) -> str:
    """Return the workspace that a request is about: the one it names, or the caller's only one.

    Raises:
        NotFoundError: the caller has no such workspace, whether it exists or not.
    """
    only = grant.workspaces[0] if grant.workspaces and len(grant.workspaces) == 1 else ""
    name = headers.get(WORKSPACE, "").strip() or _chosen(headers, grant) or only or _DEFAULT
    if not valid_name(name) or not grant.permits(AccessLevel.READ, name):
        raise NotFoundError(f"There is no workspace '{name[:100]}'.")
    return name


def _chosen(headers: Headers, grant: Grant) -> str:
    """Return the workspace that a browser looks at, if its user still may."""
    name = cookie_parser(headers.get("cookie", "")).get(WORKSPACE_COOKIE, "")
    return name if valid_name(name) and grant.permits(AccessLevel.READ, name) else ""


def is_page(path: str) -> bool:
    """Whether people open an address in a browser; programs call the others."""
    return path.startswith("/") and path.split("/", 2)[1] not in _PROGRAMS


def permitted(grant: Grant, library: Library) -> tuple[Scope, frozenset[str] | None]:
    """Return which documents a caller may see, and which personas there are for them.

    The documents are those of their shelves and of their personas. Who is limited to shelves alone
    has the personas who read nothing else: others would speak of what is outside.
    """
    if grant.is_whole:
        return Scope.everything(), None
    reads = {
        entry.slug: set(entry.folder.persona.reads) if entry.folder else set()
        for entry in library.personas.all()
    }
    shelves = set(grant.shelves or ())
    if grant.personas is None:
        own = frozenset(slug for slug, read in reads.items() if read and read <= shelves)
        return Scope.of(shelves), own
    own = frozenset(grant.personas) & reads.keys()  # the name alone: no beginning of another's
    return Scope.of(shelves.union(*(reads[slug] for slug in own))), own


LEVEL: Final = "x-access-level"
WHOLE: Final = "x-whole-workspace"
EVERYWHERE: Final = "x-all-workspaces"


def needs(level: AccessLevel, *, whole: bool = False, everywhere: bool = False) -> dict[str, Any]:
    """Return what a route states as ``openapi_extra``.

    Args:
        whole: Whether a key that is limited to shelves or personas is refused.
        everywhere: Whether one that is limited to some workspaces is: what belongs to the server's
            machine is no workspace's.
    """
    return {LEVEL: level.value, WHOLE: whole, EVERYWHERE: everywhere}


ANYONE: Final[dict[str, Any]] = {
    LEVEL: "none", WHOLE: False, EVERYWHERE: False, "security": []
}  # fmt: skip


class GuardedRoute(APIRoute):
    """A route that lets in only who may call it, with parameters that it has."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        stated = self.openapi_extra or {}
        if LEVEL not in stated:
            raise TypeError(f"The route {self.path} does not state who may call it.")
        handle, known = super().get_route_handler(), tuple(_parameters(self.dependant))
        level = None if stated[LEVEL] == "none" else AccessLevel(stated[LEVEL])

        async def guarded(request: Request) -> Response:
            if level is not None:
                whole, everywhere = stated[WHOLE], stated[EVERYWHERE]
                require(request.state.caller, level, whole=whole, everywhere=everywhere)
            require_known(request.query_params, known)
            return await handle(request)

        return guarded


def _parameters(dependant: Dependant) -> Iterator[str]:
    """Yield the names that an address may have behind its question mark."""
    yield from (field.alias for field in dependant.query_params)
    for one in dependant.dependencies:
        yield from _parameters(one)


def require_known(query: QueryParams, known: Collection[str]) -> None:
    """See that an address has no parameter that would be left out unseen."""
    unknown = [name for name in query if name not in known]
    if unknown:
        raise RequestValidationError([
            {"loc": ("query", one), "msg": no_such_parameter(one, known), "type": "value_error"}
            for one in unknown
        ])  # fmt: skip


def require(
    caller: Caller, level: AccessLevel, *, whole: bool = False, everywhere: bool = False
) -> None:
    """See that a caller may do what needs a level; arguments as of ``needs``."""
    if not caller.grant.level.includes(level):
        raise Refusal(403, f"This needs a key with the level '{level.value}'.")
    if whole and not caller.grant.is_whole:
        raise Refusal(403, "This needs a key that is not limited to shelves or personas.")
    if everywhere and caller.grant.workspaces is not None:
        raise Refusal(
            403,
            "This needs a key for all workspaces.",
            hint="It is about the server's machine: chapterhouse key create … --all-workspaces",
        )


def router(prefix: str, tag: str) -> APIRouter:
    """Return a router whose routes must state who may call them."""
    problems = common_problems(prefix)
    return APIRouter(prefix=prefix, tags=[tag], route_class=GuardedRoute, responses=problems)
