"""Settings, people and the lab over HTTP, without a script."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.models import model_servers
from tests.models.chat_server import chat_server
from tests.served import PASSWORD, Served, serving

from chapterhouse.library import Library
from chapterhouse.types import QuestionOutcome, QuestionRecord

HTML = {"Accept": "text/html"}
DAY = 86_400


@pytest.fixture
def yard(tmp_path: Path) -> Path:
    """A library with a shelf of its own, and a file that states two settings."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "chapterhouse.toml").write_text("[search]\nlimit = 4\n[reading]\nworkers = 1\n")
    with Library.open(home) as library:
        for number in range(6):
            text = f"# Dock {number}\n\nDock {number} takes {number + 2} boats, each for a day.\n"
            library.documents.add_bytes(text.encode(), f"dock-{number}.md")
        library.documents.add_bytes(
            b"# Cranes\n\nA crane lifts 12 tonnes.\n", "c.md", shelf="cranes"
        )
    return home


@pytest.fixture
def room(yard: Path) -> Iterator[Served]:
    with serving(yard) as found:
        yield found


def client(served: Served, level: str = "admin", **limits: object) -> httpx2.Client:
    found = served.client(served.key(level, **limits))
    found.headers.update(HTML)
    return found


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def row(html: str, name: str) -> str:
    """What is shown of a setting."""
    found = [one for one in html.split('<div class="setting">') if f'name="{name}"' in one]
    return found[0].partition("</form>")[0]


def test_settings_are_changed_together_and_reset_in_their_place(room: Served) -> None:
    with client(room) as browser:
        first = browser.get("/settings").text
        before = row(first, "search.limit")
        assert 'value="4"' in before
        assert "set by the home file; default 10" in text_of(before)
        assert "Reset" not in before
        assert "tokens" in row(first, "packing.maximum")  # what is counted
        assert "default" not in text_of(row(first, "answer.words"))  # it is what it is by default
        assert re.search(
            r"reading.workers 1 set by the home file; default 2 Change it in "
            r"chapterhouse.toml, \[reading\]",
            text_of(first),
        )
        typed = {"search.limit": "0", "search.recency": "0.5"}
        wrong = browser.post("/settings/values", data=typed)
        assert (wrong.status_code, 'role="alert"' in wrong.text) == (400, True)
        assert "search.limit" in text_of(wrong.text)
        assert 'value="0.5"' in row(wrong.text, "search.recency")  # kept for who typed it
        assert 'value="0"' in row(browser.get("/settings").text, "search.recency")
        for name, value, shown in (
            ("search.limit", "7", 'value="7"'),
            ("expansion.names", "false", 'name="expansion.names" value="true">'),  # not ticked
            ("expansion.names", ["false", "true"], 'value="true" checked>'),
            ("packing.budgets", '{"chat": 900}', "{&#34;chat&#34;: 900}"),
            ("expansion.rewrite", "never", '<option value="never" selected>'),
            ("memory.recall", "", 'value=""'),
        ):
            sent = browser.post("/settings/values", data={name: value})
            assert (sent.status_code, sent.headers["location"]) == (303, f"/settings#{name}"), name
            assert shown in row(browser.get("/settings").text, name), name
        browser.post("/settings/values", data={"search.limit": "7", "search.recency": "0.25"})
        now = browser.get("/settings").text
        assert "set by the database" in row(now, "search.limit")
        assert "set by the database" in row(now, "search.recency")
        assert "set by" not in row(now, "memory.recall")  # it was so before
        browser.post("/settings/values", data={"reset": "search.limit"})
        assert 'value="4"' in row(browser.get("/settings").text, "search.limit")
        assert browser.post("/settings/values", data={"cloud.rclone": "x"}).status_code == 409


