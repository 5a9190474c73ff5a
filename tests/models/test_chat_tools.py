import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.models.chat_server import ChatServer, Reply, Request, ToolCall

from chapterhouse.errors import EngineError, UsageError
from chapterhouse.models.chat import ROUNDS, ChatModel
from chapterhouse.models.scripted import ScriptedModel
from chapterhouse.types import OutputFormat, Tool

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


def test_wrong_calls_are_answered_and_wrong_tools_refused(serve: Serve) -> None:
    model, server = serve([[ToolCall("look_up", {"harbour": 3})], "I could not find out."])
    writing = asyncio.run(model.write("", QUESTION, tools=[timetable()]))
    told = "failed: harbour: 3 is not of type 'string'"
    assert [(made.result, made.failed) for made in writing.tool_calls] == [(told, True)]
    assert told in server.requests[1].everything_else
    with pytest.raises(UsageError):
        asyncio.run(model.write("", QUESTION, tools=[Tool("a b", "", {"type": "object"}, str)]))
    assert len(server.requests) == 2


def test_a_call_that_was_cut_is_told(serve: Serve) -> None:
    model, server = serve([Reply(calls=[ToolCall("look_up", '{"har')], finish="length")])
    with pytest.raises(EngineError, match="in the middle of a call"):
        asyncio.run(model.write("", QUESTION, tools=[timetable()]))
    assert len(server.requests) == 1


SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "claims": {"type": "array", "items": {"type": "string", "description": "One fact."}},
        "stance": {"type": "string", "enum": ["for", "against"], "description": "Which."},
    },
    "required": ["claims", "stance"],
    "additionalProperties": False,
}
FORM = OutputFormat("turn", SCHEMA)
WRITTEN = '{"claims": ["At nine."], "stance": "for"}'
CLOCK = Tool("clock", "Tells the time.", {"type": "object", "properties": {}}, lambda _: "Nine.")


def asked_form(body: Any) -> Any:
    """Return the schema that a service was asked for."""
    return body["response_format"]["json_schema"]["schema"] if "response_format" in body else None


def write(model: ChatModel | ScriptedModel, **choices: Any) -> str:
    return asyncio.run(model.write("Be brief.", "When?", output=FORM, **choices)).text


@pytest.mark.parametrize("stream", [False, True])
def test_the_service_is_asked_for_the_form(serve: Serve, *, stream: bool) -> None:
    model, server = serve([WRITTEN])
    pieces: list[str] = []
    assert write(model, on_text=pieces.append if stream else None) == WRITTEN
    assert not stream or "".join(pieces) == WRITTEN
    assert server.requests[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "turn", "schema": SCHEMA, "strict": True},
    }


def test_beside_tools_it_is_wanted_in_words_only(serve: Serve) -> None:
    model, server = serve([[ToolCall("clock")], WRITTEN])  # a schema would shut out the calls
    assert write(model, tools=[CLOCK]) == WRITTEN
    assert [asked_form(request.body) for request in server.requests] == [None, None]


REFUSALS = (
    Reply(status=400, body={"error": {"message": "response_format is not supported"}}),
    Reply(status=422, body={"detail": "Extra inputs are not permitted"}),
    Reply(status=500, body={"error": {"message": "failed to parse grammar"}}),
)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_service_that_refuses_it_is_asked_without(
    serve: Serve, slept: list[float], refusal: Reply, *, stream: bool
) -> None:
    model, server = serve([refusal, WRITTEN])
    choices = {"on_text": (lambda _: None)} if stream else {}
    assert write(model, **choices) == WRITTEN
    assert not slept
    assert write(model, **choices) == WRITTEN  # and is not asked for it again
    forms = [asked_form(request.body) is not None for request in server.requests]
    assert forms == [True, False, False]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("part", ["temperature", "stream_options", "reasoning_effort"])
def test_other_parts_refused_are_left_out(serve: Serve, part: str, *, stream: bool) -> None:
    def script(request: Request) -> Reply:
        why = {"detail": [{"type": "extra_forbidden", "loc": ["body", part]}]}
        return Reply(status=422, body=why) if part in request.body else Reply(WRITTEN)

    model, server = serve(script, thinking="low")
    choices = {"on_text": (lambda _: None)} if stream else {}
    for _ in range(2):
        assert write(model, **choices) == WRITTEN
    was_refused = part != "stream_options" or stream
    assert len(server.requests) == (3 if was_refused else 2)
    assert asked_form(server.requests[-1].body) is not None


def test_what_is_wrong_beside_the_form_stays_an_error(serve: Serve) -> None:
    wrong = Reply(status=400, body={"error": {"message": "no such model"}})
    model, server = serve([wrong, wrong, WRITTEN])
    with pytest.raises(EngineError, match="no such model"):
        write(model)
    assert len(server.requests) == 2
    assert write(model) == WRITTEN
    assert asked_form(server.requests[2].body) is not None  # the form was not at fault


@pytest.mark.parametrize("status", [401, 404, 429])
def test_other_errors_do_not_cost_a_second_request(serve: Serve, status: int) -> None:
    model, server = serve([Reply(status=status, body={"error": "x"}), WRITTEN], attempts=1)
    with pytest.raises(EngineError):
        write(model)
    assert len(server.requests) == 1
