"""A language model that writes: by any service that pydantic-ai can speak to.

One piece of writing is one conversation: requests, the tools that the model calls between them,
and new tries where a request failed for a reason that may pass. Every one has a client of its own,
so that it may run in any event loop and leaves nothing open, however it ends.
"""

import asyncio
import random
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from chapterhouse.errors import EngineError
from chapterhouse.loading import lazy
from chapterhouse.models.failures import Failure, Service
from chapterhouse.models.keys import KeySource, check_key_source
from chapterhouse.models.providers import (
    Slots,
    base_address,
    key_header,
    model_settings,
    open_model,
)
from chapterhouse.models.tools import check_tools, run_calls, wanted_calls
from chapterhouse.settings import LanguageModelSettings
from chapterhouse.types import ModelLimits, OutputFormat, Tool, ToolCall, Usage, Writing

if TYPE_CHECKING:
    import ssl

    import httpx2

    from chapterhouse.models import conversation as conversations
    from chapterhouse.models import gate as gates
else:
    httpx2 = lazy("httpx2")
    conversations = lazy("chapterhouse.models.conversation")
    gates = lazy("chapterhouse.models.gate")

OnText = Callable[[str], None]

ROUNDS: Final = 8  # of tool calls; then the model has to write with what it knows
_PATIENCE: Final = 4  # a whole piece of writing may take so many times as long as one response


