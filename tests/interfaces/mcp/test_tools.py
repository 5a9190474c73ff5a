"""Every tool, called by the SDK's client over both transports."""

import hashlib
import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it has no stubs
import pytest

from chapterhouse.interfaces.mcp.tools import TOOLS
from chapterhouse.library import Library

from .conftest import HOSTILE, Caller

CALLS: dict[str, dict[str, object]] = {
    "search": {"query": "lodging of stranded passengers"},
    "fetch": {"id": "berths.md"},
    "search_knowledge": {"query": "How much may stranded passengers claim for lodging a night?"},
    "semantic_search": {"query": "Stranded passengers may claim lodging.", "min_similarity": 0.1},
    "search_documents": {"query": "width of berth 17", "shelves": ["library"]},
    "ask": {"question": "Up to how much may stranded passengers claim for lodging a night?"},
    "convene": {
        "council": "storm-board",
        "question": "How much may stranded passengers claim for lodging a night?",
    },
    "list_personas": {},
    "list_councils": {},
}


def require_verified(citations: list[dict[str, Any]], library: Library) -> None:
    assert citations
    for citation in citations:
        text = library.documents.body(citation["document_id"]).text
        assert citation["verified"]
        assert text[citation["start"] : citation["end"]] == citation["quote"]
        assert hashlib.sha256(text.encode()).hexdigest() == citation["text_sha256"]


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


@pytest.mark.parametrize("name", CALLS)
def test_every_result_is_text_and_data_that_fits_its_schema(caller: Caller, name: str) -> None:
    result = caller.tool(name, **CALLS[name])
    assert not result.is_error, result.content
    assert result.content[0].text.strip()
    schema = next(t for t in caller.run(caller.client.list_tools).tools if t.name == name)
    jsonschema.validate(result.structured_content, schema.output_schema)


def test_both_transports_give_the_same(over_stdio: Caller, over_http: Caller) -> None:
    for name, arguments in CALLS.items():
        first, second = over_stdio.tool(name, **arguments), over_http.tool(name, **arguments)
        assert first.structured_content == second.structured_content, name
        assert first.content == second.content, name


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


def test_a_long_document_comes_in_pages_that_rejoin(caller: Caller, library: Library) -> None:
    document = library.documents.get("berths.md")
    pages = [caller.data("fetch", id=document.id, offset=0)]
    while (following := pages[-1]["metadata"]["next_offset"]) is not None:
        pages.append(caller.data("fetch", id=document.id, offset=following))
        assert pages[-1]["metadata"]["start"] == following
    assert len(pages) > 1
    assert "".join(page["text"] for page in pages) == library.documents.body(document.id).text


def test_fetch_opens_a_long_document_where_the_passage_stands(caller: Caller) -> None:
    found = caller.data("search_documents", query="Berth 300", limit=1)["passages"][0]
    page = caller.data("fetch", id=found["id"])
    assert page["metadata"]["start"] > 0
    assert found["text"] in page["text"]
    again = caller.data("fetch", id=found["span"]["document_id"], offset=found["span"]["start"])
    assert again["text"].startswith(found["text"])


def test_passages_carry_file_page_similarity_and_a_span_that_holds(
    caller: Caller, library: Library
) -> None:
    for name in ("search_knowledge", "semantic_search", "search_documents"):
        result = caller.tool(name, **CALLS[name])
        data = result.structured_content
        assert data["passages"], name
        assert result.content[0].text.startswith('[Knowledge base results for "')
        for passage in data["passages"]:
            assert passage["exact"] or passage["similarity"] >= data["min_similarity"]
            span = passage["span"]
            text = library.documents.body(span["document_id"]).text
            assert passage["text"].endswith(text[span["start"] : span["end"]])
            assert hashlib.sha256(text.encode()).hexdigest() == span["text_sha256"]


def test_the_similarity_has_the_defaults_of_the_knowledge_tools(caller: Caller) -> None:
    assert caller.data("search_knowledge", query="quantum chess")["min_similarity"] == 0.65
    nothing = caller.tool("semantic_search", query="quantum chess of the emperors")
    assert nothing.structured_content["min_similarity"] == 0.7
    assert nothing.structured_content["passages"] == []
    assert nothing.content[0].text.startswith("[No knowledge base results for")


def test_shelves_bound_what_is_found(caller: Caller) -> None:
    arguments = {"query": "stranded passengers lodging", "limit": 20}
    everywhere = caller.data("search_documents", **arguments)["passages"]
    old = caller.data("search_documents", **arguments, shelves=["maria"])["passages"]
    assert {one["file"].rpartition("/")[2] for one in old} == {"storm-2023.md"}
    assert len(everywhere) > len(old)


