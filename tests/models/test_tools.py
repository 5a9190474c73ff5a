import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.tool_runs import run_call

from chapterhouse.errors import UsageError
from chapterhouse.models.tools import check_tools, run_calls, schema_errors
from chapterhouse.telemetry import TraceSpan, collecting, span
from chapterhouse.types import Tool, ToolCall

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "question": {"type": "string", "minLength": 1, "maxLength": 9, "description": "What."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 20},
        "kind": {"enum": ["pdf", "html"]},
        "shelves": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
    },
    "required": ["question"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ({"question": "a"}, []),
        ({"question": "a", "limit": 20, "kind": "pdf", "shelves": ["b"]}, []),
        ({}, ["'question' is a required property"]),
        ([], ["[] is not of type 'object'"]),
        ({"question": "a", "limit": 0}, ["limit: 0 is less than the minimum of 1"]),
        ({"question": "a", "kind": "doc"}, ["kind: 'doc' is not one of ['pdf', 'html']"]),
        ({"question": "a", "shelves": ["b", 3]}, ["shelves[1]: 3 is not of type 'string'"]),
        (
            {"question": "a", "other": 1},
            ["Additional properties are not allowed ('other' was unexpected)"],
        ),
    ],
)
def test_arguments_are_held_to_the_schema(value: object, wrong: list[str]) -> None:
    assert list(schema_errors(value, SCHEMA)) == wrong


@pytest.mark.parametrize("part", [{"type": "date"}, {"pattern": "("}, {"minLength": "1"}])
def test_a_schema_that_is_none_is_refused(part: dict[str, Any]) -> None:
    tool = Tool("search", "", {"type": "object", "properties": {"a": part}}, str)
    with pytest.raises(UsageError, match="schema of the tool search is none"):
        check_tools([tool])


@pytest.mark.parametrize("place", ["http://127.0.0.1:9/schema", "#/nowhere", "#"])
def test_references_stay_inside_the_schema(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("something is fetched"))
    tool = Tool("search", "", {"type": "object", "allOf": [{"$ref": place}]}, lambda _: "done")
    check_tools([tool])
    assert run_call([tool], "search", "{}").result.startswith("failed: the tool's schema cannot")
    own = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/b"}},
        "$defs": {"b": {"enum": [1]}},
    }
    assert list(schema_errors({"a": 1}, own)) == []
    assert list(schema_errors({"a": 2}, own)) == ["a: 2 is not one of [1]"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(VALUES)
def test_any_arguments_are_answered(value: Any) -> None:
    called: list[Mapping[str, object]] = []

    def call(arguments: Mapping[str, object]) -> str:
        called.append(arguments)
        return "done"

    tool = Tool("search", "", SCHEMA, call)
    check_tools([tool])
    made = run_call([tool], "search", value if isinstance(value, dict) else "x")
    assert made.failed != bool(called)
    assert made.result.startswith("failed") == made.failed


@given(st.text(max_size=40))
def test_any_text_as_arguments_is_answered(written: str) -> None:
    tool = Tool("search", "", SCHEMA, lambda _: "done")
    assert run_call([tool], "search", written).failed
    assert run_call([tool], written, "{}").failed


def test_what_a_reader_could_not_see_reaches_no_tool() -> None:
    tool = Tool("search", "", SCHEMA, lambda arguments: f"{arguments['question']}\u200b")
    made = run_call([tool], "search", '{"question": "a\\u202eb"}')
    assert made.arguments == {"question": "ab"}
    assert made.result == "ab"


def test_time_is_taken() -> None:
    moments = iter([1.0, 3.5])
    tool = Tool("search", "", {"type": "object"}, lambda _: "done")
    assert run_call([tool], "search", "", lambda: next(moments)).seconds == 2.5


ANYTHING: dict[str, Any] = {"type": "object"}


def run(tool: Tool, arguments: Any = "{}") -> ToolCall:
    return run_call([tool], tool.name, arguments)


def test_a_long_result_is_cut_and_says_so() -> None:
    tool = Tool("read", "", ANYTHING, lambda _: "ä" * 2_000, maximum_characters=1_500)
    made = run(tool, "{}")
    assert made.result == "ä" * 1_500 + "\n(cut: 1,500 of 2,000 characters are shown)"
    assert not made.failed
    whole = Tool("read", "", ANYTHING, lambda _: "ä" * 1_500, maximum_characters=1_500)
    assert run(whole, "{}").result == "ä" * 1_500


def test_a_result_that_is_no_text_is_a_failure() -> None:
    call: Any = lambda _: ["no", "text"]  # noqa: E731 - as a careless caller would pass it
    assert run(Tool("list", "", ANYTHING, call), "{}").failed


def test_a_tool_sees_the_context_of_its_caller() -> None:
    who = ContextVar("who", default="nobody")
    who.set("maria")
    assert run(Tool("who", "", ANYTHING, lambda _: who.get()), "{}").result == "maria"


def test_calls_of_one_response_run_side_by_side_and_are_answered_in_order() -> None:
    together = threading.Barrier(4)  # nobody gets past it alone

    def call(arguments: Mapping[str, object]) -> str:
        together.wait(60)
        return f"{arguments['number']}"

    tool = Tool("count", "", ANYTHING, call, parallel=True)
    calls = [("count", {"number": number}) for number in range(4)]
    made = asyncio.run(run_calls([tool], calls))
    assert [one.result for one in made] == ["0", "1", "2", "3"]


def test_calls_of_a_tool_that_remembers_run_in_their_order() -> None:
    heard: list[object] = []

    def call(arguments: Mapping[str, object]) -> str:
        before = len(heard)
        time.sleep(0.01)  # long enough for another to come between
        heard.append(arguments["number"])
        return str(len(heard) - before)

    tool = Tool("remember", "", ANYTHING, call)
    calls = [("remember", {"number": number}) for number in range(5)]
    made = asyncio.run(run_calls([tool], calls))
    assert heard == [0, 1, 2, 3, 4]
    assert [one.result for one in made] == ["1"] * 5


def test_wrong_calls_among_right_ones_are_answered_in_their_place() -> None:
    tool = Tool("search", "", SCHEMA, lambda _: "done")
    calls = [("search", "{}"), ("search", '{"question": "a"}'), ("sink", None)]
    made = asyncio.run(run_calls([tool], calls))
    assert [one.failed for one in made] == [True, False, True]
    assert asyncio.run(run_calls([tool], [])) == ()


def test_giving_up_does_not_wait_for_a_call() -> None:
    release, ended = threading.Event(), threading.Event()

    def wait(_: Mapping[str, object]) -> str:
        release.wait(60)
        ended.set()
        return ""

    tool = Tool("wait", "", ANYTHING, wait)

    async def impatient() -> None:
        async with asyncio.timeout(0.05):
            await run_calls([tool], [("wait", "{}")])

    with pytest.raises(TimeoutError):
        asyncio.run(impatient())
    assert not ended.is_set()
    release.set()


@pytest.mark.parametrize("lacking", [{"timeout_seconds": 0.0}, {"maximum_characters": 0}])
def test_a_tool_needs_time_and_room(lacking: dict[str, Any]) -> None:
    check_tools([Tool("a", "", ANYTHING, str, timeout_seconds=0.1, maximum_characters=1)])
    with pytest.raises(UsageError, match="needs time"):
        check_tools([Tool("a", "", ANYTHING, str, **lacking)])


ARGUMENTS: dict[str, Any] = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "additionalProperties": False,
}


