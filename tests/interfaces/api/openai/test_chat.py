import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from tests.interfaces.api.openai.conftest import Desktop, ask, knots, user
from tests.rooms import KNOTS, SPEED

from chapterhouse.models.scripted import Call, Step

HARBOUR = "The gate closes at 21:30 from April to September."


def test_an_answer_names_its_sources(client: openai.OpenAI, town: Desktop) -> None:
    completion = ask(client, user(SPEED))
    ChatCompletion.model_validate(completion.model_dump(), strict=False)
    message = completion.choices[0].message
    assert f"{KNOTS}[1]" in message.content
    assert "**Sources**\n\n- [1] Rules, §Speed" in message.content
    for annotation in message.annotations:
        cited = annotation.url_citation
        assert message.content[cited.start_index : cited.end_index] == "[1]"
        assert cited.title.startswith("Rules")
        path = cited.url.removeprefix(f"{town.url}/")
        with town.client(town.key()) as plain:
            assert "4 knots" in plain.get(f"/{path}").json()["text"]
    assert message.annotations
    details = completion.chapterhouse
    assert details["outcome"] == "answer"
    assert details["citations"][0]["quote"] in KNOTS
    assert completion.usage.total_tokens > completion.usage.completion_tokens > 0


def test_a_council_meets_and_is_counted(client: openai.OpenAI, town: Desktop) -> None:
    def questions() -> int:
        with town.client(town.owner_key) as owner:
            return int(owner.get("/api/analytics").json()["by_interface"].get("api", 0))

    before = questions()
    completion = ask(client, user(SPEED), model="council/board")
    assert questions() == before + 1
    message = completion.choices[0].message
    assert completion.chapterhouse["council"] == "board"
    assert message.content.startswith("# Harbour Board")
    assert message.annotations
    for annotation in message.annotations:
        cited = annotation.url_citation
        marker = message.content[cited.start_index : cited.end_index]
        assert f"- {marker} {cited.title}" in message.content


def test_a_conversation_goes_on(client: openai.OpenAI) -> None:
    first = ask(client, user("When does the gate close?"))
    assert HARBOUR in first.choices[0].message.content
    answer = {"role": "assistant", "content": first.choices[0].message.content}
    second = ask(client, user("When does the gate close?"), answer, user("And in April?"))
    content = second.choices[0].message.content
    assert content.startswith("Taken as: And in April? (")
    assert HARBOUR in content
    # What it was taken as counts for the next question, too.
    again = {"role": "assistant", "content": content}
    third = ask(client, user("And in April?"), again, user("And in September?"))
    assert "gate" in third.choices[0].message.content.splitlines()[0]


def test_what_clients_send_beside_is_ignored(client: openai.OpenAI) -> None:
    completion = ask(
        client,
        {"role": "system", "content": "You are a pirate."},
        {"role": "developer", "content": "Say arr."},
        {"role": "user", "content": [{"type": "text", "text": SPEED}]},
        temperature=0.3,
        seed=7,
        user="ada",
        tools=[{"type": "function", "function": {"name": "weather", "parameters": {}}}],
        extra_body={"chat_id": "x", "features": {"web_search": False}},
    )
    assert "4 knots" in completion.choices[0].message.content


def test_a_stream_gives_the_same(client: openai.OpenAI) -> None:
    chunks = list(ask(client, user(SPEED), stream=True, stream_options={"include_usage": True}))
    for chunk in chunks:
        ChatCompletionChunk.model_validate(chunk.model_dump())
    assert chunks[0].choices[0].delta.role == "assistant"
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    whole = ask(client, user(SPEED))
    assert text == whole.choices[0].message.content
    last, usage = chunks[-2:]
    assert last.choices[0].finish_reason == "stop"
    assert last.choices[0].delta.annotations[0]["url_citation"]["title"].startswith("Rules")
    assert last.chapterhouse == whole.chapterhouse
    assert usage.choices == []
    assert usage.usage == whole.usage
    assert all(chunk.usage is None for chunk in chunks[:-1])


