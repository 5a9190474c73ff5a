"""Language models over HTTP: the form of the answer."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.models.chat_server import ChatServer, Reply, Request, ToolCall

from chapterhouse.errors import EngineError
from chapterhouse.models.chat import ChatModel
from chapterhouse.models.scripted import ScriptedModel
from chapterhouse.types import OutputFormat, Tool

Serve = Callable[..., tuple[ChatModel, ChatServer]]

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
def test_other_parts_that_a_service_refuses_are_left_out(
    serve: Serve, part: str, *, stream: bool
) -> None:
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


def test_a_stream_that_breaks_off_is_not_asked_for_again(serve: Serve) -> None:
    model, server = serve([Reply(WRITTEN, cut=4), WRITTEN])
    with pytest.raises(EngineError, match="broke off"):
        write(model, on_text=lambda _: None)
    assert len(server.requests) == 1


def test_without_a_form_nothing_changes(serve: Serve) -> None:
    model, server = serve(["At nine."])
    assert asyncio.run(model.write("", "When?")).text == "At nine."
    assert asked_form(server.requests[0].body) is None


def test_a_script_remembers_it() -> None:
    scripted = ScriptedModel([WRITTEN, "At nine.", "At ten."])
    assert write(scripted) == WRITTEN
    asyncio.run(scripted.write("", "When?"))
    scripted.complete("", "When?")
    assert scripted.formats == [FORM, None, None]
