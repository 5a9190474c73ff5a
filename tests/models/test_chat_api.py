"""Language models behind HTTP, and the scripted one."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chapterhouse.errors import EngineError
from chapterhouse.models.chat_api import ApiLanguageModel, Usage
from chapterhouse.models.http import Endpoint, JsonClient
from chapterhouse.models.scripted import ScriptedModel

Open = Callable[..., ApiLanguageModel]


@pytest.fixture
def connect(service: Any) -> Iterator[Open]:
    made: list[ApiLanguageModel] = []

    def make(**changes: Any) -> ApiLanguageModel:
        endpoint = Endpoint(f"{service.url}/v1/chat/completions", "language_model", attempts=2)
        client = JsonClient(endpoint, sleep=lambda _: None)
        made.append(ApiLanguageModel(client, "writer", 200, **changes))
        return made[-1]

    yield make
    for model in made:
        model.close()


def said(content: Any, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]} | more


def test_it_asks_as_openai_does(service: Any, connect: Open) -> None:
    service.says(service.reply(said(" At nine. ")))
    assert connect().complete("Be brief.", "When does the ferry leave?") == "At nine."
    assert service.asked[0].body == {
        "model": "writer",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "When does the ferry leave?"},
        ],
        "max_tokens": 200,
        "temperature": 0,
    }


def test_without_instructions_there_is_no_system_message(service: Any, connect: Open) -> None:
    service.says(service.reply(said("Yes.")))
    connect().complete("", "Really?")
    assert [message["role"] for message in service.asked[0].body["messages"]] == ["user"]


def test_a_reasoning_model_is_asked_in_its_own_way(service: Any, connect: Open) -> None:
    service.says(service.reply(said("Yes.")))
    connect(reasoning=True).complete("", "Really?")
    body = service.asked[0].body
    assert body["max_completion_tokens"] == 200
    assert not {"temperature", "max_tokens"} & set(body)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<think>Hmm, nine?\n\nYes.</think>\n\nAt nine.", "At nine."),
        ([{"type": "text", "text": "At "}, {"type": "text", "text": "nine."}], "At nine."),
        ([{"type": "refusal"}, {"type": "text", "text": "At nine."}], "At nine."),
        ("The tag <think> is not at its beginning.", "The tag <think> is not at its beginning."),
    ],
)
def test_only_what_is_meant_for_the_reader_comes_back(
    service: Any, connect: Open, content: Any, text: str
) -> None:
    service.says(service.reply(said(content)))
    assert connect().complete("", "When?") == text


@pytest.mark.parametrize("content", ["", "  ", None, [], 3, "<think>Hmm", "<think>Hm</think> "])
def test_nothing_is_told(service: Any, connect: Open, content: Any) -> None:
    service.says(service.reply(said(content)))
    with pytest.raises(EngineError, match="wrote nothing"):
        connect().complete("", "When?")


@pytest.mark.parametrize("answer", [{}, [], {"choices": []}, {"choices": [{}]}, {"choices": 1}])
def test_a_response_without_a_message_is_told(service: Any, connect: Open, answer: Any) -> None:
    service.says(service.reply(answer))
    with pytest.raises(EngineError, match="without a message"):
        connect().complete("", "When?")


def test_usage_is_counted(service: Any, connect: Open) -> None:
    counted = {"prompt_tokens": 30, "completion_tokens": 5}
    service.says(
        service.reply(said("a", usage=counted)),
        service.reply(said("b", usage={"prompt_tokens": -1, "completion_tokens": "many"})),
        service.reply(said("c", usage=None)),
    )
    model = connect()
    assert model.usage == Usage()
    for _ in range(3):
        model.complete("", "When?")
    assert model.usage == Usage(3, 30, 5)


def test_a_script_is_followed() -> None:
    model = ScriptedModel(["one", "two"])
    assert [model.complete("i", "p"), model.complete("", "q")] == ["one", "two"]
    assert model.asked == [("i", "p"), ("", "q")]
    with pytest.raises(EngineError, match="after 2 answers"):
        model.complete("", "r")
    assert model.fingerprint == "scripted"


def test_a_script_may_be_a_function() -> None:
    model = ScriptedModel(lambda instructions, prompt: f"{prompt}, {instructions}")
    assert model.complete("please", "go") == "go, please"
