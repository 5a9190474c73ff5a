"""What clients of OpenAI's protocol get, answers and minutes as the text that they show among it.

A client may show nothing else, so that the sources stand at the end of the text, too.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from chapterhouse.council.minutes.contents import all_citations
from chapterhouse.council.minutes.outline import outline
from chapterhouse.interfaces.values import PublicAnswer, public_answer, public_minutes
from chapterhouse.presenting.answers import answer_blocks, written_blocks
from chapterhouse.presenting.citing import citation_line, clean, distinguish_sources
from chapterhouse.presenting.markdown import Marker, bracketed_markdown, escaped
from chapterhouse.types import Answer, AnswerSentence, Citation, FollowUp, Minutes, Usage


class ResponsePart(BaseModel):
    """A part of a response."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelResult(ResponsePart):
    """Someone who can be asked."""

    id: str
    object: Literal["model"] = "model"
    created: int = Field(default=0, description="Not known.")
    owned_by: str = "chapterhouse"
    name: str = Field(description="How they are called.")


class ModelsResult(ResponsePart):
    """All who can be asked."""

    object: Literal["list"] = "list"
    data: tuple[ModelResult, ...]


class UrlCitation(ResponsePart):
    """Where a text names a source."""

    start_index: int = Field(description="Of the marker, such as [1], in the text.")
    end_index: int
    title: str
    url: str = Field(description="Web address where the document states one, else its text here.")


class ChatAnnotation(ResponsePart):
    """A citation in a message."""

    type: Literal["url_citation"] = "url_citation"
    url_citation: UrlCitation


class CalledFunction(ResponsePart):
    """What a model wants called; the arguments are JSON, as it wrote them."""

    name: str
    arguments: str


class ChatCall(ResponsePart):
    """A call of a tool of the client's program."""

    id: str
    type: Literal["function"] = "function"
    function: CalledFunction


class ChatMessage(ResponsePart):
    """An answer, or calls of the client's tools."""

    role: Literal["assistant"] = "assistant"
    content: str | None
    refusal: None = None
    annotations: tuple[ChatAnnotation, ...] = ()
    tool_calls: tuple[ChatCall, ...] | None = None


class ChatChoice(ResponsePart):
    """The only choice there is."""

    index: int = 0
    message: ChatMessage
    finish_reason: Literal["stop", "tool_calls"] = "stop"
    logprobs: None = None


class ChatUsage(ResponsePart):
    """Tokens: as the language model's service counted them, else as the encoder in the box does."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


Details = PublicAnswer | Minutes


class ChatResult(ResponsePart):
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


class OutputText(ResponsePart):
    """The text of a response."""

    type: Literal["output_text"] = "output_text"
    text: str
    annotations: tuple[TextAnnotation, ...] = ()
    logprobs: tuple[()] = ()


class OutputMessage(ResponsePart):
    """The message of a response."""

    id: str
    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"
    status: Literal["in_progress", "completed"]
    content: tuple[OutputText, ...]


class InputDetails(ResponsePart):
    """Of the tokens of a request."""

    cached_tokens: int = 0
    cache_write_tokens: int = 0


class OutputDetails(ResponsePart):
    """Of the tokens of a response."""

    reasoning_tokens: int = 0


class ResponseUsage(ResponsePart):
    """Tokens, as in ``ChatUsage``."""

    input_tokens: int
    input_tokens_details: InputDetails = InputDetails()
    output_tokens: int
    output_tokens_details: OutputDetails = OutputDetails()
    total_tokens: int


class ResponseResult(ResponsePart):
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


class EmbeddingResult(ResponsePart):
    """A vector."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: tuple[float, ...] | str = Field(
        description="Numbers, or the base64 of 32-bit floats, the least significant byte first."
    )


