from dataclasses import fields

import pytest
from tests.served import Served

from chapterhouse.types import LibraryStatus
from chapterhouse.types.access import AccessLevel


def test_a_key_is_made_used_and_revoked(served: Served) -> None:
    with served.client(served.key()) as admin:
        made = admin.post("/api/keys", json={"label": "reader", "shelves": ["tolls"]}).json()
        with served.client(made["secret"]) as reader:
            shown = reader.get("/api/documents/").json()["documents"]
            assert [one["title"] for one in shown] == ["Tolls"]
            assert reader.get("/api/keys").status_code == 403
            assert admin.delete(f"/api/keys/{made['key']['id']}").status_code == 200
            assert reader.get("/api/documents/").status_code == 401
        audit = admin.get("/api/audit").json()["entries"]
        assert {"key.create", "key.revoke"} <= {one["action"] for one in audit}


def test_nobody_permits_more_than_they_may(served: Served) -> None:
    with served.client(served.key(workspaces=["default"])) as admin:
        refused = admin.post("/api/keys", json={"label": "more"})
        assert (refused.status_code, "more than" in refused.json()["detail"]) == (403, True)
        assert admin.post("/api/workspaces", json={"name": "other"}).status_code == 403


def test_an_admin_of_one_workspace_has_nothing_of_another(served: Served) -> None:
    access = served.access
    with served.client(served.key()) as everywhere:
        made = everywhere.post("/api/workspaces", json={"name": "walled"}).json()
        assert {"default", "walled"} <= set(made["workspaces"])
        everywhere.headers["X-Workspace"] = "walled"
        everywhere.put("/api/settings/max_tokens", json={"value": 654})
        everywhere.post("/api/documents/text", json={"text": "Kelp grows."})
    for name, workspaces in (("cleo", ("walled",)), ("dora", None), ("emil", ("default",))):
        access.create_user(name, "four unlikely words", AccessLevel.READ, workspaces, by="test")
    foreign = served.key("read", workspaces=("walled",))[:11]
    both = served.key("read", workspaces=("default", "walled"))[:11]
    with served.client(served.key(workspaces=("default",))) as admin:
        listed = [one["id"] for one in admin.get("/api/keys").json()["keys"]]
        assert not {foreign, both} & set(listed)
        for key in (foreign, both, "ch_01234567"):
            answer = admin.delete(f"/api/keys/{key}")
            assert (answer.status_code, answer.json()["detail"]) == (404, "There is no such key.")
        assert not access.find_key(foreign).revoked
        assert [one["name"] for one in admin.get("/api/users").json()["users"]] == ["emil"]
        for name in ("cleo", "dora"):
            assert admin.delete(f"/api/users/{name}").status_code == 404
            body = {"password": "five unlikely words here"}
            assert admin.put(f"/api/users/{name}/password", json=body).status_code == 404
        user = {"name": "fox", "password": "four unlikely words", "workspaces": ["walled"]}
        wider: tuple[list[str] | None, ...] = (None, ["walled"], ["default", "walled"])
        for limit in wider:
            for path, wanted in (("keys", {"label": "x"}), ("users", user)):
                sent = admin.post(f"/api/{path}", json={**wanted, "workspaces": limit})
                assert sent.status_code == 403, path
        entries = admin.get("/api/audit", params={"limit": 1_000}).json()["entries"]
        assert {one["workspace"] for one in entries} == {"default"}
        assert admin.get("/api/settings/max_tokens").json()["value"] == 2_000
        elsewhere = {"X-Workspace": "walled"}
        for method, path in (("GET", ""), ("DELETE", "/max_tokens")):
            assert (
                admin.request(method, f"/api/settings{path}", headers=elsewhere).status_code == 404
            )
        assert admin.get("/api/audit", headers=elsewhere).status_code == 404
        assert admin.get("/api/workspaces").json() == {"workspaces": ["default"]}
    for name in ("cleo", "dora", "emil"):
        access.remove_user(name, by="test")


def test_an_admin_of_some_shelves_manages_nobody(served: Served) -> None:
    with served.client(served.key(shelves=("tolls",))) as limited:
        for path in ("keys", "users", "audit", "settings", "sources", "jobs"):
            assert limited.get(f"/api/{path}").status_code == 403, path
        assert limited.post("/api/keys", json={"label": "x"}).status_code == 403
        assert limited.get("/api/workspaces").json()["workspaces"][0] == "default"


