from pathlib import Path

import pytest
from tests.served import Served

AGENTS = ["council/broken", "council/storm-board", "persona/maria", "persona/tom"]


def test_sources_of_agents_have_a_slash_in_their_name(served_board: Served) -> None:
    with served_board.client(served_board.key("read")) as client:
        names = [one["name"] for one in client.get("/api/sources").json()["sources"]]
        assert [name for name in names if "/" in name] == AGENTS
        shown = client.get("/api/sources/persona/maria").json()
        assert (shown["kind"], shown["shelf"]) == ("persona", "maria")
        assert client.get("/api/sources/persona%2Fmaria").json() == shown
        for name in ("persona", "persona/mar", "nobody"):  # beginnings of names
            assert client.get(f"/api/sources/{name}").status_code == 404


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
@pytest.mark.parametrize("path", ["sync", "ferries/sync", "persona/maria/sync?confirmed=true"])
def test_a_sync_is_only_ordered(served_board: Served, method: str, path: str) -> None:
    with served_board.client(served_board.key("admin")) as client:
        answer = client.request(method, f"/api/sources/{path}")
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
        assert client.get("/api/sources/persona/sync").status_code == 404  # such a persona may be


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "ferries"
    folder.mkdir()
    (folder / "ferry.md").write_text("# Ferry\n\nThe ferry leaves the harbour at nine.\n")
    return folder


def test_a_source_is_added_synced_and_forgotten(served_board: Served, papers: Path) -> None:
    with served_board.client(served_board.key("admin")) as client:
        body = {"location": str(papers), "shelf": "ferries", "exclude": ["*.tmp"]}
        added = client.post("/api/sources", json=body)
        assert (added.status_code, added.json()["name"]) == (201, "ferries")
        assert (added.json()["location"], added.json()["synced"]) == (str(papers), 0)
        job = client.post("/api/sources/ferries/sync")
        assert (job.status_code, job.json()["state"]) == (202, "pending")
        served_board.work()
        done = client.get(f"/api/jobs/{job.json()['id']}").json()
        assert (done["state"], done["result"]["sources"][0]["source"]) == ("done", "ferries")
        assert client.get("/api/sources/ferries").json()["synced"] > 0
        assert client.get("/api/documents/?shelf=ferries").json()["documents"]
        assert client.delete("/api/sources/ferries").json()["name"] == "ferries"
        assert client.get("/api/sources/ferries").status_code == 404
        assert client.get("/api/documents/?shelf=ferries").json()["documents"]


def test_much_that_is_gone_stays_until_it_is_confirmed(
    served_board: Served, papers: Path, tmp_path: Path
) -> None:
    with served_board.client(served_board.key("admin")) as client:
        client.post("/api/sources", json={"location": str(papers), "name": "emptied"})

        def synced(query: str) -> tuple[str, dict[str, object]]:
            job = client.post(f"/api/sources/emptied/sync{query}").json()
            served_board.work()
            done = client.get(f"/api/jobs/{job['id']}").json()
            return done["state"], done["result"]["sources"][0]

        synced("")
        (papers / "ferry.md").unlink()
        state, part = synced("")
        assert (state, part["removed"]) == ("partial", 0)
        assert "1 of 1 document" in str(part["problem"])
        assert str(tmp_path) not in str(part)
        state, part = synced("?confirmed=true")
        assert (state, part["removed"], part["staying"]) == ("done", 1, [])
        client.delete("/api/sources/emptied")


def test_what_cannot_be_a_source_is_refused(served_board: Served, tmp_path: Path) -> None:
    with served_board.client(served_board.key("admin")) as client:
        page = client.post("/api/sources", json={"location": "http://127.0.0.1/"})
        assert (page.status_code, "web page" in page.json()["detail"]) == (400, True)
        relative = client.post("/api/sources", json={"location": "papers"})
        assert relative.status_code == 400
        absent = client.post("/api/sources", json={"location": str(tmp_path / "secret" / "gone")})
        assert (absent.status_code, "secret" in absent.text) == (404, False)
        assert client.delete("/api/sources/persona/maria").status_code == 400
        tried = client.get("/api/audit?limit=1").json()["entries"]
        assert [(one["action"], one["outcome"]) for one in tried] == [("source.remove", "failed")]
