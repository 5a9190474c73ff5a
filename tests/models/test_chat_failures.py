"""Language models over HTTP when something goes wrong: errors, tries, timeouts, cancelling."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.models.chat_server import ChatServer, Reply, Request, ToolCall

from chapterhouse.errors import EngineError, PromptTooLongError
from chapterhouse.models.chat import ChatModel
from chapterhouse.types import Tool

QUESTION = "When does the ferry leave?"
Serve = Callable[..., tuple[ChatModel, ChatServer]]
STREAMS = pytest.mark.parametrize("stream", [False, True])


def write(model: ChatModel, heard: list[str] | None = None) -> str:
    hear = None if heard is None else heard.append
    return asyncio.run(model.write("", QUESTION, on_text=hear)).text


def error_of(message: str) -> Any:
    return {"error": {"message": message, "type": "error", "code": None}}


@STREAMS
@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_what_will_not_pass_is_not_tried_again(
    serve: Serve, slept: list[float], status: int, *, stream: bool
) -> None:
    model, server = serve([Reply(status=status, body=error_of("no such"))])
    with pytest.raises(EngineError, match=f"answered {status}: no such") as caught:
        write(model, [] if stream else None)
    assert server.origin in caught.value.message
    assert "language_model" in caught.value.hint
    assert len(server.requests) == 1
    assert not slept


@STREAMS
@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 529])
def test_what_may_pass_is_tried_again(
    serve: Serve, slept: list[float], status: int, *, stream: bool
) -> None:
    busy = Reply(status=status, body=error_of("busy"))
    model, server = serve([busy, busy, "At nine."])
    heard: list[str] = []
    hear = heard.append if stream else None
    writing = asyncio.run(model.write("", QUESTION, on_text=hear))
    assert (writing.text, writing.usage.calls) == ("At nine.", 1)
    assert slept == [0.25, 0.5]  # half of .5 and of 1
    assert len(server.requests) == 3


def test_trying_ends(serve: Serve, slept: list[float]) -> None:
    model, server = serve([Reply(status=503, body=b"overloaded")], attempts=4)
    with pytest.raises(EngineError, match=r"503: overloaded \(after 4 tries\)"):
        write(model)
    assert (len(server.requests), len(slept)) == (4, 3)


def test_the_server_says_how_long_to_wait(serve: Serve, slept: list[float]) -> None:
    busy = Reply(status=429, body={}, headers={"Retry-After": "7"})
    model, _ = serve([busy, "At nine."])
    write(model)
    assert slept == [7.25]


@pytest.mark.parametrize(("wait", "seconds"), [("3600", 120), ("30", 5)])
def test_a_long_wait_is_for_the_user_to_decide(
    serve: Serve, slept: list[float], wait: str, seconds: int
) -> None:
    busy = Reply(status=429, body=b"later", headers={"Retry-After": wait})
    model, server = serve([busy], timeout_seconds=seconds)
    with pytest.raises(EngineError, match="429: later"):
        write(model)
    assert len(server.requests) == 1
    assert not slept


def test_an_account_that_is_spent_is_not_asked_again(serve: Serve, slept: list[float]) -> None:
    body = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    model, server = serve([Reply(status=429, body=body)])
    with pytest.raises(EngineError, match="current quota") as caught:
        write(model)
    assert "account" in caught.value.hint
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens. However, you ...",
        "Your input exceeds the context window of this model. Please adjust it.",
        "the request exceeds the available context size. try increasing it",
        "request (2100 tokens) exceeds the available context size (2048 tokens)",
        "the input length exceeds the context length",
        "prompt too long; exceeded max context length by 210 tokens",
        "Trying to keep the first 6547 tokens when context the overflows. However, ...",
        "The number of tokens to keep is greater than the context length (n_keep: 1)",
        "The decoder prompt (length 9) is longer than the maximum model length of 8.",
        "Please reduce the length of the messages or completion.",
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "The input token count (1) exceeds the maximum number of tokens allowed (0).",
        "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
    ],
)
def test_a_prompt_that_is_too_long_is_told(serve: Serve, message: str) -> None:
    model, server = serve([Reply(status=400, body=error_of(message))])
    with pytest.raises(PromptTooLongError, match="too long for the model") as caught:
        write(model)
    assert caught.value.fits == 0.5
    assert "packing.maximum" in caught.value.hint
    assert len(server.requests) == 1


@STREAMS
def test_no_server_is_told(serve: Serve, slept: list[float], *, stream: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    model, _ = serve([""], base_url=f"http://127.0.0.1:{port}", attempts=3)
    with pytest.raises(EngineError, match=r"could not be reached.*after 3 tries") as caught:
        write(model, [] if stream else None)
    assert "language_model.base_url" in caught.value.hint


@STREAMS
def test_a_server_that_hangs_is_left(serve: Serve, *, stream: bool) -> None:
    model, server = serve([Reply("At nine.", seconds=20)], timeout_seconds=0.5)
    with pytest.raises(EngineError, match=r"within 0\.5 seconds") as caught:
        write(model, [] if stream else None)
    assert "language_model.timeout_seconds" in caught.value.hint
    assert len(server.requests) == 1  # it may still be at it
    assert server.gone.wait(10)


@STREAMS
def test_a_server_that_drips_is_left(serve: Serve, *, stream: bool) -> None:
    drop = Reply("At nine. " * 200, drip=0.05, body=None if stream else b" " * 1_000)
    model, server = serve([drop], timeout_seconds=1)
    heard: list[str] = []
    with pytest.raises(EngineError, match=r"within 1 seconds") as caught:
        write(model, heard if stream else None)
    assert ("broke off" in caught.value.message) == bool(heard)
    assert server.gone.wait(10)
    assert len(server.requests) == 1


def test_the_whole_takes_only_so_long(serve: Serve) -> None:
    def slow(_: object) -> str:
        time.sleep(0.2)
        return "nothing yet"

    calls = [ToolCall("wait")] * 20
    model, server = serve([calls], timeout_seconds=0.5)
    tool = Tool("wait", "", {"type": "object"}, slow)
    with pytest.raises(EngineError, match="within 2 seconds"):
        asyncio.run(model.write("", QUESTION, tools=[tool]))
    assert len(server.requests) < 3


@pytest.mark.parametrize("cut", [0, 1])
def test_a_stream_that_breaks_before_any_text_is_asked_for_again(serve: Serve, cut: int) -> None:
    model, server = serve([Reply("At nine.", cut=cut), "At nine."])
    heard: list[str] = []
    assert write(model, heard) == "At nine."
    assert "".join(heard) == "At nine."
    assert len(server.requests) == 2


def test_a_stream_that_breaks_in_the_text_is_not(serve: Serve, slept: list[float]) -> None:
    model, server = serve([Reply("At nine and at ten.", cut=5)])
    heard: list[str] = []
    with pytest.raises(EngineError, match="The answer broke off"):
        write(model, heard)
    assert heard
    assert len(server.requests) == 1
    assert not slept


def test_a_stream_that_just_ends_is_no_answer(serve: Serve) -> None:
    model, server = serve([Reply("At nine and", finish="missing")])
    with pytest.raises(EngineError, match="ended too early"):
        write(model, [])
    assert len(server.requests) == 1


def test_an_answer_cut_off_is_asked_for_again(serve: Serve) -> None:
    model, server = serve([Reply("At nine.", cut=40), "At nine."])
    assert write(model) == "At nine."
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("status", "kind", "tries"),
    [(503, "server_error", 2), (429, "rate_limit_exceeded", 2), (0, "x", 1)],
)
def test_an_error_in_a_stream_is_one(serve: Serve, status: int, kind: str, tries: int) -> None:
    event = {"error": {"message": "it broke", "type": kind, "code": status or None}}
    body = f"data: {json.dumps(event)}\n\n".encode()
    model, server = serve(
        [Reply(body=body, headers={"Content-Type": "text/event-stream"})], attempts=2
    )
    with pytest.raises(EngineError, match="it broke"):
        write(model, [])
    assert len(server.requests) == tries


NO_ANSWERS = [
    b'{"data": [',
    b"<html>Hello</html>",
    b"",
    b"[" * 100_000,
    b"null",
    b"[]",
    b"{}",
    b'"text"',
    b"\xff\xfe",
    b'{"choices": []}',
    b'{"choices": [{}]}',
    b'{"choices": 1}',
    b'{"content": 3, "candidates": 4}',
    b'{"candidates": [{}], "content": [{"type": "odd"}]}',
    b"data: nonsense\n\n",
    b"event: odd\ndata: {}\n\n",
]


@STREAMS
@pytest.mark.parametrize("body", NO_ANSWERS)
def test_what_is_no_answer_is_told(serve: Serve, body: bytes, *, stream: bool) -> None:
    model, _ = serve([Reply(body=body)], attempts=2)
    with pytest.raises(EngineError) as caught:
        write(model, [] if stream else None)
    assert len(caught.value.message) < 500
    assert caught.value.hint


def test_invisible_orders_in_an_error_are_taken_out(serve: Serve) -> None:
    model, _ = serve([Reply(status=400, body="a\u202e\u200b\nb\x1b[31m".encode())])
    with pytest.raises(EngineError) as caught:
        write(model)
    assert "400: a b[31m" in caught.value.message


def test_cancelling_closes_the_connection(serve: Serve) -> None:
    model, server = serve([Reply("At nine. " * 100, drip=0.05)])

    async def cancelled() -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(model.write("", QUESTION, on_text=lambda _: begun.set()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert server.gone.wait(10)
    assert len(server.requests) == 1


def test_hints_name_the_section_of_a_further_model(serve: Serve) -> None:
    model, _ = serve([Reply(status=401, body=b"who?")], section="models.fast")
    with pytest.raises(EngineError) as caught:
        write(model)
    assert "models.fast.key_variable" in caught.value.hint


def test_requests_of_several_threads_do_not_mix(serve: Serve) -> None:
    def script(request: Request) -> Any:
        asked = request.body["messages"][0]["content"]
        return Reply(status=400, body=asked.encode()) if asked.endswith("3") else asked

    model, _ = serve(script)
    said: dict[int, str] = {}

    def ask(number: int) -> None:
        try:
            said[number] = model.complete("", f"No. {number}")
        except EngineError as error:
            said[number] = error.message.rpartition(": ")[2]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == {number: f"No. {number}{'.' * (number == 3)}" for number in range(8)}
