"""Tools of a real server in a process of its own: offered, called, limited, and always ended."""

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.agents.declared_tools import McpServer
from chapterhouse.council.mcp_client import mcp_tools
from chapterhouse.errors import EngineError, UsageError
from chapterhouse.models.tools import check_tools, schema_errors
from chapterhouse.types import Tool

SERVER = str(Path(__file__).with_name("mcp_server.py"))


def server(*args: str, **more: Any) -> McpServer:
    return McpServer(sys.executable, (SERVER, *args), **more)


def by_name(tools: tuple[Tool, ...]) -> dict[str, Tool]:
    return {tool.name: tool for tool in tools}


def is_running(folder: Path) -> bool:
    try:
        os.kill(int((folder / "pid").read_text()), 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("council")


@pytest.fixture(scope="module")
def tools(folder: Path) -> Any:
    os.environ["SECRET_KEY"], os.environ["WANTED_KEY"] = "hidden", "shown"
    with mcp_tools(server(env=("WANTED_KEY",), timeout_seconds=20.0), folder) as found:
        yield by_name(found)
    del os.environ["SECRET_KEY"], os.environ["WANTED_KEY"]


def test_its_tools_can_be_offered_to_any_model(tools: dict[str, Tool]) -> None:
    assert set(tools) == {"find_letter", "archive_fail_now", "hang", "surroundings", "die"}
    check_tools(list(tools.values()))
    letter = tools["find_letter"]
    assert letter.description == "Find letters of the archive."
    assert not list(schema_errors({"query": "x", "year": None}, letter.parameters))
    assert not list(schema_errors({"query": "x", "year": 1920}, letter.parameters))
    assert list(schema_errors({"query": "x", "year": "1920"}, letter.parameters))
    assert list(schema_errors({"year": 1920}, letter.parameters))


def test_it_is_called_and_answers_with_text(tools: dict[str, Tool]) -> None:
    assert tools["find_letter"].call({"query": "speed", "year": 1921}).endswith("knots in 1921.")


def test_what_it_says_is_wrong_is_told_without_brackets(tools: dict[str, Tool]) -> None:
    with pytest.raises(UsageError, match="no ⟦such⟧ letter"):
        tools["archive_fail_now"].call({})


def test_it_sees_the_councils_folder_and_no_secret(tools: dict[str, Tool], folder: Path) -> None:
    told = tools["surroundings"].call({})
    assert str(folder) in told
    assert "WANTED_KEY" in told
    assert "SECRET_KEY" not in told


def test_only_the_tools_that_are_wanted_are_offered(tmp_path: Path) -> None:
    with mcp_tools(server(tools=("find_letter",)), tmp_path) as found:
        assert [tool.name for tool in found] == ["find_letter"]
        assert is_running(tmp_path)
    assert not is_running(tmp_path)
    with (
        pytest.raises(UsageError, match="has no tool 'find_latter'") as caught,
        mcp_tools(server(tools=("find_latter",)), tmp_path),
    ):
        pass
    assert "find_letter" in caught.value.hint
    assert not is_running(tmp_path)


def test_a_call_that_takes_too_long_ends_and_so_does_the_server(tmp_path: Path) -> None:
    with mcp_tools(server(timeout_seconds=4.0), tmp_path) as found:
        started = time.monotonic()
        with pytest.raises(EngineError, match="the server failed"):
            by_name(found)["hang"].call({})
        assert time.monotonic() - started < 10
    assert not is_running(tmp_path)


def test_a_server_that_dies_is_told_of(tmp_path: Path) -> None:
    with mcp_tools(server(), tmp_path) as found:
        for name in ("die", "find_letter"):
            with pytest.raises(EngineError, match="the server failed"):
                by_name(found)[name].call({"query": "x"})


def test_a_server_that_does_not_want_to_end_is_killed(tmp_path: Path) -> None:
    with mcp_tools(server("stubborn"), tmp_path):
        assert is_running(tmp_path)
    assert not is_running(tmp_path)


def test_whatever_stops_a_meeting_ends_the_server(tmp_path: Path) -> None:
    def stopped() -> None:
        with mcp_tools(server(), tmp_path):
            assert is_running(tmp_path)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert not is_running(tmp_path)


def test_a_server_that_says_nothing_is_given_up(tmp_path: Path) -> None:
    with (
        pytest.raises(EngineError, match="it said nothing for 3 seconds") as caught,
        mcp_tools(server("silent", timeout_seconds=3.0), tmp_path),
    ):
        pass
    assert "Run the command by hand" in caught.value.hint
    assert not is_running(tmp_path)


@pytest.mark.parametrize(
    "command", [("no-such-program",), (sys.executable, "-c", "print('hello')")]
)
def test_what_is_no_server_is_told_of(tmp_path: Path, command: tuple[str, ...]) -> None:
    with (
        pytest.raises(EngineError, match="cannot be used"),
        mcp_tools(McpServer(command[0], command[1:], timeout_seconds=20.0), tmp_path),
    ):
        pass
