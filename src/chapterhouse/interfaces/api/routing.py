"""Routes that state who may call them and with what, which is checked before a body is read."""

from collections.abc import Callable, Collection, Coroutine, Iterator
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.datastructures import QueryParams
from starlette.types import Scope

from chapterhouse.interfaces.api.caller import Caller
from chapterhouse.interfaces.api.problems import Refusal, common_problems
from chapterhouse.interfaces.schemas import no_such_parameter
from chapterhouse.types.access import AccessLevel

LEVEL: Final = "x-access-level"
WHOLE: Final = "x-whole-workspace"
EVERYWHERE: Final = "x-all-workspaces"


def needs(level: AccessLevel, *, whole: bool = False, everywhere: bool = False) -> dict[str, Any]:
    """Return what a route states as ``openapi_extra``.

    Args:
        level: The caller needs.
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


def without_slash(scope: Scope) -> Scope:
    """Return a request as if its address did not end with a slash: each route answers to both.

    To be sent to the other address, as is usual, clients would lose what they have in the body.
    """
    path = scope["path"]
    return {**scope, "path": path[:-1]} if path.endswith("/") and path != "/" else scope


def router(prefix: str, tag: str) -> APIRouter:
    """Return a router whose routes must state who may call them."""
    problems = common_problems(prefix)
    return APIRouter(prefix=prefix, tags=[tag], route_class=GuardedRoute, responses=problems)
