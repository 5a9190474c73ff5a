import pytest

from chapterhouse.interfaces.api.caller import Caller
from chapterhouse.interfaces.api.problems import Refusal
from chapterhouse.interfaces.api.routing import needs, require, router
from chapterhouse.types.access import AccessLevel, Grant


def test_a_route_that_does_not_say_who_may_call_it_is_not_made() -> None:
    routes = router("/api/x", "x")

    async def show() -> None:
        """Show it."""

    with pytest.raises(TypeError, match="/api/x does not state"):
        routes.get("")(show)


def _caller(level: str = "admin", **limits: tuple[str, ...] | None) -> Caller:
    grant = Grant("key", AccessLevel(level), **{"workspaces": None, **limits})
    return Caller(grant, "default", "", "1")


@pytest.mark.parametrize(
    ("caller", "level", "limits", "refused"),
    [
        (_caller("read"), "read", {"whole", "everywhere"}, ""),
        (_caller("read"), "write", set(), "level 'write'"),
        (_caller("write"), "admin", set(), "level 'admin'"),
        (_caller(shelves=("a",)), "read", {"everywhere"}, ""),
        (_caller(shelves=("a",)), "read", {"whole"}, "not limited"),
        (_caller(personas=()), "read", {"whole"}, "not limited"),
        (_caller(workspaces=("default",)), "admin", {"whole"}, ""),
        (_caller(workspaces=("default",)), "read", {"everywhere"}, "all workspaces"),
    ],
)
def test_who_lacks_what_a_route_needs_is_refused(
    caller: Caller, level: str, limits: set[str], refused: str
) -> None:
    stated = {name: name in limits for name in ("whole", "everywhere")}
    if not refused:
        require(caller, AccessLevel(level), **stated)
        return
    with pytest.raises(Refusal, match=refused) as caught:
        require(caller, AccessLevel(level), **stated)
    assert caught.value.status == 403


def test_what_a_route_states_is_in_its_description() -> None:
    assert needs(AccessLevel.WRITE, whole=True) == {
        "x-access-level": "write",
        "x-whole-workspace": True,
        "x-all-workspaces": False,
    }
