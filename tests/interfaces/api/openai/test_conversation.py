from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.interfaces.api.openai.conversation import (
    Message,
    ToolBody,
    conversation_of,
    tools_of,
    with_tool_texts,
)
from chapterhouse.interfaces.api.openai.results import opening_of, taken_as
from chapterhouse.types import FollowUp, Turn


def sent(*messages: tuple[str, Any]) -> list[Message]:
    return [Message(role=role, content=content) for role, content in messages]  # type: ignore[arg-type]


def test_the_last_message_of_the_user_is_the_question() -> None:
    found = conversation_of(
        sent(
            ("assistant", "Hello, ask me."),
            ("system", "Be brief."),
            ("user", "One?"),
            ("assistant", "1."),
            ("assistant", "Or I."),
            ("user", "  "),
            ("user", "Two?"),
            ("user", [{"type": "text", "text": "Three"}, {"type": "input_text", "text": "now?"}]),
            ("assistant", "Let me"),
        )
    )
    assert found.question == "Three\nnow?"
    assert found.before == (Turn("One?", "1.\nOr I."), Turn("Two?", ""))


def test_sources_of_earlier_answers_are_left_out() -> None:
    answer = "Taken as: And in April? (gate \\[1\\])\n\nAt noon.[1]\n\n**Sources**\n\n- [1] Rules"
    found = conversation_of(
        sent(("user", "And in April?"), ("assistant", answer), ("user", "Why?"))
    )
    assert found.before == (Turn("And in April? (gate [1])", "At noon.[1]"),)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp", "Zs"])))
def test_a_question_is_read_back_as_it_was_taken(question: str) -> None:
    opening = opening_of(FollowUp("?" if question != "?" else "!", question))
    assert taken_as(f"{opening}Because.") == (question, "\nBecause.")


def called(identifier: str, name: str, arguments: str) -> Message:
    call = {"id": identifier, "function": {"name": name, "arguments": arguments}}
    return Message.model_validate({"role": "assistant", "tool_calls": [call]})


def result(identifier: str, content: str) -> Message:
    return Message(role="tool", tool_call_id=identifier, content=content)


def test_results_of_tools_belong_to_the_question_before_them() -> None:
    messages = [
        *sent(("user", "One?")),
        called("a", "weather", "{}"),
        result("a", "It was dry."),
        *sent(("assistant", "Dry."), ("user", "Two?")),
        called("b", "weather", '{"place": "Osk"}'),
        result("b", "It is wet.\x00"),
        result("unknown", "It is lost."),
        called("c", "weather", "not JSON"),
        result("c", " "),
    ]
    (text,) = with_tool_texts(conversation_of(messages), messages).tool_texts
    assert (text.tool, text.arguments, text.text) == ("weather", {"place": "Osk"}, "It is wet.")


def test_functions_are_tools_that_only_the_client_can_call() -> None:
    bodies = [{"type": "function", "function": {"name": "weather"}}, {"type": "web_search"}]
    (tool,) = tools_of([ToolBody.model_validate(body) for body in bodies])
    assert (tool.name, tool.external) == ("weather", True)
    assert tool.parameters == {"type": "object", "properties": {}}
