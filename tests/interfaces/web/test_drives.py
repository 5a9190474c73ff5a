"""Cloud drives on the page."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.clouds import Drive
from tests.served import Served, serving

from chapterhouse.library import Library


@pytest.fixture
def room(drive: Drive, tmp_path: Path) -> Iterator[Served]:
    drive.write("Papers/berths.md", "# Berths\n\nA berth costs eighty crowns a night.\n")
    drive.write("Papers/old & <b>odd/tides.md", "# Tides\n\nSlack water lasts eleven minutes.\n")
    Library.open(tmp_path / "home").close()
    with serving(tmp_path / "home") as found:
        yield found


def test_a_drive_is_opened_folder_by_folder_and_followed(room: Served) -> None:
    with room.client(room.key("write")) as browser:
        browser.headers["Accept"] = "text/html"
        drives = browser.get("/drives").text
        assert "<span>webdav:</span>" in drives
        papers = browser.get("/drives?path=webdav:Papers").text
        assert "berths.md" in papers
        assert "not synced" in papers
        assert "<b>" not in papers
        (odd,) = re.findall(r'<li><a href="(/drives\?path=[^"]+odd)"', papers)
        deeper = browser.get(odd.replace("&amp;", "&")).text
        assert "tides.md" in deeper
        assert ">Papers</a> ›" in deeper  # the way back
        assert "Follow this folder" not in drives
        job = browser.post("/drives", data={"location": "webdav:Papers", "shelf": "papers"})
        room.work()
        assert "2 files read" in browser.get(job.headers["Location"]).text
        assert "current" in browser.get("/drives?path=webdav:Papers").text
        assert "Slack" not in browser.get("/documents?shelf=papers").text
        assert browser.post("/drives", data={"location": ":local:/etc"}).status_code == 400
