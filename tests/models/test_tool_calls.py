"""Calls of tools: what a model may ask for, and what it is told."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import UsageError
from chapterhouse.models.schema import check_schema, faults
from chapterhouse.models.tool_calls import check_tools, run_call
from chapterhouse.types import Tool

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "question": {"type": "string", "minLength": 1, "maxLength": 9, "description": "What."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 20},
        "kind": {"enum": ["pdf", "html"]},
        "shelves": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "exact": {"type": ["boolean", "null"]},
        "weight": {"type": "number"},
    },
    "required": ["question"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ({"question": "a"}, []),
        ({"question": "a", "limit": 20, "kind": "pdf", "shelves": ["b"], "exact": None}, []),
        ({"question": "a", "limit": 2.0, "weight": 1}, []),
        ({}, ["question is missing"]),
        ([], ["the arguments must be of type object"]),
        ({"question": ""}, ["the length of question must be at least 1"]),
        ({"question": "a" * 10}, ["the length of question must be at most 9"]),
        ({"question": "a", "limit": 0}, ["limit must be at least 1"]),
        ({"question": "a", "limit": 2.5}, ["limit must be of type integer"]),
        ({"question": "a", "limit": True}, ["limit must be of type integer"]),
        ({"question": "a", "kind": "doc"}, ["kind must be one of 'pdf', 'html'"]),
        ({"question": "a", "shelves": ["b", 3]}, ["shelves[1] must be of type string"]),
        ({"question": "a", "shelves": ["b"] * 3}, ["the length of shelves must be at most 2"]),
        ({"question": "a", "exact": 1}, ["exact must be of type boolean or null"]),
        ({"question": "a", "other": 1}, ["other is not known"]),
    ],
)
def test_arguments_are_held_to_the_schema(value: object, wrong: list[str]) -> None:
    assert list(faults(value, SCHEMA)) == wrong


def test_a_schema_that_says_more_than_is_checked_is_refused() -> None:
    check_schema(SCHEMA, "search")
    for more in ({"pattern": "a"}, {"type": "date"}, {"items": {"$ref": "#"}}):
        with pytest.raises(UsageError, match="not checked"):
            check_schema({"type": "object", "properties": {"a": more}}, "search")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(VALUES)
def test_any_arguments_are_answered(value: Any) -> None:
    called: list[Mapping[str, object]] = []

    def call(arguments: Mapping[str, object]) -> str:
        called.append(arguments)
        return "done"

    tool = Tool("search", "", SCHEMA, call)
    check_tools([tool])
    made = run_call([tool], "search", value if isinstance(value, dict) else "x")
    assert made.failed != bool(called)
    assert made.result.startswith("failed") == made.failed


@given(st.text(max_size=40))
def test_any_text_as_arguments_is_answered(written: str) -> None:
    tool = Tool("search", "", SCHEMA, lambda _: "done")
    assert run_call([tool], "search", written).failed
    assert run_call([tool], written, "{}").failed


def test_what_a_reader_could_not_see_reaches_no_tool() -> None:
    tool = Tool("search", "", SCHEMA, lambda arguments: f"{arguments['question']}\u200b")
    made = run_call([tool], "search", '{"question": "a\\u202eb"}')
    assert made.arguments == {"question": "ab"}
    assert made.result == "ab"


def test_time_is_taken() -> None:
    moments = iter([1.0, 3.5])
    tool = Tool("search", "", {"type": "object"}, lambda _: "done")
    assert run_call([tool], "search", "", lambda: next(moments)).seconds == 2.5
