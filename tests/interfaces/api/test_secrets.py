import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.models.chat_script import Reply, Request
from tests.models.chat_server import ChatServer, chat_server
from tests.served import TEXTS, Served, serving
from tests.walls import operations

from chapterhouse.interfaces.api.state import ServerOptions
from chapterhouse.library import Library
from chapterhouse.telemetry import collecting, sharing_content
from chapterhouse.telemetry.export import sending
from chapterhouse.types.access import AccessLevel

PASSWORD: Final = "zqpassword-correct-horse"
SERVICE_KEY: Final = "sk-zqservicekey0123456789"
COLLECTOR_KEY: Final = "zqcollectorkey0123456789"
_VARIABLE: Final = "ZQ_MODEL_KEY"
_CLIENTS: Final = ("httpx2", "httpcore2.")  # of the test, in the same process


@pytest.fixture
def service() -> Iterator[ChatServer]:

    def answer(request: Request) -> Reply:
        said = f"Incorrect API key provided: {request.headers.get('authorization', '')}"
        return Reply(status=401, body={"error": {"message": said, "code": "invalid_api_key"}})

    with chat_server(answer) as server:
        yield server


@pytest.fixture
def home(tmp_path: Path, service: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(_VARIABLE, SERVICE_KEY)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"api-key={COLLECTOR_KEY}")
    home = tmp_path / "home"
    home.mkdir()
    (home / "chapterhouse.toml").write_text(
        f'[language_model]\nengine = "openai"\nbase_url = "{service.url}"\nmodel = "m"\n'
        f'key_variable = "{_VARIABLE}"\nattempts = 1\n\n[telemetry]\ncontent = true\n'
    )
    (tmp_path / "ferry.md").write_text(TEXTS["ferry.md"])
    with Library.open(home) as library:
        library.documents.add(tmp_path / "ferry.md")
    return home


def test_no_secret_is_anywhere_but_in_the_request(
    home: Path, tmp_path: Path, service: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    options = ServerOptions(remember=True, starts_workers=False, per_second=1e6, burst=1e6)
    with serving(home, options) as served:
        secrets, answers = _use(served)
        answers.append(served.state.metrics.text())
        values = repr((served.access.keys(), served.access.users(), options))
    assert service.requests  # the model was asked, with the key
    assert service.requests[0].headers["authorization"] == f"Bearer {SERVICE_KEY}"
    traces, archive = _traced_and_exported(home, tmp_path)
    places = {
        "answers": "\n".join(answers).encode(),
        "logs": "\n".join(
            f"{record.name} {logging.Formatter().format(record)}"
            for record in caplog.records
            if not record.name.startswith(_CLIENTS)
        ).encode(),
        "traces": traces.encode(),
        "prompts": "\n".join(str(one.body) for one in service.requests).encode(),
        "files of the home": _bytes_below(home),
        "archive": archive,
        "values": values.encode(),
    }
    for place, data in places.items():
        assert data, place
        assert [one for one in secrets if one.encode() in data] == [], place


def _use(served: Served) -> tuple[list[str], list[str]]:
    """Use every secret, rightly and wrongly; return them and all that was answered."""
    access = served.access
    access.create_user("ada", PASSWORD, AccessLevel.ADMIN, None, by="test")
    session = access.log_in("ada", PASSWORD)
    key, revoked = served.key(), served.key()
    assert session is not None
    answers = []
    with served.client(revoked) as client:
        described = operations(client.get("/api/openapi.json").json())
    access.revoke_key(revoked[:11], by="test")
    cookie = {"Cookie": f"chapterhouse_session={session.secret}"}
    of_page = {**cookie, "Origin": served.url}
    bearer = {"Authorization": f"Bearer {key}"}
    few = {"/api/me", "/api/keys", "/api/ask", "/v1/models"}
    for headers, paths in (
        (bearer, {one.path for one in described}),
        (of_page, {one.path for one in described}),
        ({"X-API-Key": revoked}, few),
        ({**bearer, "X-API-Key": revoked}, few),
        ({"Authorization": f"Bearer {key}x"}, few),
        (cookie, few),
        ({"Cookie": f"chapterhouse_session={session.secret}x"}, few),
        ({"X-Workspace": PASSWORD}, few),
    ):
        with served.client() as client:
            client.headers.update(headers)
            for one in described:
                asks = one.path in {"/api/ask", "/api/ask/stream"}
                if one.path in paths and (one.method == "GET" or asks):
                    path = one.path.replace("{", "").replace("}", "")
                    asked = {"question": "When does the ferry leave?"} if asks else None
                    answer = client.request(one.method, path, json=asked)
                    answers.append(f"{answer.text} {dict(answer.headers)}")
    answers = [one.replace(PASSWORD, "") if "no workspace" in one else one for one in answers]
    with served.client() as client:
        wrong = {"name": "ada", "password": f"{PASSWORD}x", "more": PASSWORD}
        answers.append(client.post("/api/session", json=wrong).text)
    secrets = [key[12:], revoked[12:], session.secret, PASSWORD]
    return [*secrets, SERVICE_KEY, COLLECTOR_KEY], answers


def _traced_and_exported(home: Path, tmp_path: Path) -> tuple[str, bytes]:
    archive, failures = tmp_path / "library.chapterhouse", list[str]()
    with (
        Library.open(home) as library,
        collecting() as trace,
        sharing_content(allowed=True),
        sending("http://127.0.0.1:9", failures.append),
    ):
        answer = library.answers.ask("When does the ferry leave?")
        library.export(archive)
    Library.restore(archive, tmp_path / "restored")
    shown = f"{trace.roots} {answer} {failures}"
    return shown, archive.read_bytes() + _bytes_below(tmp_path / "restored")


def _bytes_below(folder: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
