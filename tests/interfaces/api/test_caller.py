import pytest
from starlette.datastructures import Headers

from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.api.caller import (
    Credentials,
    credentials,
    workspace_of,
)
from chapterhouse.interfaces.api.problems import Refusal
from chapterhouse.types.access import AccessLevel, Grant


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, Credentials("", "", "")),
        ({"Authorization": "Bearer  k "}, Credentials("k", "", "")),
        ({"Authorization": "bearer k", "X-API-Key": "k"}, Credentials("k", "", "")),
        ({"Authorization": "Basic k"}, Credentials("", "", "")),
        ({"X-API-Key": "k"}, Credentials("k", "", "")),
        (
            {"Cookie": "a=b; chapterhouse_session=s", "X-CSRF-Token": "t"},
            Credentials("", "s", "t"),
        ),
    ],
)
def test_credentials_come_in_headers(headers: dict[str, str], expected: Credentials) -> None:
    assert credentials(Headers(headers)) == expected


def test_two_keys_are_refused() -> None:
    with pytest.raises(Refusal) as caught:
        credentials(Headers({"Authorization": "Bearer a", "X-API-Key": "b"}))
    assert caught.value.status == 400


def _grant(*workspaces: str, **limits: tuple[str, ...]) -> Grant:
    return Grant("key", AccessLevel.READ, workspaces or None, **limits)


@pytest.mark.parametrize(
    ("grant", "header", "workspace"),
    [
        (_grant(), "", "default"),
        (_grant("a"), "", "a"),
        (_grant("a", "default"), "", "default"),
        (_grant("a", "b"), "b", "b"),
        (_grant(), "anything", "anything"),
    ],
)
def test_a_request_is_about_the_workspace_that_it_names_or_the_only_one(
    grant: Grant, header: str, workspace: str
) -> None:
    assert workspace_of(Headers({"X-Workspace": header}), grant) == workspace


@pytest.mark.parametrize(("grant", "header"), [(_grant("a"), "b"), (_grant(), "../b")])
def test_a_workspace_that_is_not_the_callers_is_not_there(grant: Grant, header: str) -> None:
    with pytest.raises(NotFoundError):
        workspace_of(Headers({"X-Workspace": header}), grant)
