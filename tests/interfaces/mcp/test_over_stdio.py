import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chapterhouse.library import Library

from .conftest import Built, connected, environment, stdio

_CLIENT = '"capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}'
_PARAMS = f'{{"protocolVersion": "2025-06-18", {_CLIENT}}}'
INITIALIZED = (
    f'{{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {_PARAMS}}}',
    '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
)


class Process:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []

    def send(self, *messages: object) -> None:
        assert self.process.stdin
        for message in messages:
            self.process.stdin.write(
                (message if isinstance(message, str) else json.dumps(message)) + "\n"
            )
        self.process.stdin.flush()

    def answer(self, number: int) -> dict[str, Any]:
        assert self.process.stdout
        while True:
            line = self.process.stdout.readline()
            assert line, "it ended"
            self.lines.append(line)
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == number:
                return message

    def call(self, number: int, name: str, **arguments: object) -> dict[str, Any]:
        self.send(called(number, name, **arguments))
        return self.answer(number)


def called(number: int, name: str, **arguments: object) -> dict[str, object]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@contextmanager
def process(home: Path, *options: str) -> Iterator[Process]:
    command = [*Built(home).command, *options]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, text=True, env=environment(), **pipes) as started:  # type: ignore[call-overload]  # the pipes
        try:
            yield Process(started)
        finally:
            started.kill()


def test_standard_output_is_the_protocols_alone_while_folders_are_read(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Library.open(home) as library:
        made = library.personas.create("maria", folders=[str(tmp_path / "papers")])
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "tides.md").write_text("# Tides\n\nHigh water at Osk is at four o'clock.\n", "utf-8")
    (papers / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing of a file")
    (made.raw / "note.html").write_text("<h1>Note</h1><p>The pier has nine lamps.</p>", "utf-8")
    with process(home) as server:
        server.send(*INITIALIZED, "this is no JSON", '{"jsonrpc": "2.0"}')
        found = server.call(1, "ask", question="When is high water at Osk?", persona="maria")
        assert "four o'clock" in found["result"]["structuredContent"]["text"]
        assert server.process.stdin
        server.process.stdin.close()
        assert server.process.stdout
        server.lines += server.process.stdout.readlines()
        assert server.process.wait(timeout=10) == 0
        assert server.process.stderr
        assert "Traceback" not in server.process.stderr.read()
    for line in server.lines:
        assert json.loads(line)["jsonrpc"] == "2.0"


def test_many_calls_at_once_are_answered_and_ctrl_c_ends_it_at_once(built: Built) -> None:
    with process(built.home) as server:
        server.send(*INITIALIZED)
        server.answer(0)
        asked = {number: f"berth {number}" for number in range(1, 25)}
        server.send(*(called(n, "search", query=query) for n, query in asked.items()))
        found: dict[int, dict[str, Any]] = {}
        assert server.process.stdout
        while len(found) < len(asked):
            message = json.loads(server.process.stdout.readline())
            found[message["id"]] = message["result"]
        assert set(found) == set(asked)
        assert not any(result.get("isError") for result in found.values())
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=10) == 130
        assert server.process.stdout.read() == ""
        assert server.process.stderr
        assert server.process.stderr.read().splitlines()[0] == "chapterhouse: Stopped."


def test_a_client_that_went_away_is_no_error(built: Built) -> None:
    with process(built.home) as server:
        server.send(*INITIALIZED)
        server.answer(0)
        assert server.process.stdout
        server.process.stdout.close()
        server.send(called(1, "list_personas"))
        assert server.process.stdin
        server.process.stdin.close()
        assert server.process.wait(timeout=10) in {0, 1}
        assert server.process.stderr
        assert "Traceback" not in server.process.stderr.read()


def test_a_changed_setting_holds_at_the_next_call_and_with_memory_it_remembers(
    tmp_path: Path,
) -> None:
    home, question = tmp_path / "home", "When is high water at Osk?"
    with Library.open(home) as library:
        library.documents.add_text("# Tides\n\nHigh water at Osk is at four.\n")
        with connected(stdio(Built(home), "--memory"), "stdio") as caller:
            tools = caller.run(caller.client.list_tools).tools
            writing = {tool.name for tool in tools if not tool.annotations.read_only_hint}
            assert writing == {"ask", "convene"}
            assert not any(t.annotations.idempotent_hint for t in tools if t.name in writing)
            assert not any(tool.annotations.destructive_hint for tool in tools)
            for least, outcome in ((0.0, "answer"), (0.99, "not-found"), (0.0, "answer")):
                library.configuration.change("search.min_similarity", least, by="test")
                assert caller.data("ask", question=question)["outcome"] == outcome
        kept = library.memory.memories(("",), 10, int(time.time()))
        assert {memory.question for memory in kept} == {question}
