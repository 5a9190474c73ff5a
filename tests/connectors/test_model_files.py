"""Fetching the files of an encoder from a loopback server that does everything wrong."""

import hashlib
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.connectors.model_files import Origin, fetch_files, take_files
from chapterhouse.errors import EngineError, NotFoundError, RefusedError, UsageError
from chapterhouse.models.cards import CardFile

DATA = bytes(range(256)) * 4_000
SMALL = b'{"hidden_size": 8}'


def pinned(name: str, data: bytes) -> CardFile:
    return CardFile(name, len(data), hashlib.sha256(data).hexdigest())


FILES = (pinned("config.json", SMALL), pinned("deep/model.bin", DATA))


class QuietServer(ThreadingHTTPServer):
    """Says nothing of clients that hang up."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class Files:
    """A server of files; ``answer`` may be replaced by what answers one request."""

    def __init__(self) -> None:
        self.files = {"/m/config.json": SMALL, "/m/deep/model.bin": DATA}
        self.asked: list[tuple[str, str]] = []
        self.answers: list[Callable[[BaseHTTPRequestHandler, bytes], None]] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.asked.append((self.path, self.headers.get("Range", "")))
                data = owner.files.get(self.path, b"")
                answer = owner.answers.pop(0) if owner.answers else serve
                answer(self, data)

            def log_message(self, *_: object) -> None:
                pass

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/m"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


def serve(handler: BaseHTTPRequestHandler, data: bytes, until: int | None = None) -> None:
    """Answer with a file or the asked part of it; with ``until`` the connection is cut there."""
    start = 0
    if asked := handler.headers.get("Range"):
        start = int(asked.removeprefix("bytes=").rstrip("-"))
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
    else:
        handler.send_response(200 if data else 404)
    handler.send_header("Content-Length", str(len(data) - start))
    handler.end_headers()
    handler.wfile.write(data[start:until])
    handler.close_connection = True


def cut(handler: BaseHTTPRequestHandler, data: bytes) -> None:
    serve(handler, data, 300_000)


def status(code: int, location: str = "") -> Callable[[BaseHTTPRequestHandler, bytes], None]:
    def answer(handler: BaseHTTPRequestHandler, _: bytes) -> None:
        handler.send_response(code)
        if location:
            handler.send_header("Location", location)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


@pytest.fixture
def server() -> Iterator[Files]:
    files = Files()
    yield files
    files.server.shutdown()
    files.server.server_close()


def fetch(server: Files, folder: Path, *hosts: str, on_progress: Any = lambda _: None) -> None:
    fetch_files(FILES, Origin(server.url, hosts), folder, on_progress)


def is_there(folder: Path) -> bool:
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return names == {"config.json", "deep/model.bin"} and all(
        (folder / name).read_bytes() == data
        for name, data in (("config.json", SMALL), ("deep/model.bin", DATA))
    )


def test_files_are_fetched_once(server: Files, tmp_path: Path) -> None:
    told: list[Any] = []
    fetch(server, tmp_path, on_progress=told.append)
    assert is_there(tmp_path)
    assert (told[-1].done, told[-1].total) == (len(SMALL) + len(DATA),) * 2
    number = len(server.asked)
    fetch(server, tmp_path)
    assert len(server.asked) == number


def test_a_later_run_goes_on_where_the_last_one_ended(server: Files, tmp_path: Path) -> None:
    for answer, reason in ((cut, ""), (status(503), "503"), (cut, "")):
        server.answers = [answer] if (tmp_path / "config.json").exists() else [serve, answer]
        with pytest.raises(EngineError, match=f"could not be fetched.*{reason}") as caught:
            fetch(server, tmp_path)
        assert "goes on" in caught.value.hint
        assert not (tmp_path / "deep/model.bin").exists()
    fetch(server, tmp_path)
    assert is_there(tmp_path)
    asked = [part for path, part in server.asked if path.endswith("bin")]
    assert asked == ["", *["bytes=300000-"] * 3]


def test_a_server_that_cannot_resume_sends_it_all_again(server: Files, tmp_path: Path) -> None:
    def whole(handler: BaseHTTPRequestHandler, data: bytes) -> None:
        del handler.headers["Range"]
        serve(handler, data)

    server.answers = [serve, cut, whole]
    with pytest.raises(EngineError):
        fetch(server, tmp_path)
    fetch(server, tmp_path)
    assert is_there(tmp_path)


def test_another_file_than_the_pinned_one_is_not_kept(server: Files, tmp_path: Path) -> None:
    server.files["/m/deep/model.bin"] = DATA[:-1] + b"?"
    with pytest.raises(EngineError, match="not the file that was pinned"):
        fetch(server, tmp_path)
    assert [path.name for path in (tmp_path / "deep").iterdir()] == []


def test_a_file_that_is_too_long_is_not_read_to_its_end(server: Files, tmp_path: Path) -> None:
    server.files["/m/config.json"] = SMALL + b" " * 10_000_000
    with pytest.raises(EngineError, match="longer than the 18 bytes"):
        fetch(server, tmp_path)
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


def test_a_server_that_falls_silent_is_left(
    server: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silence = threading.Event()

    def silent(handler: BaseHTTPRequestHandler, _: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(DATA)))
        handler.end_headers()
        silence.wait(20)

    server.answers = [serve, silent]
    monkeypatch.setattr("chapterhouse.connectors.model_files._SILENT_SECONDS", 0.05)
    with pytest.raises(EngineError, match="nothing came for too long"):
        fetch(server, tmp_path)
    silence.set()


def test_redirects_stay_where_the_card_says(server: Files, tmp_path: Path) -> None:
    server.answers = [status(302, "/m/config.json")]  # the same origin
    fetch(server, tmp_path / "a")
    assert is_there(tmp_path / "a")
    for location in (
        "https://elsewhere.example/config.json",
        "https://hf.co.elsewhere.example/config.json",
        "https://someone@hf.co/config.json",
        "http://hf.co/config.json",  # not over https
        "http://127.0.0.1:1/config.json",
        "file:///etc/passwd",
    ):
        server.answers = [status(302, location)]
        with pytest.raises(RefusedError, match="redirects to"):
            fetch(server, tmp_path / "b", "hf.co")
    server.answers = [status(302, "/m/config.json")] * 9
    with pytest.raises(EngineError, match="more than 5 times"):
        fetch(server, tmp_path / "b")


def test_a_redirect_to_a_known_host_is_followed(
    server: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers = [status(302, "https://cdn.hf.co:1/config.json")] * 9
    asked: list[str] = []

    def look_up(host: Any, *_: object, **__: object) -> Any:
        asked.append(str(host))
        raise OSError("no network in a test")

    with monkeypatch.context() as patched:
        import socket  # noqa: PLC0415 - replaced here alone

        real = socket.getaddrinfo
        patched.setattr(
            socket,
            "getaddrinfo",
            lambda host, *a, **k: real(host, *a, **k) if "127" in str(host) else look_up(host),
        )
        with pytest.raises(EngineError, match="could not be fetched"):
            fetch(server, tmp_path, "hf.co")
    assert set(asked) == {"cdn.hf.co"}


@pytest.mark.parametrize("code", [401, 403, 404, 410])
def test_what_is_not_there_is_told_at_once(server: Files, tmp_path: Path, code: int) -> None:
    server.answers = [status(code)]
    with pytest.raises(EngineError, match=str(code)) as caught:
        fetch(server, tmp_path)
    assert "--mirror" in caught.value.hint
    assert len(server.asked) == 1


def test_without_a_network_it_says_so(server: Files, tmp_path: Path) -> None:
    server.server.shutdown()
    server.server.server_close()
    with pytest.raises(EngineError, match="could not be fetched") as caught:
        fetch(server, tmp_path)
    assert "--file" in caught.value.hint
    with pytest.raises(UsageError, match="no address"):
        fetch_files(FILES, Origin("ftp://127.0.0.1/m"), tmp_path)


def test_files_are_taken_from_a_folder_or_a_zip(tmp_path: Path) -> None:
    folder, archive = tmp_path / "folder", tmp_path / "some.whl"
    for file, data in zip(FILES, (SMALL, DATA), strict=True):
        (folder / file.name).parent.mkdir(parents=True, exist_ok=True)
        (folder / file.name).write_bytes(data)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("pkg/deep/config.json", b"another one")
        for file, data in zip(FILES, (SMALL, DATA), strict=True):
            out.writestr(f"pkg/{file.name}", data)
    for number, source in enumerate((folder, archive)):
        take_files(FILES, source, tmp_path / f"to-{number}")
        assert is_there(tmp_path / f"to-{number}")
    (folder / "config.json").write_bytes(SMALL[:-1] + b"!")
    with pytest.raises(EngineError, match="not the file that was pinned"):
        take_files(FILES, folder, tmp_path / "to-2")
    assert not (tmp_path / "to-2/config.json").exists()
    for source in (tmp_path / "nowhere", tmp_path / "to-2"):
        with pytest.raises(NotFoundError):
            take_files(FILES, source, tmp_path / "to-3")
    (tmp_path / "text").write_text("text")
    with pytest.raises(UsageError, match="neither a folder nor a zip"):
        take_files(FILES, tmp_path / "text", tmp_path / "to-3")
