"""What clients of OpenAI's protocol send: the question in it, and the turns before it.

A member that is not known is ignored, since clients send many that are about models alone.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from chapterhouse.answering.tool_texts import tool_text
from chapterhouse.interfaces.api.openai.results import SOURCES_TITLE, taken_as
from chapterhouse.interfaces.api.problems import Refusal
from chapterhouse.interfaces.api.schemas import LARGEST, STRICT, Text
from chapterhouse.text.naming import is_tool_name
from chapterhouse.types import Tool, ToolText, Turn

_MOST_MESSAGES: Final = 2_000
_MOST_PARTS: Final = 200
_MOST_TOOLS: Final = 128
_LONGEST_NAME: Final = 200


class RequestPart(BaseModel):
    """A part of a request."""

    model_config = ConfigDict(frozen=True, extra="ignore")


Whole = Annotated[int, Field(ge=-LARGEST, le=LARGEST), STRICT]
Tokens = Annotated[int, Field(ge=1, le=LARGEST), STRICT]
ModelId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=_LONGEST_NAME,
        description="chapterhouse, persona/SLUG, council/SLUG or chapterhouse-embeddings.",
        examples=["chapterhouse"],
    ),
]


class ContentPart(RequestPart):
    """A part of a message; only text is read."""

    type: Annotated[str, Field(max_length=_LONGEST_NAME)]
    text: Text = ""


Content = Text | Annotated[tuple[ContentPart, ...], Field(max_length=_MOST_PARTS)] | None


class FunctionCall(RequestPart):
    """What a model wanted called."""

    name: Annotated[str, Field(max_length=_LONGEST_NAME)] = ""
    arguments: Text = ""


class MessageCall(RequestPart):
    """A call of a tool in an earlier answer."""

    id: Annotated[str, Field(max_length=_LONGEST_NAME)]
    function: FunctionCall = FunctionCall()


class Message(RequestPart):
    """A message of a conversation; those of system and developer are ignored."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Content = None
    tool_calls: Annotated[tuple[MessageCall, ...], Field(max_length=_MOST_PARTS)] | None = None
    tool_call_id: Annotated[str, Field(max_length=_LONGEST_NAME)] = ""


class FunctionBody(RequestPart):
    """A function of the client's program."""

    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
    description: Annotated[str, Field(max_length=10_000)] | None = None
    parameters: dict[str, Any] | None = None


class ToolBody(RequestPart):
    """A tool of the client's program; other kinds than functions are ignored."""

    type: Annotated[str, Field(max_length=_LONGEST_NAME)]
    function: FunctionBody | None = None


class StreamOptions(RequestPart):
    """What a stream tells."""

    include_usage: StrictBool = False


class FormatBody(RequestPart):
    """The form of an answer; only text is given."""

    type: Annotated[str, Field(max_length=_LONGEST_NAME)] = "text"


class ChatQuestion(RequestPart):
    """What chat completions and responses have in common."""

    model: ModelId
    stream: StrictBool | None = None
    tool_choice: str | dict[str, Any] | None = None


class ChatBody(ChatQuestion):
    """A request for a chat completion."""

    messages: Annotated[
        tuple[Message, ...],
        Field(
            min_length=1,
            max_length=_MOST_MESSAGES,
            examples=[[{"role": "user", "content": "When does the ferry leave?"}]],
        ),
    ]
    stream_options: StreamOptions | None = None
    tools: Annotated[tuple[ToolBody, ...], Field(max_length=_MOST_TOOLS)] | None = None
    n: Whole | None = None
    max_tokens: Tokens | None = None
    max_completion_tokens: Tokens | None = None
    response_format: FormatBody | None = None


class Item(RequestPart):
    """An item of a conversation: a message, or something that is ignored."""

    type: Annotated[str, Field(max_length=_LONGEST_NAME)] = "message"
    role: Annotated[str, Field(max_length=_LONGEST_NAME)] = ""
    content: Content = None


class TextBody(RequestPart):
    """How a text is to be."""

    format: FormatBody | None = None


class ResponseBody(ChatQuestion):
    """A request for a response."""

    input: (
        Annotated[Text, Field(min_length=1, examples=["When does the ferry leave?"])]
        | Annotated[tuple[Item, ...], Field(min_length=1, max_length=_MOST_MESSAGES)]
    )
    max_output_tokens: Tokens | None = None
    previous_response_id: str | None = None
    conversation: str | dict[str, Any] | None = None
    background: StrictBool | None = None
    text: TextBody | None = None


class EmbeddingBody(RequestPart):
    """A request for embeddings."""

    model: ModelId
    input: (
        Annotated[Text, Field(examples=["a lead for dogs"])]
        | tuple[Text | Whole | tuple[Whole, ...], ...]
    )
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Whole | None = None


