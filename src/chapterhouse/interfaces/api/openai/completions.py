"""Chat completions and responses; nothing is stored.

https://platform.openai.com/docs/api-reference/chat, …/responses
"""

import json
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from itertools import count
from typing import Any, Final

from fastapi import Request
from starlette.responses import Response

from chapterhouse.answering.request import ToolCallsWanted
from chapterhouse.interfaces.api.openai.conversation import (
    ChatBody,
    Conversation,
    Item,
    ResponseBody,
    conversation_of,
    require_possible,
    tools_of,
    with_tool_texts,
    words_of,
)
from chapterhouse.interfaces.api.openai.questions import (
    READ,
    Inquiry,
    complete,
    error_data,
    inquiry_of,
    pieces,
    stream_response,
    target_of,
    tokens_of,
)
from chapterhouse.interfaces.api.openai.results import (
    CalledFunction,
    ChatAnnotation,
    ChatCall,
    ChatChoice,
    ChatMessage,
    ChatResult,
    ChatUsage,
    Details,
    OutputMessage,
    OutputText,
    RenderedAnswer,
    ResponseResult,
    ResponseUsage,
    TextAnnotation,
)
from chapterhouse.interfaces.api.problems import Refusal
from chapterhouse.interfaces.api.routing import router
from chapterhouse.interfaces.api.state import Exchange, Exchanged
from chapterhouse.interfaces.values import as_object
from chapterhouse.types import Usage

chat: Final = router("/v1/chat", "openai")
_DONE: Final = "data: [DONE]\n\n"


