"""What is told of calls of tools while they are carried out."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from chapterhouse.errors import UsageError
from chapterhouse.models.tool_calls import run_call, run_calls
from chapterhouse.telemetry import TraceSpan, collecting, span
from chapterhouse.types import Tool

ARGUMENTS: dict[str, Any] = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "additionalProperties": False,
}
Run = Callable[[Tool, object], None]


def alone(tool: Tool, arguments: Any) -> None:
    run_call([tool], "look", arguments)


def among_others(tool: Tool, arguments: Any) -> None:
    asyncio.run(run_calls([tool], [("look", arguments)]))


WAYS = pytest.mark.parametrize("run", [alone, among_others])


def looked(run: Run, call: Callable[[Mapping[str, object]], str], arguments: object) -> TraceSpan:
    tool = Tool("look", "", ARGUMENTS, call, timeout_seconds=0.2)
    with collecting() as trace:
        run(tool, arguments)
    (one,) = trace.roots
    return one


@WAYS
def test_a_call_tells_when_it_starts_and_stops(run: Run) -> None:
    def call(arguments: Mapping[str, object]) -> str:
        with span("inside"):
            return f"found {arguments['word']}"

    one = looked(run, call, '{"word": "a\\u202eb"}')
    assert one.name == "execute_tool look"
    assert one.content == {
        "gen_ai.tool.call.arguments": {"word": "ab"},
        "gen_ai.tool.call.result": "found ab",
    }
    assert [event.name for event in one.events] == ["start", "stop"]
    assert [child.name for child in one.children] == ["inside"]
    assert one.error == ""


@WAYS
@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (ValueError("secret"), "ValueError", "failed"),
        (UsageError("Say what."), "chapterhouse.errors.UsageError", "failed: Say what."),
        (SystemExit(3), "SystemExit", "failed"),
    ],
)
def test_what_it_raises_is_told(run: Run, error: BaseException, kind: str, told: str) -> None:
    def call(_: Mapping[str, object]) -> str:
        raise error

    one = looked(run, call, {})
    assert one.error == kind
    assert [event.name for event in one.events] == ["start", "exception"]
    assert one.events[1].attributes == {"exception.type": kind}
    assert one.content["gen_ai.tool.call.result"] == told


@WAYS
def test_what_hangs_is_told(run: Run) -> None:
    release = threading.Event()
    one = looked(run, lambda _: str(release.wait(60)), None)
    assert one.error == "TimeoutError"
    assert one.events[-1].name == "exception"
    assert "longer than 0.2 seconds" in str(one.content["gen_ai.tool.call.result"])
    release.set()


@WAYS
@pytest.mark.parametrize(
    ("arguments", "told"),
    [('{"other": 1}', {"other": 1}), ("no\u200b JSON", "no JSON"), ("[1]", "[1]")],
)
def test_what_is_refused_is_told(run: Run, arguments: str, told: object) -> None:
    one = looked(run, lambda _: "never", arguments)
    assert one.error == "invalid_arguments"
    assert one.attributes["gen_ai.tool.name"] == "look"
    assert one.content["gen_ai.tool.call.arguments"] == told
    assert str(one.content["gen_ai.tool.call.result"]).startswith("failed: ")
    assert one.events == ()


def test_what_a_model_makes_up_is_no_name() -> None:
    with collecting() as trace:
        run_call([], "a\u202e whole sentence of a document", {"word": "a"})
    (one,) = trace.roots
    assert one.name == "execute_tool unknown"
    assert one.error == "unknown_tool"
    assert "sentence" not in f"{one.name} {one.attributes}"
    assert one.content["gen_ai.tool.call.arguments"] == {"word": "a"}
    assert "sentence" in str(one.content["gen_ai.tool.call.result"])


def test_waiting_for_ones_turn_comes_before_the_start() -> None:
    tool = Tool("look", "", ARGUMENTS, lambda _: str(threading.Event().wait(0.05)))
    with collecting() as trace:
        asyncio.run(run_calls([tool], [("look", {}), ("look", {})]))
    first, second = (one.start_seconds + one.events[0].seconds for one in trace.roots)
    assert second - first > 0.04
