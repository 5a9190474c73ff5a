"""Tools that find and read, called without a server between."""

import hashlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.interfaces.mcp.calls import PAGE, document_of, title_of, url_of
from chapterhouse.interfaces.schemas import (
    AskArguments,
    ConveneArguments,
    FetchArguments,
    KnowledgeArguments,
    NoArguments,
    PassagesArguments,
    SearchArguments,
)
from chapterhouse.library import Library

from .conftest import Direct


def test_a_long_document_comes_in_pages_that_rejoin(direct: Direct, library: Library) -> None:
    document = library.documents.get("berths.md")
    pages = [direct.data("fetch", id=document.id, offset=0)]
    while (following := pages[-1]["metadata"]["next_offset"]) is not None:
        pages.append(direct.data("fetch", id=document.id, offset=following))
        assert pages[-1]["metadata"]["start"] == following
    assert len(pages) > 1
    assert "".join(page["text"] for page in pages) == library.documents.body(document.id).text


def test_fetch_opens_a_long_document_where_the_passage_stands(direct: Direct) -> None:
    found = direct.data("search_documents", query="Berth 300", limit=1)["passages"][0]
    page = direct.data("fetch", id=found["chunk_id"])
    assert page["metadata"]["start"] > 0
    assert found["text"] in page["text"]
    again = direct.data("fetch", id=found["document_id"], offset=found["start"])
    assert again["text"].startswith(found["text"])


def test_passages_carry_file_page_score_and_a_span_that_holds(
    direct: Direct, library: Library
) -> None:
    calls: dict[str, dict[str, Any]] = {
        "search_knowledge": {"query": "How much may stranded passengers claim for lodging?"},
        "semantic_search": {"query": "Passengers may claim lodging.", "min_similarity": 0.1},
        "search_documents": {"query": "width of berth 17", "shelves": ["library"]},
    }
    for name, arguments in calls.items():
        result = direct.tool(name, **arguments)
        data = result.structured_content
        assert data["passages"], name
        assert result.content[0].text.startswith('[Knowledge base results for "')
        for passage in data["passages"]:
            assert passage["exact"] or passage["score"] >= data["min_similarity"]
            text = library.documents.body(passage["document_id"]).text
            assert passage["text"].endswith(text[passage["start"] : passage["end"]])
            assert hashlib.sha256(text.encode()).hexdigest() == passage["text_sha256"]


def test_what_says_the_opposite_is_found_by_default(direct: Direct, library: Library) -> None:
    rules = ("The tenant must not keep a dog, a cat or another animal in the flat.",
             "The tenant may keep bicycles in the cellar.", "The tenant may not smoke.",
             "The landlord may keep a key.")  # fmt: skip
    agreement = "\n\n".join(f"## Clause {n}\n\n{rule * 12}" for n, rule in enumerate(rules))
    library.documents.add_text(agreement, title="Tenancy agreement")
    found = direct.data("semantic_search", query="May I as a tenant keep a dog?")["passages"]
    assert found[0]["title"] == "Tenancy agreement"
    assert "must not keep a dog" in found[0]["text"]


def test_shelves_bound_what_is_found(direct: Direct) -> None:
    arguments = {"query": "stranded passengers lodging", "limit": 20}
    everywhere = direct.data("search_documents", **arguments)["passages"]
    old = direct.data("search_documents", **arguments, shelves=["maria"])["passages"]
    assert {one["source"].rpartition("/")[2] for one in old} == {"storm-2023.md"}
    assert len(everywhere) > len(old)


@given(st.integers(0, 40_000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_page_is_the_text_from_its_offset_and_ends_behind_a_paragraph(
    direct: Direct, offset: int
) -> None:
    document = direct.library.documents.get("berths.md")
    text = direct.library.documents.body(document.id).text
    if offset > len(text):
        with pytest.raises(NotFoundError, match="there is nothing at"):
            direct.data("fetch", id=document.id, offset=offset)
        return
    page = direct.data("fetch", id=document.id, offset=offset)
    about = page["metadata"]
    assert page["text"] == text[offset : about["end"]]
    assert len(page["text"]) <= PAGE
    if about["next_offset"] is None:
        assert about["end"] == about["characters"] == len(text)
    else:
        assert about["next_offset"] == about["end"]
        assert page["text"].endswith("\n\n")


def test_search_gives_the_best_passage_of_each_document(direct: Direct) -> None:
    found = direct.data("search", query="passengers in a boat at quay or berth")["results"]
    documents = [one["id"].rpartition(":")[0] for one in found]
    assert len(documents) == len(set(documents)) >= 2
    assert all(one["url"].startswith("chapterhouse://documents/") for one in found)
    assert all("#char=" in one["url"] for one in found)


def test_a_document_is_called_by_its_title_or_its_file_and_addressed_by_its_own_page(
    library: Library,
) -> None:
    document = document_of(library, "berths.md")
    assert document_of(library, document.id[:9]) == document
    assert title_of(document) == "Register"
    assert title_of(replace(document, title="")) == "berths.md"
    assert "\n" not in title_of(replace(document, title="Two\nlines"))
    assert url_of(document, span="#char=1,2") == f"chapterhouse://documents/{document.id}#char=1,2"
    for name in ("storm", "nothing"):
        with pytest.raises((NotFoundError, UsageError)):
            document_of(library, name)


@pytest.mark.parametrize(
    ("kind", "most", "too_much"),
    [
        (SearchArguments, {"query": "q" * 1_000}, {"query": "q" * 1_001}),
        (AskArguments, {"question": "q" * 10_000}, {"question": "q" * 10_001}),
        (PassagesArguments, {"query": "q", "limit": 20}, {"query": "q", "limit": 21}),
        (PassagesArguments, {"query": "q", "limit": 1}, {"query": "q", "limit": 0}),
        (
            PassagesArguments,
            {"query": "q", "shelves": ["a"] * 50},
            {"query": "q", "shelves": ["a"] * 51},
        ),
        (
            KnowledgeArguments,
            {"query": "q", "min_similarity": 1},
            {"query": "q", "min_similarity": 1.01},
        ),
        (FetchArguments, {"id": "d", "offset": 0}, {"id": "d", "offset": -1}),
        (FetchArguments, {"id": "d" * 500}, {"id": ""}),
        (ConveneArguments, {"council": "c", "question": "q"}, {"council": "", "question": "q"}),
        (NoArguments, {}, {"shelf": "mia"}),
    ],
)
def test_arguments_are_bounded(
    kind: type[BaseModel], most: dict[str, object], too_much: dict[str, object]
) -> None:
    kind.model_validate(most)
    with pytest.raises(ValidationError):
        kind.model_validate(too_much)