def test_a_key_is_made_shown_once_and_revoked(room: Served) -> None:
    with client(room) as browser:
        form = {"label": "<b>gate</b>", "level": "write", "shelves": "cranes, gates", "days": "3"}
        made = browser.post("/settings/keys", data=form)
        (secret,) = re.findall(r"ch_[0-9a-f]{8}_[\w-]{43}", made.text)
        assert made.headers["cache-control"] == "no-store"
        listed = browser.get("/settings/keys").text
        assert secret not in listed
        assert "&lt;b&gt;gate&lt;/b&gt;" in listed
        assert "write in all workspaces; shelves: cranes, gates" in text_of(listed)
        with room.client(secret) as program:
            assert program.get("/api/documents").status_code == 200
            revoked = browser.post(f"/settings/keys/{secret[:11]}/revoke")
            assert revoked.headers["location"] == "/settings/keys"
            assert program.get("/api/documents").status_code == 401
        assert "revoked" in browser.get("/settings/keys").text
        assert (
            browser.post("/settings/keys", data={"label": "x", "expires": "5"}).status_code == 422
        )


def test_people_come_and_go_and_see_what_they_may(room: Served) -> None:
    with client(room) as browser:
        form = {
            "name": "ada",
            "password": "too-small",
            "shelves": "cranes",
            "workspaces": "default",
        }
        refused = browser.post("/settings/people", data=form)
        assert (refused.status_code, "12 characters" in refused.text) == (400, True)
        assert "too-small" not in refused.text
        added = browser.post("/settings/people", data={**form, "password": PASSWORD})
        assert added.headers["location"] == "/settings/people"
        listed = text_of(browser.get("/settings/people").text)
        assert "ada read in default; shelves: cranes" in listed
        with room.client() as page:
            page.headers.update(HTML)
            page.post("/login", data={"name": "ada", "password": PASSWORD})
            you = text_of(page.get("/settings").text)
            assert "You are user ada, and may read in default; shelves: cranes." in you
            assert "Models" not in you
            for path in ("", "/keys", "/people", "/audit", "/health", "/models", "/workspaces"):
                expected = 403 if path else 200
                assert page.get(f"/settings{path}").status_code == expected, path
            for path in ("/history/unanswered", "/lab"):
                assert page.get(path).status_code == 403
            browser.post("/settings/people/ada/disable")
            assert page.get("/settings").headers["location"].startswith("/login")
        assert "disabled" in browser.get("/settings/people").text
        browser.post("/settings/people/ada/enable")
        other = {"password": "other words than these"}
        assert browser.post("/settings/people/ada/password", data=other).status_code == 303
        assert room.access.log_in("ada", other["password"])
        assert browser.post("/settings/people/ada/remove").status_code == 303
        assert browser.post("/settings/people/ada/remove").status_code == 404
    assert not room.access.has_users()


def test_an_admin_of_one_workspace_gives_no_more_and_does_not_see_the_machine(
    room: Served,
) -> None:
    with client(room, workspaces=("default",)) as browser:
        wide = browser.post("/settings/keys", data={"label": "x"})
        assert (wide.status_code, "more than" in wide.text) == (403, True)
        assert "New workspace" not in browser.get("/settings/workspaces").text
        assert "Check now" not in browser.get("/settings/health").text
        for path in ("/settings/workspaces", "/settings/health"):
            assert browser.post(path, data={"name": "x"}).status_code == 403
    with client(room) as browser:
        assert browser.post("/settings/workspaces", data={"name": "no good"}).status_code == 400
        assert browser.post("/settings/workspaces", data={"name": "quay"}).status_code == 303
        assert "quay" in browser.get("/settings/workspaces").text
        checked = text_of(browser.post("/settings/health").text)
        assert "documents ok · 7 documents, 7 chunks" in checked
        assert str(room.home) not in checked
        page = browser.get("/settings/audit").text
        assert "workspace.create" in page
        assert str(room.home) not in page