_LONGEST_QUESTION: Final = 10_000  # characters
_MOST_TURNS: Final = 50
_TEXT_PARTS: Final = frozenset({"text", "input_text", "output_text"})
_IGNORED_PARTS: Final = frozenset({"refusal", "reasoning", "thinking"})
_WORDS_PER_TOKEN: Final = 0.75
_FEWEST_WORDS, _MOST_WORDS = 10, 10_000
_SOURCES: Final = re.compile(rf"\n\n{re.escape(SOURCES_TITLE)}\n.*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A question and the turns before it, oldest first.

    Attributes:
        text: All that was sent and is read, of which tokens are counted.
        tool_texts: What tools of the client returned for the question.
    """

    question: str
    before: tuple[Turn, ...]
    text: str
    tool_texts: tuple[ToolText, ...] = ()


def conversation_of(messages: Sequence[Message | Item]) -> Conversation:
    """Return the last message of a user as the question, and those before it as turns.

    Messages of system and developer are ignored: answers are from documents alone.
    """
    sent = [(one.role, _text(one.content)) for one in messages if one.role in {"user", "assistant"}]
    places = [place for place, (role, _) in enumerate(sent) if role == "user"]
    if not places:
        raise _invalid("The conversation has no message with the role 'user'.")
    *before, (_, question) = sent[: places[-1] + 1]
    question = question.strip()
    if not question:
        raise _invalid("The last message of the user has no text.")
    if len(question) > _LONGEST_QUESTION:
        raise _invalid(
            f"The question has {len(question):,} characters; at most {_LONGEST_QUESTION:,} can be"
            " asked. Add a long text to the library instead."
        )
    text = "\n".join(text for _, text in sent)
    return Conversation(question, tuple(_turns(before))[-_MOST_TURNS:], text)


def with_tool_texts(conversation: Conversation, messages: Sequence[Message]) -> Conversation:
    """Return a conversation with what tools returned behind its question."""
    calls = {one.id: one.function for sent in messages for one in sent.tool_calls or ()}
    places = [place for place, one in enumerate(messages) if one.role == "user"]
    behind = (one for one in messages[places[-1] :] if one.role == "tool")
    texts = [
        text
        for one in behind
        if (found := calls.get(one.tool_call_id)) and is_tool_name(found.name)
        for text in (tool_text(found.name, _arguments(found.arguments), _text(one.content)),)
        if text.text.strip()
    ]
    return replace(conversation, tool_texts=tuple(texts))


def tools_of(bodies: Sequence[ToolBody]) -> tuple[Tool, ...]:
    """Return the tools of the client's program."""
    return tuple(
        Tool(
            name=body.function.name,
            description=body.function.description or "",
            parameters={"type": "object", "properties": {}, **(body.function.parameters or {})},
            call=_never,
            external=True,
        )
        for body in bodies
        if body.type == "function" and body.function
    )


def _never(_: Mapping[str, object]) -> str:
    raise AssertionError("an external tool is never called here")


def _arguments(written: str) -> Mapping[str, object]:
    """Return the arguments of a call as a model wrote them; none where they are no object."""
    try:
        read = json.loads(written)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def words_of(tokens: int | None) -> int | None:
    """Return how many words an answer of so many tokens may have."""
    if tokens is None:
        return None
    return round(min(max(tokens * _WORDS_PER_TOKEN, _FEWEST_WORDS), _MOST_WORDS))


def require_possible(body: ChatQuestion, form: FormatBody | None) -> None:
    """See that a request asks for nothing that its answer would lack without a word."""
    if form is not None and form.type != "text":
        raise _invalid(f"Answers are text; the form '{form.type}' cannot be given.")
    if body.tool_choice not in (None, "none", "auto"):
        raise _invalid("No tool can be forced: tool_choice can be 'auto' or 'none'.")


def _turns(messages: Sequence[tuple[str, str]]) -> Iterator[Turn]:
    """Yield each question with the answers to it; what comes before the first has none."""
    turns: list[tuple[str, list[str]]] = []
    for role, text in messages:
        if role == "user":
            turns.append((text.strip(), []))
        elif turns:
            turns[-1][1].append(text)
    for question, answers in filter(lambda turn: turn[0], turns):
        answer = _SOURCES.sub("", "\n".join(answers).replace("\r\n", "\n"))
        meant, answer = taken_as(answer)
        yield Turn(meant or question, answer.strip())


def _text(content: Content) -> str:
    if not isinstance(content, tuple):
        return content or ""
    texts = []
    for part in content:
        if part.type in _TEXT_PARTS:
            texts.append(part.text)
        elif part.type not in _IGNORED_PARTS:
            raise _invalid(
                f"A message has a part of the type '{part.type}'. Only text can be read here; add"
                " files to the library instead."
            )
    return "\n".join(texts)


def _invalid(detail: str) -> Refusal:
    return Refusal(400, detail)
