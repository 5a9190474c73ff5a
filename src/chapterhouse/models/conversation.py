"""A conversation with a language model over HTTP: what was said, and the next response.

Loaded only when a model is asked, since pydantic-ai and the services' libraries take seconds.
"""

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any, Final

import httpx2
from pydantic_ai import direct
from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from chapterhouse.models.failures import Failure, Service, reason_in
from chapterhouse.models.gate import Gate, cause_of
from chapterhouse.models.http import transport_failure
from chapterhouse.models.providers import takes_format, usage_of
from chapterhouse.settings import LanguageModelSettings
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.text.sanitise import sanitise
from chapterhouse.types import OutputFormat, Tool, Usage

_END_OF_STREAM: Final = b"[DONE]"
_LEAST_OUTPUT: Final = 256  # tokens for an answer, below which a prompt is too long
# How models mark it where the service leaves it in the text: DeepSeek and Qwen, and others.
_NAMES: Final = ("think", "thinking", "thought", "reasoning")
_OPENINGS: Final = tuple(f"<{name}>" for name in _NAMES)
_CLOSING: Final = re.compile(rf"</(?:{'|'.join(_NAMES)})>")


@dataclass(frozen=True, slots=True)
class Turn:
    """One response of a model.

    Attributes:
        text: Without thoughts.
        calls: What it wants to know before it goes on.
        finish: Why it stopped: ``stop``, ``length``, ``content_filter``, ``tool_call``, ``error``.
        refusal: What it says where it refuses.
    """

    text: str
    calls: tuple[ToolCallPart, ...]
    finish: str
    refusal: str
    usage: Usage


