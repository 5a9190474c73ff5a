"""Who can be asked in OpenAI's protocol, and their answers as text that only grows; the embedder.

https://platform.openai.com/docs/api-reference/embeddings
"""

import base64
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from fastapi import Request
from starlette.responses import StreamingResponse

from chapterhouse.answering.request import AskOptions
from chapterhouse.concurrency import run_in_thread
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.errors import BusyError
from chapterhouse.interfaces.api.asking import ask_options, until_stopped, with_pings
from chapterhouse.interfaces.api.openai.conversation import Conversation, EmbeddingBody
from chapterhouse.interfaces.api.openai.results import (
    EmbeddingResult,
    EmbeddingsResult,
    EmbeddingUsage,
    ModelResult,
    ModelsResult,
    RenderedAnswer,
    draft_text,
    opening_of,
    show_answer,
    show_minutes,
)
from chapterhouse.interfaces.api.problems import OPENAI, Refusal, problem
from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.schemas import AskBody
from chapterhouse.interfaces.api.state import Exchange, Exchanged
from chapterhouse.interfaces.values import meeting_events
from chapterhouse.library import Library
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.types import (
    AnswerEvent,
    AskEvent,
    CouncilEvent,
    Draft,
    DraftEvent,
    FollowUp,
    MinutesEvent,
    Tool,
    Usage,
)
from chapterhouse.types.access import AccessLevel

LIBRARY: Final = "chapterhouse"
EMBEDDINGS: Final = "chapterhouse-embeddings"
READ: Final = needs(AccessLevel.READ)
models: Final = router("/v1/models", "openai")

Kind = Literal["library", "persona", "council"]


@dataclass(frozen=True, slots=True)
class Target:
    """Who is asked.

    Attributes:
        slug: Of the persona or the council; empty for the library.
    """

    id: str
    kind: Kind
    slug: str = ""


@models.get("", openapi_extra=READ)
async def list_models(exchange: Exchanged) -> ModelsResult:
    """List who can be asked, and the embedder."""
    return ModelsResult(data=await exchange.look(lambda library: tuple(_models(library, exchange))))


@models.get("/{model:path}", openapi_extra=READ)
async def show_model(exchange: Exchanged, model: str) -> ModelResult:
    """Show one of those who can be asked."""
    found = await list_models(exchange)
    one = next((one for one in found.data if one.id == model), None)
    if one is None:
        raise no_model(model)
    return one


async def target_of(exchange: Exchange, model: str) -> Target:
    """Return whom a model's id names."""
    kind, _, slug = model.partition("/")
    if model == LIBRARY:
        return Target(model, "library")
    if kind == "persona" and exchange.caller.grant.permits_persona(slug):
        names = await exchange.look(lambda library: library.personas.names())
        if slug in names:
            return Target(model, "persona", slug)
    if kind == "council":
        names = await exchange.look(lambda library: library.councils.names())
        if slug in names:
            return Target(model, "council", slug)
    raise no_model(model)


def no_model(model: str) -> Refusal:
    """Return what is raised for a model that is not there, or not for this caller."""
    return Refusal(
        404,
        f"The model '{model[:100]}' does not exist or you do not have access to it.",
        hint="The list of models has those that you can ask.",
        code="model_not_found",
    )


def _models(library: Library, exchange: Exchange) -> Iterator[ModelResult]:
    yield ModelResult(id=LIBRARY, name="Chapterhouse")
    for persona in library.personas.all():
        if persona.folder and exchange.caller.grant.permits_persona(persona.slug):
            name = persona.folder.persona.display_name
            yield ModelResult(id=f"persona/{persona.slug}", name=name)
    for council in library.councils.all():
        if council.folder and not council.problems:
            title = council.folder.council.title
            yield ModelResult(id=f"council/{council.slug}", name=title)
    if library.settings.embedding.engine != "none":
        yield ModelResult(id=EMBEDDINGS, name="Chapterhouse embeddings")


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

embeddings: Final = router("/v1/embeddings", "openai")
_MOST_INPUTS: Final = 256
_LONGEST_INPUT: Final = 32_000  # characters


@embeddings.post("", openapi_extra=READ)
async def create_embeddings(exchange: Exchanged, body: EmbeddingBody) -> EmbeddingsResult:
    """Return the vectors of texts, of the encoder that questions use now."""
    if body.model != EMBEDDINGS:
        raise no_model(body.model)
    texts = _texts(body)

    def embed(library: Library) -> tuple["NDArray[np.float32]", int]:
        return library.encoders.embed(texts), sum(map(library.encoders.count_tokens, texts))

    vectors, tokens = await exchange.look(embed)
    length = vectors.shape[1]
    if body.dimensions not in (None, length):
        raise Refusal(400, f"The vectors have {length} dimensions and cannot be shortened.")
    is_text = body.encoding_format == "base64"
    return EmbeddingsResult(
        model=EMBEDDINGS,
        data=tuple(
            EmbeddingResult(
                index=number, embedding=_packed(row) if is_text else tuple(row.tolist())
            )
            for number, row in enumerate(vectors)
        ),
        usage=EmbeddingUsage(prompt_tokens=tokens, total_tokens=tokens),
    )


