import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import openai
import pytest
from tests.interfaces.api.openai.conftest import Desktop, ask, knots, user
from tests.rooms import SPEED

from chapterhouse.errors import EngineError
from chapterhouse.interfaces.api import asking
from chapterhouse.interfaces.api.asking import with_pings
from chapterhouse.models.scripted import Step


def test_sentences_of_a_model_are_sent_when_they_are_settled(own_town: Desktop) -> None:
    own_town.script(knots)
    with own_town.openai() as client:
        whole = ask(client, user(SPEED))
        own_town.script(knots)
        chunks = list(ask(client, user(SPEED), stream=True))
    pieces = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices[0].delta.content]
    assert len(pieces) > 1
    assert pieces[0].startswith("Inside the harbour")
    assert "".join(pieces) == whole.choices[0].message.content
    assert whole.chapterhouse["method"] == "scripted"
    assert "[1]" in pieces[0]


def test_an_answer_that_changes_is_sent_behind_the_draft(own_town: Desktop) -> None:
    def breaks(instructions: str, prompt: str) -> Step:
        written = knots(instructions, prompt)
        text = written.text.replace("no vessel", "no boat")
        return replace(
            written, text=text, pieces=(text,), error=EngineError("The service went away.")
        )

    own_town.script(breaks)
    with own_town.openai() as client:
        chunks = list(ask(client, user(SPEED), stream=True))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    draft, changed, answer = text.partition("the answer became another one:")
    assert changed
    assert draft.startswith("Inside the harbour no boat")
    assert "The service went away" in answer
    for annotation in chunks[-1].choices[0].delta.annotations:
        cited = annotation["url_citation"]
        assert text[cited["start_index"] : cited["end_index"]] == "[1]"


def test_what_goes_wrong_in_a_stream_is_an_error_of_the_client(
    own_town: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise OSError(5, "Input/output error", "/home/ada/secret")

    monkeypatch.setattr("chapterhouse.library.answers.ask_events", fails)
    with own_town.openai() as client:
        with pytest.raises(openai.APIError, match="Input/output error") as raised:
            list(ask(client, user(SPEED), stream=True))
        assert "secret" not in str(raised.value.body)
        with pytest.raises(openai.InternalServerError):
            ask(client, user(SPEED))


@pytest.mark.timeout(40)
def test_who_stops_reading_stops_the_work(own_town: Desktop) -> None:
    model = own_town.script(lambda *_: Step("Slow.", seconds=60.0))
    with own_town.openai() as client, ask(client, user(SPEED), stream=True) as stream:
        next(iter(stream))
        while not model.asked:
            time.sleep(0.01)
    while own_town.state.workload._running:  # a minute long, if it were not stopped
        time.sleep(0.01)
    assert len(model.asked) == 1


def test_while_nothing_comes_a_comment_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_QUIET_SECONDS", 0.01)
    go_on = asyncio.Event()

    async def lines() -> AsyncGenerator[str]:
        yield "a"
        await go_on.wait()
        yield "b"

    async def read() -> list[str]:
        found = []
        async for line in with_pings(lines()):
            found.append(line)
            if line.startswith(":"):
                go_on.set()
        return found

    found = asyncio.run(read())
    assert (found[0], found[-1]) == ("a", "b")
    assert set(found[1:-1]) == {": ping\n\n"}
