"""The library's room of the page over HTTP, without a script."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.served import FROM_OTHERS, Served, serving, until

from chapterhouse.interfaces.web.library import folders_in
from chapterhouse.library import Library
from chapterhouse.types import Listing, ListOrder

HTML = {"Accept": "text/html"}


@pytest.fixture
def piers(tmp_path: Path) -> Path:
    """A library with folders, a file that cannot be read, and one that was sent to a shelf."""
    north = tmp_path / "piers" / "north"
    north.mkdir(parents=True)
    for number in range(3):
        (north / f"pier-{number}.md").write_text(f"# Pier <b>{number}</b>\n\nIt is sound.\n")
    (tmp_path / "piers" / "plan.pdf").write_bytes(b"%PDF-1.4 and nothing else")
    (tmp_path / "piers" / "notes.txt").write_text("The crane was oiled in May.\n")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(tmp_path / "piers")
        library.documents.add_bytes(b"# Buoys\n\nThere are six.\n", "buoys.md", shelf="buoys")
    return tmp_path / "home"


@pytest.fixture
def room(piers: Path) -> Iterator[Served]:
    with serving(piers) as found:
        yield found


def client(served: Served, level: str = "admin", **limits: object) -> httpx2.Client:
    found = served.client(served.key(level, **limits))
    found.headers.update(HTML)
    return found


def titles(text: str) -> list[str]:
    return re.findall(r'<a href="/documents/[^"?]+">([^<]+)</a>', text)


def test_documents_are_listed_by_folder_with_what_was_not_read(room: Served) -> None:
    with client(room) as browser:
        whole = browser.get("/documents").text
        assert titles(whole) == [
            *(f"Pier &lt;b&gt;{number}&lt;/b&gt;" for number in range(3)), "notes", "Buoys",
        ]  # fmt: skip
        assert "plan.pdf is cut off" in whole
        assert "<b>" not in whole
        north = browser.get("/documents", params={"folder": "piers/north"}).text
        assert len(titles(north)) == 3
        assert 'aria-current="true"><span>north</span>' in north
        above = browser.get("/documents", params={"folder": "piers"}).text
        assert '<span>north</span> <span class="number">3</span>' in above
        assert titles(browser.get("/documents?text=CRANE&folder=piers").text) == []
        assert titles(browser.get("/documents?text=notes&folder=piers").text) == ["notes"]
        rejected = browser.get("/documents?status=rejected").text
        assert not titles(rejected)
        assert "plan.pdf" in rejected
        assert "Nothing fits" in browser.get("/documents?tag=oil").text
        assert browser.get("/documents?colour=red").status_code == 422


def test_who_is_limited_sees_the_folders_and_states_of_their_own_alone(room: Served) -> None:
    with client(room, "read", shelves=("buoys",)) as browser:
        text = browser.get("/documents").text
        assert titles(text) == ["Buoys"]
        assert "piers" not in text
        assert "plan.pdf" not in text
        assert "Ask these alone" in text
        assert "/documents/remove" not in text
        assert not titles(browser.get("/documents?shelf=library").text)
        sent = {"document": [document_id(room, "notes"), document_id(room, "buoys")]}
        assert browser.post("/documents/remove", data=sent).status_code == 403
    with client(room, "write", shelves=("buoys",)) as browser:
        for path in ("/documents/remove", "/documents/reprocess"):
            other = {"document": document_id(room, "notes"), "confirmed": "yes"}
            assert browser.post(path, data=other).status_code == 404


def test_a_long_list_goes_on_where_it_ended(room: Served) -> None:
    with Library.open(room.home) as library:
        listing = Listing(order=ListOrder.DATE, limit=4)
        first, total = library.documents.listed(listing)
        for number in range(50):
            library.documents.add_text(f"# Log {number:03}\n\nAll was quiet in hour {number}.")
    assert (len(first), total) == (4, 6)
    with client(room) as browser:
        text = browser.get("/documents?folder=text").text
        assert len(titles(text)) == 50
        text = browser.get("/documents").text
        (further,) = re.findall(r'class="more"><a href="([^"]+)"', text)
        rest = browser.get(further.replace("&amp;", "&")).text
        assert len(titles(text)) + len(titles(rest)) == 55
        assert "<html" in rest
        rows = browser.get(further.replace("&amp;", "&"), headers={"HX-Request": "true"}).text
        assert titles(rows) == titles(rest)
        assert "<form" not in rows


def test_folders_have_the_documents_of_those_below() -> None:
    counts = {"": 1, "a/b/c": 2, "a/b": 3, "a/d/e": 4, "ab": 5, "many/10": 1, "many/9": 1}
    assert folders_in("", counts) == {"a": 9, "ab": 5, "many": 2}
    assert folders_in("a", counts) == {"a/b": 5, "a/d": 4}
    assert list(folders_in("many", counts)) == ["many/9", "many/10"]
    assert not folders_in("a/b/c", counts)


def test_documents_are_removed_once_that_is_confirmed(room: Served) -> None:
    chosen = [document_id(room, "notes"), document_id(room, "buoys")]
    sent: dict[str, str | list[str]] = {"document": chosen, "folder": "piers"}
    with client(room, "write") as browser:
        asked = browser.post("/documents/remove", data=sent).text
        assert "Remove 2 documents for good?" in asked
        assert 'name="confirmed" value="yes"' in asked
        assert len(titles(browser.get("/documents").text)) == 5
        done = browser.post("/documents/remove", data={**sent, "confirmed": "yes"})
        assert "piers/notes.txt" in done.text  # it is in its folder still
        assert len(titles(browser.get("/documents").text)) == 3
        browser.post("/documents/remove", data={"confirmed": "yes"})
        assert len(titles(browser.get("/documents").text)) == 3


def test_documents_are_read_again_by_one_job(room: Served) -> None:
    sent = {"document": [document_id(room, "pier-0"), document_id(room, "pier-1")]}
    with client(room, "write") as browser:
        answer = browser.post("/documents/reprocess", data=sent)
        job = browser.get(f"/api{answer.headers['Location']}").json()
        assert (job["kind"], job["state"]) == ("reprocess", "pending")
        room.work()
        assert browser.get(f"/api{answer.headers['Location']}").json()["total"] == 2


def test_files_of_a_folder_are_received_with_their_places_in_it(room: Served) -> None:
    files = [
        ("file", (f"terms/{year}/README.md", f"# Terms of {year}\n\nRent: {year}.\n".encode()))
        for year in (2025, 2026)
    ]
    empty = ("file", ("terms/../none.txt", b""))
    with client(room, "write") as browser:
        assert browser.post("/documents/upload", **form_of([("", b"")])).status_code == 400
        # Of two fields of a form, one is left alone.
        answer = browser.post(
            "/documents/upload", **form_of([one for _, one in files] + [("", b"")])
        )
        assert answer.status_code == 303
        jobs = browser.get(answer.headers["Location"]).text
        assert re.findall(r">Read ([^<]+)<", jobs) == [name for _, (name, _) in files]
        refused = browser.post("/documents/upload", files=[*files, empty]).text
        assert "1 file was refused" in refused
        assert "The file is empty." in refused
        room.work()
        listed = browser.get("/documents?folder=upload/terms").text
        assert titles(listed) == ["Terms of 2025", "Terms of 2026"]
        assert re.findall(r"quiet\">(\d+/[^<]+)<", listed) == ["2025/README.md", "2026/README.md"]
        again = [("file", ("terms/2025/README.md", b"# Terms of 2025\n\nRent: none.\n"))]
        browser.post("/documents/upload", files=again)
        room.work()
        assert len(titles(browser.get("/documents?folder=upload/terms").text)) == 2


def test_a_script_gets_the_job_of_its_file_and_then_its_reason(room: Served) -> None:
    script = {"HX-Request": "true"}
    with client(room, "write", shelves=("buoys",)) as browser:
        sent = {"file": ("logs/torn.pdf", b"%PDF-1.4 torn")}
        made = browser.post("/documents/upload", files=sent, headers=script).text
        (job,) = re.findall(r'data-job="(j\d+)" data-state="pending"', made)
        room.work()
        ended = browser.get(f"/jobs?job={job}&job=j999&job=x", headers=script).text
        assert re.findall(r'data-state="(\w+)"', ended) == ["failed"]
        assert "<strong>logs/torn.pdf</strong> torn.pdf is cut off" in ended
        assert "Try again" not in ended  # they may not
        assert re.findall(r'data-job="(j\d+)"', browser.get("/jobs").text) == [job]
    with client(room, "read", shelves=("library",)) as other:
        assert "data-job" not in other.get(f"/jobs?job={job}").text
        assert other.get(f"/jobs/{job}").status_code == 404


def test_what_a_page_sends_has_nothing_unknown(room: Served) -> None:
    file = {"file": ("a.md", b"# A\n")}
    with room.browser() as browser:
        sent = {"colour": "red"}
        assert browser.post("/documents/upload", files=file, data=sent).status_code == 400
        assert browser.post("/documents/remove", data=sent).status_code == 422
        assert "Read a.md" not in browser.get("/jobs").text
        assert browser.post("/documents/upload", files=file).status_code == 303
        twice = [("file", ("a.md", b"# A\n")), ("file", ("b.md", b"# B\n"))]
        assert browser.post("/api/documents/upload", files=twice).status_code == 400
    with client(room, "read") as reader:
        assert reader.post("/documents/upload", files=file).status_code == 403


def test_a_folder_of_the_server_is_chosen_followed_and_asked(room: Served) -> None:
    folder = room.home.parent / "moors"
    (folder / "2026").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    fees = "The mooring fees of a vessel are ten crowns a night, to be paid at the office. " * 2
    (folder / "2026" / "rates.md").write_text(f"# Rates\n\n## 2.1 Mooring fees\n\n{fees}\n")
    (folder / "2026" / "torn.pdf").write_bytes(b"%PDF-1.4 torn")
    with client(room) as browser:
        shown = browser.get("/folders", params={"path": str(folder)}).text
        assert "2 files, in the folders below too" in shown
        assert re.findall(r"<li><a [^>]*><span>([^<]+)</span>", shown) == ["2026"]
        for path, status in (("/nowhere", 404), (str(folder / "2026/rates.md"), 404), ("\0", 404)):
            assert browser.get("/folders", params={"path": path}).status_code == status
        answer = browser.post("/sources", data={"location": str(folder), "exclude": "*.tmp\n"})
        job = answer.headers["Location"]
        assert "waits" in browser.get(job).text
        room.work()
        ended = browser.get(job).text
        assert "1 file read" in ended
        assert "<strong>moors/2026/torn.pdf</strong> torn.pdf is cut off" in ended
        assert '<a class="button primary" href="/">Ask a question</a>' in ended
        assert re.search(r'class="suggested".*Mooring fees', browser.get("/").text, re.DOTALL)
        (folder / "2026" / "torn.pdf").unlink()
        (folder / "2026" / "more.md").write_text("# More\n")
        assert "without *.tmp" in browser.get("/sources").text
        assert "<strong>moors</strong>" not in browser.get("/folders").text
        assert f'value="{folder.parent}"' in browser.get("/folders").text  # beside the last one
        synced = browser.post("/sources/sync", data={"name": "moors"}).headers["Location"]
        room.work()
        assert "1 file read" in browser.get(synced).text
        idle = browser.post("/sources/sync", data={"name": "moors"}).headers["Location"]
        room.work()
        assert "nothing had changed" in browser.get(idle).text
        assert idle not in browser.get("/jobs").text  # which lists what did something
        browser.post("/sources/remove", data={"name": "moors"})
        assert "moors" not in browser.get("/sources").text
        assert "Rates" in browser.get("/documents?folder=moors").text


def test_a_job_is_stopped_and_tried_again(room: Served) -> None:
    with client(room) as browser:
        job = browser.post("/sources/sync").headers["Location"]
        assert browser.post(f"{job}/cancel").headers["Location"] == job
        assert "stopped" in browser.get(job).text
        again = browser.post(f"{job}/retry").headers["Location"]
        assert again != job
        assert "waits" in browser.get(again).text
        assert browser.post(f"{job}/cancel").status_code == 409
        assert browser.get("/jobs/j999").status_code == 404


@pytest.mark.parametrize(
    ("level", "limits", "refused"),
    [
        ("admin", {"workspaces": ("default",)}, ["/folders", "/drives"]),
        ("admin", {"shelves": ("buoys",)}, ["/folders", "/drives", "/sources"]),
        ("write", {}, ["/folders"]),
    ],
)
def test_the_machine_is_shown_to_those_alone_whose_it_is(
    room: Served, level: str, limits: dict[str, Any], refused: list[str]
) -> None:
    with client(room, level, **limits) as browser:
        for path in ("/folders", "/drives", "/sources", "/jobs", "/documents"):
            is_refused = browser.get(path).status_code == 403
            assert is_refused == (path in refused), path
        sent = {"location": str(room.home)}
        assert browser.post("/sources", data=sent).status_code == 403
        sources = "" if "/sources" in refused else browser.get("/sources").text
        assert "Follow a folder" not in sources
        assert (str(room.home.parent) in sources) == (
            level == "admin" and "/sources" not in refused
        )


def test_a_form_that_another_page_sends_changes_nothing(room: Served) -> None:
    sent = {"document": document_id(room, "notes"), "confirmed": "yes"}
    with room.browser() as browser:
        for headers in FROM_OTHERS[1:]:
            refused = browser.post("/documents/remove", data=sent, headers=headers)
            assert refused.status_code == 403
        assert "notes" in titles(browser.get("/documents").text)
        assert browser.post("/documents/remove", data=sent).status_code == 200
        assert "notes" not in titles(browser.get("/documents").text)


def document_id(served: Served, start: str) -> str:
    with Library.open(served.home) as library:
        return next(one.id for one in library.documents.list() if one.id.startswith(start))


def form_of(files: list[tuple[str, bytes]]) -> dict[str, Any]:
    """Return a form as browsers send it: fields in which nothing was chosen have no name."""
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\n%s\r\n'
    body = b"".join(part % (name.encode(), data) for name, data in files) + b"--x--\r\n"
    return {"content": body, "headers": {"Content-Type": "multipart/form-data; boundary=x"}}


def test_documents_go_by_the_names_that_people_gave(room: Served, piers: Path) -> None:
    folder = piers.parent / "reports"
    folder.mkdir()
    for number in (10, 2, 1):
        (folder / f"report {number}.md").write_text(f"# Year {number}\n\nAll was well.\n")
    (folder / "report 3.md").write_text("# Year 2\n\nAll was well.\n")
    with Library.open(room.home) as library:
        library.documents.add(folder)
    with client(room) as browser:
        sent = {"file": ("quarters/first 1.md", b"# First\n\nIt rained.\n")}
        assert browser.post("/documents/upload", files=sent).status_code == 303
        room.work()
        text = browser.get("/documents?folder=reports").text
        assert titles(text) == ["Year 1", "Year 2", "Year 2", "Year 10"]
        assert text.count("same content as reports/report 2.md") == 1
        whole = browser.get("/documents").text
        assert "upload/" not in re.sub(r'(href|action|value)="[^"]*"', "", whole)
        assert "<span>Uploaded files</span>" in whole
        assert "<span>quarters</span>" in whole
        assert ">quarters/first 1.md<" in whole
        page = browser.get(f"/documents/{document_id(room, 'first')}").text
        assert "quarters/first 1.md" in page
        assert "upload/" not in page


def test_a_council_is_made_of_chosen_documents(room: Served) -> None:
    chosen = [document_id(room, name) for name in ("buoys", "notes")]
    with client(room) as browser:
        where = browser.post("/documents/council", data={"document": chosen}).headers["location"]
        assert where == "/?who=council%2F2-documents"
        page = browser.get(where).text
        assert '<option value="council/2-documents" selected>2 documents<' in page
        assert "<h1>Ask 2 documents</h1>" in page
        assert "Buoys, notes" in page
        before = browser.get("/documents").text
        asked = {"question": "When was the crane oiled?", "who": "council/2-documents"}
        meeting = browser.post("/ask", data=asked).headers["location"]
        until(lambda: "Minutes</h2>" in browser.get(meeting).text)
        asked["question"] = "How many buoys are there?"
        meeting = browser.post("/ask", data=asked).headers["location"]
        until(lambda: "Minutes</h2>" in browser.get(meeting).text)
        assert f"/documents/{chosen[0]}?from=" in browser.get(meeting).text  # and no copy of it
        assert "council_" not in browser.get(meeting).text
        assert browser.get("/documents").text == before
        assert "council_" not in browser.get(f"/documents/{chosen[0]}").text
        assert browser.post("/documents/council", data={"document": chosen}).status_code == 303
        assert browser.post("/documents/council", data={}).headers["location"] == "/documents"
    with Library.open(room.home) as library:
        assert library.councils.names() == ("2-documents", "2-documents-2")
        council = library.councils.load("2-documents").council
        assert [one.name for one in council.members] == ["Buoys", "notes"]
        read = [
            [one.title for one in library.documents.list([member.reserved_shelf(council.slug)])]
            for member in council.members
        ]
        assert read == [["Buoys"], ["notes"]]
        assert not library.councils.validate("2-documents")
        library.councils.refresh("2-documents")  # empties what is no member's any more
        assert library.documents.by_id(chosen[0]).shelves[0] == "buoys"
        assert len(library.documents.by_id(chosen[0]).shelves) == 3
        library.councils.remove_agent("2-documents")
        assert len(library.documents.by_id(chosen[0]).shelves) == 2
    with client(room, "write") as browser:
        assert browser.post("/documents/council", data={"document": chosen}).status_code == 403


def test_chosen_documents_and_folders_alone_are_asked(room: Served) -> None:
    with client(room, "read") as browser:
        chosen = [document_id(room, name) for name in ("buoys", "notes")]
        assert "Ask these alone" in browser.get("/documents").text
        where = browser.post("/documents/ask", data={"document": chosen}).headers["location"]
        assert where == f"/?document={chosen[0]}&document={chosen[1]}"
        text = browser.get(where).text
        assert "Only Buoys, notes" in text
        assert all(f'name="document" value="{one}"' in text for one in chosen)
        assert browser.post("/documents/ask", data={}).headers["location"] == "/documents"
        listed = browser.get("/documents?folder=piers").text
        folder = re.search(r'href="([^"]+)">ask this folder alone', listed)
        assert folder is not None
        assert "Only piers" in browser.get(folder[1]).text
        question = "When was the crane oiled?"
        for one, is_found in (*zip(chosen, (False, True), strict=True), ("piers", True)):
            answer = browser.post("/ask", data={"question": question, "document": one}).text
            assert ("oiled in May" in answer) == is_found
            assert f'name="document" value="{one}"' in answer  # what follows asks the same
        wrong = browser.post("/ask", data={"question": question, "document": "none"})
        assert wrong.status_code == 404
    with client(room, "read", shelves=("buoys",)) as browser:
        other = browser.post("/ask", data={"question": question, "document": chosen[1]})
        assert other.status_code == 404


def test_one_shelf_alone_is_asked(room: Served) -> None:
    with client(room) as browser:
        assert 'value="shelf/buoys"' in browser.get("/").text
        assert "/?who=shelf%2Fbuoys" in browser.get("/documents?shelf=buoys").text
        for shelf, is_found in (("buoys", False), ("library", True)):
            asked = {"question": "When was the crane oiled?", "who": f"shelf/{shelf}"}
            answer = browser.post("/ask", data=asked).text
            assert ("oiled in May" in answer) == is_found
        assert browser.post("/ask", data={**asked, "who": "shelf/none"}).status_code == 404
    with client(room, "read", shelves=("buoys",)) as browser:
        other = browser.post("/ask", data={"question": "Crane?", "who": "shelf/library"})
        assert "oiled in May" not in other.text
