"""What the command that serves says before it serves."""

import json
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.interfaces.cli import serve
from chapterhouse.interfaces.mcp import over_http


def test_the_configuration_starts_this_server(chapterhouse: Any) -> None:
    told = chapterhouse("mcp", "--config", "--home", "/a home", "--workspace", "w", "--memory").out
    assert json.loads(told) == {
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
    told = chapterhouse("mcp", "--http", "--config", "--host", "::1", "--json").data
    assert told["mcpServers"]["chapterhouse"] == {"type": "http", "url": "http://[::1]:8431/mcp"}


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("--port", "9000"), 2, "are for --http"),
        (("--allow-host", "x"), 2, "are for --http"),
        (("--http", "--host", "0.0.0.0"), 5, "there is no login yet"),
        (("--http", "--allow-host", "a/b"), 2, "'a/b' is no host"),
        (("--http", "--allow-origin", "*"), 2, "'*' is no origin"),
        (("--http", "--port", "0", "--config"), 2, "only known once it is served"),
        (("--http", "--host", "192.0.2.1", "--allow-host", "x"), 2, "cannot listen"),
    ],
)
def test_what_cannot_be_served_so_is_said(
    chapterhouse: Any, home: Path, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    result = chapterhouse("mcp", *arguments)
    assert result.code == code
    assert sentence in result.err
    assert result.out == ""


def test_a_port_that_is_taken_is_said(chapterhouse: Any, home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = chapterhouse("mcp", "--http", "--port", str(taken.getsockname()[1]))
    assert result.code == 2
    assert "cannot listen at 127.0.0.1" in result.err


def test_without_its_extra_it_says_how_to_install_it(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "is_installed", lambda _: False)
    result = chapterhouse("mcp")
    assert result.code == 1
    assert "pip install 'mcp" in result.err
    assert result.out == ""


def test_errors_are_text_where_standard_output_is_the_protocols(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "is_installed", lambda _: False)
    assert chapterhouse("mcp", "--json").out == ""


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_the_address_is_told_with_a_warning_where_others_can_reach_it(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch, host: str, *, warned: bool
) -> None:
    def serve(
        _library: object, address: over_http.Address, *, remember: bool, announce: Any
    ) -> None:
        assert address.allow_hosts == ("library.example.org",)
        announce(over_http.url(address.host, address.port))
        raise KeyboardInterrupt

    monkeypatch.setattr(over_http, "serve", serve)
    result = chapterhouse("mcp", "--http", "--host", host, "--allow-host", "library.example.org")
    assert result.code == 130
    assert f"Serving MCP at http://{host}:8431/mcp." in result.err
    assert ("no login yet" in result.err) == warned
    assert result.out == ""
