import json
import re
import time
from pathlib import Path
from typing import Any

from tests.served import Served

from chapterhouse.library import Library

OPEN = {"shelf": "open"}


def test_a_document_is_received_read_found_and_removed(served: Served) -> None:
    with served.client(served.key("write")) as client:
        sent = client.post(
            "/api/documents/upload", files={"file": ("kites.md", b"# Kites\n\nKites fly.\n")}
        )
        assert (sent.status_code, sent.json()["state"]) == (202, "pending")
        served.work()
        assert client.get(f"/api/jobs/{sent.json()['id']}").json()["state"] == "done"
        found = client.post("/api/documents/search", json={"query": "do kites fly"}).json()
        document = found["passages"][0]["span"]["document_id"]
        content = client.get(f"/api/documents/{document}/content").json()["text"]
        assert "Kites fly." in content
        assert client.get(f"/api/documents/{document}/content?original=1").content.startswith(
            b"# Kites"
        )
        removed = client.delete(f"/api/documents/{document}").json()
        assert (removed["removed"], removed["found"]) == ([document], 0)
        assert client.get(f"/api/documents/{document}").status_code == 404
        assert time.time() < removed["can_be_restored_until"]
        assert removed["in_place"] == []


def test_a_removal_names_the_file_that_would_be_read_again(served: Served, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "sails.md").write_text("# Sails\n\nSails are of linen.\n")
    with Library.open(served.home) as library:
        library.documents.add(folder)
    with served.client(served.key("write")) as client:
        listed = client.get("/api/documents/?text=sails").json()["documents"]
        removed = client.delete(f"/api/documents/{listed[0]['id']}").json()
        assert removed["in_place"] == [listed[0]["source"]]


def test_as_many_passages_come_as_the_settings_say_or_the_request(served: Served) -> None:
    with served.client(served.key("admin")) as client:
        client.put("/api/settings/search.limit", json={"value": 1})
        query = {"query": "harbour bridge toll ferry"}
        assert len(client.post("/api/documents/search", json=query).json()["passages"]) == 1
        more = client.post("/api/documents/search", json={**query, "limit": 9}).json()
        assert len(more["passages"]) > 1
        client.delete("/api/settings/search.limit")


def test_a_form_with_anything_but_one_file_is_refused(served: Served) -> None:
    with served.client(served.key("write")) as client:

        def refusal(*files: tuple[str, tuple[str | None, bytes]]) -> str:
            answer = client.post("/api/documents/upload", files=list(files))
            assert 400 <= answer.status_code < 500
            return str(answer.json()["detail"])

        file = ("file", ("a.md", b"# A\n\nOars.\n"))
        assert "unknown member 'colour'" in refusal(file, ("colour", (None, b"red")))
        assert "'file' more than once" in refusal(file, file)
        assert "is a text" in refusal(("file", (None, b"Oars.")))
        assert refusal(("shelf", (None, b"oars")))


def test_only_sources_of_some_trust_are_searched(served: Served) -> None:
    question = {"query": "toll of the bridge", "question": "What is the toll of the bridge?"}
    bodies = {
        name: {key: question[key]}
        for name, key in (
            ("documents/search", "query"),
            ("documents/context", "question"),
            ("ask", "question"),
        )
    }
    with served.client(served.key("read")) as client:
        for path, body in bodies.items():
            own = client.post(f"/api/{path}", json={**body, "trust": ["own", "web"]}).json()
            web = client.post(f"/api/{path}", json={**body, "trust": ["web"]}).json()
            found = (
                "excerpts" if "excerpts" in own else "citations" if path == "ask" else "passages"
            )
            assert own[found]
            assert web[found] == []
            assert all(one.get("trust", "own") == "own" for one in own[found])
            assert client.post(f"/api/{path}", json={**body, "trust": ["good"]}).status_code == 422
        (document, *_) = client.get("/api/documents/").json()["documents"]
        assert document["trust"] == "own"