def test_a_user_logs_in_and_needs_the_token_to_change_something(served: Served) -> None:
    served.access.create_user("ada", "correct horse battery", AccessLevel.ADMIN, None, by="test")
    with served.client() as page:
        login = {"name": "ada", "password": "correct horse battery"}
        wrong = page.post("/api/session", json={**login, "password": "wrong"})
        assert wrong.status_code == 401
        begun = page.post("/api/session", json=login)
        assert begun.status_code == 200
        cookie = begun.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert page.get("/api/me").json()["name"] == "user ada"
        for token in ({}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": "x" * 43}):
            sent = page.post("/api/documents/text", json={"text": "x"}, headers=token)
            assert sent.status_code == 403  # as from a page of others, with its reader's cookie
        token = {"X-CSRF-Token": begun.json()["csrf"]}
        sent = page.post("/api/documents/text", json={"text": "Kelp grows."}, headers=token)
        assert sent.status_code == 201
        assert page.delete("/api/session", headers=token).status_code == 204
        assert page.get("/api/me").status_code == 401
    served.access.remove_user("ada", by="test")


def test_a_setting_holds_for_the_next_request(served: Served) -> None:
    with served.client(served.key()) as admin:
        asked = {"question": "When does the ferry leave?"}
        assert admin.post("/api/documents/context", json=asked).json()["maximum"] == 2_000
        changed = admin.put("/api/settings/max_tokens", json={"value": 321})
        assert changed.json()["origin"] == "database"
        assert admin.post("/api/documents/context", json=asked).json()["maximum"] == 321
        assert admin.delete("/api/settings/max_tokens").json()["origin"] == "default"
        assert admin.post("/api/documents/context", json=asked).json()["maximum"] == 2_000
        assert admin.put("/api/settings/cloud.rclone", json={"value": "x"}).status_code == 409
        assert admin.put("/api/settings/max_tokens", json={"value": -1}).status_code == 400


@pytest.mark.parametrize("purpose", ["chat", "code"])
def test_a_context_has_the_budget_of_its_purpose(served: Served, purpose: str) -> None:
    with served.client(served.key("read")) as client:
        body = {"question": "When does the ferry leave?", "purpose": purpose}
        found = client.post("/api/documents/context", json=body).json()
        assert found["maximum"] == {"chat": 2_000, "code": 3_000}[purpose]


def test_a_workspace_is_made_and_says_what_it_holds(served: Served) -> None:
    with served.client(served.key()) as client:
        assert client.post("/api/workspaces", json={"name": "letters"}).status_code == 201
        assert "letters" in client.get("/api/workspaces").json()["workspaces"]
        held = client.get("/api/workspaces/current", headers={"X-Workspace": "letters"}).json()
        assert (held["workspace"], held["documents"], held["home"]) == ("letters", 0, "")
        assert held.keys() == {one.name for one in fields(LibraryStatus)}
        assert client.post("/api/workspaces", json={"name": "../x"}).status_code == 400
        actions = [one["action"] for one in client.get("/api/audit").json()["entries"]]
        assert "workspace.create" in actions


def test_settings_are_changed_all_or_none(served: Served) -> None:
    with served.client(served.key()) as client:
        days = "/api/settings/memory.days"
        wrong = {"values": {"memory.days": 9, "memory.nothing": 1}}
        assert client.patch("/api/settings", json=wrong).status_code == 400
        assert client.get(days).json()["value"] == 365
        right = {"values": {"memory.days": 9, "max_tokens": 500}}
        changed = client.patch("/api/settings", json=right).json()["settings"]
        assert [(one["name"], one["value"]) for one in changed] == [
            ("memory.days", 9),
            ("packing.maximum", 500),
        ]
        assert client.delete(days).json()["value"] == 365
        listed = client.get("/api/settings").json()["settings"]
        assert {"memory.days", "embedding.engine"} <= {one["name"] for one in listed}
        client.delete("/api/settings/max_tokens")


def test_a_setting_that_there_is_not_is_named(served: Served) -> None:
    with served.client(served.key()) as client:
        answer = client.get("/api/settings/memory.dys")
        assert (answer.status_code, "memory.days" in answer.json()["hint"]) == (400, True)