def test_models_are_called_and_what_goes_wrong_is_said(room: Served, yard: Path) -> None:
    pages = model_servers.vllm("tiny")
    with client(room) as browser, chat_server(model_servers.good, pages=pages) as server:
        made = text_of(browser.post("/settings/models", data={"engine": "embedding"}).text)
        assert re.search(r"It works. It made a vector of \d+ numbers. It took \d+.\d seconds", made)
        order = browser.post("/settings/models", data={"engine": "rerank"}).text
        assert "It works. Passages are put in order without a model." in text_of(order)
        none = text_of(browser.post("/settings/models", data={"engine": "language_model"}).text)
        assert "It does not work. No language model is chosen." in none
        stated = (yard / "chapterhouse.toml").read_text()
        chosen = f'[language_model]\nengine = "openai"\nmodel = "tiny"\nbase_url = "{server.url}"\n'
        (yard / "chapterhouse.toml").write_text(stated + chosen)
        tried = text_of(browser.post("/settings/models", data={"engine": "language_model"}).text)
        assert "It works. It answered and cited the right line. It took" in tried


def test_what_found_no_answer_is_counted_and_listed(room: Served, yard: Path) -> None:
    with Library.open(yard) as library:
        runtime = library._runtime
        now, store = runtime.now(), runtime.store.questions()
        for days, outcome in ((0, "answer"), (0, "not-found"), (2, "not-found"), (40, "passages")):
            text = "Who paints the buoys?" if outcome == "not-found" else ""
            asked = QuestionRecord(now - days * DAY, QuestionOutcome(outcome), "api", text=text)
            store.record(asked, 0)
        by_day = library.analytics.report(30).by_day
        assert [(one.questions, one.answered) for one in by_day.values()] == [(1, 0), (2, 1)]
    with client(room, "read") as browser:
        month = browser.get("/history/unanswered").text
        assert "3 questions" in text_of(month)
        assert "1 answered" in text_of(month)
        assert "Who paints the buoys?" in month
        assert "4 questions" in text_of(browser.get("/history/unanswered?days=0").text)


def test_a_question_is_compared_saved_and_evaluated(room: Served) -> None:
    question = "How many boats does dock 3 take?"
    varied = {"question": question, "b": ["search.limit=5", 'rerank.engine="none"', ""]}
    with client(room, "write") as browser:
        same = text_of(browser.get("/lab", params={"question": question}).text)
        assert "4 passages on both sides, 0 of them in another place." in same
        other = browser.get("/lab", params=varied).text
        columns = other.split('id="side-')[1:]
        assert [one.count("<li value=") for one in columns if "<ol" in one] == [4, 5]
        assert "only here" in other
        stages = [set(re.findall(r"<dt>(\S+)</dt>", one)) for one in columns if "<ol" in one]
        assert stages[0] - stages[1]  # what the reranker gave
        for wrong in ("search.limit=6", "cloud.rclone=x", "search.limit"):
            answer = browser.get("/lab", params={"question": question, "a": wrong})
            assert "is not varied here" in answer.text
        assert "Ask them and measure" not in other
        form = {"question": question, "required": ["dock-3.md"]}
        for wrong_form in ({"question": question}, {**form, "unanswerable": "true"}):
            assert browser.post("/lab/questions", data=wrong_form).status_code == 400
        assert browser.post("/lab/questions", data=form).headers["location"].endswith("saved=true")
        nothing = {"question": "Who paints the buoys at night?", "unanswerable": "true"}
        browser.post("/lab/questions", data=nothing)
        assert "2 questions with known answers" in text_of(browser.get("/lab").text)
        measured = browser.post("/lab/evaluation").text
        assert "2 questions, asked of 7 documents" in text_of(measured)
        assert "nDCG@10 1.000" in text_of(measured)
        assert "refusal" in measured
        assert measured.count('<svg class="bar"') > 5
        assert browser.get("/api/feedback").json()["questions"][0]["required"] == ["dock-3.md"]
    with client(room, "write", shelves=("cranes",)) as limited:
        assert limited.get("/lab").status_code == 403
        assert limited.post("/lab/evaluation").status_code == 403
