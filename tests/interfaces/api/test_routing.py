import pytest

from chapterhouse.interfaces.api.routing import router


def test_a_route_that_does_not_say_who_may_call_it_is_not_made() -> None:
    routes = router("/api/x", "x")

    async def show() -> None:
        """Show it."""

    with pytest.raises(TypeError, match="/api/x does not state"):
        routes.get("")(show)