class EmbeddingUsage(ResponsePart):
    """Tokens, as the encoder in the box counts them."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingsResult(ResponsePart):
    """Vectors in the order of the texts."""

    object: Literal["list"] = "list"
    model: str
    data: tuple[EmbeddingResult, ...]
    usage: EmbeddingUsage


_TAKEN: Final = "Taken as: "
SOURCES_TITLE: Final = "**Sources**"
_ESCAPED: Final = re.compile(r"\\([^A-Za-z0-9\s])")


@dataclass(frozen=True, slots=True)
class RenderedAnswer:
    """What a client gets of an answer or of minutes.

    Attributes:
        text: Markdown with citations as ``[1]``, and its sources.
    """

    text: str
    annotations: tuple[UrlCitation, ...]
    details: Details
    usage: Usage | None


def show_answer(answer: Answer, opening: str, documents: str) -> RenderedAnswer:
    """Return an answer as clients get it."""
    details = public_answer(answer)
    public: Answer = details
    behind: tuple[str, ...] = ()
    if _was_written(public):  # what is said about it follows: it was shown as it was written
        behind = tuple(filter(None, (public.notice, public.refreshed)))
        public = replace(public, notice="", refreshed="", display_name="")
    body, markers = bracketed_markdown(answer_blocks(public), titled=False)
    body = "\n\n".join((body, *map(escaped, behind)))
    cited = dict(distinguish_sources((str(one.number), one) for one in answer.citations))
    text, annotations = _with_sources(opening, body, markers, cited, documents)
    return RenderedAnswer(text, annotations, details, answer.usage)


def show_minutes(minutes: Minutes, documents: str) -> RenderedAnswer:
    """Return minutes as clients get them; arguments as of ``show_answer``."""
    shown = public_minutes(minutes)
    body, markers = bracketed_markdown(outline(shown))
    cited = dict(distinguish_sources(all_citations(minutes)))
    text, annotations = _with_sources("", body, markers, cited, documents)
    return RenderedAnswer(text, annotations, shown, minutes.usage)


def draft_text(sentences: Sequence[AnswerSentence]) -> str:
    """Return sentences as the text of their answer begins, where a model wrote it."""
    return bracketed_markdown(written_blocks(sentences), titled=False)[0]


def opening_of(found: FollowUp) -> str:
    """Return how a text begins: with the question as it was taken, where it was asked otherwise."""
    is_other = found.question != found.asked
    return f"{_TAKEN}{escaped(found.question)}\n\n" if is_other else ""


def taken_as(text: str) -> tuple[str, str]:
    """Return the question that an earlier text says it answers, or nothing, and the rest of it."""
    if not text.startswith(_TAKEN):
        return "", text
    line, _, rest = text.removeprefix(_TAKEN).partition("\n")
    return _ESCAPED.sub(r"\1", line).strip(), rest


def _was_written(answer: Answer) -> bool:
    return answer.found and answer.method != "extractive"


def _with_sources(
    before: str,
    body: str,
    markers: Iterable[Marker],
    cited: dict[str, Citation],
    documents: str,
) -> tuple[str, tuple[UrlCitation, ...]]:
    """Return a text with its sources at the end, and where it names them."""
    shift = len(before)
    found = [(one, clean(cited[one.name])) for one in markers if one.name in cited]
    annotations = tuple(
        UrlCitation(
            start_index=marker.start + shift,
            end_index=marker.end + shift,
            title=citation_line(one),
            url=one.link or f"{documents}/{one.document_id}/content",
        )
        for marker, one in found
        if one.link or not one.tool
    )
    named = dict.fromkeys(marker.name for marker, _ in found)
    lines = [_source(name, clean(cited[name])) for name in named]
    sources = "\n".join((SOURCES_TITLE, "", *lines)) if lines else ""
    return "\n\n".join(filter(None, (f"{before}{body}".rstrip(), sources))), annotations


def _source(name: str, citation: Citation) -> str:
    link = f" <{citation.link}>" if citation.link else ""
    return f"- [{name}] {escaped(citation_line(citation))}{link}"
