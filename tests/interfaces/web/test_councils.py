"""Councils on the page, without a browser: what is shown, what forms do, and for whom."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.models.chat_server import Reply, Request, chat_server
from tests.served import QUESTION, Served, serving, until

from chapterhouse.council.minutes.bundle import holds_minutes
from chapterhouse.library import Library

HOSTILE: Final = "<img src=x onerror=alert(1)>"
TURN: Final = {"position": f"It may be settled {HOSTILE}. [1]", "label": "settled"}
SUMMARY: Final = {"decision": ["Both rules hold. [1]"], "dissent": [], "decided": ""}


@pytest.fixture(scope="module")
def served_board(board_copy: Path) -> Iterator[Served]:
    def write(request: Request) -> Reply:
        presides = "You preside." in request.body["messages"][0]["content"]
        return Reply(json.dumps(SUMMARY if presides else {"positions": [TURN], "replies": []}))

    with chat_server(write) as server:
        with (board_copy / "chapterhouse.toml").open("a") as settings:
            settings.write(
                f'[models.tiny]\nengine = "openai"\nmodel = "m"\nbase_url = "{server.url}"\n'
            )
        with serving(board_copy) as found:
            yield found


@pytest.fixture
def browser(served_board: Served) -> Iterator[httpx2.Client]:
    with served_board.browser() as client:
        yield client


def convene(browser: httpx2.Client, **more: object) -> str:
    """Let the board meet, for which the page has no choices; return where the meeting is."""
    body = {"question": QUESTION, **more}
    answer = browser.post("/api/councils/storm-board/meetings", json=body)
    assert answer.status_code == 202, answer.text
    return f"/meetings/{answer.json()['id']}"


def ended(browser: httpx2.Client, meeting: str) -> LexborHTMLParser:
    """Return the page of a meeting once it has ended: it is looked at again and again."""
    text = until(lambda: "" if "http-equiv" in (found := browser.get(meeting).text) else found)
    return LexborHTMLParser(text)


def words(page: LexborHTMLParser, place: str) -> list[str]:
    return [" ".join(node.text().split()) for node in page.css(place)]


def test_a_council_is_convened_and_its_minutes_read_and_saved(browser: httpx2.Client) -> None:
    listed = browser.get("/councils").text
    assert 'href="/?who=council%2Fstorm-board"' in listed
    asked = {"question": QUESTION, "who": "council/storm-board"}
    assert browser.post("/ask", data=asked).headers["location"].startswith("/meetings/")
    assert "Cannot be asked yet" in listed  # of one that its form gives the reason for
    meeting = convene(browser, model="tiny")
    page = ended(browser, meeting)
    assert words(page, ".speaker h4") == ["Maria", "Tom"] * 2  # side by side, in two rounds
    assert words(page, "#minutes-positions thead th") == ["Asked", "Maria", "Tom"]
    cells = page.css("#minutes-positions td")
    assert words(page, "#minutes-positions td a.statement-name") == ["s1", "s2"]
    assert all(one.css_first(".cited a[hx-get^='/documents/']") for one in cells)
    assert "Both rules hold." in " ".join(words(page, "#minutes-decision"))
    assert page.css_first("[id=statement-s1]") is not None  # which the table links
    saved = {one: browser.get(f"{meeting}/minutes?format={one}") for one in ("md", "html", "json")}
    assert saved["md"].text.startswith("# Storm Board")
    assert saved["html"].text.startswith("<!DOCTYPE html>")
    assert holds_minutes(saved["json"].content)
    assert all("attachment" in one.headers["content-disposition"] for one in saved.values())
    assert page.css("#minutes a[href='/?who=council%2Fstorm-board']")


def test_without_a_model_a_table_shows_what_each_members_documents_say(
    browser: httpx2.Client,
) -> None:
    page = ended(browser, convene(browser, model="none"))
    cells = words(page, "#minutes-table tbody td")
    assert ["40 euros" in one for one in cells] == [True, False]
    assert ["75 euros" in one for one in cells] == [False, True]
    assert all(one.css_first(".cited a") for one in page.css("#minutes-table tbody td"))
    assert not page.css(".speaker")


def test_minutes_stay_in_the_history_until_they_are_deleted(
    browser: httpx2.Client, served_board: Served
) -> None:
    asked = {"question": "Who pays for lodging a night?", "who": "council/storm-board"}
    meeting = browser.post("/ask", data=asked).headers["location"]
    first = ended(browser, meeting)
    assert first.css("#minutes a[href='/history']")
    served_board.state.shared.rows("DELETE FROM meeting")  # as after an hour, or a new start
    gone = browser.get(meeting)
    assert gone.status_code == 404
    assert "See History on this page." in gone.text
    listed = LexborHTMLParser(browser.get("/history?text=pays").text)
    entry = next(one for one in listed.css(".entry") if asked["question"] in one.text())
    link = entry.css("h2 a")[0].attributes["href"]
    assert link
    page = LexborHTMLParser(browser.get(link).text)
    assert words(page, "#minutes-table td") == words(first, "#minutes-table td")
    assert page.css("#minutes-table .cited a[href*='from=']")
    assert holds_minutes(browser.get(f"{link}/minutes?format=json").content)
    with Library.open(served_board.home) as library:
        (folder,) = library.personas.load("tom").config.folders
        file = Path(folder) / "storm.md"
        before = file.read_text()
        file.write_text(before.replace("75", "80"))
        library.personas.refresh("tom")
    changed = LexborHTMLParser(browser.get(link).text)
    assert len(changed.css("#minutes .warning")) == 1  # what the document says no more
    browser.post(f"{link}/forget")
    assert browser.get(link).status_code == 404
    file.write_text(before)
    with Library.open(served_board.home) as library:
        library.personas.refresh("tom")


def test_a_meeting_is_looked_at_until_it_has_ended(browser: httpx2.Client) -> None:
    meeting, seen = convene(browser, model="tiny"), []

    def look() -> str:
        text = browser.get(meeting, headers={"HX-Request": "true"}).text
        page = LexborHTMLParser(text)
        assert "<html" not in text  # alone, to be put where it belongs
        assert not page.css("img, script")
        seen.extend(words(page, ".speaker[aria-busy] h4"))
        return "" if page.css("#meeting[hx-get]") else text

    page = LexborHTMLParser(until(look))
    assert set(seen) <= {"Maria speaks", "Tom speaks", "Chair speaks"}
    assert words(page, "#minutes-title") == ["Minutes"]
    assert words(page, ".speaker h4") == ["Maria", "Tom"] * 2


def test_options_of_a_meeting_are_shown_as_they_are(browser: httpx2.Client) -> None:
    options = ["Pay 40", f"Pay {HOSTILE}"]
    page = ended(browser, convene(browser, model="tiny", options=options))
    assert words(page, "#minutes ul")[0] == f"Pay 40 Pay {HOSTILE}"
    assert not page.css("main img")


def test_a_meeting_is_stopped(browser: httpx2.Client, served_board: Served) -> None:
    places = served_board.state.workload.asking
    for one in range(4):
        served_board.run(places.acquire_on_behalf_of(one))  # so that the meeting waits
    try:
        meeting = convene(browser)
        waiting = browser.get(meeting).text
        assert f'hx-get="{meeting}"' in waiting
        assert f'action="{meeting}/cancel"' in waiting
        stopped = browser.post(f"{meeting}/cancel")
    finally:
        for one in range(4):
            served_board.loop.call_soon_threadsafe(places.release_on_behalf_of, one)
    assert stopped.headers["location"] == meeting
    assert "The meeting was cancelled." in browser.get(meeting).text
    assert browser.get(f"{meeting}/minutes?format=md").status_code == 404


def test_who_sees_a_part_sees_no_more_than_over_the_api(
    browser: httpx2.Client, served_board: Served
) -> None:
    meeting = convene(browser, model="none")
    ended(browser, meeting)
    headers = {"Accept": "text/html"}
    with served_board.client(served_board.key("admin", shelves=("maria",))) as limited:
        listed = limited.get("/councils", headers=headers).text
        assert "Ask Maria" in listed
        assert not [word for word in ("Tom", "Storm Board", "/edit", meeting) if word in listed]
        form = {"question": QUESTION, "who": "council/storm-board"}
        assert limited.post("/ask", data=form).status_code == 403
        assert limited.get(meeting, headers=headers).status_code == 403
    with served_board.client(served_board.key("read")) as reader:  # another's meeting is not there
        for path in (meeting, f"{meeting}/minutes?format=md"):
            assert reader.get(path, headers=headers).status_code == 404
        assert "/edit" not in reader.get("/councils", headers=headers).text