class Conversation:
    """What was said to and by one model.

    Attributes:
        refused_format: Whether the service does not take the form that was wanted of the answer,
            and was asked without it.
    """

    def __init__(
        self,
        settings: LanguageModelSettings,
        service: Service,
        gate: Gate,
        model: Model,
        asked: ModelSettings,
        context_size: int = 0,
    ) -> None:
        """Remember whom to talk to.

        Args:
            settings: Of the model.
            service: Where it is.
            gate: What its requests go through.
            model: The model as pydantic-ai has it.
            asked: What is asked of it beside its messages.
            context_size: Tokens that it takes, prompt and answer together; 0 where that is not
                known. A longer prompt is refused here, since some servers cut it and say nothing.
        """
        self._settings = settings
        self._service = service
        self._gate = gate
        self._model = model
        self._asked = asked
        self._context_size = context_size
        self._tokens = 0  # of all messages, as far as that is known
        self._messages: list[ModelMessage] = []
        self._tools: list[ToolDefinition] = []
        self._output: OutputObjectDefinition | None = None
        self.refused_format = False

    def begin(
        self,
        instructions: str,
        prompt: str,
        tools: Sequence[Tool],
        output: OutputFormat | None = None,
    ) -> None:
        """Say what is wanted. The form of the answer is asked for where the model takes one."""
        system_parts = [SystemPromptPart(_encodable(instructions))] if instructions else []
        self._messages = [ModelRequest([*system_parts, UserPromptPart(_encodable(prompt))])]
        self._tools = [
            ToolDefinition(
                name=tool.name,
                parameters_json_schema=dict(tool.parameters),
                description=tool.description,
                strict=False,
            )
            for tool in tools
        ]
        schemas = "".join(json.dumps(tool.parameters_json_schema) for tool in self._tools)
        self._tokens = estimate_tokens(f"{instructions}\n{prompt}\n{schemas}")
        self._output = None
        if output and takes_format(self._settings, self._model, with_tools=bool(tools)):
            self._output = OutputObjectDefinition(dict(output.schema), output.name, strict=True)

    def answer(self, calls: Sequence[ToolCallPart], results: Sequence[str]) -> None:
        """Say what the tools gave."""
        parts: list[ModelRequestPart] = [
            ToolReturnPart(call.tool_name, result, call.tool_call_id)
            for call, result in zip(calls, results, strict=True)
        ]
        self._messages.append(ModelRequest(parts))
        self._tokens += sum(map(estimate_tokens, results))

    async def respond(
        self, on_text: Callable[[str], None] | None, *, may_call: bool
    ) -> Turn | Failure:
        """Return the next response, or why there is none. It is tried once.

        A service that may have refused the form of the answer is asked again without it.

        Args:
            on_text: Is given the pieces of text; the response is streamed where there is one.
            may_call: Whether the model may call tools.
        """
        answer = await self._tried(on_text, may_call=may_call)
        if not (isinstance(answer, Failure) and answer.no_format and self._output):
            return answer
        output, self._output = self._output, None
        without = await self._tried(on_text, may_call=may_call)
        if isinstance(without, Failure):
            self._output = output  # it was something else: that may pass, and the form is wanted
        else:
            self.refused_format = True
        return without

    async def _tried(
        self, on_text: Callable[[str], None] | None, *, may_call: bool
    ) -> Turn | Failure:
        self._gate.reset()
        listener = _Listener(on_text)
        least = min(_LEAST_OUTPUT, self._settings.maximum_tokens)
        if self._context_size and self._output_budget < least:
            return self._service.prompt_too_long(self._tokens, self._context_size, least)
        try:
            async with asyncio.timeout(self._service.timeout_seconds) as limit:
                response = await self._response(listener, may_call=may_call)
        except Exception as error:  # noqa: BLE001 - what a stranger sends makes libraries raise all
            if listener.error is not None:  # it was the caller's own
                raise listener.error from None
            failure = self._service.too_slow() if limit.expired() else self._failure(error)
        else:
            turn = self._turn(response, listener)
            if turn is not None:
                return turn
            failure = self._service.unreached("the response ended too early")
        return _broke_off(failure) if listener.emitted else failure

    async def _response(self, listener: "_Listener", *, may_call: bool) -> ModelResponse:
        parameters = ModelRequestParameters(
            function_tools=self._tools,
            output_mode="native" if self._output else "text",
            output_object=self._output,
        )
        asked = self._asked if may_call else ModelSettings(**self._asked, tool_choice="none")
        if self._context_size:  # some servers refuse what could become too long
            most = min(self._output_budget, self._settings.maximum_tokens)
            asked = ModelSettings(**{**asked, "max_tokens": most})
        request: dict[str, Any] = {
            "model_settings": asked,
            "model_request_parameters": parameters,
            "instrument": False,
        }
        if listener.on_text is None:
            response = await direct.model_request(self._model, self._messages, **request)
            for part in response.parts:
                listener.feed(part.content if isinstance(part, TextPart) else "")
            return response
        async with direct.model_request_stream(self._model, self._messages, **request) as stream:
            async for event in stream:
                if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                    listener.feed(event.part.content)
                elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                    listener.feed(event.delta.content_delta)
            return stream.get()

    def _turn(self, response: ModelResponse, listener: "_Listener") -> Turn | None:
        """Return the turn, and remember it as said; None where the stream ended too early."""
        details = response.provider_details or {}
        ended = details.get("finish_reason") or _END_OF_STREAM in self._gate.tail
        if listener.on_text is not None and not ended and not details.get("refusal"):
            return None
        listener.end()
        text = listener.thoughts.text(thinks_first=self._settings.reasoning)
        self._messages.append(_without_repeated_thoughts(response, listener))
        counted = response.usage.input_tokens + response.usage.output_tokens
        self._tokens = counted or self._tokens + estimate_tokens(text)
        return Turn(
            text,
            tuple(part for part in response.parts if isinstance(part, ToolCallPart)),
            response.finish_reason or "stop",
            self._service.shown(str(details.get("refusal") or "")),
            usage_of(
                response.usage,
                response.model_name or self._settings.model,
                self._settings.engine,
                self._settings.base_url,
            ),
        )

    @property
    def _output_budget(self) -> int:
        """Tokens that are left for an answer."""
        return self._context_size - self._tokens

    def _failure(self, error: Exception) -> Failure:
        """Return what went wrong in our own words. The error itself goes no further."""
        if self._gate.failure is not None:
            return self._gate.failure
        below = cause_of(error)
        if isinstance(below, httpx2.TransportError):
            return transport_failure(self._service, below)
        if isinstance(error, ModelHTTPError):  # an error in the middle of a stream
            return self._service.answered(error.status_code, _reason_of(error))
        if isinstance(error, ModelAPIError) and error.in_stream:
            return self._service.answered(200, _reason_of(error))
        return Failure(
            f"{self._service.place} gave a response that cannot be understood: "
            f"{self._service.shown(str(error) or type(error).__name__)}",
            f"Is {self._service.section}.base_url the address of a service that speaks the "
            f"protocol of the engine '{self._settings.engine}'?",
        )