def _texts(body: EmbeddingBody) -> tuple[str, ...]:
    """Return the texts of a request."""
    given = (body.input,) if isinstance(body.input, str) else body.input
    if not 0 < len(given) <= _MOST_INPUTS:
        raise Refusal(400, f"Send 1 to {_MOST_INPUTS} texts at once, not {len(given):,}.")
    texts = tuple(one for one in given if isinstance(one, str))
    if len(texts) < len(given):
        raise Refusal(400, "Send texts as input: numbers of tokens cannot be read here.")
    for number, text in enumerate(texts):
        if not text.strip() or len(text) > _LONGEST_INPUT:
            raise Refusal(400, f"input.{number} must have 1 to {_LONGEST_INPUT:,} characters.")
    return texts


def _packed(row: "NDArray[np.float32]") -> str:
    return base64.b64encode(row.astype("<f4").tobytes()).decode()


_UNSETTLED: Final = 2  # sentences at the end of a draft that may still change
_CHANGED: Final = "When all of it was checked, the answer became another one:"
_Event = FollowUp | AskEvent | CouncilEvent


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What is asked of whom.

    Attributes:
        documents: The address below which the server shows documents.
    """

    target: Target
    conversation: Conversation
    options: AskOptions
    documents: str


def inquiry_of(
    exchange: Exchange,
    request: Request,
    target: Target,
    conversation: Conversation,
    words: int | None,
    tools: tuple[Tool, ...] = (),
) -> Inquiry:
    """Return what a request asks."""
    asked = ask_options(exchange, AskBody(question=conversation.question, words=words))
    options = replace(asked, drafts=True, tools=tools, tool_texts=conversation.tool_texts)
    documents = f"{str(request.base_url).rstrip('/')}/api/documents"
    return Inquiry(target, conversation, options, documents)


async def pieces(exchange: Exchange, inquiry: Inquiry) -> AsyncGenerator[str | RenderedAnswer]:
    """Yield the text of an answer as it comes; at last all that there is to show.

    The pieces together are its text: what was yielded is never taken back. So a sentence that a
    model writes is yielded once those behind it are there, and one of them names a source: then no
    notice will be shown before it.

    Raises:
        BusyError: the server stops.
        ToolCallsWanted: a model wants tools of the client called first.
    """
    question = inquiry.conversation.question
    found, sent = FollowUp(question, question), ""
    events = exchange.events(lambda library: _events(library, inquiry))
    async for event in until_stopped(events, exchange.server.stopping):
        match event:
            case FollowUp():
                found = event
            case DraftEvent():
                text = _settled(event.draft, opening_of(found))
                if text.startswith(sent) and text != sent:
                    yield text[len(sent) :]
                    sent = text
            case AnswerEvent():
                opening = opening_of(found)
                shown = show_answer(event.answer, opening, inquiry.documents)
                if not shown.text.startswith(sent):
                    opening = f"{sent}\n\n{_CHANGED}\n\n{opening}"
                    shown = show_answer(event.answer, opening, inquiry.documents)
                yield shown.text[len(sent) :]
                yield shown
                return
            case MinutesEvent():
                shown = show_minutes(event.minutes, inquiry.documents)
                yield shown.text
                yield shown
                return
            case _:  # what a meeting does is in its minutes
                pass
    raise BusyError("The server stops.", seconds=5)


async def complete(exchange: Exchange, inquiry: Inquiry) -> RenderedAnswer:
    """Return the answer at once; errors as of ``pieces``."""
    options = replace(inquiry.options, drafts=False)
    async for piece in pieces(exchange, replace(inquiry, options=options)):
        if isinstance(piece, RenderedAnswer):
            return piece
    raise AssertionError("the last piece is all that there is to show")


def tokens_of(inquiry: Inquiry, usage: Usage | None, text: str) -> tuple[int, int]:
    """Return how many tokens were read and written: as a model's service counted, or about."""
    if usage is not None and usage.prompt_tokens:
        return usage.prompt_tokens, usage.completion_tokens
    return estimate_tokens(inquiry.conversation.text), estimate_tokens(text)


def stream_response(lines: AsyncGenerator[str]) -> StreamingResponse:
    """Return a response of events for clients; who stops reading stops the work."""
    unbuffered = {"X-Accel-Buffering": "no"}  # by proxies such as nginx
    return StreamingResponse(with_pings(lines), 200, unbuffered, media_type="text/event-stream")


def error_data(error: Exception) -> str:
    """Return an error that comes after the answer has begun, as JSON."""
    return bytes(problem(error, OPENAI).body).decode()


def _settled(draft: Draft, opening: str) -> str:
    sentences = draft.sentences[:-_UNSETTLED]
    if not any(sentence.citations for sentence in sentences):
        return ""
    return opening + draft_text(sentences)


async def _events(library: Library, inquiry: Inquiry) -> AsyncIterator[_Event]:
    target, question, options = inquiry.target, inquiry.conversation.question, inquiry.options
    if target.kind == "council":
        meeting = MeetingOptions(remember=options.remember, interface="api", counted=True)
        async for event in meeting_events(library, target.slug, question, meeting):
            yield event
        return
    found = FollowUp(question, question)
    if inquiry.conversation.before:
        follow_up = partial(
            library.answers.follow_up,
            question,
            inquiry.conversation.before,
            persona=target.slug,
            shelves=options.shelves,
            model=options.model,
            remember=options.remember,
        )
        found = await run_in_thread(follow_up)
        yield found
        options = replace(options, search_text=found.search_text, in_conversation=True)
    if library.settings.answer.check == "model":  # a second opinion may change any sentence
        options = replace(options, drafts=False)
    async for answered in library.answers.events(
        found.question, persona=target.slug, options=options
    ):
        yield answered
