"""What clients of OpenAI's protocol send and get.

A member that is not known is ignored, since clients send many that are about models alone.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from chapterhouse.interfaces.schemas import AnswerResult, MinutesResult

_MOST_MESSAGES: Final = 2_000
_MOST_PARTS: Final = 200
_MOST_TOOLS: Final = 128
_LONGEST_NAME: Final = 200


class Sent(BaseModel):
    """A part of a request."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Given(BaseModel):
    """A part of a response."""

    model_config = ConfigDict(frozen=True, extra="forbid")


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
    text: str = ""


Content = str | Annotated[tuple[ContentPart, ...], Field(max_length=_MOST_PARTS)] | None


class FunctionCall(Sent):
    """What a model wanted called."""

    name: Annotated[str, Field(max_length=_LONGEST_NAME)] = ""
    arguments: str = ""


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

    include_usage: bool = False


class FormatBody(Sent):
    """The form of an answer; only text is given."""

    type: Annotated[str, Field(max_length=_LONGEST_NAME)] = "text"


class Asked(Sent):
    """What chat completions and responses have in common."""

    model: ModelId
    stream: bool | None = None
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
    n: int | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
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
        Annotated[str, Field(min_length=1, examples=["When does the ferry leave?"])]
        | Annotated[tuple[Item, ...], Field(min_length=1, max_length=_MOST_MESSAGES)]
    )
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    previous_response_id: str | None = None
    conversation: str | dict[str, Any] | None = None
    background: bool | None = None
    text: TextBody | None = None


class EmbeddingBody(Sent):
    """A request for embeddings."""

    model: ModelId
    input: Annotated[str, Field(examples=["a lead for dogs"])] | tuple[Any, ...]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None


# --- responses ------------------------------------------------------------------------------------


class ModelResult(Given):
    """Someone who can be asked."""

    id: str
    object: Literal["model"] = "model"
    created: int = Field(default=0, description="Not known.")
    owned_by: str = "chapterhouse"
    name: str = Field(description="How they are called.")


class ModelsResult(Given):
    """All who can be asked."""

    object: Literal["list"] = "list"
    data: tuple[ModelResult, ...]


class UrlCitation(Given):
    """Where a text names a source."""

    start_index: int = Field(description="Of the marker, such as [1], in the text.")
    end_index: int
    title: str
    url: str = Field(description="Web address where the document states one, else its text here.")


class ChatAnnotation(Given):
    """A citation in a message."""

    type: Literal["url_citation"] = "url_citation"
    url_citation: UrlCitation


class CalledFunction(Given):
    """What a model wants called; the arguments are JSON, as it wrote them."""

    name: str
    arguments: str


class ChatCall(Given):
    """A call of a tool of the client's program."""

    id: str
    type: Literal["function"] = "function"
    function: CalledFunction


class ChatMessage(Given):
    """An answer, or calls of the client's tools."""

    role: Literal["assistant"] = "assistant"
    content: str | None
    refusal: None = None
    annotations: tuple[ChatAnnotation, ...] = ()
    tool_calls: tuple[ChatCall, ...] | None = None


class ChatChoice(Given):
    """The only choice there is."""

    index: int = 0
    message: ChatMessage
    finish_reason: Literal["stop", "tool_calls"] = "stop"
    logprobs: None = None


class ChatUsage(Given):
    """Tokens: as the language model's service counted them, else as the built-in table does."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


Details = AnswerResult | MinutesResult


class ChatResult(Given):
    """A chat completion."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: tuple[ChatChoice]
    usage: ChatUsage
    chapterhouse: Details | None = Field(
        description="The answer or the minutes, with all citations; null beside calls of tools."
    )


class TextAnnotation(UrlCitation):
    """A citation in a text."""

    type: Literal["url_citation"] = "url_citation"


class OutputText(Given):
    """The text of a response."""

    type: Literal["output_text"] = "output_text"
    text: str
    annotations: tuple[TextAnnotation, ...] = ()
    logprobs: tuple[()] = ()


class OutputMessage(Given):
    """The message of a response."""

    id: str
    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"
    status: Literal["in_progress", "completed"]
    content: tuple[OutputText, ...]


class InputDetails(Given):
    """Of the tokens of a request."""

    cached_tokens: int = 0
    cache_write_tokens: int = 0


class OutputDetails(Given):
    """Of the tokens of a response."""

    reasoning_tokens: int = 0


class ResponseUsage(Given):
    """Tokens, as in ``ChatUsage``."""

    input_tokens: int
    input_tokens_details: InputDetails = InputDetails()
    output_tokens: int
    output_tokens_details: OutputDetails = OutputDetails()
    total_tokens: int


class ResponseResult(Given):
    """A response."""

    id: str
    object: Literal["response"] = "response"
    created_at: int
    status: Literal["in_progress", "completed", "failed"]
    model: str
    output: tuple[OutputMessage, ...] = ()
    usage: ResponseUsage | None = None
    error: dict[str, str] | None = None
    incomplete_details: None = None
    instructions: None = None
    metadata: dict[str, str] = Field(default_factory=dict)
    parallel_tool_calls: bool = False
    previous_response_id: None = None
    store: bool = False
    tool_choice: Literal["none"] = "none"
    tools: tuple[()] = ()
    chapterhouse: Details | None = Field(
        default=None, description="The answer or the minutes, with all citations."
    )


class EmbeddingResult(Given):
    """A vector."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: tuple[float, ...] | str = Field(
        description="Numbers, or the base64 of 32-bit floats, the least significant byte first."
    )


class EmbeddingUsage(Given):
    """Tokens, as the built-in table counts them."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingsResult(Given):
    """Vectors in the order of the texts."""

    object: Literal["list"] = "list"
    model: str
    data: tuple[EmbeddingResult, ...]
    usage: EmbeddingUsage
