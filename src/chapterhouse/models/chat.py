"""A language model behind OpenAI's chat completions.

One piece of writing is one conversation: requests, the tools that the model calls between them,
and new tries where a request failed for a reason that may pass. Every one has a client of its own,
so that it may run in any event loop and leaves nothing open, however it ends.
"""

import asyncio
import json
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from chapterhouse import lazy
from chapterhouse.concurrency import run_in_thread, run_sync
from chapterhouse.errors import EngineError
from chapterhouse.models.presets import PRESETS, parameters_of
from chapterhouse.models.service import (
    BrokenAnswerError,
    Failure,
    Service,
    Slots,
    encodable,
    read_json,
)
from chapterhouse.models.tools import check_tools, run_calls, wanted_calls
from chapterhouse.settings import LanguageModelSettings
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.text.sanitise import sanitise
from chapterhouse.types import Attachment, ModelLimits, OutputFormat, Tool, ToolCall, Usage, Writing

if TYPE_CHECKING:
    import httpx2
    import openai
else:
    httpx2 = lazy("httpx2")
    openai = lazy("openai")

# How models mark it where the service leaves it in the text: DeepSeek, Qwen, Gemini and others.
_NAMES: Final = ("think", "thinking", "thought", "reasoning")
_OPENINGS: Final = tuple(f"<{name}>" for name in _NAMES)
_CLOSING: Final = re.compile(rf"</(?:{'|'.join(_NAMES)})>")


class Thoughts:
    """Takes a response piece by piece and gives back what is meant for the reader.

    Thoughts stand at the beginning of a response, between marks; later on the marks are text.
    """

    def __init__(self) -> None:
        self._held = ""  # what may be a mark, or the beginning of one
        self._closing = ""  # the mark at the end of the thought that is being read
        self._writing = False
        self._written: list[str] = []

    def feed(self, piece: str) -> str:
        """Take the next piece; return what the reader may see of it and of what was held back."""
        self._held += piece
        while not self._writing:
            if self._closing:
                _, found, rest = self._held.partition(self._closing)
                self._held = rest if found else self._held[1 - len(self._closing) :]
                self._closing = "" if found else self._closing
            if self._closing:
                return ""
            text = self._held.lstrip()
            opening = next((mark for mark in _OPENINGS if text.startswith(mark)), "")
            if opening:
                self._held, self._closing = text[len(opening) :], opening.replace("<", "</")
            elif any(mark.startswith(text) for mark in _OPENINGS):
                return ""
            else:
                self._held, self._writing = text, True
        # A carriage return waits for the line feed that may follow it.
        ready = len(self._held) - self._held.endswith("\r")
        shown, self._held = self._held[:ready], self._held[ready:]
        return self._append(shown)

    def finish(self) -> str:
        """Return what was held back and is text after all."""
        held, self._held = self._held, ""
        return self._append("" if self._closing else held)

    def text(self, *, thinks_first: bool = False) -> str:
        """Return everything that is meant for the reader.

        Args:
            thinks_first: Whether the model is known to think first, so that the end of thoughts
                whose beginning the service has swallowed is taken for one.
        """
        written = "".join(self._written)
        return (_CLOSING.split(written)[-1] if thinks_first else written).strip()

    def _append(self, shown: str) -> str:
        clean = sanitise(shown).text
        self._written.append(clean)
        return clean


OnText = Callable[[str], None]

ROUNDS: Final = 8  # of tool calls; then the model has to write with what it knows
_PATIENCE: Final = 4  # a whole piece of writing may take so many times as long as one response
_IMAGE_TOKENS: Final = 1_000  # of an image, roughly
_LEAST_OUTPUT: Final = 256  # tokens for an answer, below which a prompt is too long
_PATH: Final = "/chat/completions"
# Where services put thoughts, of which some want to be reminded after a call of a tool.
_THOUGHTS: Final = ("reasoning_content", "reasoning", "reasoning_details")


