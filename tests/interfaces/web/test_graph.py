"""Who and what documents speak of, on the page and over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.served import Served, serving

from chapterhouse import Library

HTML = {"Accept": "text/html"}
NOTES = """# Notes

Ingrid Tolle met Marcus Webb in Kiel. Marcus <b>Webb</b> sailed to Hamburg.
"""


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Served]:
    with Library.open(tmp_path / "home") as library:
        library.documents.add_bytes(NOTES.encode(), "notes.md", shelf="open")
        secret = b"# Secret\n\nMarcus Webb met Helena Brandt in Rostock.\n"
        library.documents.add_bytes(secret, "secret.md")
    with serving(tmp_path / "home") as found:
        yield found


def test_a_name_opens_its_sentences_and_each_its_document(room: Served) -> None:
    with room.client(room.key("admin")) as browser:
        text = browser.get("/graph", headers=HTML).text
        assert '<a href="/graph/entity?name=marcus+webb">Marcus Webb</a>' in text
        assert "Helena Brandt" in text
        assert "Ingrid Tolle" not in browser.get("/graph?text=webb", headers=HTML).text
        assert "Marcus Webb" not in browser.get("/graph?kind=location", headers=HTML).text
        page = browser.get("/graph/entity?name=ingrid+tolle", headers=HTML).text
        assert "Ingrid Tolle met Marcus Webb in Kiel." in page
        assert "<svg" in page
        names = browser.get("/api/graph/entity", params={"name": "ingrid tolle"}).json()
        place = names["sentences"][0]
        at = f"/documents/{place['document_id']}?from={place['start']}&amp;to={place['end']}"
        assert at in page
        assert browser.get("/graph/entity?name=nobody", headers=HTML).status_code == 404


def test_what_is_limited_to_a_shelf_shows_its_names_alone(room: Served) -> None:
    with room.client(room.key("read", shelves=("open",))) as browser:
        assert "Helena" not in browser.get("/graph", headers=HTML).text
        found = browser.get("/api/graph/entities").json()
        assert "Marcus Webb" in {one["name"] for one in found["entities"]}
        assert "Rostock" not in str(found)
        way = {"source": "ingrid tolle", "target": "helena brandt"}
        assert browser.get("/api/graph/path", params=way).status_code == 404
    with room.client(room.key("read")) as browser:
        steps = browser.get("/api/graph/path", params=way).json()["steps"]
        assert [one["entity"]["name"] for one in steps] == ["Marcus Webb", "Helena Brandt"]


def test_names_are_merged_and_split_by_those_who_see_everything(room: Served) -> None:
    with room.client(room.key("write")) as writer:
        body = {"name": "Ingrid Tolle", "entity": "Helena Brandt"}
        (made,) = writer.post("/api/graph/decisions", json=body).json()["decisions"]
        assert (made["name"], made["entity"]) == ("ingrid tolle", "helena brandt")
        found = writer.get("/api/graph/entity", params={"name": "ingrid tolle"}).json()
        assert found["entity"]["merged"] == [{"name": "Ingrid Tolle", "reason": "by hand"}]
        assert {one["title"] for one in found["documents"]} == {"Notes", "Secret"}
        page = writer.get("/graph/entity?name=ingrid+tolle", headers=HTML).text
        assert "<h1>Helena Brandt</h1>" in page
        assert "Ingrid Tolle: by hand" in page
        assert writer.get("/api/graph/decisions").json()["decisions"] == [made]
        undone = writer.delete("/api/graph/decisions", params={"name": "Ingrid Tolle"})
        assert undone.json()["decisions"] == [made]
        assert writer.get("/api/graph/decisions").json()["decisions"] == []
        lone = writer.post("/api/graph/decisions", json={"name": "Hamburg"})
        assert lone.status_code == 400
    for key in (room.key("write", shelves=("open",)), room.key("read")):
        with room.client(key) as other:
            body = {"name": "Ingrid Tolle", "entity": "Marcus Webb"}
            assert other.post("/api/graph/decisions", json=body).status_code == 403
