import time
from pathlib import Path

from tests.served import Served

from chapterhouse.library import Library


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


def test_a_limited_key_puts_documents_on_its_only_shelf_and_else_names_one(served: Served) -> None:
    text = {"text": "The anchor is of iron.", "title": "Anchor"}
    with served.client(served.key("write", shelves=("oars",))) as client:
        file = {"file": ("oars.md", b"# Oars\n\nAn oar is of ash.\n")}
        assert client.post("/api/documents/upload", files=file).status_code == 202
        served.work()
        assert client.post("/api/documents/text", json=text).json()["shelves"] == ["oars"]
        listed = client.get("/api/documents").json()["documents"]
        assert [one["shelves"] for one in listed] == [["oars"], ["oars"]]
    with served.client(served.key("write", shelves=("oars", "sails"))) as client:
        for answer in (
            client.post("/api/documents/upload", files=file),
            client.post("/api/documents/text", json=text),
        ):
            assert (answer.status_code, "oars, sails" in answer.text) == (422, True)


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
