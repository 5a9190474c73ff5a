import json
import re
from pathlib import Path
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from tests.served import serving
from tests.walls import rpc

from chapterhouse import errors
from chapterhouse.interfaces.api.problems import (
    Refusal,
    common_problems,
    name_of_kind,
    problem,
    problem_responses,
)
from chapterhouse.library import Library


def _kinds(kind: type[errors.ChapterhouseError]) -> list[type[errors.ChapterhouseError]]:
    return [kind, *(below for one in kind.__subclasses__() for below in _kinds(one))]


def test_every_error_of_ours_has_a_status_and_a_name() -> None:
    assert errors.RejectedError("too-large", "Too large.").status == 413
    for kind in _kinds(errors.ChapterhouseError):
        assert kind.status in common_problems("/api")
        assert name_of_kind(kind).replace("-", "").isalpha()


def test_an_error_is_answered_in_the_form_of_its_address() -> None:
    invalid = RequestValidationError([{"loc": ("body", "x"), "msg": "m"}])
    for error, status, detail in (
        (errors.NotFoundError("There is no shelf 'a'."), 404, "There is no shelf 'a'."),
        (errors.UsageError("Not /home/ada/secret.txt."), 400, ""),
        (Refusal(429, "Too many.", headers={"Retry-After": "3"}), 429, "Too many."),
        (HTTPException(404), 404, "There is nothing at this address."),
        (invalid, 422, ""),
        (ZeroDivisionError("of a document"), 500, ""),
    ):
        for path in ("/api/x", "/v1/x", "/v1"):
            answer = problem(error, path)
            body: dict[str, Any] = json.loads(bytes(answer.body))
            is_openai = path.startswith("/v1")
            assert answer.status_code == (400 if is_openai and status == 422 else status)
            assert (list(body) == ["error"]) is is_openai
            shown = body["error"]["message"] if is_openai else body["detail"]
            assert shown.startswith(detail)
            assert not re.search("/home/ada|of a document", shown)
            assert answer.headers.get("retry-after") == ("3" if status == 429 else None)
    empty = problem(Refusal(304, "", headers={"ETag": '"a"'}))
    assert (empty.status_code, empty.body, empty.headers["etag"]) == (304, b"", '"a"')


def test_what_openapi_lists_has_the_form_of_its_address() -> None:
    assert list(common_problems("/api/x")[404]["content"]) == ["application/problem+json"]
    assert list(common_problems("/v1/x")[404]["content"]) == ["application/json"]
    assert "content" not in problem_responses(304)[304]
    assert "Retry-After" in problem_responses(503)[503]["headers"]


def test_nothing_that_goes_wrong_names_a_folder_of_the_server(tmp_path: Path) -> None:
    """In errors, streams, jobs and MCP; folders have signs that end sentences elsewhere."""
    private = tmp_path / "Jane Doe, private (2026): a. b; 'c'"
    letters = private / "drafts; old" / "Letters [to] Jim"
    letters.mkdir(parents=True)
    (letters / "one.md").write_text("# One\n\nGulls nest.\n")
    home = private / "home"
    with Library.open(home) as library:
        library.sources.add(str(letters), name="letters")
        library.sources.sync()
    Library.open(home, "broken").close()
    (home / "workspaces" / "broken" / "library.db").write_bytes(b"x" * 5_000)
    with serving(home) as served:
        with served.client(served.owner_key) as client:
            letters.rename(private / "gone")
            job = client.post("/api/sources/letters/sync").json()["id"]
            served.work()
            answers = [client.get(f"/api/jobs/{job}{end}") for end in ("", "/events")]
        with served.client(served.key("read")) as client:
            answers += [client.get("/api/sources/letters"), client.get("/api/sources")]
        with served.client(served.owner_key, "broken") as client:
            answers += [
                client.get("/api/documents"),
                client.post("/api/ask/stream", json={"question": "Where do gulls nest?"}),
                client.get("/v1/models"),
                rpc(client, "tools/call", {"name": "search", "arguments": {"query": "gulls"}}),
                rpc(client, "resources/list", {}),
            ]
    assert "Letters [to] Jim is not there" in answers[2].text  # its name, which every answer has
    for answer in answers:
        assert not re.search("Jane|private|drafts|2026|pytest", answer.text), answer.text
    assert all("library.db" in one.text for one in answers[4:]), [one.text for one in answers]
