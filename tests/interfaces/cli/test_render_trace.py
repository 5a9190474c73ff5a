"""``--trace``: what people and programs see of what was done."""

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from chapterhouse.interfaces.cli import envelope
from chapterhouse.presenting.terminal import draw
from chapterhouse.telemetry import collecting, operations, span, tool_span

RULES = "# Rules\n\nInside the harbour no vessel may exceed 4 knots.\n"
QUESTION = "How fast may a vessel go in the harbour?"


@pytest.fixture
def home(tmp_path: Path, chapterhouse: Any) -> Path:
    (tmp_path / "rules.md").write_text(RULES, "utf-8")
    made = tmp_path / "home"
    assert chapterhouse("add", tmp_path / "rules.md", "--home", made).code == 0
    return made


def test_the_tree_stands_on_standard_error(chapterhouse: Any, home: Path) -> None:
    plain = chapterhouse("ask", QUESTION, "--home", home)
    traced = chapterhouse("ask", QUESTION, "--home", home, "--trace")
    assert (plain.code, traced.code) == (0, 0)
    assert traced.out == plain.out
    assert plain.err == ""
    lines = traced.err.splitlines()
    assert re.fullmatch(r"invoke_agent library  [\d.]+ m?s", lines[0])
    assert f"  asked: {QUESTION}" in lines
    assert any(re.fullmatch(r"  retrieval  [\d.]+ m?s", line) for line in lines)
    assert "    top k: 8 · hits: 1 · searched documents: 1 · searched chunks: 1" in lines
    assert f"    query: {QUESTION}" in lines


def test_with_json_it_is_data_beside_the_answer(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    plain = chapterhouse("ask", QUESTION, "--home", home, "--json").envelope
    result = chapterhouse("ask", QUESTION, "--home", home, "--json", "--trace")
    assert result.err == ""
    traced = result.envelope
    assert traced["data"] == plain["data"]
    assert "trace" not in plain["meta"]
    (asked,) = traced["meta"]["trace"]
    assert asked["name"] == "invoke_agent library"
    assert asked["content"]["gen_ai.input.messages"] == QUESTION
    (found,) = asked["children"]
    assert found["attributes"]["gen_ai.request.top_k"] == 8
    assert found["content"]["gen_ai.retrieval.documents"][0]["title"] == "Rules"
    assert 0 <= found["start_seconds"] <= found["start_seconds"] + found["seconds"]

    saved = tmp_path / "answer.json"
    saved.write_text(result.out, "utf-8")
    assert chapterhouse("verify", saved, "--home", home).code == 0


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for pair in value.items() for one in pair for text in strings(one))
    elif isinstance(value, list):
        yield from (text for one in value for text in strings(one))


def rendered(trace: Any) -> str:
    target = Console(file=StringIO(), markup=False, highlight=False, width=10_000)
    draw(target, envelope.trace_blocks(trace))
    assert isinstance(target.file, StringIO)
    return target.file.getvalue()


def test_calls_of_tools_are_shown_with_arguments_results_and_times() -> None:
    with (
        collecting() as trace,
        tool_span("search_documents") as recorder,
    ):
        recorder.set_content(operations.TOOL_ARGUMENTS, {"query": "speed"})
        recorder.event("start")
        recorder.caught(ValueError("no"))
        recorder.set_content(operations.TOOL_RESULT, "a b\n" * 100)
    lines = re.sub(r"[\d.]+ ms", "TIME", rendered(trace)).splitlines()
    assert lines == [
        "execute_tool search_documents  TIME  ValueError",
        '  arguments: {"query": "speed"}',
        f"  result: {('a b ' * 25)[:99]}…",
        "  start after TIME",
        "  exception after TIME  type: ValueError · message: no",
    ]


def test_nothing_that_is_told_steers_a_terminal() -> None:
    hostile = "\x1b[2J[bold red]PAID[/bold red]\x1b]8;;http://x\x07\n\r\u202e"
    with (
        collecting() as trace,
        span(hostile, {hostile: hostile}, {hostile: {hostile: [hostile]}}) as recorder,
    ):
        recorder.event(hostile, {hostile: hostile}, {hostile: hostile})
        recorder.fail(hostile)
    shown = rendered(trace)
    data = "".join(strings(envelope.trace_data(trace)))
    for character in "\x1b\x07\r\u202e":
        assert character not in shown
        assert character not in data
    assert "[bold red]PAID[/bold red]" in shown  # it is text


@pytest.fixture
def collector() -> Iterator[tuple[str, list[bytes]]]:
    sent: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - its name there
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", sent
    server.shutdown()
    thread.join()
    server.server_close()


def test_with_an_endpoint_it_is_sent(
    chapterhouse: Any, home: Path, collector: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, sent = collector
    chapterhouse("ask", QUESTION, "--home", home)
    assert sent == []  # nothing is sent until somebody says where

    monkeypatch.setenv("CHAPTERHOUSE_TELEMETRY__ENDPOINT", address)
    result = chapterhouse("ask", QUESTION, "--home", home)
    assert (result.code, result.err) == (0, "")
    assert b"invoke_agent library" in sent[0]
    assert b"retrieval" in sent[0]
    for words in (b"vessel", b"knots", b"harbour", b"rules"):
        assert words not in sent[0]

    monkeypatch.setenv("CHAPTERHOUSE_TELEMETRY__CONTENT", "true")
    chapterhouse("ask", QUESTION, "--home", home)
    assert QUESTION.encode() in sent[1]


def test_a_collector_that_is_not_there_breaks_nothing(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = chapterhouse("ask", QUESTION, "--home", home)
    monkeypatch.setenv("CHAPTERHOUSE_TELEMETRY__ENDPOINT", "http://127.0.0.1:9")
    result = chapterhouse("ask", QUESTION, "--home", home)
    assert result.code == 0
    assert result.out == plain.out
    said = "chapterhouse: The collector at http://127.0.0.1:9 did not take all that was recorded.\n"
    assert result.err == said


def test_an_address_that_is_none_is_refused(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wrong in ("collector:4318", "ftp://host/", "http://me:secret@host"):
        monkeypatch.setenv("CHAPTERHOUSE_TELEMETRY__ENDPOINT", wrong)
        result = chapterhouse("ask", QUESTION, "--home", home)
        assert result.code == 2
        assert "telemetry.endpoint" in result.err