def looked(call: Callable[[Mapping[str, object]], str], arguments: object) -> TraceSpan:
    tool = Tool("look", "", ARGUMENTS, call, timeout_seconds=0.2)
    with collecting() as trace:
        run(tool, arguments)
    (one,) = trace.roots
    return one


def test_a_call_tells_when_it_starts_and_stops() -> None:
    def call(arguments: Mapping[str, object]) -> str:
        with span("inside"):
            return f"found {arguments['word']}"

    one = looked(call, '{"word": "a\\u202eb"}')
    assert one.name == "execute_tool look"
    assert one.content == {
        "gen_ai.tool.call.arguments": {"word": "ab"},
        "gen_ai.tool.call.result": "found ab",
    }
    assert [event.name for event in one.events] == ["start", "stop"]
    assert [child.name for child in one.children] == ["inside"]
    assert one.error == ""


@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (ValueError("secret"), "ValueError", "failed"),
        (UsageError("Say what."), "chapterhouse.errors.UsageError", "failed: Say what."),
        (SystemExit(3), "SystemExit", "failed"),
        (TimeoutError("secret"), "TimeoutError", "failed"),
    ],
)
def test_what_it_raises_is_told(error: BaseException, kind: str, told: str) -> None:
    def call(_: Mapping[str, object]) -> str:
        raise error

    one = looked(call, {})
    assert one.error == kind
    assert [event.name for event in one.events] == ["start", "exception"]
    assert one.events[1].attributes == {"exception.type": kind}
    assert one.content["gen_ai.tool.call.result"] == told


def test_what_hangs_is_told() -> None:
    release = threading.Event()
    one = looked(lambda _: str(release.wait(60)), None)
    assert one.error == "TimeoutError"
    assert one.events[-1].name == "exception"
    told = "failed: look took longer than 0.2 seconds"
    assert one.content["gen_ai.tool.call.result"] == told
    release.set()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('{"other": 1}', {"other": 1}),
        ("no\u200b JSON", "no JSON"),
        ("[1]", "[1]"),
        ('{"word": NaN}', '{"word": NaN}'),
    ],
)
def test_what_is_refused_is_told(arguments: str, told: object) -> None:
    one = looked(lambda _: "never", arguments)
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
