"""Routes that state who may call them, which is looked at before a body is read."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute

from chapterhouse.interfaces.api.caller import Caller
from chapterhouse.interfaces.api.problems import Refusal, common_problems
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
    """A route that lets in only who may call it."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request.

        Raises:
            TypeError: the route does not state who may call it.
        """
        stated = self.openapi_extra or {}
        if LEVEL not in stated:
            raise TypeError(f"The route {self.path} does not state who may call it.")
        handle = super().get_route_handler()
        if stated[LEVEL] == "none":
            return handle
        level = AccessLevel(stated[LEVEL])
        return _guarded(handle, level, whole=stated[WHOLE], everywhere=stated[EVERYWHERE])


def _guarded(
    handle: Callable[[Request], Awaitable[Response]],
    level: AccessLevel,
    *,
    whole: bool,
    everywhere: bool,
) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    async def guarded(request: Request) -> Response:
        require(request.state.caller, level, whole=whole, everywhere=everywhere)
        return await handle(request)

    return guarded


def require(
    caller: Caller, level: AccessLevel, *, whole: bool = False, everywhere: bool = False
) -> None:
    """See that a caller may do what needs a level; arguments as of ``needs``.

    Raises:
        Refusal: they may not.
    """
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