def test_an_answer_has_verified_citations_and_names_the_conflict(
    caller: Caller, library: Library
) -> None:
    answer = caller.data("ask", **CALLS["ask"])
    assert answer["outcome"] == "answer"
    assert answer["route"] == "answered"
    assert "75 euros" in answer["text"]
    require_verified(answer["citations"], library)
    assert [conflict["kind"] for conflict in answer["conflicts"]] == ["number"]
    assert answer["conflicts"][0]["newer"] is True


def test_a_persona_answers_from_their_own_shelf(caller: Caller, library: Library) -> None:
    answer = caller.data("ask", **CALLS["ask"], persona="maria")
    assert answer["persona"] == "maria"
    require_verified(answer["citations"], library)
    assert {one["file"].rpartition("/")[2] for one in answer["citations"]} == {"storm-2023.md"}


def test_what_the_documents_do_not_answer_is_said_honestly(caller: Caller) -> None:
    answer = caller.data("ask", question="Who won the chess tournament of 1911 in Vilnius?")
    assert answer["outcome"] == "not-found"
    assert answer["citations"] == []


def test_minutes_have_verified_citations_and_the_table(caller: Caller, library: Library) -> None:
    heard: list[tuple[float, str]] = []

    async def on_progress(progress: float, _total: float | None, message: str | None) -> None:
        heard.append((progress, message or ""))

    result = caller.run(
        caller.client.call_tool, "convene", CALLS["convene"], progress_callback=on_progress
    )
    minutes = result.structured_content
    require_verified(minutes["citations"], library)
    assert [member["key"] for member in minutes["members"]] == ["maria", "tom"]
    numbers = {citation["number"] for citation in minutes["citations"]}
    cells = minutes["reading"]["positions"]
    assert {cell["member"] for cell in cells} == {"maria", "tom"}
    assert {number for cell in cells for number in cell["citations"]} <= numbers
    assert [one["relation"] for one in minutes["reading"]["comparisons"]] == ["differ"]
    assert not minutes["decision"]  # nobody asked what to choose
    assert not minutes["map"]["rows"]
    assert "# " in result.content[0].text
    assert [number for number, _ in heard] == sorted({number for number, _ in heard})
    told = [message for _, message in heard]
    assert told[0] == "Round 1, independent_analysis, has begun."
    assert "Round 1, independent_analysis: maria has spoken." in told
    assert not any("euros" in message for message in told)


def test_personas_and_councils_are_listed_with_what_cannot_be_used(caller: Caller) -> None:
    personas = caller.data("list_personas")["personas"]
    assert [(one["slug"], one["documents"]) for one in personas] == [("maria", 1), ("tom", 1)]
    councils = caller.data("list_councils")["councils"]
    assert [(one["slug"], one["usable"]) for one in councils] == [
        ("broken", False),
        ("storm-board", True),
    ]
    assert councils[0]["problem"]
    assert councils[1]["members"] == ["maria", "tom"]


def test_no_description_holds_anything_of_a_document(caller: Caller) -> None:
    tools = caller.run(caller.client.list_tools).tools
    listed = caller.run(caller.client.list_resources).resources
    prompts = caller.run(caller.client.list_prompts).prompts
    told = [str(tool.model_dump()) for tool in tools] + [str(one.model_dump()) for one in prompts]
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


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
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
        ("search", {"query": "x", "limit": 3}, "limit: "),
        ("search_knowledge", {"query": "x", "min_similarity": 2}, "min_similarity: "),
    ],
)
def test_errors_are_sentences_without_traces_or_paths(
    caller: Caller, library: Library, name: str, arguments: dict[str, object], sentence: str
) -> None:
    result = caller.tool(name, **arguments)
    assert result.is_error
    told = result.content[0].text
    assert sentence in told
    assert "Traceback" not in told
    assert str(library.home) not in told
    assert "pydantic" not in told


def test_a_document_is_not_found_by_its_path_on_the_machine(
    caller: Caller, library: Library
) -> None:
    location = library.documents.get("berths.md").location
    assert caller.tool("fetch", id=location).is_error


def test_nothing_is_remembered_unless_it_was_asked_for(caller: Caller, library: Library) -> None:
    caller.data("ask", **CALLS["ask"])
    caller.data("convene", **CALLS["convene"])
    assert library.memory.count(("", "maria", "tom")) == 0
    council = library.councils.load("storm-board").path
    assert sorted(entry.name for entry in council.iterdir()) == ["council.json", "docs"]
