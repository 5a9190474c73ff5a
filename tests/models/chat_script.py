"""What a scripted service of language models says: as much as a conversation needs of
https://platform.openai.com/docs/api-reference/chat.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Request:
    """What the server was asked."""

    path: str
    headers: Mapping[str, str]  # names in lower case
    body: Any

    @property
    def system(self) -> str:
        """What stood in the system message."""
        return "".join(
            str(message["content"])
            for message in self.body.get("messages", ())
            if message["role"] == "system"
        )

    @property
    def everything_else(self) -> str:
        """All other messages, as JSON."""
        kept = [m for m in self.body.get("messages", ()) if m["role"] != "system"]
        return json.dumps(kept, ensure_ascii=False)


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


def answer_of(reply: Reply, request: Request) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.whole or None}
    if reply.thoughts:
        message["reasoning_content"] = reply.thoughts
    if reply.refusal:
        message["refusal"] = reply.refusal
    if reply.calls:
        message["tool_calls"] = [_call(place, call) for place, call in enumerate(reply.calls)]
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply)}
    return {**_head(reply, request, "chat.completion"), "choices": [choice], **_used(reply)}


def stream_of(reply: Reply, request: Request) -> Iterator[str]:
    head = _head(reply, request, "chat.completion.chunk")

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _event({**head, "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    if reply.thoughts:
        yield chunk({"reasoning_content": reply.thoughts})
    for piece in reply.parts:
        yield chunk({"content": piece})
    for place, call in enumerate(reply.calls):
        whole = _call(place, call)
        name = {"name": call.name, "arguments": ""}
        yield chunk({"tool_calls": [{**whole, "index": place, "function": name}]})
        half = len(call.written) // 2
        for part in (call.written[:half], call.written[half:]):
            yield chunk({"tool_calls": [{"index": place, "function": {"arguments": part}}]})
    if reply.refusal:
        yield chunk({"refusal": reply.refusal})
    if reply.finish != "missing":
        yield chunk({}, _finish(reply))
    if reply.usage:
        yield _event({**head, "choices": [], **_used(reply)})
    if reply.finish != "missing":
        yield "data: [DONE]\n\n"


def _head(reply: Reply, request: Request, kind: str) -> dict[str, Any]:
    model = reply.model or request.body.get("model")
    return {"id": "chat-1", "object": kind, "created": 1_700_000_000, "model": model}


def _call(place: int, call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.written}
    return {"id": f"call_{place}", "type": "function", "function": function}


def _finish(reply: Reply) -> str:
    return reply.finish or ("tool_calls" if reply.calls else "stop")


def _used(reply: Reply) -> dict[str, Any]:
    if reply.usage is None:
        return {}
    prompt, completion = reply.usage
    counted = {"prompt_tokens": prompt, "completion_tokens": completion}
    return {"usage": {**counted, "total_tokens": prompt + completion}}


def _event(values: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(values)}\n\n"
