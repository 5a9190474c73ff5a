"""Language models over HTTP: the form of the answer."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.models.chat_server import ChatServer, Reply, ToolCall

from chapterhouse.errors import EngineError
from chapterhouse.models.scripted import ScriptedModel
from chapterhouse.models.writer import PydanticWriter
from chapterhouse.types import OutputFormat, Tool

Serve = Callable[..., tuple[PydanticWriter, ChatServer]]

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
    """Return the schema that a service was asked for, in any protocol."""
    if "response_format" in body:
        assert body["response_format"]["type"] == "json_schema"
        return body["response_format"]["json_schema"]["schema"]
    if "output_config" in body:
        return body["output_config"]["format"]["schema"]
    return body.get("generationConfig", {}).get("responseJsonSchema")


def write(model: PydanticWriter | ScriptedModel, **choices: Any) -> str:
    return asyncio.run(model.write("Be brief.", "When?", output=FORM, **choices)).text


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("engine", "name"),
    [
        ("openai", "writer"),
        ("openai", "qwen3:8b"),
        ("anthropic", "claude-haiku-4-5"),
        ("google", "gemini-2.5-flash"),
        ("google", "gemini-3-flash"),
    ],
)
def test_the_service_is_asked_for_the_form(
    serve: Serve, engine: str, name: str, *, stream: bool
) -> None:
    model, server = serve([WRITTEN], engine, model=name)
    pieces: list[str] = []
    assert write(model, on_text=pieces.append if stream else None) == WRITTEN
    assert not stream or "".join(pieces) == WRITTEN
    (request,) = server.requests
    form = asked_form(request.body)
    assert set(form["properties"]) == {"claims", "stance"}
    assert form["required"] == ["claims", "stance"]
    assert form["properties"]["stance"]["enum"] == ["for", "against"]


def test_openai_is_held_to_the_schema_as_it_is(serve: Serve) -> None:
    model, server = serve([WRITTEN])
    write(model)
    assert server.requests[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "turn", "schema": SCHEMA, "strict": True},
    }


@pytest.mark.parametrize(
    ("engine", "name", "both"),
    [
        ("openai", "writer", False),  # a schema would shut out the calls there
        ("anthropic", "claude-haiku-4-5", True),
        ("google", "gemini-2.5-flash", False),
        ("google", "gemini-3-flash", True),
    ],
)
def test_tools_are_called_beside_it(serve: Serve, engine: str, name: str, *, both: bool) -> None:
    model, server = serve([[ToolCall("clock")], WRITTEN], engine, model=name)
    assert write(model, tools=[CLOCK]) == WRITTEN
    assert len(server.requests) == 2
    assert [asked_form(request.body) is not None for request in server.requests] == [both, both]


def test_a_model_that_knows_no_form_is_asked_in_words_only(serve: Serve) -> None:
    model, server = serve([WRITTEN], "anthropic", model="claude-3-haiku")
    assert write(model) == WRITTEN
    assert asked_form(server.requests[0].body) is None


REFUSALS = (
    Reply(status=400, body={"error": {"message": "response_format is not supported"}}),
    Reply(status=422, body={"detail": "Extra inputs are not permitted"}),
    Reply(status=500, body={"error": {"message": "failed to parse grammar"}}),
)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize(
    ("engine", "name"),
    [("openai", "w"), ("anthropic", "claude-haiku-4-5"), ("google", "gemini-2.5-flash")],
)
def test_a_service_that_refuses_it_is_asked_without(
    serve: Serve, slept: list[float], engine: str, name: str, refusal: Reply, *, stream: bool
) -> None:
    model, server = serve([refusal, WRITTEN], engine, model=name)
    choices = {"on_text": (lambda _: None)} if stream else {}
    assert write(model, **choices) == WRITTEN
    assert not slept
    assert write(model, **choices) == WRITTEN  # and is not asked for it again
    forms = [asked_form(request.body) is not None for request in server.requests]
    assert forms == [True, False, False]


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