class _Listener:
    """What was told to the caller, and what the caller's own function did with it."""

    def __init__(self, on_text: Callable[[str], None] | None) -> None:
        self.on_text = on_text
        self.thoughts = Thoughts()
        self.emitted = False
        self.error: Exception | None = None

    def feed(self, piece: str) -> None:
        self._emit(self.thoughts.feed(piece))

    def end(self) -> None:
        self._emit(self.thoughts.finish())

    def _emit(self, text: str) -> None:
        if not text or self.on_text is None:
            return
        self.emitted = True
        try:
            self.on_text(text)
        except Exception as error:
            self.error = error  # so that it is not taken for one of the service's
            raise


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate stops no request


def _without_repeated_thoughts(response: ModelResponse, listener: _Listener) -> ModelResponse:
    """Return what the model is reminded of: its response, but no thoughts that stand in the text.

    The order of the parts stays, on which signatures of thoughts depend.
    """
    if not listener.thoughts.found:
        return response
    texts = [part for part in response.parts if isinstance(part, TextPart)]
    text_part = replace(texts[0], content=listener.thoughts.text())
    parts = [text_part if part is texts[0] else part for part in response.parts]
    return replace(response, parts=[part for part in parts if part not in texts[1:]])


def _broke_off(failure: Failure) -> Failure:
    sentence = f"The answer broke off: {failure.sentence}"
    return replace(failure, sentence=sentence, again=False, no_format=False)


def _reason_of(error: ModelAPIError) -> str:
    body = error.body
    if isinstance(body, Mapping):
        return reason_in(json.dumps(body, default=str).encode())
    return str(body or error.message)


class _Phase(Enum):
    BEFORE = auto()  # nothing yet but white space, or the beginning of a mark
    THINKING = auto()
    WRITING = auto()


class Thoughts:
    """Takes a response piece by piece and gives back what is meant for the reader.

    Thoughts stand at the beginning of a response, between marks; later on the marks are text.

    Attributes:
        found: Whether there were any.
    """

    def __init__(self) -> None:
        self._phase = _Phase.BEFORE
        self._held = ""
        self._closing = ""
        self._written: list[str] = []
        self.found = False

    def feed(self, piece: str) -> str:
        """Take the next piece; return what the reader may see of it and of what was held back."""
        self._held += piece
        shown = ""
        while self._held:
            before = self._phase, self._held
            if self._phase is _Phase.BEFORE:
                self._begin()
            elif self._phase is _Phase.THINKING:
                self._think()
            else:
                # A carriage return waits for the line feed that may follow it.
                ready = len(self._held) - self._held.endswith("\r")
                shown, self._held = shown + self._held[:ready], self._held[ready:]
            if (self._phase, self._held) == before:
                break
        return self._append(shown)

    def finish(self) -> str:
        """Return what was held back and is text after all."""
        held, self._held = self._held, ""
        return self._append("" if self._phase is _Phase.THINKING else held)

    def text(self, *, thinks_first: bool = False) -> str:
        """Return everything that is meant for the reader.

        Args:
            thinks_first: Whether the model is known to think first, so that the end of thoughts
                whose beginning the service has swallowed is taken for one.
        """
        written = "".join(self._written)
        if thinks_first:
            written = _CLOSING.split(written)[-1]
        return written.strip()

    def _begin(self) -> None:
        text = self._held.lstrip()
        opening = next((mark for mark in _OPENINGS if text.startswith(mark)), None)
        if opening:
            self.found = True
            self._phase, self._closing = _Phase.THINKING, opening.replace("<", "</")
            self._held = text[len(opening) :]
        elif text and not any(mark.startswith(text) for mark in _OPENINGS):
            self._phase, self._held = _Phase.WRITING, text

    def _think(self) -> None:
        thought, found, rest = self._held.partition(self._closing)
        if found:
            self._phase, self._held = _Phase.BEFORE, rest
        else:  # keep only what may be the beginning of the mark
            self._held = thought[-len(self._closing) + 1 :]

    def _append(self, shown: str) -> str:
        clean = sanitise(shown).text
        if clean:
            self._written.append(clean)
        return clean