def _answers_to_sending(served: Served, client: Any, number: int) -> list[Any]:
    """Send a file and remove it; return all that is answered, without what is random in it."""
    data = f"# Salt {number}\n\nThe salt on the quay weighs {number} tonnes.".encode()
    sent = client.post("/api/documents/upload", files={"file": ("own.md", data)}, data=OPEN)
    served.work()
    job = client.get(f"/api/jobs/{sent.json()['id']}").json()
    (listed,) = client.get("/api/documents/?text=Salt").json()["documents"]
    assert listed["source"].endswith("/own.md")
    again = client.post("/api/documents/upload", files={"file": ("own.md", data)}, data=OPEN)
    served.work()
    unchanged = client.get(f"/api/jobs/{again.json()['id']}").json()
    path = f"/api/documents/{listed['id']}"
    moved = client.put(f"{path}/shelves", json={"shelves": ["open"]})
    removed = client.delete(path)
    answers = [job["state"], job["result"], unchanged["result"], moved.status_code, listed]
    answers += [removed.status_code, removed.json(), client.get(path).status_code]
    shown = json.dumps(answers)
    shown = shown.replace(listed["id"], "ID").replace(listed["source"].split("/")[1], "MARK")
    for varies in (listed["sha256"], listed["text_sha256"]):
        shown = shown.replace(varies, "HASH")
    shown = re.sub(r"\b1[0-9]{9}\b", "TIME", shown)
    return shown.replace(f"{number}", "NUMBER").split(", ")


def test_who_sends_what_another_shelf_has_is_answered_as_for_anything_new(served: Served) -> None:
    with Library.open(served.home) as library:
        for number in range(410, 420):  # under other names
            data = f"# Salt {number}\n\nThe salt on the quay weighs {number} tonnes."
            library.documents.add_bytes(data.encode(), "board-secret.md", shelf="board")
        (shared,) = library.documents.add_text("Both have it.", shelf="board").outcomes
        library.documents.set_shelves(shared.record.document_id, ["board", "open"])
        hidden = {one.id for one in library.documents.list(["board"])}
    limited = served.key("write", workspaces=("default",), shelves=("open",))
    with served.client(limited) as client, served.client(served.key("write")) as owner:
        fresh = _answers_to_sending(served, client, 460)
        assert '"ready": 1' in str(fresh)
        for number in range(410, 420):
            assert _answers_to_sending(served, client, number) == fresh
        kept = {one["id"] for one in owner.get("/api/documents/?shelf=board").json()["documents"]}
        assert kept == hidden

        body = {"title": "Salt 411", "text": "The salt on the quay weighs 411 tonnes."}
        text = client.post("/api/documents/text", json={**body, **OPEN}).json()
        assert text["source"].endswith("/salt-411.md")
        assert text["id"] not in hidden

        # What the owner put on both is removed for one of them.
        path = f"/api/documents/{shared.record.document_id}"
        narrowed = client.put(f"{path}/shelves", json={"shelves": ["open"]})
        assert (narrowed.status_code, narrowed.json()["shelves"]) == (200, ["open"])
        gone = client.delete(path)
        assert (gone.status_code, gone.json()["found"]) == (200, 0)
        assert gone.json()["removed"] == [shared.record.document_id]
        assert time.time() < gone.json()["can_be_restored_until"]
        assert client.get(path).status_code == 404
        assert owner.get(path).json()["shelves"] == ["board"]


def test_without_a_shelf_the_owner_sends_again_what_a_shelf_has(served: Served) -> None:
    with served.client(served.key("write")) as owner:
        body = {"title": "Salt", "text": "It is white."}
        first = owner.post("/api/documents/text", json={**body, "shelf": "papers"}).json()
        again = owner.post("/api/documents/text", json=body).json()
        assert (again["id"], again["shelves"]) == (first["id"], ["papers"])
