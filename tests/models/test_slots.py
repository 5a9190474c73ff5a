import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.chat_server import Reply, ToolCall, chat_server

from chapterhouse.errors import EngineError, PromptTooLongError
from chapterhouse.models.chat import ChatModel
from chapterhouse.models.keys import KeySource
from chapterhouse.models.opening import LanguageModels
from chapterhouse.models.service import Service, Slots
from chapterhouse.settings import LanguageModelSettings, Settings
from chapterhouse.types import ModelLimits, Tool

Serve = Callable[..., Any]


@given(number=st.integers(0, 3), loops=st.integers(1, 3), stopped=st.sets(st.integers(0, 7)))
def test_never_more_at_once_and_none_is_lost(number: int, loops: int, stopped: set[int]) -> None:
    slots, lock = Slots(number), threading.Lock()
    inside, most, ended = 0, 0, 0

    async def one() -> None:
        nonlocal inside, most, ended
        async with slots.one():
            with lock:
                inside += 1
                most = max(most, inside)
            try:
                await asyncio.sleep(0.001)
                ended += 1
            finally:
                with lock:
                    inside -= 1

    async def several() -> None:
        tasks = [asyncio.create_task(one()) for _ in range(8)]
        await asyncio.sleep(0.001)
        for place in stopped:
            tasks[place].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    threads = [threading.Thread(target=asyncio.run, args=(several(),)) for _ in range(loops)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    before = ended
    asyncio.run(one())  # whoever was stopped has left no slot taken
    assert ended == before + 1
    assert not number or most <= number


def test_waiting_for_a_slot_does_not_count_against_the_time_of_an_answer(serve: Serve) -> None:
    # Eight answers of a fifth of a second, one after the other, take longer than any may alone:
    # four times 0.3 seconds.
    model, server = serve(
        [Reply("Yes.", seconds=0.2)], calls_at_once=1, timeout_seconds=0.3, attempts=1
    )

    async def all_at_once() -> list[Any]:
        return await asyncio.gather(
            *(model.write("", "Really?") for _ in range(8)), return_exceptions=True
        )

    asyncio.run(all_at_once())  # loads the libraries, which may take longer than that
    time.sleep(0.5)  # what was given up then is still being answered
    server.most_open = 0
    results = asyncio.run(all_at_once())
    late = [r for r in results if isinstance(r, EngineError) and "within 1.2 seconds" in r.message]
    assert not late
    # One that was given up on a slow machine is still being answered when the next one begins.
    given_up = sum(isinstance(result, EngineError) for result in results)
    assert server.most_open <= 1 + given_up


def test_a_tool_may_ask_the_model_that_calls_it(serve: Serve) -> None:
    steps = [Reply(calls=[ToolCall("ask", {})]), Reply("inner"), Reply("outer")]
    model, server = serve(steps, calls_at_once=1)
    tool = Tool(
        "ask", "Asks.", {"type": "object", "properties": {}}, lambda _: model.complete("", "x")
    )
    assert asyncio.run(model.write("", "Really?", tools=(tool,))).text == "outer"
    assert server.most_open == 1


def test_models_of_one_server_share_its_slots() -> None:
    with chat_server([Reply("Yes.", seconds=0.05)]) as server:
        common = {"engine": "openai", "base_url": server.url}
        tree = Settings.model_validate(
            {
                "language_model": {**common, "model": "large", "calls_at_once": 1},
                "models": {"small": {**common, "model": "small"}},
            }
        )
        models = LanguageModels(tree)
        large, small = models.named(), models.named("small")
        assert large is not None
        assert small is not None
        ask = [(large, "a"), (small, "b"), (large, "c"), (small, "d")]
        threads = [threading.Thread(target=m.complete, args=("", t)) for m, t in ask]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {request.body["model"] for request in server.requests} == {"large", "small"}
        assert server.most_open == 1


@pytest.mark.parametrize(
    ("engine", "thinking", "said"),
    [
        ("openai", "off", {"reasoning_effort": "none"}),
        ("ollama", "low", {"reasoning_effort": "low"}),
        ("vllm", "off", {"chat_template_kwargs": {"enable_thinking": False}}),
        (
            "llamacpp",
            "high",
            {"chat_template_kwargs": {"enable_thinking": True, "reasoning_effort": "high"}},
        ),
    ],
)
def test_thinking_is_set(serve: Serve, engine: str, thinking: str, said: dict[str, object]) -> None:
    model, asked = serve(["Yes."], engine=engine, thinking=thinking, extra_body={"top_k": 20})
    model.complete("", "Really?")
    body = asked.requests[0].body
    assert {key: body[key] for key in said} == said
    assert body["top_k"] == 20
    assert body["temperature"] == 0


def test_what_stands_in_the_settings_wins(serve: Serve) -> None:
    stated = {"chat_template_kwargs": {"enable_thinking": True}}
    values = {"engine": "vllm", "thinking": "off", "temperature": 0.7, "extra_body": stated}
    model, asked = serve(["Yes."], **values)
    model.complete("", "Really?")
    assert asked.requests[0].body.items() >= {**stated, "temperature": 0.7}.items()


def test_an_answer_has_the_room_that_the_context_leaves(serve: Serve) -> None:
    model, asked = serve(["Yes."], context_size=500, maximum_tokens=4_096)
    model.complete("", "word " * 100)
    assert 300 < asked.requests[0].body["max_tokens"] < 420


def test_a_prompt_that_does_not_fit_is_not_sent(serve: Serve) -> None:
    model, asked = serve(["Yes."], context_size=500)
    with pytest.raises(
        PromptTooLongError, match=r"too long for the model: about 6\d\d tokens"
    ) as caught:
        model.complete("", "word " * 600)
    assert 0.3 < caught.value.fits < 0.45  # what leaves 256 tokens for the answer
    assert "packing.maximum" in caught.value.hint
    assert not asked.requests


def test_the_context_is_asked_of_the_server_that_the_settings_name() -> None:
    asked: list[str] = []

    def limits(of: LanguageModelSettings) -> tuple[int, int]:
        asked.append(of.model)
        return (0 if len(asked) == 1 else 500), 2  # not known before it is loaded

    with chat_server(["Yes."]) as server:
        settings = LanguageModelSettings(engine="openai", base_url=server.url, model="m")
        place = Service(server.url, "language_model", KeySource("language_model"))
        model = ChatModel(settings, place, served_limits=limits)
        for _ in range(3):
            model.complete("", "Really?")
        first, *others = [request.body["max_tokens"] for request in server.requests]
    assert first == 1_024
    assert max(others) < 500
    assert asked == ["m", "m"]
    assert model.limits() == ModelLimits(500, 1_024, 2)
