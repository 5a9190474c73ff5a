from tests.served import Served


def test_a_workspace_is_made_and_says_what_it_holds(served: Served) -> None:
    with served.client(served.key()) as client:
        assert client.post("/api/workspaces", json={"name": "letters"}).status_code == 201
        assert "letters" in client.get("/api/workspaces").json()["workspaces"]
        held = client.get("/api/workspaces/current", headers={"X-Workspace": "letters"}).json()
        assert (held["workspace"], held["documents"]) == ("letters", 0)
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
