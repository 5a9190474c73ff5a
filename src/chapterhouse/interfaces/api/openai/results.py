"""What clients of OpenAI's protocol get."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from chapterhouse.interfaces.values import PublicAnswer
from chapterhouse.types import Minutes


class Given(BaseModel):
    """A part of a response."""

    model_config = ConfigDict(frozen=True, extra="forbid")


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


Details = PublicAnswer | Minutes


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