class PydanticWriter:
    """Text from a service. Safe to share between threads and event loops."""

    def __init__(
        self,
        settings: LanguageModelSettings,
        *,
        section: str = "language_model",
        slots: Slots | None = None,
        served_limits: Callable[[LanguageModelSettings], tuple[int, int]] = lambda _: (0, 0),
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Remember whom to ask; nobody is asked yet.

        Args:
            settings: Whom, and how patiently.
            section: The section of the settings that they stand in, for messages.
            slots: How many requests its service is sent at once, by all who ask it; as the
                settings say where there are none.
            served_limits: Asks the service how many tokens and requests at once it takes; 0 for
                what it does not say.
            sleep: Waits so many seconds.
            jitter: Returns a number from 0 to 1.
            clock: Seconds, for how long tools took.

        Raises:
            UsageError: a key would travel over an open network unencrypted.
            MissingExtraError: the key is in a keyring, and the library for that is missing.
        """
        source = KeySource(section, settings.key_variable, settings.key_entry)
        url = base_address(settings)
        check_key_source(source, url)
        self._settings = settings
        self._service = Service(url, section, source, settings.timeout_seconds)
        self._slots = slots or Slots(settings.calls_at_once)
        self._served_limits = served_limits
        self._context_size = settings.context_size
        self._sleep = sleep
        self._jitter = jitter
        self._clock = clock
        self._lock = threading.Lock()
        self._asking = threading.Lock()
        self._was_asked = False
        self._context: ssl.SSLContext | None = None
        self._refused_format: set[bool] = set()  # with tools, without

    @property
    def fingerprint(self) -> str:
        """Name of the model."""
        return f"{self._settings.engine}/{self._settings.model}"

    def limits(self) -> ModelLimits:
        """Return what the model takes. Waits for its server, if that says more than the settings.

        Where the server works on fewer requests at once than it is sent, no more are sent.
        """
        self._learn_limits()
        settings = self._settings
        return ModelLimits(self._context_size, settings.maximum_tokens, self._slots.number)

    def _learn_limits(self) -> None:
        with self._asking:
            known = self._context_size and (self._slots.number or self._was_asked)
            if known:
                return
            context, at_once = self._served_limits(self._settings)
            self._was_asked = True
            self._context_size = self._context_size or context  # 0 until the model is loaded
            self._slots.limit(at_once)

    def complete(self, instructions: str, prompt: str) -> str:
        """Return what the model writes, without what it thinks.

        Blocks; inside a running event loop, that loop too: use ``write`` there.

        Args:
            instructions: The system message; none where empty.
            prompt: The user's message.

        Raises:
            EngineError: the service cannot be reached, or gave nothing.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.write(instructions, prompt)).text
        with ThreadPoolExecutor(1) as thread:  # a loop runs here: another one needs its own thread
            return thread.submit(self.complete, instructions, prompt).result()

    async def write(
        self,
        instructions: str,
        prompt: str,
        *,
        tools: Sequence[Tool] = (),
        on_text: OnText | None = None,
        output: OutputFormat | None = None,
    ) -> Writing:
        """Return what the model writes, calling tools on the way.

        The text is what it writes after its last call of a tool. ``on_text`` is also given what
        it writes before that, since nobody knows then whether a call follows.

        Args:
            instructions: The system message; none where empty.
            prompt: The user's message.
            tools: What it may call; the calls of one response run side by side.
            on_text: Is given each piece of text as it comes, without thoughts.
            output: The form of the answer. The service is asked for it where it takes one; where
                it does not, what the instructions say has to do.

        Raises:
            EngineError: the service cannot be reached, does not let the model write, or the model
                wrote nothing.
            UsageError: a tool has a name or a schema that cannot be used.
            MissingExtraError: the extra of the engine is not installed.
        """
        check_tools(tools)
        client, conversation = await asyncio.to_thread(self._opened)
        wanted = None if bool(tools) in self._refused_format else output
        conversation.begin(instructions, prompt, tools, wanted)
        seconds = _PATIENCE * self._settings.timeout_seconds
        until = asyncio.get_running_loop().time() + seconds
        try:
            async with client, asyncio.timeout_at(until) as limit:
                writing = await self._written(conversation, tools, on_text, limit)
                if conversation.refused_format:
                    self._refused_format.add(bool(tools))  # it is not asked for it every time
                return writing
        except TimeoutError:
            if not limit.expired():
                raise  # it is of the caller's own function
        raise self._service.too_slow(seconds).error(1)

    def close(self) -> None:
        """Do nothing: between two pieces of writing nothing is open."""

    async def _written(
        self,
        conversation: "conversations.Conversation",
        tools: Sequence[Tool],
        on_text: OnText | None,
        limit: asyncio.Timeout,
    ) -> Writing:
        used, made, texts = Usage(), list[ToolCall](), list[str]()
        for number in range(ROUNDS + 1):
            may_call = number < ROUNDS
            turn = await self._turn(conversation, on_text, limit, may_call=may_call)
            used += turn.usage
            texts.append(turn.text)
            if not (turn.calls and may_call):
                break
            self._refuse_cut_calls(turn)
            calls = [(call.tool_name, call.args) for call in turn.calls]
            if wanted := wanted_calls(tools, calls):
                return Writing(turn.text, self.fingerprint, used, tuple(made), wanted=wanted)
            results = await run_calls(tools, calls, self._clock)
            made += results
            conversation.answer(turn.calls, [result.result for result in results])
        # A model that has nothing to add after its last call has said it before.
        text = turn.text or "\n\n".join(filter(None, texts))
        self._refuse_nothing(turn, text)
        return Writing(text, self.fingerprint, used, tuple(made), turn.finish == "length")

    async def _turn(
        self,
        conversation: "conversations.Conversation",
        on_text: OnText | None,
        limit: asyncio.Timeout,
        *,
        may_call: bool,
    ) -> "conversations.Turn":
        """Return the next response, trying again while that may help."""
        attempts = self._settings.attempts
        for number in range(1, attempts + 1):
            async with self._slot(limit):
                answer = await conversation.respond(on_text, may_call=may_call)
            if not isinstance(answer, Failure):
                return answer
            pause = answer.pause(number, self._jitter())
            late = asyncio.get_running_loop().time() + pause >= (limit.when() or 0.0)
            if number == attempts or late or not answer.may_be_retried():
                raise answer.error(number)
            await self._sleep(pause)
        raise AssertionError("at least one try is made")

    @asynccontextmanager
    async def _slot(self, limit: asyncio.Timeout) -> AsyncIterator[None]:
        """Hold a slot of the service; the wait for it does not count against the limit."""
        loop = asyncio.get_running_loop()
        left = (limit.when() or 0.0) - loop.time()
        limit.reschedule(None)
        async with self._slots.one():
            limit.reschedule(loop.time() + left)
            yield

    def _refuse_cut_calls(self, turn: "conversations.Turn") -> None:
        if turn.finish == "length":
            raise EngineError(
                f"The language model {self._settings.model} was cut off after "
                f"{self._settings.maximum_tokens:,} tokens, in the middle of a call.",
                hint=f"Raise {self._service.section}.maximum_tokens.",
            )

    def _refuse_nothing(self, turn: "conversations.Turn", text: str) -> None:
        name, section = self._settings.model, self._service.section
        if turn.finish == "content_filter":
            refusal = f": {turn.refusal}" if turn.refusal else ""
            raise EngineError(
                f"The service of the language model {name} withheld the answer{refusal}.",
                hint="Its content filter objects to the question or to the documents found.",
            )
        if text:
            return
        if turn.finish == "length":
            raise EngineError(
                f"The language model {name} wrote nothing within "
                f"{self._settings.maximum_tokens:,} tokens.",
                hint=f"Raise {section}.maximum_tokens: it may think at length before it writes.",
            )
        if turn.calls:
            raise EngineError(
                f"The language model {name} called tools {ROUNDS} times and wrote nothing.",
                hint="Ask for less at once, or use a model that is better with tools.",
            )
        raise EngineError(
            f"The language model {name} wrote nothing.",
            hint=f"Raise {section}.maximum_tokens if it thinks at length before it writes.",
        )

    def _opened(self) -> "tuple[httpx2.AsyncClient, conversations.Conversation]":
        """Return a new conversation and its client. Reads the key; the first time it is slow."""
        settings = self._settings
        service = replace(self._service, key=self._service.source.read(self._service.place))
        with self._lock:
            if self._context is None:
                self._context = httpx2.create_ssl_context(trust_env=settings.trust_environment)
        gate = gates.Gate(service, key_header(settings))
        client = gate.client(self._context, trust_environment=settings.trust_environment)
        model = open_model(settings, client)
        self._learn_limits()
        asked = model_settings(settings, model)
        conversation = conversations.Conversation(
            settings, service, gate, model, asked, self._context_size
        )
        return client, conversation
