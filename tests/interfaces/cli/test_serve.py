"""The commands that serve: what they say before they do, and a server as a process of its own."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

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
    shown = chapterhouse("mcp", "--http", "--config", "--json").data
    entry = {"type": "http", "url": "http://127.0.0.1:8431/mcp"}
    assert shown["mcpServers"]["chapterhouse"] == entry


def test_over_http_the_server_is_named(chapterhouse: Any, home: Path) -> None:
    result = chapterhouse("mcp", "--http")
    assert result.code == 2
    assert "chapterhouse serve" in result.err
    assert result.out == ""


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("--host", "0.0.0.0"), 5, "no key and no user yet"),
        (("--allow-host", "a/b"), 2, "'a/b' is no host"),
        (("--allow-origin", "*"), 2, "'*' is no origin"),
        (("--port", "70000"), 2, "65535"),
    ],
)
def test_what_cannot_be_served_so_is_refused(
    chapterhouse: Any, home: Path, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    result = chapterhouse("serve", *arguments)
    assert result.code == code
    assert sentence in result.err
    assert result.out == ""


def test_an_address_of_others_needs_a_key_and_a_name(chapterhouse: Any, home: Path) -> None:
    chapterhouse("key", "create", "trial")
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


@contextmanager
def process(home: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the server on a free port; yield it with the address that it names."""
    command = [sys.executable, "-m", "chapterhouse", "serve", "--port", "0", *options]
    with subprocess.Popen(
        [*command, "--home", str(home)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "CHAPTERHOUSE_BACKGROUND": "0"},
    ) as running:
        try:
            assert running.stderr
            line = running.stderr.readline()
            found = re.search(r"http://[^/]+", line)
            assert found, line
            yield running, found.group()
        finally:
            running.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_reads_what_it_is_sent_and_ends_in_order(
    tmp_path: Path, number: signal.Signals
) -> None:
    (tmp_path / "kites.md").write_text("# Kites\n\nKites need four metres of wind.\n")
    with process(tmp_path / "home") as (running, url):
        with Client(url) as client:
            job = client.wait(client.upload(tmp_path / "kites.md"))
            assert job.state == "done"
            assert "four metres" in client.ask("How much wind do kites need?").text
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    assert "Traceback" not in err
