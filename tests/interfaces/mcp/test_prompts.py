"""Prompts: listed, filled, completed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from chapterhouse.interfaces.mcp import prompts

from .conftest import Caller


def test_every_prompt_is_listed_with_its_arguments(caller: Caller) -> None:
    found = {prompt.name: prompt for prompt in caller.run(caller.client.list_prompts).prompts}
    assert list(found) == ["ask-with-citations", "convene", "check-citations"]
    for prompt in found.values():
        assert prompt.arguments
        assert all(argument.description for argument in prompt.arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("ask-with-citations", {"question": "Why {x}?"}, "with the tool ask:\n\nWhy {x}?"),
        (
            "ask-with-citations",
            {"question": "Why?", "persona": "maria"},
            "with the tool ask and the persona `maria`:",
        ),
        ("convene", {"council": "storm-board", "question": "When?"}, "council `storm-board`"),
        ("check-citations", {"text": "Lodging: 75 euros."}, "The text:\n\nLodging: 75 euros."),
    ],
)
def test_prompts_say_what_the_user_said(
    caller: Caller, name: str, arguments: dict[str, str], expected: str
) -> None:
    result = caller.run(caller.client.get_prompt, name, arguments)
    assert [message.role for message in result.messages] == ["user"]
    assert expected in result.messages[0].content.text


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("nothing", {}, "There is no such prompt"),
        ("convene", {"council": "x"}, "needs 'question'"),
        ("convene", {"council": "x", "question": "  "}, "needs 'question'"),
        ("check-citations", {"text": "x", "more": "y"}, "takes only text"),
        ("check-citations", {"text": "x" * 20_001}, "more than 20,000"),
    ],
)
def test_what_is_missing_or_unknown_is_said(
    caller: Caller, name: str, arguments: dict[str, str], sentence: str
) -> None:
    with pytest.raises(MCPError, match=sentence):
        caller.run(caller.client.get_prompt, name, arguments)


@given(st.text(min_size=1).filter(str.strip))
def test_what_is_filled_in_is_never_filled_again(said: str) -> None:
    result = prompts.fill("check-citations", {"text": said})
    content = result.messages[0].content
    assert content.type == "text"
    assert content.text.endswith(f"The text:\n\n{said.strip()}")


@pytest.mark.parametrize(
    ("reference", "argument", "expected"),
    [
        (PromptReference(name="convene"), {"name": "council", "value": "st"}, ["storm-board"]),
        (
            PromptReference(name="ask-with-citations"),
            {"name": "persona", "value": ""},
            ["maria", "tom"],
        ),
        (
            ResourceTemplateReference(uri="chapterhouse://personas/{slug}"),
            {"name": "slug", "value": "t"},
            ["tom"],
        ),
        (
            ResourceTemplateReference(uri="chapterhouse://documents/{id}"),
            {"name": "id", "value": ""},
            [],
        ),
    ],
)
def test_slugs_are_completed(
    caller: Caller,
    reference: PromptReference | ResourceTemplateReference,
    argument: dict[str, str],
    expected: list[str],
) -> None:
    completion = caller.run(caller.client.complete, reference, argument).completion
    assert completion.values == expected
