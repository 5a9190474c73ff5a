"""What the application says of itself, and how it answers what has no route."""

import pytest
from tests.served import Served

from chapterhouse.interfaces.api.routing import router


def test_the_description_has_every_schema_that_it_names(served: Served) -> None:
    with served.client(served.key("read")) as client:
        answer = client.get("/api/openapi.json")
    schemas = answer.json()["components"]["schemas"]
    assert {"Problem", "Place", "OpenAIError", "OpenAIErrorDetails"} <= schemas.keys()
    named = {part.split('"')[0] for part in answer.text.split("#/components/schemas/")[1:]}
    assert named <= schemas.keys()


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/api/documents/search", "POST"),  # and no document of that name
        ("/api/documents/some-id", "DELETE, GET"),
        ("/api/sources/some/name", "DELETE, GET"),
        ("/api/sources/some/sync", "POST"),  # and no source of that name
        ("/api/users/ada/password", "PUT"),
    ],
)
def test_a_method_that_is_none_is_answered_with_those_of_the_closest_route(
    served: Served, path: str, methods: str
) -> None:
    with served.client(served.key()) as client:
        answer = client.request("TRACE", path)
        assert (answer.status_code, answer.headers["allow"]) == (405, methods)


def test_an_address_that_is_none_is_a_problem_in_its_form(served: Served) -> None:
    with served.client(served.key("read")) as client:
        assert client.get("/api/nothing").json()["detail"] == "There is nothing at this address."
        assert "nothing at this address" in client.get("/v1/nothing").json()["error"]["message"]


def test_a_route_that_does_not_say_who_may_call_it_is_not_made() -> None:
    routes = router("/api/x", "x")

    async def show() -> None:
        """Show it."""

    with pytest.raises(TypeError, match="/api/x does not state"):
        routes.get("")(show)
