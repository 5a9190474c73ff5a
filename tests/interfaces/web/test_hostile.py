"""What is shown is text: markup in any field of documents, agents and requests stays inert."""

import json
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.served import Served, serving
from tests.walls import Operation, page_operations

from chapterhouse.agents.council import Council
from chapterhouse.library import Library
from chapterhouse.types import AccessLevel

HOSTILE: Final = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'-alert(1)-'</textarea></title><svg/onload=alert(1)>",
    "{{ 7 * 7 }}{% for a in b %}<iframe srcdoc='<script>alert(1)</script>'>",
    "[a](javascript:alert(1)) ![b](http://127.0.0.1:9/alert(1).png)",
)
ALL: Final = " ".join(HOSTILE)
QUESTION: Final = f"When does the ferry leave {ALL}?"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, dict[str, str]]]:
    folder = tmp_path_factory.mktemp("hostile")
    home = folder / "home"
    papers = folder / 'papers "><img src=x onerror=alert(1)>'
    papers.mkdir()
    for number, text in enumerate(HOSTILE):
        name = text.replace("/", "∕")[:80]
        (papers / f"{number} {name}.md").write_text(
            f"---\ntitle: '{text.replace(chr(39), chr(39) * 2)}'\nsource: javascript:alert(1)\n"
            f"author: '{text.replace(chr(39), chr(39) * 2)}'\n---\n\n# {text}\n\n"
            f"The ferry {number} leaves at nine {text}\n\n"
            f"| a {text} | b |\n|---|---|\n| c | {text} |\n"
        )
    (papers / f"{HOSTILE[1]}.xyz".replace("/", "∕")).write_bytes(b"\x00\x01")
    with Library.open(home) as library:
        library.sources.add(str(papers), name="papers")
        library.sources.sync()
        library.documents.add_text(f"The pier {ALL}", title=ALL)
        for slug in ("maria", "tom"):
            library.personas.create(slug, display_name=f"{slug} {HOSTILE[1]}")
            library.personas.change(slug, {"profile.expertise": f"Ferries {ALL}"})
        council = Council.new("board", display_name=f"Board {HOSTILE[1]}", purpose=f"Ferries {ALL}")
        council = council.add_member("maria").add_member("tom").add_round("independent_analysis")
        library.councils.create(council.chair(name="Chair", instructions=ALL))
        library.answers.ask(QUESTION, remember=True)
        document = next(one.id for one in library.documents.list())
    with serving(home) as served:
        served.access.create_key(ALL[:100], AccessLevel.READ, None, by=ALL[:50])
        with served.browser() as browser:
            sent = {"question": QUESTION, "who": "council/board"}
            where = browser.post("/ask", data=sent).headers["location"]
            files = {"file": (f"{HOSTILE[1]}.md", f"# {ALL}".encode())}
            job = browser.post("/documents/upload", files=files)
            assert job.status_code in {200, 303}
        served.work()
        yield (
            served,
            {
                "document_id": document,
                "meeting_id": where.rpartition("/")[2],
                "job_id": "j1",
                "memory_id": "m1",
                "number": "1",
                "member": "maria",
            },
        )


def test_no_page_has_a_script_handler_or_address_of_a_document(
    hostile: tuple[Served, dict[str, str]],
) -> None:
    served, ids = hostile
    seen = 0
    with served.browser() as browser:
        for operation in page_operations():
            if operation.method != "GET" or operation.path.startswith("/assets"):
                continue
            for partial in ({}, {"HX-Request": "true"}):
                answer = browser.get(
                    _address(operation, ids), params=_words(operation), headers=partial
                )
                assert answer.status_code < 500, (operation.name, answer.text)
                if answer.headers.get("content-type", "").startswith("text/html"):
                    _require_inert(answer.text, operation.name)
                    seen += answer.text.count("alert(1)")
    assert seen > 100  # it was there to be shown


def test_an_answer_and_what_is_refused_are_text(hostile: tuple[Served, dict[str, str]]) -> None:
    served, _ = hostile
    with served.browser() as browser:
        answer = browser.post("/ask", data={"question": QUESTION})
        assert answer.text.count("alert(1)") > 5
        _require_inert(answer.text, "an answer")
        headers = {"Accept": "text/event-stream"}
        streamed = browser.post("/ask", data={"question": QUESTION}, headers=headers)
        for line in streamed.text.splitlines():
            if line.startswith("data: "):
                _require_inert(json.loads(line.removeprefix("data: ")), "a stream")
        for path in (f"/documents/{quote(HOSTILE[1])}", f"/{quote(HOSTILE[0])}"):
            answer = browser.get(path)
            assert answer.status_code == 404
            _require_inert(answer.text, path)
        answer = browser.post("/ask", data={ALL: ALL})
        assert answer.status_code == 422
        _require_inert(answer.text, "a refusal")


def _address(operation: Operation, ids: dict[str, str]) -> str:
    path = operation.path
    for one in operation.parameters:
        if one["in"] == "path":
            name = one["name"]
            slug = "board" if "council" in operation.path else "maria"
            value = {**ids, "slug": slug, "name": "papers", "source": "papers", "tab": "keys"}[name]
            path = path.replace(f"{{{name}}}", quote(value, safe=""))
    return path.replace(":path", "").replace(":source", "")


def _words(operation: Operation) -> dict[str, Any]:
    """Return hostile values for all words that an address may have."""
    found: dict[str, Any] = {}
    for one in operation.parameters:
        schema = operation.resolved(one.get("schema", {}))
        if one["in"] == "query" and schema.get("type") == "string" and "enum" not in schema:
            found[one["name"]] = ALL[: schema.get("maxLength", len(ALL))]
    return found


def _require_inert(text: str, where: str) -> None:
    for node in LexborHTMLParser(text).css("*"):
        named = (where, node.html[:300] if node.html else node.tag)
        attributes = {name: value or "" for name, value in node.attributes.items()}
        assert node.tag not in {"iframe", "object", "embed", "base"}, named
        if node.tag == "script":
            assert attributes.get("src", "").startswith("/assets/"), named
            assert not node.text().strip(), named
        assert not [name for name in attributes if name.startswith("on") or name == "style"], named
        for name in ("href", "src", "action", "formaction", "hx-get", "hx-post", "poster"):
            value = attributes.get(name, "/").strip().lower()
            plain = value.startswith(("/", "#", "?")) and not value.startswith("//")
            is_web = value.startswith(("http://", "https://"))
            linked = is_web and name == "href" and node.tag == "a"
            assert plain or linked, named
            if linked:
                assert "noopener" in attributes.get("rel", ""), named
