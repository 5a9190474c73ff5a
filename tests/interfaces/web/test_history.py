"""What was asked, on the page: listed, opened with the answer as it was given, deleted."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.served import TEXTS, Served, remember_board, serving

from chapterhouse.library import Library

QUESTION = "What is the toll of the bridge for a car?"
SOURCE = re.compile(r'<a href="(/documents/[^"]+)"')


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "papers").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "papers" / name).write_text(text)
    with Library.open(tmp_path / "home") as library:
        library.documents.add(tmp_path / "papers")
    return tmp_path / "home"


@pytest.fixture
def site(home: Path) -> Iterator[Served]:
    with serving(home) as served:
        yield served


@pytest.fixture
def owner(site: Served) -> Iterator[httpx2.Client]:
    with site.browser() as browser:
        yield browser


def test_an_answer_is_opened_as_it_was_given(site: Served, owner: httpx2.Client) -> None:
    given = owner.post("/ask", data={"question": QUESTION}).text
    links = SOURCE.findall(given)
    assert any("from=" in link for link in links)
    quoted = re.search(r"<figure>(.*)</blockquote><figcaption>.*?Tolls", given, re.DOTALL)
    assert quoted
    assert "four crowns" in quoted[1]
    listed = owner.get("/history").text
    assert '<a href="/history/m1">' in listed
    assert "From Tolls" in listed
    opened = owner.get("/history/m1").text
    assert QUESTION in opened
    assert "four crowns" in opened
    assert SOURCE.findall(opened) == links
    (saved,) = re.findall(r'name="answer" value="([^"]+)"', opened)
    assert "four crowns" in saved
    missing = owner.get("/history/m2")
    assert missing.status_code == 404
    assert "See History on this page." in missing.text
    assert "chapterhouse memory" not in missing.text
    assert owner.get("/history/toll").status_code == 400
    for limit in ({"shelves": ("a",)}, {"personas": ("a",)}):
        with site.client(site.key("read", **limit)) as limited:
            assert limited.get("/history/m1").status_code == 403
    assert 'data-confirm="Delete this question' in owner.get("/history").text
    owner.post("/history/m1/forget")
    assert owner.get("/history/m1").status_code == 404


def test_what_a_document_says_no_more_is_not_marked_in_it(
    site: Served, home: Path, owner: httpx2.Client
) -> None:
    owner.post("/ask", data={"question": QUESTION})
    (home.parent / "papers" / "tolls.md").write_text("# Tolls\n\nThe bridge is free.\n")
    with Library.open(site.home) as library:
        library.documents.add(home.parent / "papers")
    opened = owner.get("/history/m1").text
    assert "four crowns" in opened
    assert "not found in the document" in opened
    assert not any("from=" in link for link in SOURCE.findall(opened))


def test_what_only_a_text_is_remembered_of_is_shown_as_that(
    site: Served, owner: httpx2.Client
) -> None:
    with Library.open(site.home) as library:
        remember_board(library)
    listed = owner.get("/history").text
    assert "storm-board, maria" in listed
    assert "council_" not in listed
    opened = owner.get("/history/m1").text
    assert "40 euros a night" in opened
    assert "Save as" not in opened
