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


def test_arguments_are_bounded() -> None:
    query = {"query": "q"}
    bounds: tuple[tuple[type[BaseModel], dict[str, object], dict[str, object]], ...] = (
        (SearchArguments, {"query": "q" * 1_000}, {"query": "q" * 1_001}),
        (AskArguments, {"question": "q" * 10_000}, {"question": "q" * 10_001}),
        (PassagesArguments, {**query, "limit": 20}, {**query, "limit": 21}),
        (PassagesArguments, {**query, "limit": 1}, {**query, "limit": 0}),
        (PassagesArguments, {**query, "shelves": ["a"] * 50}, {**query, "shelves": ["a"] * 51}),
        (KnowledgeArguments, {**query, "min_similarity": 1}, {**query, "min_similarity": 1.01}),
        (FetchArguments, {"id": "d", "offset": 0}, {"id": "d", "offset": -1}),
        (FetchArguments, {"id": "d" * 500}, {"id": ""}),
        (ConveneArguments, {"council": "c", "question": "q"}, {"council": "", "question": "q"}),
        (NoArguments, {}, {"shelf": "mia"}),
    )
    for kind, most, too_much in bounds:
        kind.model_validate(most)
        with pytest.raises(ValidationError):
            kind.model_validate(too_much)


def test_fetch_opens_a_long_document_where_the_passage_stands(direct: Direct) -> None:
    found = direct.data("search_documents", query="Berth 300", limit=1)["passages"][0]
    page = direct.data("fetch", id=found["chunk_id"])
    assert page["metadata"]["start"] > 0
    assert found["text"] in page["text"]
    again = direct.data("fetch", id=found["document_id"], offset=found["start"])
    assert again["text"].startswith(found["text"])
