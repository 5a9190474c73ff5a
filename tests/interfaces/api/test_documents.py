import json
import re
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.served import Served, serving, until

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
        document = found["hits"][0]["document"]["id"]
        content = client.get(f"/api/documents/{document}/content").json()["text"]
        assert "Kites fly." in content
        assert client.get(f"/api/documents/{document}/content?original=1").content.startswith(
            b"# Kites"
        )
        assert client.post(f"/api/documents/{document}/reprocess").status_code == 202
        served.work()
        removed = client.delete(f"/api/documents/{document}").json()
        assert removed["state"] == "removed"
        assert [one["id"] for one in removed["documents"]] == [document]
        search = removed["search"]
        assert search["searched"] > search["found"] == 0
        assert (search["files"] > 0, search["places"], search["redacted"]) == (True, [], [])
        assert client.get(f"/api/documents/{document}").status_code == 404
        assert removed["in_place"] == []
    with served.client(served.key("admin")) as client:
        log = client.get("/api/audit").text
        assert document not in log
        assert document[-8:] in log
    assert "kites" not in log
    for path in served.home.glob("access.db*"):
        assert b"kites" not in path.read_bytes()
    left = [path for path in served.home.glob("workspaces/**/*") if path.is_file()]
    assert [path for path in left if b"kites.md" in path.read_bytes()] == []


def test_an_upload_may_wait_for_its_document(served: Served) -> None:
    sent = list[Any]()
    with served.client(served.key("write")) as client:

        def send(name: str, data: bytes) -> Any:
            files = {"file": (name, data)}
            thread = threading.Thread(
                target=lambda: sent.append(
                    client.post("/api/documents/upload?wait=true", files=files)
                )
            )
            thread.start()
            until(lambda: client.get("/api/jobs?state=pending").json()["jobs"])
            served.work()
            thread.join()
            return sent.pop()

        read = send("wherries.md", b"# Wherries\n\nA wherry has one sail.\n")
        assert (read.status_code, read.json()["state"]) == (201, "done")
        assert read.json()["document"]["title"] == "Wherries"
        refused = send("broken.pdf", b"%PDF-1.7 and nothing else")
        assert refused.status_code == 422
        assert "broken.pdf" in refused.json()["detail"]


def test_the_list_has_refused_files_and_knows_other_names(served: Served, tmp_path: Path) -> None:
    (tmp_path / "paddles.md").write_text("# Paddles\n\nPaddles are of ash.\n")
    (tmp_path / "empty-paddles.md").write_text("")
    with Library.open(served.home) as library:
        library.documents.add(tmp_path / "paddles.md", tmp_path / "empty-paddles.md")

    def listed(client: Any, query: str) -> tuple[list[str], list[str]]:
        page = client.get(f"/api/documents?text=paddles&{query}").json()
        return [one["title"] for one in page["documents"]], [
            Path(one["place"]).name for one in page["files"]
        ]

    with served.client(served.key("read")) as client:
        assert listed(client, "status=rejected") == ([], ["empty-paddles.md"])
        assert listed(client, "status=completed") == (["Paddles"], [])
        assert listed(client, "file_type=.md") == (["Paddles"], [])
        assert listed(client, "file_type=pdf") == ([], [])
        page = client.get("/api/documents?status=rejected&text=paddles").json()
        assert str(tmp_path) not in json.dumps(page)
        assert client.get("/api/documents?status=rejected&cursor=x").status_code == 400
    with served.client(served.key("read", shelves=("open",))) as client:
        assert listed(client, "status=rejected") == ([], [])


def test_a_removal_names_the_file_that_would_be_read_again(served: Served, tmp_path: Path) -> None:
    (tmp_path / "sails.md").write_text("# Sails\n\nSails are of linen.\n")
    with Library.open(served.home) as library:
        library.documents.add(tmp_path / "sails.md")
    with served.client(served.key("write")) as client:
        listed = client.get("/api/documents/?text=sails").json()["documents"]
        removed = client.delete(f"/api/documents/{listed[0]['id']}").json()
        assert removed["in_place"] == [listed[0]["source"]]


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


def test_an_upload_is_where_it_waits_from_its_first_bytes(served: Served) -> None:
    folder = served.home / "workspaces" / "default" / "uploads"
    before = set(folder.glob("*"))
    with _begun_upload(served, served.key("write")):
        (received,) = set(folder.glob("*")) - before
        until(lambda: received.stat().st_size >= 500_000)
    until(lambda: set(folder.glob("*")) == before)  # what did not come to its end is deleted


def test_a_caller_has_eight_uploads_under_way(served: Served) -> None:
    file = {"file": ("oars.md", b"# Oars\n\nOars are of ash.\n")}
    key = served.key("write")
    with served.client(key) as client, served.client(served.key("write")) as other:
        with ExitStack() as begun:
            for _ in range(8):
                begun.enter_context(_begun_upload(served, key))
            refused = client.post("/api/documents/upload", files=file)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert other.post("/api/documents/upload", files=file).status_code == 202
        until(lambda: client.post("/api/documents/upload", files=file).status_code == 202)


