"""What a scripted service of language models says, in the words of three protocols.

https://platform.openai.com/docs/api-reference/chat, https://docs.anthropic.com/en/api/messages and
https://ai.google.dev/api/generate-content, as much of each as a conversation needs.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Protocol = Literal["openai", "anthropic", "google"]


@dataclass(frozen=True)
class Request:
    """What the server was asked."""

    path: str
    headers: Mapping[str, str]  # names in lower case
    body: Any

    @property
    def system(self) -> str:
        """What stood in the system message, in any protocol."""
        body = self.body
        if "system_instruction" in body or "systemInstruction" in body:
            said = body.get("systemInstruction") or body["system_instruction"]
            return "".join(part["text"] for part in said["parts"])
        if "system" in body:
            system = body["system"]
            return system if isinstance(system, str) else "".join(part["text"] for part in system)
        return "".join(
            str(message["content"])
            for message in body.get("messages", ())
            if message["role"] == "system"
        )

    @property
    def everything_else(self) -> str:
        """All other messages, as JSON."""
        kept = [m for m in self.body.get("messages", ()) if m["role"] != "system"]
        return json.dumps(kept or self.body.get("contents", ()), ensure_ascii=False)


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool by the model. Arguments that are text are sent as they are."""

    name: str
    arguments: Any = field(default_factory=dict)

    @property
    def written(self) -> str:
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments)


@dataclass(frozen=True)
class Reply:
    """An answer in full.

    Attributes:
        text: What the model writes.
        pieces: How it comes when it is streamed; empty: in threes of characters.
        calls: Tools that it calls.
        thoughts: What it thinks, in the field that reasoning models have for that.
        finish: Why it stops; empty: ``stop``, or ``tool_calls``.
        refusal: What it says instead of an answer.
        usage: Tokens of prompt and completion; None: not said.
        status: Of the response; from 400 on ``body`` is sent.
        body: Sent instead of an answer: bytes as they are, everything else as JSON.
        headers: Further ones.
        seconds: Before anything is sent.
        drip: Seconds between the parts of what is sent.
        cut: After so many parts, or bytes where it is not streamed, the connection breaks.
        model: The name it says it has.
    """

    text: str = ""
    pieces: Sequence[str] = ()
    calls: Sequence[ToolCall] = ()
    thoughts: str = ""
    finish: str = ""
    refusal: str = ""
    usage: tuple[int, int] | None = (11, 7)
    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    drip: float = 0.0
    cut: int | None = None
    model: str = ""

    @property
    def parts(self) -> Sequence[str]:
        """The pieces in which the text is streamed."""
        if self.pieces:
            return self.pieces
        return [self.text[start : start + 3] for start in range(0, len(self.text), 3)]

    @property
    def whole(self) -> str:
        """The text, however it comes."""
        return self.text or "".join(self.pieces)


