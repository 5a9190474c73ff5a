import pytest
from tests.served import Served

from chapterhouse.interfaces.api.routing import router


def test_the_description_has_every_schema_that_it_names_and_the_problems_of_every_route(
    served: Served,
) -> None:
    with served.client(served.key("read")) as client:
        answer = client.get("/api/openapi.json")
    described = answer.json()
    schemas = described["components"]["schemas"]
    assert {"Problem", "Place", "OpenAIError", "OpenAIErrorDetails"} <= schemas.keys()
    named = {part.split('"')[0] for part in answer.text.split("#/components/schemas/")[1:]}
    assert named <= schemas.keys()
    assert described["security"] == [{"key": []}, {"header": []}, {"session": []}]
    for path, item in described["paths"].items():
        form = "application/json" if path.startswith("/v1/") else "application/problem+json"
        routes = [one for method, one in item.items() if method != "parameters"]
        assert all(list(one["responses"]["404"]["content"]) == [form] for one in routes)


def test_a_method_that_is_none_is_answered_with_those_of_the_closest_route(served: Served) -> None:
    with served.client(served.key()) as client:
        for path, methods in (
            ("/api/documents/search", "POST"),  # and no document of that name
            ("/api/documents/some-id", "DELETE, GET"),
            ("/api/sources/some/name", "DELETE, GET"),
            ("/api/sources/some/sync", "POST"),  # and no source of that name
            ("/api/users/ada/password", "PUT"),
        ):
            for method in ("HEAD", "OPTIONS", "TRACE", "PATCH", "ANYTHING"):
                answer = client.request(method, path)
                assert (answer.status_code, answer.headers["allow"]) == (405, methods)
                assert not [one for one in answer.headers if one.startswith("access-control")]


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