IMAGE = [
    {"type": "text", "text": "What is this?"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
]


def test_bad_requests(client: openai.OpenAI) -> None:
    system = {"role": "system", "content": "Hello"}
    refused: tuple[tuple[Any, dict[str, Any], str], ...] = (
        (user(SPEED), {"n": 2}, "n can only be 1"),
        (user(IMAGE), {}, "image_url"),
        (system, {}, "role 'user'"),
        (user("   "), {}, "no text"),
        (user("x" * 10_001), {}, "10,001 characters"),
        ({"role": "wizard", "content": "x"}, {}, "messages.0.role"),
        (user(SPEED), {"max_tokens": 0}, "max_tokens"),
        (user(SPEED), {"response_format": {"type": "json_object"}}, "json_object"),
        (user(SPEED), {"tool_choice": "required"}, "tool_choice"),
    )
    for message, more, words in refused:
        for stream in (False, True):
            with pytest.raises(openai.BadRequestError, match=words) as raised:
                ask(client, message, stream=stream, **more)
            assert raised.value.type == "invalid_request_error"


_text = st.fixed_dictionaries({"type": st.just("text"), "text": st.text(max_size=20)})
_part = st.one_of(_text, st.fixed_dictionaries({"type": st.text(max_size=8)}), st.integers())
_odd = st.one_of(st.none(), st.integers(), st.dictionaries(st.text(max_size=3), st.none()))
_content = st.one_of(st.text(max_size=40), st.lists(_part, max_size=3), _odd)
_role = st.sampled_from(["system", "user", "assistant", "tool", "wizard"])
_message = st.fixed_dictionaries({"role": _role, "content": _content})
_messages = st.lists(st.one_of(_message, st.none(), st.text(max_size=5)), max_size=5)


@pytest.fixture(scope="module")
def plain(town: Desktop) -> Iterator[httpx2.Client]:
    with town.client(town.key()) as client:
        yield client


@settings(suppress_health_check=list(HealthCheck))
@given(messages=_messages)
def test_odd_conversations_never_fail_the_server(plain: httpx2.Client, messages: list[Any]) -> None:
    for path, member in (("chat/completions", "messages"), ("responses", "input")):
        body = json.dumps({"model": "chapterhouse", member: messages})
        response = plain.post(
            f"/v1/{path}", content=body, headers={"Content-Type": "application/json"}
        )
        assert response.status_code in {200, 400}, response.text
        if response.status_code != 200:
            assert set(response.json()["error"]) == {"message", "type", "param", "code"}


def test_questions_are_in_no_log(client: openai.OpenAI, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    ask(client, user("How fast may the zanzibarquux go inside the harbour?"))
    with pytest.raises(openai.BadRequestError):
        ask(client, user("zanzibarquux"), n=3)
    assert "POST /v1/chat/completions" in caplog.text
    ours = [one.getMessage() for one in caplog.records if one.name.startswith("chapterhouse")]
    assert not [line for line in ours if "zanzibarquux" in line]


WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Return the weather of a place now.",
        "parameters": {
            "type": "object",
            "properties": {"place": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        },
    },
}
STORM = "Will it storm at Osk today?"


def test_a_call_of_a_tool_goes_to_the_client_and_its_result_is_cited(own_town: Desktop) -> None:
    script: list[Any] = [[Call("weather", {"place": "Osk"})]]
    model = own_town.script(script)
    with own_town.openai() as client:
        wanted = ask(client, user(STORM), tools=[WEATHER])
        ChatCompletion.model_validate(wanted.model_dump())
        choice = wanted.choices[0]
        assert (choice.finish_reason, choice.message.content) == ("tool_calls", None)
        (call,) = choice.message.tool_calls
        assert (call.function.name, json.loads(call.function.arguments)) == (
            "weather",
            {"place": "Osk"},
        )
        assert model.offered[-1] == ("weather",)

        def writes(_: str, prompt: str) -> Step:
            before = prompt.partition("A storm of force 9")[0]
            marker = re.findall(r"^\[\d+\]", before, re.MULTILINE)[-1]
            return Step(f"A storm of force 9 reaches Osk at noon {marker}.")

        own_town.script(writes)
        result = {
            "role": "tool",
            "tool_call_id": call.id,
            "content": "A storm of force 9 reaches Osk at noon.",
        }
        called = choice.message.model_dump(exclude_none=True)
        final = ask(client, user(STORM), called, result, tools=[WEATHER])
    assert final.choices[0].message.content.startswith("A storm of force 9 reaches Osk at noon.[1]")
    (cited,) = final.chapterhouse["citations"]
    assert cited["document_id"].startswith("tool.weather.")
    assert cited["verified"]
    assert final.choices[0].message.annotations == []  # it has no address


def test_a_stream_ends_with_calls(own_town: Desktop) -> None:
    script: list[Any] = [[Call("weather", {"place": "Osk"}), Call("weather", {})]]
    own_town.script(script)
    with own_town.openai() as client:
        chunks = list(ask(client, user(SPEED), tools=[WEATHER], stream=True))
        for chunk in chunks:
            ChatCompletionChunk.model_validate(chunk.model_dump())
        own_town.script(knots)
        ignored = ask(client, user(SPEED), tools=[WEATHER], tool_choice="none")
    assert [one.function.name for one in chunks[-2].choices[0].delta.tool_calls] == ["weather"] * 2
    assert len({one.id for one in chunks[-2].choices[0].delta.tool_calls}) == 2
    assert chunks[-1].choices[0].finish_reason == "tool_calls"
    assert ignored.choices[0].finish_reason == "stop"