def _openai_answer(reply: Reply, request: Request) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.whole or None}
    if reply.thoughts:
        message["reasoning_content"] = reply.thoughts
    if reply.refusal:
        message["refusal"] = reply.refusal
    if reply.calls:
        message["tool_calls"] = [
            _openai_call(place, call) for place, call in enumerate(reply.calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": _openai_finish(reply)}
    return {**_openai_head(reply, request, "chat.completion"), "choices": [choice], **_used(reply)}


def _openai_stream(reply: Reply, request: Request) -> Iterator[str]:
    head = _openai_head(reply, request, "chat.completion.chunk")

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _event({**head, "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    if reply.thoughts:
        yield chunk({"reasoning_content": reply.thoughts})
    for piece in reply.parts:
        yield chunk({"content": piece})
    for place, call in enumerate(reply.calls):
        whole = _openai_call(place, call)
        name = {"name": call.name, "arguments": ""}
        yield chunk({"tool_calls": [{**whole, "index": place, "function": name}]})
        half = len(call.written) // 2
        for part in (call.written[:half], call.written[half:]):
            yield chunk({"tool_calls": [{"index": place, "function": {"arguments": part}}]})
    if reply.refusal:
        yield chunk({"refusal": reply.refusal})
    if reply.finish != "missing":
        yield chunk({}, _openai_finish(reply))
    if reply.usage:
        yield _event({**head, "choices": [], **_used(reply)})
    if reply.finish != "missing":
        yield "data: [DONE]\n\n"


def _openai_head(reply: Reply, request: Request, kind: str) -> dict[str, Any]:
    model = reply.model or request.body.get("model")
    return {"id": "chat-1", "object": kind, "created": 1_700_000_000, "model": model}


def _openai_call(place: int, call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.written}
    return {"id": f"call_{place}", "type": "function", "function": function}


def _openai_finish(reply: Reply) -> str:
    return reply.finish or ("tool_calls" if reply.calls else "stop")


def _used(reply: Reply) -> dict[str, Any]:
    if reply.usage is None:
        return {}
    prompt, completion = reply.usage
    counted = {"prompt_tokens": prompt, "completion_tokens": completion}
    return {"usage": {**counted, "total_tokens": prompt + completion}}


def _anthropic_answer(reply: Reply, request: Request) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if reply.thoughts:
        content.append({"type": "thinking", "thinking": reply.thoughts, "signature": "s"})
    if reply.whole:
        content.append({"type": "text", "text": reply.whole})
    content += [
        {"type": "tool_use", "id": f"call_{place}", "name": call.name, "input": call.arguments}
        for place, call in enumerate(reply.calls)
    ]
    return {**_anthropic_head(reply, request), "content": content, **_anthropic_end(reply)}


def _anthropic_stream(reply: Reply, request: Request) -> Iterator[str]:
    def event(kind: str, **values: Any) -> str:
        return f"event: {kind}\n{_event({'type': kind, **values})}"

    def block(place: int, kind: Mapping[str, Any], deltas: Sequence[Mapping[str, Any]]) -> str:
        parts = [event("content_block_start", index=place, content_block=kind)]
        parts += [event("content_block_delta", index=place, delta=delta) for delta in deltas]
        return "".join([*parts, event("content_block_stop", index=place)])

    empty: dict[str, Any] = {
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _anthropic_used(reply),
    }
    yield event("message_start", message={**_anthropic_head(reply, request), **empty})
    place = 0
    if reply.thoughts:
        deltas = [
            {"type": "thinking_delta", "thinking": reply.thoughts},
            {"type": "signature_delta", "signature": "s"},
        ]
        yield block(place, {"type": "thinking", "thinking": "", "signature": ""}, deltas)
        place += 1
    if reply.parts:
        yield event("content_block_start", index=place, content_block={"type": "text", "text": ""})
        for piece in reply.parts:
            delta = {"type": "text_delta", "text": piece}
            yield event("content_block_delta", index=place, delta=delta)
        yield event("content_block_stop", index=place)
        place += 1
    for number, call in enumerate(reply.calls):
        kind = {"type": "tool_use", "id": f"call_{number}", "name": call.name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": call.written}
        yield block(place + number, kind, [delta])
    end = _anthropic_end(reply)
    yield event("message_delta", delta={**end, "usage": None}, usage=end["usage"])
    yield event("message_stop")


def _anthropic_head(reply: Reply, request: Request) -> dict[str, Any]:
    model = reply.model or request.body.get("model")
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": model}


def _anthropic_end(reply: Reply) -> dict[str, Any]:
    reason = reply.finish or ("tool_use" if reply.calls else "end_turn")
    return {"stop_reason": reason, "stop_sequence": None, "usage": _anthropic_used(reply)}


def _anthropic_used(reply: Reply) -> dict[str, int]:
    prompt, completion = reply.usage or (0, 0)
    return {"input_tokens": prompt, "output_tokens": completion}


def _google_answer(reply: Reply, request: Request) -> dict[str, Any]:
    return _google_chunk(reply, reply.whole, last=True)


def _google_stream(reply: Reply, request: Request) -> Iterator[str]:
    for piece in reply.parts:
        yield _event(_google_chunk(replace(reply, calls=()), piece, last=False))
    yield _event(_google_chunk(reply, "", last=True))


def _google_chunk(reply: Reply, text: str, *, last: bool) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if reply.thoughts and last:
        parts.append({"text": reply.thoughts, "thought": True})
    if text:
        parts.append({"text": text})
    parts += [{"functionCall": {"name": call.name, "args": call.arguments}} for call in reply.calls]
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    if last:
        candidate["finishReason"] = reply.finish or "STOP"
    chunk: dict[str, Any] = {"candidates": [candidate], "modelVersion": reply.model or "gemini"}
    if reply.usage:
        prompt, completion = reply.usage
        chunk["usageMetadata"] = {
            "promptTokenCount": prompt,
            "candidatesTokenCount": completion,
            "totalTokenCount": prompt + completion,
        }
    return chunk


def _event(values: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(values)}\n\n"


ANSWERS: Mapping[Protocol, Callable[[Reply, Request], dict[str, Any]]] = {
    "openai": _openai_answer,
    "anthropic": _anthropic_answer,
    "google": _google_answer,
}
STREAMS: Mapping[Protocol, Callable[[Reply, Request], Iterator[str]]] = {
    "openai": _openai_stream,
    "anthropic": _anthropic_stream,
    "google": _google_stream,
}
