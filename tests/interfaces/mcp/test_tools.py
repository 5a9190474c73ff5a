import json
import re

import jsonschema

from chapterhouse.interfaces.mcp.tools import TOOLS
from chapterhouse.library import Library

from .conftest import HOSTILE, Built, Caller

CALLS: dict[str, dict[str, object]] = {
    "search": {"query": "lodging of stranded passengers"},
    "fetch": {"id": "berths.md"},
    "search_knowledge": {"query": "How much may stranded passengers claim for lodging a night?"},
    "semantic_search": {"query": "Stranded passengers may claim lodging.", "min_similarity": 0.1},
    "search_documents": {"query": "width of berth 17", "shelves": ["library"]},
    "search_graph": {"name": "Kiel"},
    "ask": {"question": "Up to how much may stranded passengers claim for lodging a night?"},
    "convene": {
        "council": "storm-board",
        "question": "How much may stranded passengers claim for lodging a night?",
    },
    "list_personas": {},
    "list_councils": {},
}


def test_the_list_is_complete_and_says_that_nothing_is_changed(caller: Caller) -> None:
    tools = caller.run(caller.client.list_tools).tools
    assert [tool.name for tool in tools] == [tool.name for tool in TOOLS] == list(CALLS)
    for tool in tools:
        assert tool.annotations
        assert tool.annotations.read_only_hint
        assert tool.annotations.idempotent_hint
        assert tool.annotations.destructive_hint is False
        assert tool.annotations.open_world_hint is False
        assert "Call this" in tool.description
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema
        for name, about in tool.input_schema["properties"].items():
            assert about.get("description"), f"{tool.name}: {name} is not described"


def test_a_workspace_may_describe_search_documents(caller: Caller, built: Built) -> None:
    words = "Call this when the user asks about storms or berths."
    with Library.open(built.home) as library:
        library.configuration.change("search.tool_description", words, by="ada")
        try:
            listed = caller.run(caller.client.list_tools, cache_mode="refresh").tools
        finally:
            library.configuration.reset("search.tool_description", by="ada")
            caller.run(caller.client.list_tools, cache_mode="refresh")  # which the client keeps
    tools = {one.name: one for one in listed}
    assert tools["search_documents"].description == words
    assert tools["search_documents"].input_schema["required"] == ["query"]
    text = caller.tool("search_documents", query="width of berth 17").content[0].text
    assert re.search(r"^1\. \S+berths\.md \(chunk \d+\)$", text, re.MULTILINE)


def test_every_result_is_text_and_data_that_fits_its_schema(caller: Caller) -> None:
    schemas = {one.name: one.output_schema for one in caller.run(caller.client.list_tools).tools}
    for name, arguments in CALLS.items():
        result = caller.tool(name, **arguments)
        assert not result.is_error, result.content
        assert result.content[0].text.strip()
        jsonschema.validate(result.structured_content, schemas[name])


def test_both_transports_give_the_same(over_stdio: Caller, over_http: Caller) -> None:
    for name, arguments in (*CALLS.items(), *((one[0], one[1]) for one in ERRORS)):
        first, second = over_stdio.tool(name, **arguments), over_http.tool(name, **arguments)
        assert first.structured_content == second.structured_content, name
        assert (first.is_error, first.content) == (second.is_error, second.content), name
    for method in ("list_tools", "list_resources", "list_resource_templates"):
        first, second = (one.run(getattr(one.client, method)) for one in (over_stdio, over_http))
        assert first.model_dump(exclude={"meta"}) == second.model_dump(exclude={"meta"})


def test_search_and_fetch_are_the_pair_that_research_clients_expect(caller: Caller) -> None:
    result = caller.tool("search", query="lodging of stranded passengers")
    assert json.loads(result.content[0].text) == result.structured_content
    found = result.structured_content["results"]
    assert {frozenset(one) for one in found} == {frozenset(("id", "title", "url", "text"))}
    assert found[0]["title"] == "Storm Rules"
    page = caller.data("fetch", id=found[0]["id"])
    assert set(page) == {"id", "title", "text", "url", "metadata"}
    assert found[0]["text"] in page["text"]
    passage = slice(page["metadata"]["passage_start"], page["metadata"]["passage_end"])
    assert page["text"][passage] == found[0]["text"]
    assert caller.run(caller.client.read_resource, found[0]["url"]).contents[0].text == page["text"]


def test_no_description_holds_anything_of_a_document(caller: Caller) -> None:
    tools = caller.run(caller.client.list_tools).tools
    listed = caller.run(caller.client.list_resources).resources
    told = [str(tool.model_dump()) for tool in tools]
    told += [str(resource.description) for resource in listed]
    told.append(str(caller.client.instructions))
    for text in told:
        assert "Offer" not in text
        assert "Storm Rules" not in text
        assert "im_start" not in text


def test_what_a_document_orders_arrives_as_a_quotation(caller: Caller) -> None:
    result = caller.tool("search_documents", query="pay the offer for the pier at once")
    assert result.structured_content["passages"][0]["text"].endswith(HOSTILE.rstrip())
    told = result.content[0].text
    assert "<|im_start|>" not in told
    assert "</tool_result>" not in told


ERRORS: tuple[tuple[str, dict[str, object], str], ...] = (
    ("fetch", {"id": "nothing-12345678"}, "There is no document 'nothing-12345678'."),
    ("fetch", {"id": "nothing-12345678:3"}, "There is no document 'nothing-12345678'."),
    ("fetch", {"id": "berths.md:99999"}, "has no passage 99999"),
    ("fetch", {"id": "berths.md", "offset": 10**9}, "there is nothing at 1,000,000,000"),
    ("ask", {"question": "x", "persona": "zed"}, "There is no persona 'zed'."),
    ("convene", {"council": "zed", "question": "x"}, "There is no council 'zed'."),
    ("convene", {"council": "broken", "question": "x"}, "broken"),
    ("search_documents", {"query": "x", "shelves": ["nowhere"]}, "nowhere"),
    ("search", {}, "query: Field required"),
    ("search", {"query": ""}, "query: "),
    ("search", {"query": "x", "limit": 3}, "no parameter 'limit'. There are: query"),
    ("search_knowledge", {"query": "x", "min_similarity": 2}, "min_similarity: "),
)


def test_errors_are_sentences_without_traces_or_paths(caller: Caller, library: Library) -> None:
    for name, arguments, sentence in ERRORS:
        result = caller.tool(name, **arguments)
        told = result.content[0].text
        assert (result.is_error, sentence in told) == (True, True), told
        assert not [one for one in ("Traceback", str(library.home), "pydantic") if one in told]
