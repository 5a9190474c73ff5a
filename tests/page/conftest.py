"""A browser, and what it looks at; ``make test-page`` names one."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("playwright")
from playwright.sync_api import Browser, Page, sync_playwright

BROWSER: Final = os.environ.get("CHAPTERHOUSE_BROWSER", "")
PICTURES: Final = os.environ.get("CHAPTERHOUSE_PICTURES", "")
LOOKS: Final[dict[str, dict[str, Any]]] = {
    "light": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "color_scheme": "dark",
        "has_touch": True,
        "is_mobile": True,
    },
}
Opener = Callable[..., Any]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not BROWSER:
        skip = pytest.mark.skip(reason="no browser is named: make test-page")
        for item in items:
            if "/page/" in str(item.path):
                item.add_marker(skip)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opener]:
    """Opens a page that must show no error, run no dialog and ask no other server."""
    problems: list[str] = []

    @contextmanager
    def open_page(url: str, look: str = "light", **more: Any) -> Iterator[Page]:
        context = browser.new_context(reduced_motion="reduce", **LOOKS[look], **more)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on(
            "dialog",
            lambda said: problems.append(said.message) if said.type == "alert" else None,
        )
        page.on(
            "console",
            lambda said: problems.append(said.text) if said.type == "error" else None,
        )
        page.on(
            "request",
            lambda sent: None if sent.url.startswith(url) else problems.append(sent.url),
        )
        page.goto(url)
        yield page
        context.close()

    yield open_page
    assert not problems


def picture(page: Page, name: str) -> None:
    """Write what is on the screen, where pictures are wanted."""
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png")