@dataclass(slots=True)
class _Response:
    """A response, whole or as it comes in pieces.

    Attributes:
        echoed: Of its message, what the model is reminded of beside its text and its calls.
        calls: Calls of tools, each with the place that its service gave it.
        finish: Why it stopped: ``stop``, ``length``, ``content_filter``, ``tool_calls``.
        emitted: Whether a part of it was told to the caller.
        error: What the caller's own function raised.
    """

    on_text: OnText | None
    thoughts: Thoughts = field(default_factory=Thoughts)
    echoed: dict[str, Any] = field(default_factory=dict)
    calls: list[tuple[object, dict[str, Any]]] = field(default_factory=list)
    finish: str = ""
    refusal: str = ""
    usage: Usage = field(default_factory=lambda: Usage(1))
    emitted: bool = False
    error: Exception | None = None

    def take(self, data: Any) -> None:
        """Take an answer, or the next piece of one."""
        if data.get("error"):
            raise BrokenAnswerError(data["error"])
        if used := data.get("usage"):
            counted = [used.get(name) or 0 for name in ("prompt_tokens", "completion_tokens")]
            self.usage = Usage(1, max(0, int(counted[0])), max(0, int(counted[1])))
        for choice in data.get("choices") or ():
            message = choice.get("delta") or choice.get("message") or {}
            for name in _THOUGHTS:
                if piece := message.get(name):
                    self.echoed[name] = self.echoed[name] + piece if name in self.echoed else piece
            self.emit(self.thoughts.feed(_text_of(message.get("content"))))
            for call in message.get("tool_calls") or ():
                self._take_call(call, is_whole="message" in choice)
            self.refusal += message.get("refusal") or ""
            self.finish = choice.get("finish_reason") or self.finish

    def emit(self, text: str) -> None:
        """Give text to the caller."""
        if not text or self.on_text is None:
            return
        self.emitted = True
        try:
            self.on_text(text)
        except Exception as error:
            self.error = error  # so that it is not taken for one of the service's
            raise

    def _take_call(self, piece: Mapping[str, Any], *, is_whole: bool) -> None:
        place, name = piece.get("index"), piece.get("id")
        for known_place, call in [] if is_whole else self.calls:
            if known_place == place and name in {None, "", call["id"]}:
                call["function"]["arguments"] += piece["function"].get("arguments") or ""
                return
        function = {**piece["function"], "arguments": piece["function"].get("arguments") or ""}
        call = {"type": "function", **piece, "function": function}
        call["id"] = name or f"call_{len(self.calls)}"
        call.pop("index", None)
        self.calls.append((place, call))

    def messages(self, results: Sequence[ToolCall]) -> list[dict[str, Any]]:
        """Return what the model is reminded of: what it said, and what its calls gave."""
        message: dict[str, Any] = {"role": "assistant", "content": self.thoughts.text() or None}
        calls = [call for _, call in self.calls]
        return [
            {**message, **self.echoed, "tool_calls": calls},
            *(
                {"role": "tool", "tool_call_id": call["id"], "content": result.result}
                for call, result in zip(calls, results, strict=True)
            ),
        ]


@dataclass(slots=True)
class _Talk:
    """What was said to and by the model in one piece of writing.

    Attributes:
        asked: What is asked for beside an answer to the messages.
        tokens: Of all messages, as far as that is known.
        until: By the clock of the event loop, when no more requests are made.
    """

    service: Service
    client: "openai.AsyncOpenAI"
    on_text: OnText | None
    messages: list[dict[str, Any]]
    asked: dict[str, Any]
    tokens: int
    until: float

    def left(self) -> float:
        """Return the seconds until then."""
        return self.until - asyncio.get_running_loop().time()


