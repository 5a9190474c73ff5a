"""Personas and councils as forms, posted as a browser without scripts does."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.served import Served, serving

from chapterhouse.library import Library

Form = dict[str, list[str]]


@pytest.fixture(scope="module")
def served_board(board_copy: Path) -> Iterator[Served]:
    with serving(board_copy) as found:
        yield found


@pytest.fixture
def browser(served_board: Served) -> Iterator[httpx2.Client]:
    with served_board.browser() as client:
        yield client


def form_of(answer: httpx2.Response) -> Form:
    """Return what a browser would send of the form on a page."""
    found: Form = {}
    for one in LexborHTMLParser(answer.text).css("#definition :is(input, textarea, option)"):
        name, value = one.attributes.get("name"), one.attributes.get("value") or ""
        if one.tag == "option":
            if "selected" not in one.attributes or one.parent is None:
                continue
            name = (one.parent if one.parent.tag == "select" else one).attributes.get("name")
        elif one.tag == "textarea":
            value = one.text().removeprefix("\n")
        if one.attributes.get("type") != "checkbox" or "checked" in one.attributes:
            found.setdefault(name or "", []).append(value)
    return found


def file_of(answer: httpx2.Response) -> str:
    area = LexborHTMLParser(answer.text).css_first("textarea[name=file]")
    assert area is not None
    return area.text().removeprefix("\n")


def problems(answer: httpx2.Response) -> str:
    return " ".join(one.text() for one in LexborHTMLParser(answer.text).css(".reasons li"))


def written(served: Served, path: str) -> Any:
    return json.loads((served.home / path).read_text())


def test_a_council_is_made_of_ticked_members_and_changed(
    browser: httpx2.Client, served_board: Served
) -> None:
    new = {"name": "Pier Board", "template": "decision"}
    assert browser.post("/councils", data={**new, "name": ""}).status_code == 422
    refused = browser.post("/councils", data={**new, "template": "none such"})
    assert (refused.status_code, 'role="alert"' in refused.text) == (404, True)
    made = browser.post("/councils", data={**new, "personas": ["maria", "tom"]})
    path = made.headers["location"].partition("?")[0]
    assert path == "/councils/pier-board/edit"
    before = written(served_board, "councils/pier-board/council.json")
    form = form_of(browser.get(path))
    assert json.loads(form["members.0"][0]) == {"persona": "maria"}
    del form["members.0"]  # as what is not ticked
    form["members.9"] = ['{"council": "storm-board"}']
    saved = browser.post(path, data={**form, "display_name": "Piers"})
    assert saved.status_code == 303
    after = written(served_board, "councils/pier-board/council.json")
    assert after["members"] == [{"persona": "tom"}, {"council": "storm-board"}]
    assert after == {**before, "display_name": "Piers", "members": after["members"]}
    assert list(after)[:3] == ["slug", "display_name", "purpose"]
    form = form_of(browser.get(path))
    assert browser.post(path, data=form).status_code == 303
    assert written(served_board, "councils/pier-board/council.json") == after  # changes nothing
    assert browser.post(path, data={**form, "members.0": "maria"}).status_code == 400


def test_members_rounds_and_the_chair_are_written_in_a_form_and_checked_beside_their_fields(
    browser: httpx2.Client, served_board: Served
) -> None:
    new = {"name": "Fog Board", "personas": ["tom"]}
    path, file = browser.post("/councils", data=new).headers["location"], "councils/fog-board"
    form = form_of(browser.get(path))
    (empty,) = (
        name for name, (value, *_) in form.items() if name[:8] == "members." and value == "{}"
    )
    form |= {
        "members.0.instructions": ["Ask for the\r\nlog book."],
        f"{empty}.name": ["Sceptic"],
        f"{empty}.instructions": ["Doubt it."],
        "rounds.0": ["{}"],
        "rounds.0.name": ["Independent analysis"],
        "rounds.1": ["{}"],
        "rounds.1.name": ["risk review"],
        "rounds.1.instructions": ["Name every risk."],
        "rounds.2": ["{}"],
        "rounds.2.name": ["synthesis"],
        "chair.name": ["Harbour master"],
        "chair.instructions": ["Sum up."],
    }
    assert browser.post(path, data=form).status_code == 303
    raw = written(served_board, f"{file}/council.json")
    assert raw["members"] == [
        {"persona": "tom", "instructions": "Ask for the\nlog book."},
        {"name": "Sceptic", "instructions": "Doubt it."},
    ]
    own = {"name": "risk_review", "instructions": "Name every risk."}
    assert raw["rounds"] == ["independent_analysis", own, "synthesis"]
    assert raw["chair"] == {"name": "Harbour master", "instructions": "Sum up."}
    form = form_of(browser.get(path))
    assert browser.post(path, data=form).status_code == 303
    assert written(served_board, f"{file}/council.json") == raw  # changes nothing
    form |= {"rounds.1.instructions": [""], "chair.name": [""], "chair.instructions": [""]}
    shown = browser.get(browser.post(path, data=form).headers["location"])
    page = LexborHTMLParser(shown.text)
    rounds = [part for part in page.css("fieldset .part") if part.css_first("[name='rounds.1']")]
    assert "There is no round 'risk_review'" in rounds[0].text()
    assert "Nobody presides over the synthesis" in page.css("fieldset")[-1].text()
    assert "Saved, but it cannot be used yet" in shown.text
    before = written(served_board, f"{file}/council.json")
    form["members.0"] = ['{"persona": "tom", "timeout_seconds": "x"}']
    refused = browser.post(path, data={**form, "purpose": "Fog."})
    assert (refused.status_code, "It must be a number" in problems(refused)) == (422, True)
    assert form_of(refused)["purpose"] == ["Fog."]  # stays typed
    assert written(served_board, f"{file}/council.json") == before


def test_everything_else_is_changed_as_the_file(
    browser: httpx2.Client, served_board: Served
) -> None:
    made = browser.post("/councils", data={"name": "Files", "personas": ["tom"]})
    path, kept = made.headers["location"], "councils/files/council.json"
    raw = json.loads(file_of(browser.get(path)))
    raw["members"].append({"name": "Sceptic", "instructions": "Doubt it."})
    sent = {"file": json.dumps(raw, indent=1).replace("\n", "\r\n")}
    assert browser.post(path, data=sent).status_code == 303
    assert written(served_board, kept) == raw
    assert "\r" not in (served_board.home / kept).read_text()
    for text, problem in (
        ('{"slug": "files",', "It is not JSON"),
        (json.dumps({**raw, "parallel": 0}), "at least 1"),
        (json.dumps({**raw, "zq": 1}), "There is no key 'zq'"),
        (json.dumps({**raw, "slug": "other"}), "slug"),
    ):
        refused = browser.post(path, data={"file": text})
        assert (refused.status_code, problem in problems(refused)) == (422, True), text
        assert file_of(refused) == text  # kept for who typed it
    assert written(served_board, kept) == raw
    form = form_of(browser.get(path))
    assert browser.post(path, data=form).status_code == 303  # changes nothing
    assert written(served_board, kept) == raw


def test_a_persona_is_named_given_a_folder_and_read_at_once(
    browser: httpx2.Client, served_board: Served, tmp_path: Path
) -> None:
    (tmp_path / "dues.md").write_text("# Dues\n\nA berth costs 12 euros a night.\n")
    new = {"name": "Vieux Port & Quai"}
    path = browser.post("/personas", data=new).headers["location"]
    assert path == "/personas/vieux-port-quai/edit"
    again = browser.post("/personas", data=new).headers["location"]  # of the same name
    assert again == "/personas/vieux-port-quai-2/edit"
    assert browser.post("/personas", data={**new, "name": "港"}).headers["location"] == (
        "/personas/persona-2/edit"
    )
    described = {**form_of(browser.get(path)), "folders": [str(tmp_path)]}
    saved = browser.get(browser.post(path, data=described).headers["location"])
    assert form_of(saved)["folders"] == [str(tmp_path)]
    assert "Being read" in saved.text
    served_board.work()
    (documents,) = LexborHTMLParser(browser.get(path).text).css("#documents a")
    assert documents.text() == "1 document of their own"
    assert ">Dues</a>" in browser.get(documents.attributes["href"] or "").text
    form = form_of(browser.get(path))
    wrong = browser.post(path, data={**form, "folders": [f"{tmp_path}/nothing"]})
    shown = browser.get(wrong.headers["location"])
    assert "nothing is not there" in problems(shown)
    assert "it cannot be used yet" in shown.text


def test_a_council_of_a_name_has_no_purpose_and_is_no_member_of_itself(
    browser: httpx2.Client, served_board: Served
) -> None:
    made = browser.post("/councils", data={"name": "Quay", "personas": ["tom"]})
    page = LexborHTMLParser(browser.get(made.headers["location"]).text)
    values = [str(one.attributes["value"]) for one in page.css(".tick input")]
    assert '{"council": "storm-board"}' in values
    assert '{"council": "quay"}' not in values
    assert written(served_board, "councils/quay/council.json").get("purpose", "") == ""


def test_what_has_wrong_values_in_its_file_is_put_right_in_it(
    browser: httpx2.Client, served_board: Served
) -> None:
    folder = served_board.home / "councils" / "wrecked"
    folder.mkdir()
    raw = {"slug": "wrecked", "members": "maria", "rounds": [3], "parallel": "many", "zq": 1}
    path = "/councils/wrecked/edit"
    listed = [{"persona": ["maria"], "model": {}}, {"persona": "tom"}]
    for text in (json.dumps(raw), json.dumps({**raw, "members": listed}), '{"slug": '):
        (folder / "council.json").write_text(text)
        shown = browser.get(path)
        assert file_of(shown) == text
        assert ("There is no key 'zq'" if text.endswith("}") else "It is not JSON") in problems(
            shown
        )
    right = {"slug": "wrecked", "members": [{"persona": "maria"}], "rounds": ["synthesis"]}
    assert browser.post(path, data={"file": json.dumps(right)}).status_code == 303
    assert written(served_board, "councils/wrecked/council.json") == right


def test_a_persona_is_described_and_read_again(
    browser: httpx2.Client, served_board: Served
) -> None:
    path = "/personas/maria/edit"
    before = written(served_board, "personas/maria/persona.config.json")
    form = form_of(browser.get(path))
    form |= {"prose": ["# Maria\r\n\r\nShe has the rules."], "tags": ["storms\r\npiers"]}
    assert browser.post(path, data=form).status_code == 303
    after = written(served_board, "personas/maria/persona.config.json")
    assert after == {**before, "tags": ["storms", "piers"]}
    with Library.open(served_board.home) as library:
        assert library.personas.load("maria").prose == "# Maria\n\nShe has the rules."
    job = browser.post("/personas/maria/read")
    assert job.headers["location"].startswith("/jobs/")


def test_folders_of_the_machine_are_named_by_who_may_and_nobody_else_changes_anything(
    browser: httpx2.Client, served_board: Served, tmp_path: Path
) -> None:
    headers = {"Accept": "text/html"}
    path = "/councils/storm-board/edit"
    with served_board.client(served_board.key("admin", workspaces=("default",))) as admin:
        form = form_of(admin.get(path, headers=headers))
        file = json.loads(file_of(admin.get(path, headers=headers)))
        tool = {"corpus": {"folder": str(tmp_path)}}
        member = json.dumps({"persona": "tom", "folders": ["/etc"]})
        for added in (
            {**form, "folders": "/etc"},
            {**form, "members.9": member},
            {"file": json.dumps({**file, "tools": [tool]})},
        ):
            assert admin.post(path, data=added).status_code == 403
        assert admin.post(path, data={**form, "purpose": ["Storms."]}).status_code == 303
    form = form_of(browser.get(path))
    assert form["purpose"] == ["Storms."]
    assert browser.post(path, data={**form, "folders": [str(tmp_path)]}).status_code == 303
    assert browser.post(path, data={**form, "zq": ["1"]}).status_code == 422
    assert browser.get("/councils/storm/edit").status_code == 404  # the beginning of a name
    assert "It is not JSON" in browser.get("/councils/broken/edit").text
    with served_board.client(served_board.key("write")) as writer:
        for one in (path, "/councils", "/personas", "/personas/maria/read"):
            assert writer.post(one, data={}).status_code == 403
        assert writer.get(path, headers=headers).status_code == 403


def test_a_persona_is_removed_once_what_goes_with_them_was_told(
    browser: httpx2.Client, served_board: Served
) -> None:
    folder = served_board.home / "personas" / "gone"
    made = browser.post("/personas", data={"name": "Gone"}).headers["location"]
    assert made == "/personas/gone/edit"
    (folder / "RAG" / "tides.md").write_text("# Tides\n\nThe tide turns at six.\n")
    (folder / "RAG" / "torn.pdf").write_bytes(b"%PDF-1.4 torn")
    browser.post("/councils", data={"name": "Left", "personas": ["gone", "tom"]})
    with Library.open(served_board.home) as library:
        assert library.answers.ask("When does the tide turn?", persona="gone", remember=True)
        assert library.documents.counts()["shelf"]["gone"] == 1
    assert "torn.pdf" in browser.get("/documents?status=rejected").text
    told = browser.post("/personas/gone/remove").text
    assert "Remove Gone?" in told
    for sentence in ("It sits in left", "nobody else reads them: 1", "that are forgotten: 1"):
        assert sentence in told
    assert folder.is_dir()
    with served_board.client(served_board.key("write")) as writer:
        assert writer.post("/personas/gone/remove", data={}).status_code == 403
        assert writer.delete("/api/personas/gone").status_code == 403
    with served_board.client(served_board.key("admin")) as admin:
        would = admin.delete("/api/personas/gone", params={"dry_run": True}).json()
        assert (would["councils"], would["documents"], would["memories"]) == (["left"], 1, 1)
    done = browser.post("/personas/gone/remove", data={"confirmed": "yes"})
    assert done.headers["location"] == "/councils"
    assert (folder.parent / "_gone" / "RAG" / "tides.md").is_file()
    with Library.open(served_board.home) as library:
        assert "gone" not in library.personas.names()
        assert "gone" not in library.documents.counts()["shelf"]
        assert "gone" not in library.memory.personas()
        assert "gone" not in [one.name for one in library.sources.list()]
    assert browser.get(made).status_code == 404
    assert "torn.pdf" not in browser.get("/documents").text
    with served_board.client(served_board.key("admin")) as admin:
        removed = admin.delete("/api/councils/left").json()
        assert (removed["slug"], removed["dry_run"]) == ("left", False)
        assert admin.delete("/api/councils/left").status_code == 404


def test_who_reads_which_shelves_is_ticked(browser: httpx2.Client, served_board: Served) -> None:
    with Library.open(served_board.home) as library:
        library.documents.add_text("Fog at six.", title="Fog", shelf="weather")
    made = browser.post("/personas", data={"name": "Keeper"})
    path = made.headers["location"].partition("?")[0]
    page = browser.get(path)
    assert " weather " in page.text
    form = form_of(page)
    assert browser.post(path, data={**form, "shelves.1": "weather"}).status_code == 303
    assert written(served_board, "personas/keeper/persona.config.json")["shelves"] == ["weather"]
    form = form_of(browser.get(path))
    assert ["weather"] in form.values()
    assert browser.post(path, data={**form, "shelves.99": "none"}).status_code == 303
    assert "There is no shelf &#39;none&#39;" in browser.get(path).text
    bare = {name: value for name, value in form.items() if value != ["weather"]}
    assert browser.post(path, data=bare).status_code == 303
    assert not written(served_board, "personas/keeper/persona.config.json").get("shelves")
    made = browser.post("/councils", data={"name": "Watch", "personas": ["maria"]})
    path = made.headers["location"].partition("?")[0]
    form = form_of(browser.get(path))
    assert browser.post(path, data={**form, "members.0.shelves.1": "weather"}).status_code == 303
    members = written(served_board, "councils/watch/council.json")["members"]
    assert members == [{"persona": "maria", "shelves": ["weather"]}]
    form = form_of(browser.get(path))
    assert browser.post(path, data=form).status_code == 303
    assert written(served_board, "councils/watch/council.json")["members"] == members
