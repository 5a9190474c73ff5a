"""``docs check`` over a real library: the page, what is printed, and what it refuses."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.reading.pdf_writer import Page, write_pdf

from chapterhouse.library import Library

HEADER = "Harbour office, berth 17"
TEXTS = ("The ferry leaves at nine.", "Dogs travel free.", "Bicycles cost two crowns.")


@pytest.fixture
def home(chapterhouse: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHAPTERHOUSE_BACKGROUND", "0")
    monkeypatch.chdir(tmp_path)
    pages = [Page().text(72, 30, HEADER).text(72, 300, text) for text in TEXTS]
    (tmp_path / "fares.pdf").write_bytes(write_pdf(pages))
    (tmp_path / "torn.pdf").write_bytes(write_pdf(pages))
    os.utime(tmp_path / "fares.pdf", (1_600_000_000, 1_600_000_000))
    made = tmp_path / "home"
    assert chapterhouse("add", tmp_path / "fares.pdf", "--home", made).code == 0
    return made


def test_it_writes_a_private_page_and_lists_what_is_missing(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    result = chapterhouse("docs", "check", "fares.pdf", "--home", home)

    (page,) = tmp_path.glob("check-fares-*.html")
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0] == f"Wrote {page.name}"
    assert lines[1].startswith("Taken: ")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    written = page.read_text()
    missing = [line for line in lines if line.startswith("Not taken, page ")]
    assert len(missing) == written.count('<rect class="missing"')
    assert written.count("<rect") == 2 * len(TEXTS)
    assert "data:image/png;base64," in written


def test_json_gives_the_same_as_data(chapterhouse: Any, home: Path, tmp_path: Path) -> None:
    arguments = ("docs", "check", "fares", "--pages", "2", "--output", "page.html", "--json")
    data = chapterhouse(*arguments, "--home", home).data

    assert data["file"] == "page.html"
    assert data["document"]["format"] == "pdf"
    assert 0.5 < data["share"] <= 1
    assert data["remarks"] == ["Page 2 of 3 shown; choose others with --pages."]
    assert data["opened"] is False
    assert {one["page"] for one in data["missing"]} <= {2}
    written = (tmp_path / "page.html").read_bytes()
    again = chapterhouse(*arguments, "--home", home).data  # its own page may be replaced
    assert again == data
    assert (tmp_path / "page.html").read_bytes() == written


def test_a_file_of_something_else_is_not_overwritten(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.html").write_text("<p>mine</p>")

    result = chapterhouse("docs", "check", "fares", "--output", "mine.html", "--home", home)

    assert result.code == 5
    assert (tmp_path / "mine.html").read_text() == "<p>mine</p>"


def test_an_unknown_document_and_wrong_pages_are_one_clear_line(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    assert chapterhouse("docs", "check", "tides", "--home", home).code == 3
    wrong = chapterhouse("docs", "check", "fares", "--pages", "9-3", "--home", home)
    assert wrong.code == 2
    assert "--pages wants two numbers" in wrong.err
    assert not list(tmp_path.glob("*.html"))


def test_documents_are_listed_by_the_code_of_a_notice(chapterhouse: Any, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "plain.md").write_text("# Plain\n\nThe crane lifts four tonnes.\n")
    (tmp_path / "notes" / "odd.md").write_text("# Odd\n\nThe crane\u200b\u202e logs in at night.\n")
    home = ("--home", tmp_path / "own")
    assert chapterhouse("add", tmp_path / "notes", *home).code == 0
    wanted = ("docs", "list", "--notice", "invisible-characters", *home)
    (listed,) = chapterhouse(*wanted, "--json").data
    assert (listed["source"], listed["status"]) == ("notes/odd.md", "ready")
    assert chapterhouse(*wanted, "--files").code == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [("reading.credentials", "stored as they are"), ("removal.grace_days", "does not come back")],
)
def test_a_setting_that_is_gone_says_what_holds_now(
    chapterhouse: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    home = tmp_path / "own"
    monkeypatch.setenv("CHAPTERHOUSE_HOME", str(home))
    with Library.open(home):
        pass
    section, _, setting = name.partition(".")
    changed = chapterhouse("settings", "set", name, "9")
    assert (changed.code, said in changed.err) == (2, True)
    with monkeypatch.context() as environment:
        environment.setenv(f"CHAPTERHOUSE_{section}__{setting}".upper(), "9")
        assert said in chapterhouse("docs", "list").err
    (home / "chapterhouse.toml").write_text(f'[{section}]\n{setting} = "9"\n')
    refused = chapterhouse("docs", "list")
    assert (refused.code, said in refused.err) == (2, True)
