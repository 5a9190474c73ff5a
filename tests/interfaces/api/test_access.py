from tests.served import FROM_OTHERS, Served

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
        assert admin.post("/api/workspaces", json={"name": "other"}).status_code == 403
        wider: tuple[list[str] | None, ...] = (None, ["walled"], ["default", "walled"])
        for limit in wider:
            for path, wanted in (("keys", {"label": "x"}), ("users", user)):
                sent = admin.post(f"/api/{path}", json={**wanted, "workspaces": limit})
                assert (sent.status_code, "more than" in sent.text) == (403, True), path
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


def test_a_user_logs_in_and_changes_something_from_a_page_of_the_server(
    served: Served,
) -> None:
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
        for elsewhere in FROM_OTHERS:
            sent = page.post("/api/documents/text", json={"text": "x"}, headers=elsewhere)
            assert sent.status_code == 403  # as from a page of others, with its reader's cookie
        own = {"Origin": served.url}
        sent = page.post("/api/documents/text", json={"text": "Kelp grows."}, headers=own)
        assert sent.status_code == 201
        assert page.delete("/api/session", headers=own).status_code == 204
        assert page.get("/api/me").status_code == 401
    served.access.remove_user("ada", by="test")


def test_a_setting_holds_for_the_next_request(served: Served) -> None:
    with served.client(served.key()) as admin:

        def maximum(**more: str) -> int:
            asked = {"question": "When does the ferry leave?", **more}
            return int(admin.post("/api/documents/context", json=asked).json()["maximum"])

        assert (maximum(), maximum(purpose="chat"), maximum(purpose="code")) == (2000, 2000, 3000)
        changed = admin.put("/api/settings/max_tokens", json={"value": 321})
        assert (changed.json()["origin"], maximum()) == ("database", 321)
        assert admin.delete("/api/settings/max_tokens").json()["origin"] == "default"
        assert maximum() == 2_000
        assert admin.put("/api/settings/cloud.rclone", json={"value": "x"}).status_code == 409
        assert admin.put("/api/settings/max_tokens", json={"value": -1}).status_code == 400
        unknown = admin.get("/api/settings/memory.dys")
        assert (unknown.status_code, "memory.days" in unknown.json()["hint"]) == (400, True)