class ChatModel:
    """Text from a service. Safe to share between threads and event loops."""

    def __init__(
        self,
        settings: LanguageModelSettings,
        service: Service,
        slots: Slots | None = None,
        served_limits: Callable[[LanguageModelSettings], tuple[int, int]] = lambda _: (0, 0),
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Remember whom to ask; nobody is asked yet.

        Args:
            slots: How many requests the service is sent at once, by all who ask it.
            served_limits: Asks it how many tokens and requests at once it takes; 0: not said.
        """
        self._settings = settings
        self._service = service
        self._slots = slots or Slots(settings.calls_at_once)
        self._served_limits = served_limits
        self._context_size = settings.context_size
        self._clock = clock
        self._lock = threading.Lock()
        self._was_asked = False
        self._is_openai = service.url == PRESETS["openai"].address
        self._refused: frozenset[str] = frozenset()  # what the service does not take

    @property
    def fingerprint(self) -> str:
        """Name of the model."""
        return f"{self._settings.engine}/{self._settings.model}"

    def limits(self) -> ModelLimits:
        """Return what the model takes. Waits for its server, if that says more than the settings.

        Where the server works on fewer requests at once than it is sent, no more are sent.
        """
        with self._lock:
            if not (self._context_size and (self._slots.number or self._was_asked)):
                context, at_once = self._served_limits(self._settings)
                self._was_asked = True
                self._context_size = self._context_size or context  # 0 until the model is loaded
                self._slots.number = self._slots.number or at_once
        return ModelLimits(self._context_size, self._settings.maximum_tokens, self._slots.number)

    def complete(self, instructions: str, prompt: str) -> str:
        """Return what the model writes, as ``write`` does; blocks."""
        return run_sync(self.write(instructions, prompt)).text

    async def write(
        self,
        instructions: str,
        prompt: str,
        *,
        tools: Sequence[Tool] = (),
        on_text: OnText | None = None,
        output: OutputFormat | None = None,
        images: Sequence[Attachment] = (),
    ) -> Writing:
        """Return what the model writes after its last call of a tool; see ``ports.models``.

        ``on_text`` is also given what it writes before that, without thoughts.

        Raises:
            EngineError: the service cannot be reached, does not let the model write, or the model
                wrote nothing.
            UsageError: a tool has a name or a schema that cannot be used.
        """
        check_tools(tools)
        service, client = await run_in_thread(self._open)
        asked = self._asked(tools, output)
        async with client:
            talk = _Talk(
                service,
                client,
                on_text,
                _messages(instructions, prompt, images),
                asked,
                estimate_tokens(f"{instructions}\n{prompt}\n{json.dumps(asked)}")
                + _IMAGE_TOKENS * len(images),
                asyncio.get_running_loop().time() + _PATIENCE * service.timeout_seconds,
            )
            return await self._write(talk, tools)

    def _open(self) -> "tuple[Service, openai.AsyncOpenAI]":
        self.limits()
        service, client = self._service.open()
        asking = openai.AsyncOpenAI(
            api_key="none", base_url=service.url, http_client=client, max_retries=0
        )
        return service, asking

    def _asked(self, tools: Sequence[Tool], output: OutputFormat | None) -> dict[str, Any]:
        """Return what is asked for beside an answer to the messages.

        Services often let a form shut out the calls of tools (vLLM and Ollama have the model
        write nothing else), so but for OpenAI's own they are asked for one at a time.
        """
        asked = parameters_of(self._settings)
        described = ("name", "description", "parameters")
        functions = [{name: getattr(tool, name) for name in described} for tool in tools]
        if functions:
            asked["tools"] = [{"type": "function", "function": one} for one in functions]
        if output and (not tools or self._is_openai):
            form = {"name": output.name, "schema": output.schema, "strict": True}
            asked["response_format"] = {"type": "json_schema", "json_schema": form}
        return asked

    async def _write(self, talk: _Talk, tools: Sequence[Tool]) -> Writing:
        used, made, texts = Usage(), list[ToolCall](), list[str]()
        for number in range(ROUNDS + 1):
            may_call = number < ROUNDS
            response = await talk.service.persist(
                partial(self._respond, talk, may_call=may_call),
                talk.service.attempts,
                talk.left,
            )
            texts.append(response.thoughts.text(thinks_first=self._settings.reasoning))
            used += response.usage
            if not (response.calls and may_call):
                break
            if response.finish == "length":
                most = self._settings.maximum_tokens
                raise self._cut_short(f"was cut off after {most:,} tokens, in the middle of a call")
            functions = [call["function"] for _, call in response.calls]
            calls = [(one["name"], one["arguments"]) for one in functions]
            if wanted := wanted_calls(tools, calls):
                return Writing(texts[-1], self.fingerprint, used, tuple(made), wanted=wanted)
            results = await run_calls(tools, calls, self._clock)
            made += results
            talk.messages += response.messages(results)
            talk.tokens += sum(estimate_tokens(result.result) for result in results)
        # A model that has nothing to add after its last call has said it before.
        text = texts[-1] or "\n\n".join(filter(None, texts))
        self._refuse_nothing(response, text, talk.service)
        is_cut = response.finish == "length"
        return Writing(text, self.fingerprint, used, tuple(made), is_cut)

    @asynccontextmanager
    async def _slot(self, talk: _Talk) -> AsyncIterator[None]:
        """Hold a slot of the service; the wait for it takes nothing of the time of the whole."""
        left = talk.left()
        async with self._slots.one():
            talk.until += left - talk.left()
            yield

    async def _respond(self, talk: _Talk, *, may_call: bool) -> _Response | Failure:
        """Return the next response, or why there is none."""
        async with self._slot(talk):
            if talk.left() < 0:
                return talk.service.too_slow(_PATIENCE * talk.service.timeout_seconds)
            most = self._output_limit(talk)
            if isinstance(most, Failure):
                return most
            body = self._body(talk, most, may_call=may_call)
            answer = await self._request(talk, body)
            if not isinstance(answer, Failure) or not (refused := answer.refused & body.keys()):
                return answer
            body = {name: value for name, value in body.items() if name not in refused}
            answer = await self._request(talk, body)
            if isinstance(answer, _Response):
                self._refused |= refused  # it is not asked for them every time
            return answer

    def _output_limit(self, talk: _Talk) -> int | Failure:
        """Return the tokens that an answer may have; some servers cut what does not fit."""
        most, size = self._settings.maximum_tokens, self._context_size
        least, left = min(_LEAST_OUTPUT, most), size - talk.tokens
        if not size or left >= least:
            return min(left, most) if size else most
        sentence = f"about {talk.tokens:,} tokens, and with its answer it takes {size:,}"
        return talk.service.too_long(sentence, max(size - least, 0) / talk.tokens)

    def _body(self, talk: _Talk, most: int, *, may_call: bool) -> dict[str, Any]:
        is_new = self._settings.reasoning or self._is_openai
        body = {
            "model": self._settings.model,
            "messages": talk.messages,
            "max_completion_tokens" if is_new else "max_tokens": most,
            "stream": talk.on_text is not None,
            **talk.asked,
        }
        if body["stream"]:
            body.setdefault("stream_options", {"include_usage": True})
        if "tools" in body:
            body["tool_choice"] = "auto" if may_call else "none"
        return {name: value for name, value in body.items() if name not in self._refused}

    async def _request(self, talk: _Talk, body: Mapping[str, Any]) -> _Response | Failure:
        response = _Response(talk.on_text)

        async def work() -> _Response:
            if body["stream"]:
                pieces = await talk.client.post(
                    _PATH,
                    body=encodable(body),
                    cast_to=object,
                    stream=True,
                    stream_cls=openai.AsyncStream[object],
                )
                async for piece in pieces:
                    response.take(piece)
            else:
                whole = read_json(
                    await talk.client.post(_PATH, body=encodable(body), cast_to=httpx2.Response)
                )
                response.take(whole)
                response.finish = response.finish or ("stop" if whole["choices"] else "")
            return response

        answer = await talk.service.attempt(work)
        if response.error is not None:
            raise response.error
        if isinstance(answer, _Response) and not (answer.finish or answer.refusal):
            answer = talk.service.failure("broke off: the response ended too early", again=True)
        if isinstance(answer, Failure):
            sentence = f"The answer broke off: {answer.sentence}"
            broken = replace(answer, sentence=sentence, again=False, refused=frozenset())
            return broken if response.emitted else answer
        answer.emit(answer.thoughts.finish())
        used = answer.usage.prompt_tokens + answer.usage.completion_tokens
        talk.tokens = used or talk.tokens + estimate_tokens(answer.thoughts.text())
        return answer

    def _refuse_nothing(self, response: _Response, text: str, service: Service) -> None:
        name, most = self._settings.model, f"{self._settings.maximum_tokens:,} tokens"
        if response.refusal or response.finish.startswith("content_filter"):
            words = service.shown(response.refusal)
            raise EngineError(
                f"The service of the language model {name} withheld the answer"
                f"{': ' if words else ''}{words}.",
                hint="Its content filter objects to the question or to the documents found.",
            )
        if response.calls and not text:
            raise EngineError(
                f"The language model {name} called tools {ROUNDS} times and wrote nothing.",
                hint="Ask for less at once, or use a model that is better with tools.",
            )
        if not text:
            is_cut = response.finish == "length"
            raise self._cut_short(f"wrote nothing{f' within {most}' if is_cut else ''}")

    def _cut_short(self, what: str) -> EngineError:
        hint = f"Raise {self._service.section}.maximum_tokens: it may think before it writes."
        return EngineError(f"The language model {self._settings.model} {what}.", hint=hint)


def _messages(instructions: str, prompt: str, images: Sequence[Attachment]) -> list[dict[str, Any]]:
    shown = [
        {"type": "image_url", "image_url": {"url": f"data:{one.media_type};base64,{one.data}"}}
        for one in images
    ]
    content = [{"type": "text", "text": prompt}, *shown] if shown else prompt
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": instructions},
        {"role": "user", "content": content},
    ]
    return messages if instructions else messages[1:]


def _text_of(content: object) -> str:
    """Return the text of a message, which Mistral sends in parts where the model thinks."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "".join(str(part["text"]) for part in parts if part.get("type") == "text")
