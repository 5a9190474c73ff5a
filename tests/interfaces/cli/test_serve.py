import json
import socket
import sys
from pathlib import Path
from typing import Any

from tests.served import process

from chapterhouse.interfaces import serving
from chapterhouse.interfaces.admission import make_owner_key, read_owner_key
from chapterhouse.interfaces.client import Client


def test_the_configuration_starts_this_server(chapterhouse: Any) -> None:
    shown = chapterhouse("mcp", "--config", "--home", "/a home", "--workspace", "w", "--memory").out
    assert json.loads(shown) == {
        "mcpServers": {
            "chapterhouse": {
                "command": sys.executable,
                "args": [
                    *("-m", "chapterhouse", "mcp", "--home", "/a home"),
                    *("--workspace", "w", "--memory"),
                ],
            }
        }
    }


def test_over_http_the_configuration_is_an_address(chapterhouse: Any, home: Path) -> None:
    headers = {"Authorization": f"Bearer {make_owner_key(home)}"}
    shown = chapterhouse("mcp", "--http", "--config", "--json").data
    entry = {"type": "http", "url": "http://127.0.0.1:8431/mcp", "headers": headers}
    assert shown["mcpServers"]["chapterhouse"] == entry
    result = chapterhouse("mcp", "--http")
    assert (result.code, result.out, "chapterhouse serve" in result.err) == (2, "", True)


def test_what_cannot_be_served_so_is_refused(chapterhouse: Any, home: Path) -> None:
    named: tuple[str, ...] = ("--host", "192.0.2.1", "--allow-host", "library.example.org")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for arguments, code, sentence in (
            (("--port", port), 2, "cannot listen at 127.0.0.1"),
            (("--host", "0.0.0.0"), 5, "no key and no user yet"),
            (named[2:], 5, "no key and no user yet"),
            (("--allow-origin", "*"), 2, "'*' is no origin"),
            (("--port", "70000"), 2, "65535"),
        ):
            result = chapterhouse("serve", *arguments)
            assert (result.code, result.out, sentence in result.err) == (code, "", True), arguments
    chapterhouse("key", "create", "trial")
    for names, code, sentence in (
        (("--allow-host", "a/b"), 2, "'a/b' is no host"),
        (named[:2], 5, "--allow-host"),
        (named, 2, "cannot listen at 192.0.2.1"),
    ):
        result = chapterhouse("serve", *names)
        assert (result.code, sentence in result.err) == (code, True), names


def test_an_address_is_written_as_browsers_do() -> None:
    assert serving.url("127.0.0.1", 8431) == "http://127.0.0.1:8431"
    assert serving.url("::1", 8431) == "http://[::1]:8431"


def test_a_server_reads_what_it_is_sent_and_ends_in_order(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (tmp_path / "kites.md").write_text("# Kites\n\nKites need four metres of wind.\n")
    with process(home) as (running, url):
        with Client(url) as client:  # it finds the key in the home
            job = client.wait(client.upload(tmp_path / "kites.md"))
            assert job.state == "done"
            assert "four metres" in client.ask("How much wind do SECRET kites need?").text
        key = read_owner_key(home)
        running.terminate()
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    lines = [line for line in err.splitlines() if "chapterhouse.access" in line]
    asked = "method=POST route=/api/ask status=200 caller='owner'"
    assert sum(asked in line for line in lines) == 1
    for text in ("Traceback", "SECRET", key):  # a line says nothing of what a request was about
        assert text not in err
