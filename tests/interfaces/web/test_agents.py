"""Personas and councils as forms, posted as a browser without scripts does."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.served import Served, serving

from chapterhouse.interfaces.api.routing import COOKIE
from chapterhouse.library import Library
from chapterhouse.library.access import csrf_of, owner_session

Form = dict[str, list[str]]


@pytest.fixture(scope="module")
def served_board(board_copy: Path) -> Iterator[Served]:
    with serving(board_copy) as found:
        yield found


@pytest.fixture
def browser(served_board: Served) -> Iterator[httpx2.Client]:
    cookies = {COOKIE: owner_session(served_board.owner_key)}
    url, headers = served_board.url, {"Accept": "text/html"}
    with httpx2.Client(base_url=url, headers=headers, cookies=cookies, timeout=60.0) as client:
        yield client


def form_of(answer: httpx2.Response) -> Form:
    """Return what a browser would send of the form on a page."""
    found: Form = {}
    for one in LexborHTMLParser(answer.text).css("#definition [name]"):
        value = one.attributes.get("value") or ""
        if one.tag == "textarea":
            value = one.text().removeprefix("\n")
        if one.tag == "select":
            chosen = [*one.css("option[selected]"), *one.css("option")]
            value = chosen[0].attributes.get("value") or ""
        if one.tag != "button":
            found.setdefault(one.attributes["name"] or "", []).append(value)
    return found


def press(browser: httpx2.Client, path: str, form: Form, action: str) -> httpx2.Response:
    return browser.post(path, data={**form, "action": action})


def problems(answer: httpx2.Response) -> dict[str, str]:
    found = LexborHTMLParser(answer.text).css(".wrong")
    return {str(one.attributes["id"]).removesuffix("-problems"): one.text() for one in found}


def written(served: Served, path: str) -> Any:
    return json.loads((served.home / path).read_text())


def test_a_council_is_made_and_its_entries_added_moved_and_taken_out(
    browser: httpx2.Client, served_board: Served
) -> None:
    csrf = csrf_of(owner_session(served_board.owner_key))
    new = {"csrf": csrf, "name": "Pier Board", "template": "decision"}
    assert browser.post("/councils", data={**new, "name": ""}).status_code == 422
    refused = browser.post("/councils", data={**new, "template": "none such"})
    assert (refused.status_code, 'role="alert"' in refused.text) == (404, True)
    made = browser.post("/councils", data={**new, "personas": ["maria", "tom"]})
    path = made.headers["location"].partition("?")[0]
    assert path == "/councils/pier-board/edit"
    before = written(served_board, "councils/pier-board/council.json")
    form = form_of(browser.get(path))
    assert form["members.persona"] == ["maria", "tom"]
    assert '<option value="tom" selected>' in browser.get(path).text  # of those that there are
    form = form_of(press(browser, path, form, "members.add"))
    form["members.name"][2] = "Sceptic"
    form["members.timeout_seconds"][2] = "soon"
    form = form_of(press(browser, path, form, "members.2.up"))
    assert form["members.name"] == ["", "Sceptic", ""]
    form = form_of(press(browser, path, form, "rounds.2.remove"))
    form = form_of(press(browser, path, form, "rounds.add"))
    refused = press(browser, path, form, "save")
    assert refused.status_code == 422
    assert "It must be a number" in problems(refused)["members.1.timeout_seconds"]
    assert "It is empty" in problems(refused)["rounds.3.name"]
    assert form_of(refused) == form
    assert written(served_board, "councils/pier-board/council.json") == before  # nothing yet
    form = form_of(press(browser, path, form, "rounds.3.remove"))
    form["members.timeout_seconds"][1] = "30"
    saved = press(browser, path, form, "save")
    assert saved.status_code == 303
    shown = problems(browser.get(saved.headers["location"]))  # it can be read, but not meet
    assert "Sceptic" in shown["members.1.instructions"]
    after = written(served_board, "councils/pier-board/council.json")
    assert after["members"] == [
        {"persona": "maria"},
        {"name": "Sceptic", "timeout_seconds": 30},
        {"persona": "tom"},
    ]
    names = [one["name"] for one in after["rounds"]]
    assert names == ["independent_analysis", "cross_examination", "synthesis"]
    assert after["chair"] == before["chair"]
    assert list(after)[:3] == ["slug", "display_name", "purpose"]
    for button in ("members.7.up", "chair.add", "members.-1.up", ""):
        assert press(browser, path, form, button).status_code == 400


def test_a_persona_is_named_given_a_folder_and_read_at_once(
    browser: httpx2.Client, served_board: Served, tmp_path: Path
) -> None:
    csrf = csrf_of(owner_session(served_board.owner_key))
    (tmp_path / "dues.md").write_text("# Dues\n\nA berth costs 12 euros a night.\n")
    new = {"csrf": csrf, "name": "Vieux Port & Quai"}
    path = browser.post("/personas", data=new).headers["location"]
    assert path == "/personas/vieux-port-quai/edit"
    again = browser.post("/personas", data=new).headers["location"]  # of the same name
    assert again == "/personas/vieux-port-quai-2/edit"
    assert browser.post("/personas", data={**new, "name": "港"}).headers["location"] == (
        "/personas/persona-2/edit"
    )
    described = {**form_of(browser.get(path)), "folders": [str(tmp_path)]}
    saved = browser.get(press(browser, path, described, "save").headers["location"])
    assert form_of(saved)["folders"] == [str(tmp_path)]
    assert "Being read: waits" in saved.text
    served_board.work()
    (documents,) = LexborHTMLParser(browser.get(path).text).css("#documents a")
    assert documents.text() == "1 document"
    assert ">Dues</a>" in browser.get(documents.attributes["href"] or "").text
    form = form_of(browser.get(path))
    wrong = press(browser, path, {**form, "folders": [f"{tmp_path}/nothing"]}, "save")
    alert = LexborHTMLParser(browser.get(wrong.headers["location"]).text).css_first("[role=alert]")
    assert alert is not None
    assert "nothing is not there" in alert.text()
    assert "aria-invalid" not in browser.get("/personas/tom/edit").text  # but for warnings


def test_a_council_of_a_name_has_no_purpose_and_is_no_member_of_itself(
    browser: httpx2.Client, served_board: Served
) -> None:
    csrf = csrf_of(owner_session(served_board.owner_key))
    made = browser.post("/councils", data={"csrf": csrf, "name": "Quay", "personas": ["tom"]})
    page = LexborHTMLParser(browser.get(made.headers["location"]).text)
    assert next(one.text() for one in page.css("#definition legend")) == "Tom"
    options = page.css('[name="members.council"] option')
    values = [one.attributes["value"] for one in options]
    assert "storm-board" in values
    assert "quay" not in values
    assert written(served_board, "councils/quay/council.json").get("purpose", "") == ""


def test_a_form_that_changes_nothing_writes_the_same(
    browser: httpx2.Client, served_board: Served
) -> None:
    folder = served_board.home / "councils" / "tidal"
    folder.mkdir()
    raw = {
        "slug": "tidal",
        "rounds": ["independent_analysis", {"name": "costs", "instructions": "Count them."}],
        "tools": ["search_knowledge", {"corpus": {"folder": "/tmp", "top_k": 3}}],
        "members": [{"persona": "maria", "grounding": "both"}],
        "round_timeout_seconds": 60.5,
        "parallel": 8,
    }
    (folder / "council.json").write_text(json.dumps(raw))
    path = "/councils/tidal/edit"
    assert press(browser, path, form_of(browser.get(path)), "save").status_code == 303
    full = [{"name": "independent_analysis"}, raw["rounds"][1]]  # type: ignore[index]
    after = written(served_board, "councils/tidal/council.json")
    assert after == {**raw, "rounds": full}
    assert list(after) == list(raw)


def test_what_has_wrong_values_in_its_file_is_put_right_in_its_form(
    browser: httpx2.Client, served_board: Served
) -> None:
    folder = served_board.home / "councils" / "wrecked"
    folder.mkdir()
    raw = {"slug": "wrecked", "members": "maria", "rounds": [3, {"name": 5}], "parallel": "many"}
    (folder / "council.json").write_text(json.dumps({**raw, "zq": 1}))
    path = "/councils/wrecked/edit"
    shown = browser.get(path)
    assert problems(shown).keys() >= {"members", "rounds.0", "rounds.1.name", "parallel"}
    assert "There is no key 'zq'" in problems(shown)["council"]
    form = {**form_of(shown), "parallel": ["4"], "rounds.name": ["synthesis", "rebuttal"]}
    assert press(browser, path, form, "save").status_code == 303
    names = [{"name": "synthesis"}, {"name": "rebuttal"}]
    assert written(served_board, "councils/wrecked/council.json") == {
        "slug": "wrecked",
        "members": [],
        "rounds": names,
        "parallel": 4,
    }


def test_a_persona_is_described_and_read_again(
    browser: httpx2.Client, served_board: Served
) -> None:
    path = "/personas/maria/edit"
    before = written(served_board, "personas/maria/persona.config.json")
    form = form_of(browser.get(path))
    form |= {"tags": ["storms\r\nlodging, paid"], "retrieval.max_chunks": ["0"]}
    form |= {"prose": ["# Maria\r\n\r\nShe has the rules."], "out_of_scope": ["general"]}
    refused = press(browser, path, form, "save")
    assert "at least 1" in problems(refused)["retrieval.max_chunks"]
    assert written(served_board, "personas/maria/persona.config.json") == before
    assert press(browser, path, {**form, "retrieval.max_chunks": ["9"]}, "save").status_code == 303
    after = written(served_board, "personas/maria/persona.config.json")
    assert after["tags"] == ["storms", "lodging, paid"]
    assert after["retrieval"] == {"max_chunks": 9}
    changed = {key: value for key, value in before.items() if after.get(key) != value}
    assert changed.keys() == {"tags", "retrieval", "out_of_scope", "profile"}  # which was empty
    with Library.open(served_board.home) as library:
        assert library.personas.load("maria").prose == "# Maria\n\nShe has the rules."
    job = browser.post("/personas/maria/read", data={"csrf": form["csrf"][0]})
    assert job.headers["location"].startswith("/jobs/")


def test_folders_of_the_machine_are_named_by_who_may_and_nobody_else_changes_anything(
    browser: httpx2.Client, served_board: Served, tmp_path: Path
) -> None:
    headers = {"Accept": "text/html"}
    path = "/councils/storm-board/edit"
    with served_board.client(served_board.key("admin", workspaces=("default",))) as admin:
        form = form_of(admin.get(path, headers=headers))
        for key in ("folders", "members.folders", "tools"):
            text = json.dumps({"corpus": {"folder": str(tmp_path)}}) if key == "tools" else "/etc"
            added = {**form, key: [text, *form[key][1:]]}
            assert press(admin, path, added, "save").status_code == 403
        assert press(admin, path, {**form, "purpose": ["Storms."]}, "save").status_code == 303
    form = form_of(browser.get(path))
    assert form["purpose"] == ["Storms."]
    added = {**form, "folders": [str(tmp_path)]}
    assert press(browser, path, added, "save").status_code == 303
    assert press(browser, path, {**form, "zq": ["1"]}, "save").status_code == 400
    assert press(browser, path, {**form, "members.name": [""]}, "save").status_code == 400
    assert browser.get("/councils/storm/edit").status_code == 404  # the beginning of a name
    assert "It is not JSON" in browser.get("/councils/broken/edit").text
    with served_board.client(served_board.key("write")) as writer:
        for one in (path, "/councils", "/personas", "/personas/maria/read"):
            assert writer.post(one, data={}).status_code == 403
        assert writer.get(path, headers=headers).status_code == 403
