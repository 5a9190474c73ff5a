"""The way in and out of the page, and what its forms must bring along."""

from collections.abc import Iterator

import httpx2
import pytest
from tests.served import FROM_OTHERS, Served, serving
from tests.walls import page_operations

from chapterhouse.interfaces.api.door import UPLOADS
from chapterhouse.interfaces.api.routing import COOKIE
from chapterhouse.library import Library
from chapterhouse.library.access import owner_session
from chapterhouse.types import AccessLevel

PASSWORD = "a long enough password"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("web") / "home"
    with Library.open(home) as library:
        library.documents.add_text("The ferry leaves at nine.", title="Ferry")
    with Library.open(home, "other"):
        pass
    with serving(home) as served:
        for name, level, workspaces in (
            ("ada", AccessLevel.ADMIN, None),
            ("ben", AccessLevel.READ, ["default"]),
        ):
            served.access.create_user(name, PASSWORD, level, workspaces, by="test")
        yield served


@pytest.fixture
def browser(site: Served) -> Iterator[httpx2.Client]:
    with site.browser(is_owner=False) as client:
        yield client


def _sign_in(browser: httpx2.Client, name: str, **more: str) -> httpx2.Response:
    return browser.post("/login", data={"name": name, "password": PASSWORD, **more})


def test_who_is_not_known_is_sent_to_the_way_in_and_back(browser: httpx2.Client) -> None:
    answer = browser.get("/history?text=ferry")
    assert answer.status_code == 303
    where = answer.headers["location"]
    assert where == "/login?next=%2Fhistory%3Ftext%3Dferry"
    assert browser.get(where).status_code == 200
    assert browser.post("/documents/remove").headers["location"] == "/login"  # shows nothing
    answer = _sign_in(browser, "ada", next="/history?text=ferry")
    assert (answer.status_code, answer.headers["location"]) == (303, "/history?text=ferry")
    assert browser.get("/history?text=ferry").status_code == 200
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


@pytest.mark.parametrize(
    "elsewhere",
    ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/\n/evil",
     "\\\\evil.example", "", "evil"],
)  # fmt: skip
def test_nobody_is_sent_to_another_server(browser: httpx2.Client, elsewhere: str) -> None:
    assert _sign_in(browser, "ada", next=elsewhere).headers["location"] == "/"


def test_a_wrong_name_or_password_is_said_on_the_page(browser: httpx2.Client) -> None:
    answer = browser.post("/login", data={"name": "ada", "password": "wrong"})
    assert answer.status_code == 401
    assert "The name or the password is wrong." in answer.text
    assert COOKIE not in browser.cookies
    answer = browser.post("/login", data={"key": "ch_owner_wrong"})
    assert answer.status_code == 401
    assert COOKIE not in browser.cookies


def test_the_owner_comes_in_by_the_key_or_once_by_the_link(
    site: Served, browser: httpx2.Client
) -> None:
    answer = browser.post("/login", data={"key": site.owner_key})
    assert answer.headers["location"] == "/"
    assert browser.get("/").status_code == 200
    assert site.owner_key not in str(browser.cookies)
    browser.cookies.clear()
    object.__setattr__(site.state, "entrance", "once")
    assert browser.get("/enter?code=other").status_code == 401
    assert browser.get("/enter?code=once").status_code == 303
    assert browser.get("/").status_code == 200
    browser.cookies.clear()
    assert browser.get("/enter?code=once").status_code == 401
    assert browser.get("/").status_code == 303


def test_no_page_of_others_changes_anything(site: Served, browser: httpx2.Client) -> None:
    """Neither as a user nor as the owner."""
    _sign_in(browser, "ada")
    del browser.headers["Origin"]
    posts = [one for one in page_operations() if one.method == "POST" and one.level != "none"]
    assert posts
    for operation in posts:
        path = operation.path.replace("{", "").replace("}", "")
        files = {"file": ("a.md", b"# a")} if path in UPLOADS else None
        for headers in FROM_OTHERS:
            answer = browser.post(path, headers=headers, files=files)
            assert answer.status_code == 403, operation.name
    assert browser.get("/").status_code == 200
    browser.cookies.clear()
    browser.cookies.set(COOKIE, owner_session(site.owner_key))
    assert browser.post("/logout").status_code == 403
    for headers in ({"Sec-Fetch-Site": "same-origin"}, {"Origin": site.url}):
        assert browser.post("/logout", headers=headers).headers["location"] == "/login"


def test_a_problem_is_said_once_and_leads_back(site: Served, browser: httpx2.Client) -> None:
    _sign_in(browser, "ada")
    text = browser.get("/nothing").text
    assert text.count("Not Found") == 2  # once above the window
    assert '<a class="button" href="/">To the first page</a>' in text
    places = ((site.url, "/documents?shelf=a"), ("https://evil.example", "/"), ("https://[", "/"))
    for origin, back in places:
        came = {"Referer": f"{origin}/documents?shelf=a"}
        assert f'<a class="button" href="{back}">' in browser.get("/nothing", headers=came).text


def test_no_page_can_be_framed_or_load_from_elsewhere(browser: httpx2.Client) -> None:
    _sign_in(browser, "ada")
    for path in ("/", "/login", "/history", "/nothing"):
        policy = browser.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy


def test_a_user_goes_to_their_own_workspaces_alone(browser: httpx2.Client) -> None:
    _sign_in(browser, "ada")
    assert "<option selected>default</option>" in browser.get("/").text
    browser.post("/workspace", data={"workspace": "other"})
    assert "<option selected>other</option>" in browser.get("/").text
    browser.cookies.clear()
    _sign_in(browser, "ben")
    browser.cookies.set("chapterhouse_workspace", "other")  # written by hand
    assert "Ask your documents" in browser.get("/").text  # of the only one that is theirs
    assert "other" not in browser.get("/").text
