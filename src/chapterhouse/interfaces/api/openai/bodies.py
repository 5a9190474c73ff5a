"""What clients of OpenAI's protocol send.

A member that is not known is ignored, since clients send many that are about models alone.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from chapterhouse.interfaces.api.schemas import LARGEST, STRICT, Text

_MOST_MESSAGES: Final = 2_000
_MOST_PARTS: Final = 200
_MOST_TOOLS: Final = 128
_LONGEST_NAME: Final = 200


class Sent(BaseModel):
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


class ContentPart(Sent):
    """A part of a message; only text is read."""

    type: Annotated[str, Field(max_length=_LONGEST_NAME)]
    text: Text = ""


Content = Text | Annotated[tuple[ContentPart, ...], Field(max_length=_MOST_PARTS)] | None


class FunctionCall(Sent):
    """What a model wanted called."""

    name: Annotated[str, Field(max_length=_LONGEST_NAME)] = ""
    arguments: Text = ""


class MessageCall(Sent):
    """A call of a tool in an earlier answer."""

    id: Annotated[str, Field(max_length=_LONGEST_NAME)]
    function: FunctionCall = FunctionCall()


class Message(Sent):
    """A message of a conversation; those of system and developer are ignored."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Content = None
    tool_calls: Annotated[tuple[MessageCall, ...], Field(max_length=_MOST_PARTS)] | None = None
    tool_call_id: Annotated[str, Field(max_length=_LONGEST_NAME)] = ""


class FunctionBody(Sent):
    """A function of the client's program."""

    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
    description: Annotated[str, Field(max_length=10_000)] | None = None
    parameters: dict[str, Any] | None = None


class ToolBody(Sent):
    """A tool of the client's program; other kinds than functions are ignored."""

    type: Annotated[str, Field(max_length=_LONGEST_NAME)]
    function: FunctionBody | None = None


class StreamOptions(Sent):
    """What a stream tells."""

    include_usage: StrictBool = False


class FormatBody(Sent):
    """The form of an answer; only text is given."""

    type: Annotated[str, Field(max_length=_LONGEST_NAME)] = "text"


class Asked(Sent):
    """What chat completions and responses have in common."""

    model: ModelId
    stream: StrictBool | None = None
    tool_choice: str | dict[str, Any] | None = None


class ChatBody(Asked):
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


class Item(Sent):
    """An item of a conversation: a message, or something that is ignored."""

    type: Annotated[str, Field(max_length=_LONGEST_NAME)] = "message"
    role: Annotated[str, Field(max_length=_LONGEST_NAME)] = ""
    content: Content = None


class TextBody(Sent):
    """How a text is to be."""

    format: FormatBody | None = None


class ResponseBody(Asked):
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


class EmbeddingBody(Sent):
    """A request for embeddings."""

    model: ModelId
    input: (
        Annotated[Text, Field(examples=["a lead for dogs"])]
        | tuple[Text | Whole | tuple[Whole, ...], ...]
    )
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Whole | None = None
