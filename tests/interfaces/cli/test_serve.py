"""The commands that serve: what they say before they do, and a server as a process of its own."""

import json
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.served import process

from chapterhouse.interfaces.admission import make_owner_key
from chapterhouse.interfaces.api import serving
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


def test_over_http_the_server_is_named(chapterhouse: Any, home: Path) -> None:
    result = chapterhouse("mcp", "--http")
    assert result.code == 2
    assert "chapterhouse serve" in result.err
    assert result.out == ""


def test_what_cannot_be_served_so_is_refused(chapterhouse: Any, home: Path) -> None:
    for arguments, code, sentence in (
        (("--host", "0.0.0.0"), 5, "no key and no user yet"),
        (("--allow-host", "library.example.org"), 5, "no key and no user yet"),
        (("--allow-origin", "*"), 2, "'*' is no origin"),
        (("--port", "70000"), 2, "65535"),
    ):
        result = chapterhouse("serve", *arguments)
        assert (result.code, result.out, sentence in result.err) == (code, "", True), arguments


def test_an_address_of_others_needs_a_key_and_a_name(chapterhouse: Any, home: Path) -> None:
    chapterhouse("key", "create", "trial")
    result = chapterhouse("serve", "--allow-host", "a/b")
    assert result.code == 2
    assert "'a/b' is no host" in result.err
    result = chapterhouse("serve", "--host", "192.0.2.1")
    assert result.code == 5
    assert "--allow-host" in result.err
    result = chapterhouse("serve", "--host", "192.0.2.1", "--allow-host", "library.example.org")
    assert result.code == 2
    assert "cannot listen at 192.0.2.1" in result.err


def test_a_port_that_is_taken_is_named(chapterhouse: Any, home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = chapterhouse("serve", "--port", str(taken.getsockname()[1]))
    assert result.code == 2
    assert "cannot listen at 127.0.0.1" in result.err


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")])
def test_an_address_is_written_as_browsers_do(host: str, shown: str) -> None:
    assert serving.url(host, 8431) == f"http://{shown}:8431"


@pytest.mark.parametrize(("number", "quiet"), [(signal.SIGTERM, False), (signal.SIGINT, True)])
def test_a_server_reads_what_it_is_sent_and_ends_in_order(
    tmp_path: Path, number: signal.Signals, *, quiet: bool
) -> None:
    (tmp_path / "kites.md").write_text("# Kites\n\nKites need four metres of wind.\n")
    with process(tmp_path / "home", *(["--quiet"] if quiet else [])) as (running, url):
        with Client(url) as client:
            job = client.wait(client.upload(tmp_path / "kites.md"))
            assert job.state == "done"
            assert "four metres" in client.ask("How much wind do SECRET kites need?").text
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    assert "Traceback" not in err
    lines = [line for line in err.splitlines() if "chapterhouse.access" in line]
    asked = "method=POST route=/api/ask status=200 caller='owner'"
    assert sum(asked in line for line in lines) == (0 if quiet else 1)
    assert bool(lines) is not quiet
    assert "SECRET" not in err  # a line says nothing of what a request was about
