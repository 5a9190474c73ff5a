"""What each service says in OpenAI's protocol, as it words it, served over HTTP.

The answers are those of the services' own documentation and of reports of their users, cut to what
a client looks at.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.models.chat_server import ChatServer, Reply

from chapterhouse.errors import EngineError, PromptTooLongError
from chapterhouse.models.chat import ChatModel
from chapterhouse.models.presets import PRESETS, address_of
from chapterhouse.settings import LanguageModelSettings
from chapterhouse.types import Tool, Usage, Writing

Serve = Callable[..., tuple[ChatModel, ChatServer]]
QUESTION = "When does the ferry leave?"
TEXT = "At nine."
KEY = "sk-canary-8c41d7"
TOOL = Tool(
    "look_up",
    "Looks a harbour up.",
    {"type": "object", "properties": {"harbour": {"type": "string"}}, "required": ["harbour"]},
    lambda arguments: f"{arguments['harbour']}: nine",
)
CALL = {"name": "look_up", "arguments": '{"harbour": "Osk"}'}
STREAMS = pytest.mark.parametrize("stream", [False, True])


def thoughts_apart(name: str) -> tuple[Any, list[Any]]:
    """Return a message with thoughts in a field of their own, whole and in pieces."""
    pieces = [{"role": "assistant", "content": "", name: "Hm"}, {name: "m."}]
    return {"content": TEXT, name: "Hmm."}, [*pieces, {"content": "At "}, {"content": "nine."}]


MARKED = (
    {"content": f"<think>Hmm.</think>\n\n{TEXT}"},
    [{"content": part} for part in ("<th", "ink>H", "m</think>\n\nAt ", "nine.")],
)
PLAIN = ({"content": TEXT}, [{"role": "assistant"}, {"content": "At "}, {"content": "nine."}])
IN_PARTS = (
    {
        "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Hmm."}]},
            {"type": "text", "text": TEXT},
        ]
    },
    [
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hmm."}]}]},
        {"content": [{"type": "text", "text": "At "}]},
        {"content": "nine."},
    ],
)
# A call of a tool, and its pieces.
SPLIT = (
    {"id": "call_9", "type": "function", "function": CALL},
    [
        {"index": 0, "id": "call_9", "type": "function", "function": {**CALL, "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"harbour"'}},
        {"index": 0, "function": {"arguments": ': "Osk"}'}},
    ],
)
WHOLE = (SPLIT[0], [{"index": 0, "id": "call_9", "type": "function", "function": CALL}])
SIGNED = (
    {**SPLIT[0], "extra_content": {"google": {"thought_signature": "c2ln"}}},
    [{**WHOLE[1][0], "extra_content": {"google": {"thought_signature": "c2ln"}}}],
)
NAMELESS = ({"function": CALL}, [{"function": CALL}])


def openai_error(message: str, kind: str, code: str | int | None) -> Any:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def flat_error(message: str, kind: str, code: str | int) -> Any:
    return {"object": "error", "message": message, "type": kind, "code": code}


def google_error(code: int, message: str, status: str, *details: Any) -> Any:
    error = {"code": code, "message": message, "status": status, "details": list(details)}
    return [{"error": error}]


def openrouter_error(code: int, message: str, raw: str = "") -> Any:
    metadata = {"metadata": {"raw": raw, "provider_name": "Somebody"}} if raw else {}
    return {"error": {"code": code, "message": message, **metadata}, "user_id": "user_1"}


@dataclass(frozen=True)
class Dialect:
    """How one service answers: each error with its status."""

    message: tuple[Any, list[Any]] = PLAIN
    call: tuple[Any, list[Any]] = SPLIT
    busy: tuple[int, Any] = (503, openai_error("Loading model", "unavailable_error", None))
    bad_key: tuple[int, Any] = (401, openai_error("Invalid API Key", "authentication_error", None))
    too_long: tuple[int, Any] = (400, b"")
    wait: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)


INVALID = "invalid_request_error"
RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17s"}
DIALECTS = {
    "openai": Dialect(
        busy=(429, openai_error("Rate limit reached for gpt-6", "tokens", "rate_limit_exceeded")),
        bad_key=(401, openai_error(f"Incorrect API key: {KEY}.", INVALID, "invalid_api_key")),
        too_long=(400, openai_error("Longer than we take.", INVALID, "context_length_exceeded")),
        headers={"Retry-After": "3"},
        wait=3,
    ),
    "anthropic": Dialect(
        busy=(529, {"type": "error", **openai_error("Overloaded", "overloaded_error", None)}),
        bad_key=(401, openai_error("invalid x-api-key", INVALID, "invalid_api_key")),
        too_long=(400, openai_error("prompt is too long: 9 tokens > 5", INVALID, INVALID)),
    ),
    "google": Dialect(
        message=({"content": f"<thought>Hmm.</thought>{TEXT}"},
                 [{"content": one} for one in ("<thought>Hm", "m.</thought>At ", "nine.")]),
        call=SIGNED,
        busy=(429, google_error(429, "You exceeded your current quota, please check your plan and "
                                "billing details.", "RESOURCE_EXHAUSTED", RETRY)),
        bad_key=(400, google_error(400, "API key not valid. Please pass a valid API key.",
                                   "INVALID_ARGUMENT", {"reason": "API_KEY_INVALID"})),
        too_long=(400, google_error(400, "The input token count (9) exceeds the maximum number of "
                                    "tokens allowed (5).", "INVALID_ARGUMENT")),
        wait=17,
    ),
    "mistral": Dialect(
        message=IN_PARTS,
        call=WHOLE,
        busy=(429, flat_error("Service tier capacity exceeded for this model.", "tier", "3505")),
        bad_key=(401, {"detail": "Unauthorized"}),
        too_long=(400, flat_error("Prompt contains 40000 tokens, too large for model with 32768 "
                                  "maximum context length", "invalid_request", "3051")),
    ),
    "openrouter": Dialect(
        message=thoughts_apart("reasoning"),
        busy=(429, openrouter_error(429, "Provider returned error", "somebody is rate-limited")),
        bad_key=(401, openrouter_error(401, "No auth credentials found")),
        too_long=(400, openrouter_error(400, "Provider returned error", '{"error": {"message": "'
                                        "This endpoint's maximum context length is 8 tokens.\"}}")),
    ),
    "ollama": Dialect(
        message=thoughts_apart("reasoning"),
        call=WHOLE,
        busy=(503, openai_error("server busy, please try again.", "api_error", None)),
        too_long=(400, openai_error("the input length exceeds the context length", "api_error", 0)),
    ),
    "lmstudio": Dialect(
        message=MARKED,
        too_long=(400, {"error": "Trying to keep the first 6547 tokens when context the overflows. "
                        "However, the model is loaded with context length of only 4096 tokens."}),
    ),
    "llamacpp": Dialect(
        message=thoughts_apart("reasoning_content"),
        bad_key=(401, openai_error("Invalid API Key", "authentication_error", 401)),
        too_long=(400, openai_error("the request exceeds the available context size",
                                     "exceed_context_size_error", 400)),
    ),
    "vllm": Dialect(
        message=thoughts_apart("reasoning_content"),
        call=NAMELESS,
        bad_key=(401, {"error": "Unauthorized"}),
        too_long=(400, flat_error("This model's maximum context length is 2048 tokens. However,",
                                  "BadRequestError", 400)),
    ),
}  # fmt: skip
EACH = pytest.mark.parametrize("engine", DIALECTS)


def answer(message: Any, finish: str) -> Any:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return {"object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}


def pieces(deltas: Sequence[Any], finish: str) -> Reply:
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    chunks: list[Any] = [{"object": "chat.completion.chunk", "choices": [one]} for one in choices]
    chunks.append({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7}})
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    body = ": a comment\n\n" + "".join(lines) + "data: [DONE]\n\n"
    return Reply(body=body.encode(), headers={"Content-Type": "text/event-stream"})


def said(dialect: Dialect, *, stream: bool) -> Reply:
    whole, parts = dialect.message
    return pieces(parts, "stop") if stream else Reply(body=answer(whole, "stop"))


def calling(calls: Sequence[Any], parts: Sequence[Any], *, stream: bool) -> Reply:
    """Return calls of tools: whole, or in pieces."""
    if stream:
        return pieces([{"tool_calls": [part]} for part in parts], "tool_calls")
    return Reply(body=answer({"content": None, "tool_calls": calls}, "tool_calls"))


def write(model: ChatModel, *tools: Tool, stream: bool) -> Writing:
    hear = (lambda _: None) if stream else None
    return asyncio.run(model.write("", QUESTION, tools=tools, on_text=hear))


@EACH
@STREAMS
def test_thoughts_are_no_part_of_an_answer(serve: Serve, engine: str, *, stream: bool) -> None:
    model, server = serve([said(DIALECTS[engine], stream=stream)], engine=engine)
    heard: list[str] = []
    writing = asyncio.run(model.write("", QUESTION, on_text=heard.append if stream else None))
    assert (writing.text, writing.usage) == (TEXT, Usage(1, 11, 7))
    assert "".join(heard) == (TEXT if stream else "")
    assert model.fingerprint == f"{engine}/writer"
    assert server.requests[0].path.endswith("/chat/completions")


@EACH
@STREAMS
def test_a_tool_is_called_and_its_call_sent(serve: Serve, engine: str, *, stream: bool) -> None:
    dialect = DIALECTS[engine]
    whole, parts = dialect.call
    first = calling([whole], parts, stream=stream)
    model, server = serve([first, said(dialect, stream=stream)], engine=engine)
    writing = write(model, TOOL, stream=stream)
    assert writing.text == TEXT
    assert [call.result for call in writing.tool_calls] == ["Osk: nine"]
    made, result = server.requests[1].body["messages"][1:]
    (call,) = made["tool_calls"]
    assert call["function"] == CALL
    assert (call["type"], call["id"]) == ("function", result["tool_call_id"])
    assert call.get("extra_content") == whole.get("extra_content")  # else Gemini refuses
    assert "index" not in call  # which Mistral would refuse
    assert result["content"] == "Osk: nine"


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
@STREAMS
def test_thoughts_are_sent_in_the_field_they_came(serve: Serve, name: str, *, stream: bool) -> None:
    """DeepSeek and gpt-oss want theirs back after a call of a tool."""
    parts = [{name: "Hm"}, {name: "m."}, *({"tool_calls": [part]} for part in SPLIT[1])]
    whole = {"content": None, name: "Hmm.", "tool_calls": [SPLIT[0]]}
    first = pieces(parts, "tool_calls") if stream else Reply(body=answer(whole, "tool_calls"))
    model, server = serve([first, said(Dialect(), stream=stream)])
    write(model, TOOL, stream=stream)
    assert server.requests[1].body["messages"][1][name] == "Hmm."


@STREAMS
def test_two_calls_at_one_place_are_two(serve: Serve, *, stream: bool) -> None:
    """Gemini and some releases of Ollama number all calls of a response with 0."""
    calls = [{**SIGNED[1][0], "id": name} for name in ("a", "b")]
    whole = Reply(body=answer({"tool_calls": calls}, "tool_calls"))
    first = pieces([{"tool_calls": calls}], "tool_calls") if stream else whole
    model, _ = serve([first, said(Dialect(), stream=stream)])
    writing = write(model, TOOL, stream=stream)
    assert [call.result for call in writing.tool_calls] == ["Osk: nine"] * 2


@EACH
@STREAMS
def test_the_busy_have_time(serve: Serve, slept: list[float], engine: str, *, stream: bool) -> None:
    dialect = DIALECTS[engine]
    status, body = dialect.busy
    busy = Reply(status=status, body=body, headers=dialect.headers)
    model, server = serve([busy, said(dialect, stream=stream)], engine=engine)
    assert write(model, stream=stream).text == TEXT
    assert slept == [dialect.wait + 0.25]
    assert len(server.requests) == 2


@EACH
@STREAMS
def test_a_bad_key_is_told_and_not_shown(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, engine: str, *, stream: bool
) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    status, body = DIALECTS[engine].bad_key
    model, server = serve([Reply(status=status, body=body)], engine=engine, key_variable="SOME_KEY")
    with pytest.raises(EngineError, match=f"answered {status}") as caught:
        write(model, stream=stream)
    assert "Does the variable SOME_KEY hold a key" in caught.value.hint
    assert KEY not in f"{caught.value}{caught.value.hint}"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert len(server.requests) == 1


@EACH
@STREAMS
def test_a_prompt_that_is_too_long_is_told(serve: Serve, engine: str, *, stream: bool) -> None:
    status, body = DIALECTS[engine].too_long
    model, server = serve([Reply(status=status, body=body)], engine=engine)
    with pytest.raises(PromptTooLongError):
        write(model, stream=stream)
    assert len(server.requests) == 1


@STREAMS
def test_an_error_in_an_answer_that_began_well_is_one(serve: Serve, *, stream: bool) -> None:
    """As OpenRouter tells of it, with a status of 200."""
    body = openrouter_error(502, "Provider disconnected")
    line = f"data: {json.dumps({**body, 'choices': []})}\n\n".encode()
    kind = {"Content-Type": "text/event-stream"}
    model, server = serve([Reply(body=line, headers=kind) if stream else Reply(body=body)])
    with pytest.raises(EngineError, match="answered 502: Provider disconnected"):
        write(model, stream=stream)
    assert len(server.requests) == 3


@EACH
def test_each_has_its_own_address(engine: str) -> None:
    assert set(DIALECTS) == set(PRESETS)

    def address(stated: str = "") -> str:
        values = {"engine": engine, "model": "m", "base_url": stated}
        return address_of(LanguageModelSettings.model_validate(values))

    own = PRESETS[engine].address
    host = own[: own.index("/", 9)]
    assert {address(), address(own), address(f"{own}/"), address(host)} == {own}
    assert address(f"{own}/chat/completions") == own
    assert (
        address("https://gateway.example.org/models/v1") == "https://gateway.example.org/models/v1"
    )
