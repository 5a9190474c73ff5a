"""What people do on the page, in a real browser."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import LOOKS, Opener, picture
from tests.served import QUESTION, Served, make_board, serving

from chapterhouse.interfaces.api.routing import COOKIE
from chapterhouse.library import Library
from chapterhouse.library.access import owner_session

AXE: Final = resources.files("axe_playwright_python").joinpath("axe.min.js")


PAGES: Final = (
    "/", "/documents", "/history", "/councils", "/councils/storm-board/edit", "/lab", "/sources",
    "/settings", "/settings/models", "/settings/people", "/settings/keys",
)  # fmt: skip


def enter(page: Page, site: Served) -> None:
    """Sign in as the owner."""
    page.context.add_cookies(
        [{"name": COOKIE, "value": owner_session(site.owner_key), "url": site.url}]
    )
    page.goto(site.url)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, example_folder: Path) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("page") / "home"
    make_board(home)
    with Library.open(home) as library:
        library.documents.add(example_folder)
    with serving(home) as served:
        yield served


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Served]:
    with Library.open(tmp_path / "home"):
        pass
    with serving(tmp_path / "home") as served:
        yield served


@pytest.mark.parametrize("look", LOOKS)
def test_a_question_is_answered_and_its_source_opens_at_the_sentence(
    site: Served, opened: Opener, look: str
) -> None:
    with opened(site.url, look) as page:
        enter(page, site)
        page.get_by_label("Question").fill("When were the life rafts serviced?")
        page.keyboard.press("Enter")
        number = page.locator(".answer .cited a").first
        number.wait_for()
        picture(page, f"answer-{look}")
        number.click()
        _wait_for_source(page)
        picture(page, f"source-{look}")
        expect(page.locator("#pane")).to_contain_text("Annual Safety Report")
        expect(page.locator(".answer [aria-current]")).to_contain_text("Annual Safety Report")
        page.keyboard.press("Escape")
        expect(page.locator("#pane")).to_be_empty()
        expect(page.locator(".answer [aria-current]")).to_have_count(0)
        assert page.evaluate("document.activeElement.matches('.cited a')")
        page.get_by_label("Question").fill("And how many are there?")
        page.keyboard.press("Enter")
        expect(page.locator(".turn")).to_have_count(2)
        expect(page.locator(".turn").last.locator(".answer")).to_contain_text("14")


def _wait_for_source(page: Page) -> None:
    """Wait until a source is open at its passage, with the image of its page."""
    passage = page.locator("#pane :is(mark, .rectangle)").first
    passage.wait_for()
    for image in page.locator("#pane img").all():
        expect(image).not_to_have_js_property("naturalWidth", 0, timeout=30_000)
    expect(passage).to_be_in_viewport()


def test_on_a_telephone_a_sentence_stays_above_its_source_which_a_pull_closes(
    site: Served, opened: Opener
) -> None:
    with opened(site.url, "phone") as page:
        enter(page, site)
        for question in ("How many ferries are there?", "When were the life rafts serviced?"):
            page.get_by_label("Question").fill(question)
            page.keyboard.press("Enter")
            page.locator(".turn").last.locator(".actions").wait_for()
        sentence = page.locator(".turn").last.locator("figure").first
        for place in ("end", "start"):  # wherever it was read
            sentence.evaluate(f"one => one.scrollIntoView({{block: '{place}'}})")
            sentence.locator(".cited a").first.click()
            _wait_for_source(page)
            quoted, pane = sentence.bounding_box(), page.locator("#pane").bounding_box()
            assert quoted
            assert pane
            assert quoted["y"] >= 0
            assert quoted["y"] + quoted["height"] <= pane["y"]
            assert pane["height"] <= page.viewport_size["height"] / 2
            for far in (20, 120):
                expect(page.locator("#pane .pane-head")).to_be_visible()
                page.mouse.move(pane["x"] + pane["width"] / 2, pane["y"] + 8)
                page.mouse.down()
                page.mouse.move(pane["x"] + pane["width"] / 2, pane["y"] + 8 + far, steps=4)
                page.mouse.up()
            expect(page.locator("#pane")).to_be_empty()


def test_what_was_asked_comes_back_until_a_new_conversation_begins(
    site: Served, opened: Opener
) -> None:
    with opened(site.url) as page:
        enter(page, site)
        page.get_by_label("Question").fill("When were the life rafts serviced?")
        page.keyboard.press("Enter")
        page.locator(".answer .cited a").first.click()
        page.locator("#pane :is(mark, .rectangle)").first.wait_for()
        page.go_back()  # closes the source, and leaves the answer
        expect(page.locator("#pane")).to_be_empty()
        page.locator(".answer .cited a").first.click()
        page.get_by_role("link", name="Open the document").click()
        page.locator("article.document").wait_for()
        page.go_back()
        expect(page.locator(".turn h2")).to_have_text("When were the life rafts serviced?")
        page.reload()
        expect(page.locator(".turn h2")).to_have_text("When were the life rafts serviced?")
        page.get_by_role("link", name="Library").click()
        page.get_by_role("link", name="Ask", exact=True).click()  # the old one is in the history
        expect(page.locator(".turn")).to_have_count(0)
        page.get_by_label("Question").fill("   ")
        page.keyboard.press("Enter")
        expect(page.locator(".turn")).to_have_count(0)


def test_who_is_asked_by_their_link_is_asked_anew_and_from_then_on(
    site: Served, opened: Opener
) -> None:
    with opened(site.url) as page:
        enter(page, site)
        page.get_by_label("Question").fill("When were the life rafts serviced?")
        page.keyboard.press("Enter")
        page.locator(".answer .cited a").first.click()
        page.locator("#pane :is(mark, .rectangle)").first.wait_for()
        page.goto(f"{site.url}/councils")
        page.get_by_role("link", name="Ask Maria").click()
        expect(page.locator(".turn")).to_have_count(0)
        page.get_by_label("Question").fill(QUESTION)
        page.keyboard.press("Enter")
        page.locator(".answer .cited a").first.click()
        page.locator("#pane mark").first.wait_for()
        page.get_by_label("Question").fill("And a day?")
        page.keyboard.press("Enter")
        expect(page.locator("#pane")).to_be_empty()  # it was of the question before
        expect(page.locator(".turn")).to_have_count(2)
        page.locator(".turn").last.locator(".outcome:not([data-progress])").wait_for()
        page.get_by_role("link", name="New conversation").click()
        expect(page.locator(".turn")).to_have_count(0)
        expect(page.get_by_label("Who is asked")).to_have_value("persona/maria")


def test_an_answer_is_saved_in_three_formats(site: Served, opened: Opener) -> None:
    with opened(site.url) as page:
        enter(page, site)
        page.get_by_label("Question").fill("When were the life rafts serviced?")
        page.keyboard.press("Enter")
        page.locator(".answer .cited a").first.wait_for()
        for button, ending in (("Markdown", "md"), ("web page", "html"), ("file to check", "json")):
            with page.expect_download() as download:
                page.get_by_role("button", name=button, exact=True).click()
            text = Path(download.value.path()).read_text()
            assert download.value.suggested_filename.endswith(ending)
            assert "life rafts were serviced" in text


def test_by_keyboard_alone_a_question_is_asked_and_its_source_read(
    site: Served, opened: Opener
) -> None:
    with opened(site.url) as page:
        enter(page, site)
        page.keyboard.press("Escape")
        page.locator("h1").click()
        page.keyboard.press("/")
        page.keyboard.type("When were the life rafts serviced?")
        page.keyboard.press("Enter")
        page.locator(".answer .cited a").first.wait_for()
        for _ in range(30):
            page.keyboard.press("Shift+Tab")
            if page.evaluate("document.activeElement.matches('.answer .cited a')"):
                break
        page.keyboard.press("Enter")
        page.locator("#pane :is(mark, .rectangle)").first.wait_for()
        assert page.evaluate("document.activeElement.id") == "pane"


def test_a_stream_moves_nothing_that_is_read(site: Served, opened: Opener) -> None:
    """Where the reader is, the text stays, while the answer grows below."""
    with opened(site.url) as page:
        enter(page, site)
        for question in ("When were the life rafts serviced?", "How many ferries are there?"):
            page.get_by_label("Question").fill(question)
            page.keyboard.press("Enter")
            page.locator(".turn").last.locator(".actions").wait_for()
        page.evaluate("window.scrollTo(0, 0)")
        first, who = page.locator(".turn h2").first, page.get_by_label("Who is asked")
        before, width = first.bounding_box(), who.evaluate("one => one.clientWidth")
        page.evaluate(
            """() => {
              const turn = document.getElementById("asked").content.firstElementChild;
              const added = turn.cloneNode(true);
              document.getElementById("turns").append(added);
              const answer = added.querySelector(".answer");
              for (let n = 0; n < 200; n++) answer.innerHTML += `<p>sentence ${n}</p>`;
            }"""
        )
        assert first.bounding_box() == before
        page.mouse.wheel(0, 10)
        expect(page.locator("[data-to-end]")).to_be_visible()
        assert who.evaluate("one => one.clientWidth") == width


def test_without_a_script_it_asks_reads_lists_receives_and_removes(
    empty: Served, opened: Opener, tmp_path: Path
) -> None:
    (tmp_path / "ferry.md").write_text("# Ferry\n\nThe ferry leaves the harbour at nine.\n")
    with opened(empty.url, java_script_enabled=False) as page:
        page.get_by_text("You run this server?").click()
        page.get_by_label("The owner's key").fill(empty.owner_key)
        page.get_by_role("button", name="Sign in with the key").click()
        page.locator("input[type=file]").first.set_input_files(tmp_path / "ferry.md")
        page.get_by_role("button", name="Read them").click()
        empty.work()
        page.goto(empty.url)
        page.get_by_label("Question").fill("When does the ferry leave?")
        page.get_by_role("button", name="Ask", exact=True).click()
        expect(page.locator(".answer")).to_contain_text("at nine")
        page.locator(".answer .cited a").first.click()
        expect(page.locator("mark")).to_have_text("The ferry leaves the harbour at nine.")
        page.get_by_role("link", name="Library").click()
        expect(page.locator("main")).to_contain_text("Ferry")
        page.get_by_role("link", name="Ferry").first.click()
        page.get_by_role("button", name="Remove …").click()
        page.get_by_role("button", name="Remove for good").click()
        page.goto(f"{empty.url}/documents")
        expect(page.locator("main")).not_to_contain_text("ferry.md")


def test_twelve_files_are_dropped_and_the_first_question_is_suggested(
    empty: Served, opened: Opener, example_folder: Path
) -> None:
    files = [one for one in sorted(example_folder.rglob("*")) if one.is_file()][:12]
    with opened(empty.url) as page, _working(empty):
        enter(page, empty)
        expect(page.get_by_role("heading", level=1)).to_have_text("What shall it read?")
        picture(page, "first-start")
        page.locator("input[type=file]").first.set_input_files(files)
        expect(page.locator("[data-count]")).to_contain_text("12 of 12 read", timeout=90_000)
        page.get_by_role("link", name="Ask a question").click()
        page.locator(".suggested a").first.click()
        page.locator(".turn .outcome:not([data-progress])").wait_for()
        expect(page.locator(".turn h2")).to_have_count(1)


def test_a_stop_of_files_that_are_sent_is_seen_at_once(
    empty: Served, opened: Opener, example_folder: Path
) -> None:
    files = [one for one in sorted(example_folder.rglob("*")) if one.is_file()][:9]
    with opened(empty.url) as page:
        enter(page, empty)
        page.route("**/documents/upload", lambda _: None)  # a network that takes its time
        page.locator("input[type=file]").first.set_input_files(files)
        page.get_by_role("button", name="Stop").click()
        expect(page.locator("[data-count]")).to_contain_text("9 stopped", timeout=500)


def test_minutes_on_a_telephone_are_as_wide_as_it(site: Served, opened: Opener) -> None:
    with opened(site.url, "phone") as page:
        enter(page, site)
        page.get_by_label("Who is asked").select_option("council/storm-board")
        page.get_by_label("Question").fill(QUESTION)
        page.get_by_role("button", name="Ask").click()
        page.locator("td .cited a").first.wait_for(timeout=60_000)
        _require_narrow_tables(page)
        leave = page.get_by_role("button", name="Sign out")
        assert leave.evaluate("one => one.getBoundingClientRect().right <= window.innerWidth")
        page.get_by_role("link", name="In the history").click()
        page.get_by_role("link", name=QUESTION).first.click()
        expect(page.locator("p.quiet").first).to_contain_text("As it was")
        page.locator("td .cited a").first.click()
        _wait_for_source(page)


def test_a_council_of_many_documents_is_made_asked_and_read_without_moving_sideways(
    empty: Served, opened: Opener, tmp_path: Path
) -> None:
    files = [tmp_path / "piers" / f"pier-{number}.md" for number in range(5)]
    files[0].parent.mkdir()
    for number, file in enumerate(files):
        file.write_text(f"# Pier {number}\n\nPier {number} is closed for {number + 2} weeks.\n")
    with Library.open(empty.home) as library:
        library.documents.add_text("The harbour is open.", title="Harbour")
    with opened(empty.url) as page:
        enter(page, empty)
        page.goto(f"{empty.url}/documents")
        page.get_by_text("Add documents").click()
        with _working(empty):
            page.locator("input[webkitdirectory]").set_input_files(tmp_path / "piers")
            expect(page.locator("[data-count]")).to_contain_text("5 of 5 read", timeout=90_000)
            expect(page.locator(".rows li")).to_have_count(6)  # as soon as they are read
        page.reload()
        page.get_by_role("link", name="piers").click()
        expect(page.locator(".rows li")).to_have_count(5)
        page.get_by_label("Choose Pier 0").check()
        page.get_by_role("button", name="Choose all shown").click()
        page.get_by_role("button", name="Council of these").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Ask 5 documents")
        page.get_by_label("Question").fill("How long is the pier closed?")
        page.keyboard.press("Enter")
        page.locator("td .cited a").first.wait_for(timeout=60_000)
        _require_narrow_tables(page)
        picture(page, "council-of-documents")
        page.locator("td .cited a").first.click()
        expect(page.locator("#pane mark").first).to_contain_text("is closed for")
        page.goto(f"{empty.url}/documents")
        expect(page.locator(".rows li")).to_have_count(6)


def _require_narrow_tables(page: Page) -> None:
    for folded in page.locator(".minutes details.aside > summary").all():
        folded.click()
    for table in page.locator(".minutes .wide").all():
        assert table.evaluate("one => one.scrollWidth <= one.clientWidth")
    for folded in page.locator(".minutes details.aside > summary").all():
        folded.click()


def test_a_council_speaks_side_by_side_and_its_cells_open_their_sentences(
    site: Served, opened: Opener
) -> None:
    with opened(site.url) as page:
        enter(page, site)
        page.get_by_label("Who is asked").select_option("council/storm-board")
        page.get_by_label("Question").fill(QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_url("**/meetings/*")
        cell = page.locator("td .cited a").first
        cell.wait_for(timeout=60_000)
        picture(page, "council")
        cell.click()
        expect(page.locator("#pane mark").first).to_contain_text("Stranded passengers")


def test_roles_are_added_to_a_council_in_its_form(empty: Served, opened: Opener) -> None:
    make_board(empty.home)
    with opened(empty.url) as page:
        enter(page, empty)
        page.goto(f"{empty.url}/councils/storm-board/edit")
        for name in ("Sceptic", "Optimist"):  # an empty row follows the one that is written in
            page.get_by_placeholder("Someone else").last.fill(name)
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("Saved, but it cannot be used yet")
        said = page.locator(".part", has=page.get_by_label("Sceptic", exact=True))
        expect(said).to_contain_text("Nothing says what 'Sceptic' is to do")
        page.get_by_label("Optimist", exact=True).uncheck()
        said.get_by_placeholder("What they are to do").fill("Doubt it.")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("status")).to_have_text("Saved.")
        expect(page.get_by_label("Optimist", exact=True)).to_have_count(0)


def test_a_document_is_found_opened_and_removed(empty: Served, opened: Opener) -> None:
    with Library.open(empty.home) as library:
        for number in range(3):
            library.documents.add_text(f"Pier {number} is closed.", title=f"Pier {number}")
    with opened(empty.url) as page:
        enter(page, empty)
        page.goto(f"{empty.url}/documents")
        page.get_by_placeholder("Title, name or author").fill("pier 1")
        expect(page.locator(".rows li")).to_have_count(1)
        page.get_by_role("link", name="Pier 1").click()
        expect(page.locator("article")).to_contain_text("Pier 1 is closed.")
        page.get_by_role("link", name="Chunks").click()
        expect(page.locator(".chunks li")).to_have_count(1)
        page.get_by_role("button", name="Remove …").click()
        page.get_by_role("button", name="Remove for good").click()
        page.goto(f"{empty.url}/documents")
        expect(page.locator(".rows li")).to_have_count(2)


def test_documents_stay_chosen_while_others_are_looked_for(empty: Served, opened: Opener) -> None:
    with Library.open(empty.home) as library:
        for number in range(3):
            library.documents.add_text(f"Pier {number} is closed.", title=f"Pier {number}")
    with opened(empty.url) as page:
        enter(page, empty)
        page.goto(f"{empty.url}/documents")
        page.get_by_label("Choose Pier 0").check()
        for words in ("pier 1", "nothing like it", "pier 2"):
            page.get_by_placeholder("Title, name or author").fill(words)
            name = words.title() if words != "nothing like it" else "Pier 0"
            expect(page.get_by_label(f"Choose {name}")).to_be_visible()
            expect(page.locator(".rows input")).to_have_count(1 + (name != "Pier 0"))
        page.get_by_label("Choose Pier 2").check()
        page.get_by_placeholder("Title, name or author").fill("")
        expect(page.locator(".rows input")).to_have_count(3)  # each once
        expect(page.locator(".rows :checked")).to_have_count(2)
        page.get_by_label("Choose Pier 0").uncheck()
        page.get_by_role("button", name="Remove …").click()
        expect(page.locator("main li")).to_have_text(re.compile("Pier 2"))


def test_a_key_is_made_shown_once_and_revoked(site: Served, opened: Opener) -> None:
    with opened(site.url) as page:
        enter(page, site)
        page.goto(f"{site.url}/settings/keys")
        page.get_by_label("What it is for").fill("the intranet")
        page.get_by_role("button", name="Create").click()
        secret = page.locator("#secret").inner_text()
        with site.client(secret) as client:
            assert client.get("/api/me").status_code == 200
            page.goto(f"{site.url}/settings/keys")
            expect(page.locator("main")).not_to_contain_text(secret)
            page.once("dialog", lambda dialog: dialog.accept())
            page.get_by_role("button", name="Revoke").first.click()
            expect(page.locator("main")).to_contain_text("revoked")
            assert client.get("/api/me").status_code == 401


@contextmanager
def _working(site: Served) -> Iterator[None]:
    """Do the jobs of a server meanwhile, as its workers do."""
    stop = threading.Event()

    def work() -> None:
        while not stop.wait(0.1):
            site.work()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        stop.set()
        worker.join(60)


@pytest.mark.parametrize("look", LOOKS)
def test_no_page_has_a_serious_fault_of_access(site: Served, opened: Opener, look: str) -> None:
    script = AXE.read_text()
    with opened(site.url, look) as page:
        assert _faults(page, script) == []
        enter(page, site)
        for path in PAGES:
            page.goto(site.url + path)
            picture(page, f"{path.strip('/').replace('/', '-') or 'ask'}-{look}")
            assert _faults(page, script) == [], path
            width = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert width <= 0, f"{path} moves sideways"


def _faults(page: Page, script: str) -> list[Any]:
    page.evaluate(script)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [one for one in found["violations"] if one["impact"] in {"serious", "critical"}]
    return [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in serious]


def test_what_is_loaded_first_is_small(site: Served, opened: Opener) -> None:
    sizes: dict[str, int] = {}
    with opened(site.url) as page:
        page.on(
            "response",
            lambda answer: sizes.update(
                {answer.url: int(answer.headers.get("content-length", "0"))}
            ),
        )
        enter(page, site)
        page.wait_for_load_state("load")
        assert len(sizes) >= 6
        assert sum(sizes.values()) <= 60_000, sizes
        assert not [url for url in sizes if not re.match(re.escape(site.url), url)]
