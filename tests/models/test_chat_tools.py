"""Language models over HTTP that call tools."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.models.chat_server import ChatServer, Reply, Request, ToolCall

from chapterhouse.errors import EngineError, UsageError
from chapterhouse.models.chat import ROUNDS, ChatModel
from chapterhouse.types import Tool, Usage

QUESTION = "When does the ferry leave?"
Serve = Callable[..., tuple[ChatModel, ChatServer]]


def timetable(result: str = "At nine.") -> Tool:
    return Tool(
        "look_up",
        "Looks a harbour up in the timetable.",
        {
            "type": "object",
            "properties": {"harbour": {"type": "string", "minLength": 1}},
            "required": ["harbour"],
            "additionalProperties": False,
        },
        lambda arguments: f"{arguments['harbour']}: {result}",
    )


LOOK_UP = [ToolCall("look_up", {"harbour": "Varnholm"})]


@pytest.mark.parametrize("stream", [False, True])
def test_a_tool_is_called_and_its_result_told(serve: Serve, *, stream: bool) -> None:
    first = Reply("Let me see.", calls=LOOK_UP, thoughts="Hmm.")
    model, server = serve([first, "At nine, says the timetable."])
    heard: list[str] = []
    writing = asyncio.run(
        model.write("", QUESTION, tools=[timetable()], on_text=heard.append if stream else None)
    )
    assert writing.text == "At nine, says the timetable."
    (call,) = writing.tool_calls
    assert (call.name, call.arguments) == ("look_up", {"harbour": "Varnholm"})
    assert (call.result, call.failed) == ("Varnholm: At nine.", False)
    assert 0 <= call.seconds < 5
    assert writing.usage == Usage(2, 22, 14)
    assert "".join(heard) == ("Let me see.At nine, says the timetable." if stream else "")
    assert "Varnholm: At nine." in server.requests[1].everything_else
    assert "look_up" in str(server.requests[0].body["tools"])


def test_a_call_of_an_external_tool_ends_the_writing(serve: Serve) -> None:
    schema = {"type": "object", "properties": {"harbour": {"$ref": "#/never-checked"}}}
    theirs = replace(timetable(), name="theirs", parameters=schema, external=True)
    calls = [ToolCall("theirs", {"harbour": "Ness"}), *LOOK_UP]
    model, server = serve([calls])
    writing = asyncio.run(model.write("", QUESTION, tools=[timetable(), theirs]))
    (wanted,) = writing.wanted
    assert (wanted.name, json.loads(wanted.arguments)) == ("theirs", {"harbour": "Ness"})
    assert not writing.tool_calls  # nobody waits for what would be told to nobody
    assert len(server.requests) == 1


def test_tools_may_be_called_at_once(serve: Serve) -> None:
    calls = [ToolCall("look_up", {"harbour": name}) for name in ("Varnholm", "Skerry", "Ness")]
    model, server = serve([calls, "Done."])
    writing = asyncio.run(model.write("", QUESTION, tools=[timetable()], on_text=lambda _: None))
    assert [call.arguments["harbour"] for call in writing.tool_calls] == [
        "Varnholm",
        "Skerry",
        "Ness",
    ]
    answers = [m for m in server.requests[1].body["messages"] if m["role"] == "tool"]
    assert [answer["tool_call_id"] for answer in answers] == ["call_0", "call_1", "call_2"]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (ToolCall("look_up", {}), "failed: 'harbour' is a required property"),
        (ToolCall("look_up", {"harbour": 3}), "failed: harbour: 3 is not of type 'string'"),
        (
            ToolCall("look_up", {"harbour": "a", "day": 1}),
            "failed: Additional properties are not allowed ('day' was unexpected)",
        ),
        (ToolCall("look_up", '{"harbour": '), "failed: the arguments are not a JSON object"),
        (ToolCall("look_up", "[1]"), "failed: the arguments are not a JSON object"),
        (ToolCall("sink", {}), "failed: there is no tool sink; there are look_up"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_wrong_call_is_answered(serve: Serve, call: ToolCall, told: str, *, stream: bool) -> None:
    model, server = serve([[call], "I could not find out."])
    hear = (lambda _: None) if stream else None
    writing = asyncio.run(model.write("", QUESTION, tools=[timetable()], on_text=hear))
    assert writing.text == "I could not find out."
    assert [(made.result, made.failed) for made in writing.tool_calls] == [(told, True)]
    assert told in server.requests[1].everything_else


def test_a_tool_that_fails_is_answered(serve: Serve) -> None:
    def fail(_: object) -> str:
        raise ValueError("a secret of the house")

    def explain(_: object) -> str:
        raise UsageError("Name a harbour.")

    tools = [
        Tool(name, "", {"type": "object"}, call) for name, call in (("a", fail), ("b", explain))
    ]
    model, server = serve([[ToolCall("a"), ToolCall("b")], "No luck."])
    writing = asyncio.run(model.write("", QUESTION, tools=tools))
    assert [made.result for made in writing.tool_calls] == ["failed", "failed: Name a harbour."]
    assert all(made.failed for made in writing.tool_calls)
    assert "secret" not in str(server.requests[1].body)


def test_calling_tools_comes_to_an_end(serve: Serve) -> None:
    def script(request: Request) -> Any:
        return "At nine." if request.body["tool_choice"] == "none" else LOOK_UP

    model, server = serve(script)
    writing = asyncio.run(model.write("", QUESTION, tools=[timetable()]))
    assert writing.text == "At nine."
    assert len(writing.tool_calls) == ROUNDS
    assert len(server.requests) == ROUNDS + 1

    model, server = serve([LOOK_UP])
    with pytest.raises(EngineError, match=f"called tools {ROUNDS} times"):
        asyncio.run(model.write("", QUESTION, tools=[timetable()]))
    assert len(server.requests) == ROUNDS + 1


def test_what_stood_before_the_last_call_counts_where_nothing_follows(serve: Serve) -> None:
    model, _ = serve([Reply("At nine.", calls=LOOK_UP), Reply("")])
    assert asyncio.run(model.write("", QUESTION, tools=[timetable()])).text == "At nine."


def test_a_model_is_not_reminded_of_its_thoughts(serve: Serve) -> None:
    model, server = serve([Reply("<think>Hmm.</think>Wait.", calls=LOOK_UP), "At nine."])
    asyncio.run(model.write("", QUESTION, tools=[timetable()]))
    (said,) = (m for m in server.requests[1].body["messages"] if m["role"] == "assistant")
    assert said["content"] == "Wait."


def test_tools_that_cannot_be_used_are_refused(serve: Serve) -> None:
    model, server = serve(["x"])
    for tools in (
        [Tool("a b", "", {"type": "object"}, str)],
        [Tool("a", "", {"type": "object"}, str)] * 2,
        [Tool("a", "", {"type": "string"}, str)],
        [Tool("a", "", {"type": "object", "required": "b"}, str)],
        [Tool("a", "", {"type": "object", "properties": {"b": {"type": "date"}}}, str)],
    ):
        with pytest.raises(UsageError):
            asyncio.run(model.write("", QUESTION, tools=tools))
    assert not server.requests


def test_a_call_that_was_cut_is_told(serve: Serve) -> None:
    model, server = serve([Reply(calls=[ToolCall("look_up", '{"har')], finish="length")])
    with pytest.raises(EngineError, match="in the middle of a call"):
        asyncio.run(model.write("", QUESTION, tools=[timetable()]))
    assert len(server.requests) == 1