@chat.post(
    "/completions",
    openapi_extra=READ,
    response_model=ChatResult,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def chat_completions(
    exchange: Exchanged, request: Request, body: ChatBody
) -> ChatResult | Response:
    """Answer the last message of the user from documents, at once or as a stream of chunks."""
    if body.n not in (None, 1):
        raise Refusal(400, "There is one answer: n can only be 1.")
    require_possible(body, body.response_format)
    words = words_of(body.max_completion_tokens or body.max_tokens)
    conversation = with_tool_texts(conversation_of(body.messages), body.messages)
    tools = () if body.tool_choice == "none" else tools_of(body.tools or ())
    target = await target_of(exchange, body.model)
    inquiry = inquiry_of(exchange, request, target, conversation, words, tools)
    if body.stream:
        wants_usage = body.stream_options is not None and body.stream_options.include_usage
        return stream_response(_chunks(exchange, inquiry, wants_usage=wants_usage))
    choice, usage, details = await _choice(exchange, inquiry)
    return ChatResult(
        id=_id(exchange),
        created=int(time.time()),
        model=target.id,
        choices=(choice,),
        usage=usage,
        chapterhouse=details,
    )


async def _choice(
    exchange: Exchange, inquiry: Inquiry
) -> tuple[ChatChoice, ChatUsage, Details | None]:
    try:
        shown = await complete(exchange, inquiry)
    except ToolCallsWanted as wanted:
        message = ChatMessage(content=None, tool_calls=_calls(exchange, wanted))
        choice = ChatChoice(message=message, finish_reason="tool_calls")
        return choice, _usage(inquiry, wanted.usage, ""), None
    message = ChatMessage(content=shown.text, annotations=_annotations(shown))
    usage = _usage(inquiry, shown.usage, shown.text)
    return ChatChoice(message=message), usage, shown.details


async def _chunks(
    exchange: Exchange, inquiry: Inquiry, *, wants_usage: bool
) -> AsyncGenerator[str]:
    """Yield the chunks of a stream; the last with a choice has annotations and all details."""
    head = {
        "id": _id(exchange),
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": inquiry.target.id,
    }

    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        usage = {"usage": None} if wants_usage else {}
        return _data({**head, "choices": [choice], **usage, **more})

    yield chunk({"role": "assistant", "content": ""})
    try:
        async for piece in pieces(exchange, inquiry):
            if not isinstance(piece, RenderedAnswer):
                yield chunk({"content": piece})
                continue
            annotations = [one.model_dump(mode="json") for one in _annotations(piece)]
            details = as_object(piece.details)
            yield chunk({"annotations": annotations}, "stop", chapterhouse=details)
            usage = _usage(inquiry, piece.usage, piece.text)
    except ToolCallsWanted as wanted:
        calls = [
            {"index": number, **call.model_dump(mode="json")}
            for number, call in enumerate(_calls(exchange, wanted))
        ]
        yield chunk({"tool_calls": calls})
        yield chunk({}, "tool_calls", chapterhouse=None)
        usage = _usage(inquiry, wanted.usage, "")
    except Exception as error:  # noqa: BLE001 - the answer has begun: the client learns of it here
        yield f"data: {error_data(error)}\n\n"
        return
    if wants_usage:
        yield _data({**head, "choices": [], "usage": usage.model_dump()})
    yield _DONE


def _id(exchange: Exchange) -> str:
    return f"chatcmpl-{exchange.caller.request_id}"


def _annotations(shown: RenderedAnswer) -> tuple[ChatAnnotation, ...]:
    return tuple(ChatAnnotation(url_citation=one) for one in shown.annotations)


def _calls(exchange: Exchange, wanted: ToolCallsWanted) -> tuple[ChatCall, ...]:
    return tuple(
        ChatCall(
            id=f"call_{exchange.caller.request_id}_{number}",
            function=CalledFunction(name=one.name, arguments=one.arguments),
        )
        for number, one in enumerate(wanted.calls)
    )


def _usage(inquiry: Inquiry, used: Usage | None, text: str) -> ChatUsage:
    read, written = tokens_of(inquiry, used, text)
    return ChatUsage(prompt_tokens=read, completion_tokens=written, total_tokens=read + written)


def _data(value: Any) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


responses: Final = router("/v1/responses", "openai")
_AT: Final = {"output_index": 0, "content_index": 0}
Event = Callable[..., str]


@responses.post(
    "",
    openapi_extra=READ,
    response_model=ResponseResult,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def create_response(
    exchange: Exchanged, request: Request, body: ResponseBody
) -> ResponseResult | Response:
    """Answer the last message of the user from documents, at once or as a stream of events."""
    _require_stateless(body)
    require_possible(body, body.text.format if body.text else None)
    words = words_of(body.max_output_tokens)
    conversation = _conversation(body)
    target = await target_of(exchange, body.model)
    inquiry = inquiry_of(exchange, request, target, conversation, words)
    begun = ResponseResult(
        id=f"resp_{exchange.caller.request_id}",
        created_at=int(time.time()),
        status="in_progress",
        model=target.id,
    )
    if body.stream:
        return stream_response(_stream(exchange, inquiry, begun))
    return _completed(begun, inquiry, await complete(exchange, inquiry))


def _require_stateless(body: ResponseBody) -> None:
    if body.previous_response_id or body.conversation or body.background:
        raise Refusal(
            400,
            "Nothing is stored here: previous_response_id, conversation and background cannot be"
            " used.",
            hint="Send the whole conversation as input.",
        )


def _conversation(body: ResponseBody) -> Conversation:
    if isinstance(body.input, str):
        return conversation_of([Item(role="user", content=body.input)])
    if any(item.type == "item_reference" for item in body.input):
        raise Refusal(400, "Nothing is stored here: send items themselves, not references.")
    return conversation_of([item for item in body.input if item.type == "message"])


def _message(begun: ResponseResult, *content: OutputText) -> OutputMessage:
    return OutputMessage(
        id=begun.id.replace("resp_", "msg_"),
        status="completed" if content else "in_progress",
        content=content,
    )


def _output(shown: RenderedAnswer) -> OutputText:
    annotations = tuple(TextAnnotation(**one.model_dump()) for one in shown.annotations)
    return OutputText(text=shown.text, annotations=annotations)


def _completed(begun: ResponseResult, inquiry: Inquiry, shown: RenderedAnswer) -> ResponseResult:
    read, written = tokens_of(inquiry, shown.usage, shown.text)
    usage = ResponseUsage(input_tokens=read, output_tokens=written, total_tokens=read + written)
    return begun.model_copy(
        update={
            "status": "completed",
            "output": (_message(begun, _output(shown)),),
            "usage": usage,
            "chapterhouse": shown.details,
        }
    )


async def _stream(
    exchange: Exchange, inquiry: Inquiry, begun: ResponseResult
) -> AsyncGenerator[str]:
    numbers = count()

    def event(kind: str, **members: Any) -> str:
        data = {"type": kind, "sequence_number": next(numbers), **members}
        return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"

    message = _message(begun)
    yield event("response.created", response=_json(begun))
    yield event("response.in_progress", response=_json(begun))
    yield event("response.output_item.added", output_index=0, item=_json(message))
    part = {"item_id": message.id, **_AT}
    yield event("response.content_part.added", **part, part=_json(OutputText(text="")))
    try:
        async for piece in pieces(exchange, inquiry):
            if isinstance(piece, str):
                yield event("response.output_text.delta", **part, delta=piece, logprobs=[])
                continue
            for line in _closing(event, part, begun, inquiry, piece):
                yield line
    except Exception as error:  # noqa: BLE001 - the answer has begun: the client learns of it here
        wrong = json.loads(error_data(error))["error"]
        failure = {"code": wrong["code"] or "server_error", "message": wrong["message"]}
        failed = begun.model_copy(update={"status": "failed", "error": failure})
        yield event("response.failed", response=_json(failed))


def _closing(
    event: Event,
    part: dict[str, Any],
    begun: ResponseResult,
    inquiry: Inquiry,
    shown: RenderedAnswer,
) -> Iterator[str]:
    output = _output(shown)
    for number, annotation in enumerate(output.annotations):
        yield event(
            "response.output_text.annotation.added",
            **part,
            annotation_index=number,
            annotation=_json(annotation),
        )
    yield event("response.output_text.done", **part, text=output.text, logprobs=[])
    yield event("response.content_part.done", **part, part=_json(output))
    item = _json(_message(begun, output))
    yield event("response.output_item.done", output_index=0, item=item)
    yield event("response.completed", response=_json(_completed(begun, inquiry, shown)))


def _json(value: Any) -> Any:
    return value.model_dump(mode="json")
