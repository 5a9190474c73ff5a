import asyncio
import json
from typing import Any

from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from chapterhouse.agents.ask import ask
from chapterhouse.answering.request import AskOptions
from chapterhouse.models.scripted import Call, Step
from chapterhouse.telemetry import collecting
from chapterhouse.types import Answer, Usage

QUESTION = "How fast may a vessel go in the harbour, says zorblaquex?"
KNOTS = "Inside the harbour no vessel may exceed 4 knots."
SEARCH = Call("search_documents", {"query": "speed of vessels quendolith"})
# Words of documents, of the question, of what the model searched for and of what it wrote.
PLANTED = ("knots", "vessel", "rules.md", "zorblaquex", "quendolith", "frimble", "gribbled")


def asked(room: Any, *, content: bool = False, persona: str = "maria") -> Answer:
    usual = room.runtime().settings
    changed = usual.telemetry.model_copy(update={"content": content})
    settings = usual.model_copy(update={"telemetry": changed})
    return asyncio.run(ask(QUESTION, persona, AskOptions(), room.runtime(settings)))


def with_tools(room: Any) -> None:
    room.library.personas.change("maria", {"grounding": "both"})
    used = Usage(1, 100, 10)
    wrong = Call("search_documents", {"frimble": 1})
    made_up = Call("gribbled", "no JSON gribbled")
    room.says(Step(calls=(SEARCH, wrong, made_up), usage=used), Step(KNOTS, usage=used))


def everything(exporter: InMemorySpanExporter) -> str:
    """Return all that left this process, in one text."""
    return "".join(
        json.dumps([one.name, dict(one.attributes or {}), one.status.description], default=str)
        + json.dumps([[event.name, dict(event.attributes or {})] for event in one.events])
        + json.dumps(dict(one.resource.attributes), default=str)
        for one in exporter.get_finished_spans()
    )


def test_an_answer_with_tools_is_told_in_its_tree(harbour: Any) -> None:
    with_tools(harbour)
    with collecting() as trace:
        asked(harbour)
    (root,) = trace.roots
    found, chat = root.children
    assert (root.name, found.name, chat.name) == (
        "invoke_agent maria",
        "retrieval maria",
        "chat scripted",
    )
    assert [one.name for one in chat.children] == [
        "execute_tool search_documents",
        "execute_tool search_documents",
        "execute_tool unknown",
    ]
    searched, wrong, made_up = chat.children
    assert [one.name for one in searched.children] == ["retrieval maria"]
    assert [event.name for event in searched.events] == ["start", "stop"]
    assert searched.content["gen_ai.tool.call.arguments"] == SEARCH.arguments
    assert searched.content["gen_ai.tool.call.result"] == "Nothing more was found."
    assert "4 knots" in str(chat.content["gen_ai.input.messages"])
    assert searched.error == ""
    assert (wrong.error, made_up.error) == ("invalid_arguments", "unknown_tool")
    assert wrong.events == made_up.events == ()
    assert made_up.content["gen_ai.tool.call.arguments"] == "no JSON gribbled"


def test_retrieval_tells_what_it_found(harbour: Any) -> None:
    with collecting() as trace:
        asked(harbour)
    ((found,),) = (one.children for one in trace.roots)
    assert found.attributes["gen_ai.data_source.id"] == "maria"
    assert found.attributes["chapterhouse.retrieval.searched_documents"] == 1
    documents: Any = found.content["gen_ai.retrieval.documents"]
    assert found.attributes["chapterhouse.retrieval.hits"] == len(documents) > 0
    assert documents[0].keys() == {"id", "score", "title"}
    assert found.content["gen_ai.retrieval.query.text"] == QUESTION


def test_nothing_read_asked_or_written_leaves(harbour: Any, exporter: InMemorySpanExporter) -> None:
    with_tools(harbour)
    asked(harbour)
    names = [one.name for one in exporter.get_finished_spans()]
    assert sorted(names) == [
        "chat scripted", "execute_tool search_documents", "execute_tool search_documents",
        "execute_tool unknown", "invoke_agent maria", "retrieval maria", "retrieval maria",
    ]  # fmt: skip
    left = everything(exporter).casefold()
    assert [word for word in PLANTED if word in left] == []
    assert "tariff" not in left  # nor of a colleague's
