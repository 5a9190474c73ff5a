import asyncio

import pytest

from chapterhouse.errors import EngineError
from chapterhouse.models.opening import MeteredModel
from chapterhouse.models.scripted import Call, ScriptedModel, Step
from chapterhouse.types import OutputFormat, Tool, Usage, WantedCall

ADD = Tool(
    "add",
    "Adds.",
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    lambda arguments: f"{int(str(arguments['a'])) + 1}",
)


def test_a_script_is_followed() -> None:
    model = ScriptedModel(["one", "two"])
    assert [model.complete("i", "p"), model.complete("", "q")] == ["one", "two"]
    assert model.asked == [("i", "p"), ("", "q")]
    with pytest.raises(EngineError, match="after 2 answers"):
        model.complete("", "r")
    assert model.fingerprint == "scripted"
    assert ScriptedModel([], fingerprint="other").fingerprint == "other"


def test_text_is_streamed() -> None:
    model = ScriptedModel(["At nine, or ten.", Step("At nine.", pieces=("At n", "ine."))])
    heard: list[str] = []
    assert asyncio.run(model.write("", "q", on_text=heard.append)).text == "At nine, or ten."
    assert heard == ["At ", "nine, ", "or ", "ten."]
    heard.clear()
    asyncio.run(model.write("", "q", on_text=heard.append))
    assert heard == ["At n", "ine."]


def test_tools_are_called() -> None:
    model = ScriptedModel(
        [[Call("add", {"a": 1}), Call("add", '{"a": 2}')], [Call("add"), Call("no")], "Done."]
    )
    writing = asyncio.run(model.write("i", "p", tools=[ADD]))
    assert writing.text == "Done."
    assert [(call.result, call.failed) for call in writing.tool_calls] == [
        ("2", False),
        ("3", False),
        ("failed: 'a' is a required property", True),
        ("failed: there is no tool no; there are add", True),
    ]
    assert writing.usage == Usage(3)
    assert tuple(model.tool_results) == writing.tool_calls
    assert model.offered == [("add",)]
    assert model.asked == [("i", "p")]


def test_calling_without_end_ends() -> None:
    with pytest.raises(EngineError, match="called tools 100 times"):
        asyncio.run(ScriptedModel(lambda *_: [Call("add")]).write("", "p", tools=[ADD]))


def test_errors_and_delays_stand_in_the_script() -> None:
    broken = Step("At ni", error=EngineError("The answer broke off."), seconds=0.001)
    model, heard = ScriptedModel([EngineError("busy"), broken, EngineError("busy")]), list[str]()
    with pytest.raises(EngineError, match="busy"):
        asyncio.run(model.write("", "q"))
    with pytest.raises(EngineError, match="broke off"):
        asyncio.run(model.write("", "q", on_text=heard.append))
    assert heard == ["At ", "ni"]
    with pytest.raises(EngineError, match="busy"):
        model.complete("", "q")


def test_a_call_of_an_external_tool_ends_the_writing() -> None:
    theirs = Tool("theirs", "", {"type": "object"}, ADD.call, external=True)
    model = ScriptedModel([[Call("add", {"a": 1})], Step("So.", calls=(Call("theirs"),)), "No."])
    writing = asyncio.run(model.write("i", "p", tools=[ADD, theirs]))
    assert (writing.text, writing.wanted) == ("So.", (WantedCall("theirs", "{}"),))
    assert [call.result for call in writing.tool_calls] == ["2"]


USED = Step("Text.", usage=Usage(1, 10, 5))


def test_every_use_is_counted_also_for_the_answer_of_another_model() -> None:
    scripted = ScriptedModel([USED, USED])
    answering, form = MeteredModel(scripted), OutputFormat("turn", {"type": "object"})
    rewriting = MeteredModel(ScriptedModel([USED]), answering)
    assert rewriting.complete("i", "p") == answering.complete("i", "p") == "Text."
    assert (rewriting.usage, answering.usage) == (Usage(1, 10, 5), Usage(2, 20, 10))
    asyncio.run(answering.write("i", "p", output=form))
    assert answering.usage == Usage(3, 30, 15)
    assert scripted.formats == [None, form]