def test_how_large_an_upload_may_be_is_a_setting_that_holds_at_once(served: Served) -> None:
    file = {"file": ("long.txt", b" " * 2_100_000)}
    with served.client(served.key("admin")) as client:
        for megabytes, status in ((1, 413), (3, 202)):
            changed = {"value": megabytes}
            assert client.put("/api/settings/reading.maximum_megabytes", json=changed).is_success
            assert client.post("/api/documents/upload", files=file).status_code == status
        client.delete("/api/settings/reading.maximum_megabytes")


def test_a_form_with_anything_but_one_file_and_one_that_is_none_are_refused(served: Served) -> None:
    media = {"Content-Type": "multipart/form-data; boundary=b"}
    with served.client(served.key("write")) as client:

        def refusal(**sent: Any) -> str:
            answer = client.post("/api/documents/upload", **sent)
            assert 400 <= answer.status_code < 500
            return str(answer.json()["detail"])

        file = ("file", ("a.md", b"# A\n\nOars.\n"))
        assert "unknown member 'colour'" in refusal(files=[file, ("colour", (None, b"red"))])
        assert "'file' more than once" in refusal(files=[file, file])
        assert "is a text" in refusal(files=[("file", (None, b"Oars."))])
        named = b'--b\r\nContent-Disposition: form-data; name="'
        for body, said in (
            (b"", "read to its end"),
            (named + b'file"; filename="a"\r\n\r\nx', "to its end"),
            (b"no form at all", "read to its end"),
            (named + b'shelf"\r\n\r\n/\r\n--b--\r\n', "no file"),
        ):
            assert said in refusal(content=body, headers=media)
        assert refusal(content=b"x")


@contextmanager
def _begun_upload(served: Served, key: str) -> Iterator[None]:
    folder = served.home / "workspaces" / "default" / "uploads"
    before = len(list(folder.glob("*")))
    with served.connected() as connection:
        connection.sendall(
            f"POST /api/documents/upload HTTP/1.1\r\nHost: {served.host}\r\n"
            f"Authorization: Bearer {key}\r\nContent-Length: 2000000\r\n"
            "Content-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\n"
            'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'.encode()
            + b"x" * 1_000_000
        )
        until(lambda: len(list(folder.glob("*"))) > before)
        yield


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
        data = b"# Salt 411\n\nThe salt on the quay weighs 411 tonnes."
        library.documents.add_bytes(data, "board-secret.md", shelf="board")  # by another name
        (shared,) = library.documents.add_text("Both have it.", shelf="board").outcomes
        library.documents.set_shelves(shared.record.document_id, ["board", "open"])
        hidden = {one.id for one in library.documents.list(["board"])}
    limited = served.key("write", workspaces=("default",), shelves=("open",))
    with served.client(limited) as client, served.client(served.key("write")) as owner:
        fresh = _answers_to_sending(served, client, 460)
        assert '"ready": 1' in str(fresh)
        assert _answers_to_sending(served, client, 411) == fresh
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
        search = gone.json()["search"]
        assert (gone.status_code, search["found"]) == (200, 0)
        assert (search["files"], search["bytes"]) == (0, 0)
        (removed,) = gone.json()["documents"]
        assert (removed["id"], removed["shelves"]) == (shared.record.document_id, ["open"])
        assert gone.json()["state"] == "removed"
        assert client.get(path).status_code == 404
        assert owner.get(path).json()["shelves"] == ["board"]


def test_who_asks_for_an_address_gets_that_of_a_large_file_and_a_small_one_itself(
    tmp_path: Path, in_bucket: Path
) -> None:
    large = "The ferry crosses the sound at noon. " * 3_000
    with Library.open(tmp_path / "home") as library:
        library.documents.add_bytes(large.encode(), "large.txt")
        library.documents.add_bytes(b"It lands at one.\n", "small.txt")
        found = {one.size: one.id for one in library.documents.list()}
    query = "content?original=true&redirect=true"
    with serving(tmp_path / "home") as served, served.client(served.key("read")) as client:
        answer = client.get(f"/api/documents/{found[len(large)]}/{query}", follow_redirects=False)
        assert answer.status_code == 307
        assert answer.headers["cache-control"] == "no-store"
        with urllib.request.urlopen(answer.headers["location"]) as file:  # without any key
            assert file.read().decode() == large
        small = client.get(f"/api/documents/{found[17]}/{query}", follow_redirects=False)
        assert (small.status_code, small.content) == (200, b"It lands at one.\n")
        plain = client.get(f"/api/documents/{found[len(large)]}/content?original=true")
        assert plain.text == large
