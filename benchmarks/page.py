"""The page in a browser: what is loaded first, how soon it can be used, ten thousand documents.

    CHAPTERHOUSE_BROWSER=/usr/bin/chromium python benchmarks/page.py

The page is opened beside a bare one of the same server, in turns, in a browser without a cache. Of
a list of ten thousand documents the browser says itself which tasks took over 50 milliseconds.
Takes about two minutes on two cores.
"""

import os
import shutil
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import BrowserContext, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.served import Served, serving

from chapterhouse.interfaces.api.routing import COOKIE
from chapterhouse.library import Library
from chapterhouse.library.access import owner_session
from measuring import Bar, Machine, Table, finish, percentile

OPENINGS = 15
DOCUMENTS = 10_000
_WATCH = """
window.tasks = [];
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) window.tasks.push(one.duration);
}).observe({ type: "longtask", buffered: true });
"""
_USABLE = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"


def first_load(context: BrowserContext, url: str) -> dict[str, int]:
    """Return the bytes of each answer when the page is opened for the first time."""
    sizes: dict[str, int] = {}
    page = context.new_page()
    page.on("response", lambda one: sizes.update({one.url.rpartition("/")[2]: _sent(one.headers)}))
    page.goto(url, wait_until="load")
    page.close()
    return sizes


def _sent(headers: dict[str, str]) -> int:
    return int(headers.get("content-length", "0"))


def opened(context: BrowserContext, url: str) -> float:
    """Return after how many milliseconds a page can be used."""
    page = context.new_page()
    page.goto(url, wait_until="load")
    found = float(page.evaluate(_USABLE))
    page.close()
    return found


def listed(page: Page, url: str) -> dict[str, tuple[float, list[float]]]:
    """Return for each thing done with the list: seconds until it is shown, and long tasks."""
    found: dict[str, tuple[float, list[float]]] = {}

    def measure(what: str, began: float) -> None:
        seconds = time.perf_counter() - began
        page.wait_for_timeout(500)
        found[what] = (seconds, page.evaluate("window.tasks.splice(0)"))

    page.add_init_script(_WATCH)
    began = time.perf_counter()
    page.goto(f"{url}/documents", wait_until="load")
    measure("open the list", began)
    began = time.perf_counter()
    page.get_by_placeholder("Title, name or author").fill("number 77")
    page.locator(".rows li").filter(has_text="number 77").first.wait_for()
    measure("filter it by words", began)
    page.goto(f"{url}/documents", wait_until="load")
    page.evaluate("window.tasks.splice(0)")
    began = time.perf_counter()
    for _ in range(20):
        page.mouse.wheel(0, 1_500)
        page.wait_for_timeout(50)
    measure("scroll through it", began)
    began = time.perf_counter()
    page.locator(".rows a").nth(40).click()
    page.locator("article.document").wait_for()
    measure("open a document", began)
    return found


def _fill(home: Path) -> None:
    with Library.open(home) as library:
        folder = home.parent / "papers"
        for number in range(DOCUMENTS):
            place = folder / f"year-{number % 40}" / f"month-{number % 12}"
            place.mkdir(parents=True, exist_ok=True)
            text = f"# Report number {number}\n\nPier {number} was inspected.\n"
            (place / f"report-{number}.md").write_text(text)
        library.documents.add(folder)


def _signed_in(browser: object, site: Served) -> BrowserContext:
    context = browser.new_context(viewport={"width": 1280, "height": 800})  # type: ignore[attr-defined]
    context.add_cookies([{"name": COOKIE, "value": owner_session(site.owner_key), "url": site.url}])
    return context  # type: ignore[no-any-return]


def main() -> int:
    """Measure, print and write the results."""
    machine = Machine()
    program = os.environ.get("CHAPTERHOUSE_BROWSER") or shutil.which("chromium") or "chromium"
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder) / "home"
        _fill(home)
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        with serving(home) as site:
            sizes = first_load(_signed_in(browser, site), site.url)
            pairs = []
            for _ in range(OPENINGS):
                pages = (site.url, f"{site.url}/api/health")
                pairs.append([opened(_signed_in(browser, site), one) for one in pages])
            actions = listed(_signed_in(browser, site).new_page(), site.url)
        browser.close()
    usable, bare = (percentile(times, 0.5) for times in zip(*pairs, strict=True))
    longest = max((task for _, tasks in actions.values() for task in tasks), default=0.0)
    bars = [
        Bar("loaded first, kB as sent", sum(sizes.values()) / 1e3, most=60),
        Bar("usable after, ms beyond a bare page (median)", usable - bare, most=300),
        Bar(f"longest task with {DOCUMENTS:,} documents, ms", longest, most=50),
    ]
    tables = (
        Table("First load", ("what", "bytes"), tuple(sorted(sizes.items()))),
        Table(
            "Usable, median of openings without a cache",
            ("page", "ms", "ratio"),
            (("the page", usable, usable / bare), ("a bare one", bare, 1.0)),
        ),
        Table(
            f"{DOCUMENTS:,} documents",
            ("what", "seconds", "tasks over 50 ms", "longest, ms"),
            tuple(
                (what, seconds, len(tasks), max(tasks, default=0.0))
                for what, (seconds, tasks) in actions.items()
            ),
        ),
    )
    return finish("page", "The page in a browser", bars, tables, machine.setting())


if __name__ == "__main__":
    sys.exit(main())
