"""A language model that says what it was told to: for tests, demonstrations and dry runs."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from chapterhouse.errors import EngineError
from chapterhouse.models.tools import check_tools, run_calls, wanted_calls
from chapterhouse.types import Attachment, ModelLimits, OutputFormat, Tool, ToolCall, Usage, Writing

_STEPS: Final = 100  # of one piece of writing, where a function never comes to an end


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool that stands in a script."""

    name: str
    arguments: Mapping[str, object] | str = field(default_factory=dict)  # text: as written, JSON


@dataclass(frozen=True, slots=True)
class Step:
    """One response in a script.

    Attributes:
        pieces: How the text comes when it is streamed; empty: word by word.
        calls: Tools that are called before the next step.
        error: What it ends with, after the text that was streamed.
        cut: Whether it ends at the limit of tokens.
    """

    text: str = ""
    pieces: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    seconds: float = 0.0
    error: EngineError | None = None
    usage: Usage = field(default_factory=lambda: Usage(1))
    cut: bool = False


# What a script may hold: a step, its text, its calls, or its error.
Scripted = Step | str | Sequence[Call] | EngineError


class ScriptedModel:
    """Answers from a list, in turn, or from a function. Remembers what it was asked.

    Attributes:
        asked: Instructions and prompt of each piece of writing, in their order.
        offered: The names of the tools that went with each.
        told: What the tools told it, in the order of the calls.
    """

    def __init__(
        self,
        script: Sequence[Scripted] | Callable[[str, str], Scripted],
        *,
        fingerprint: str = "scripted",
        limits: ModelLimits | None = None,
    ) -> None:
        """Take the steps in their order, or what makes one of instructions and prompt."""
        self._script = script
        self._fingerprint = fingerprint
        self._limits = limits or ModelLimits()
        self._lock = threading.Lock()
        self._next = 0
        self.asked: list[tuple[str, str]] = []
        self.offered: list[tuple[str, ...]] = []
        self.formats: list[OutputFormat | None] = []
        self.images: list[Attachment] = []
        self.tool_results: list[ToolCall] = []

    @property
    def fingerprint(self) -> str:
        """Say that it is scripted."""
        return self._fingerprint

    def limits(self) -> ModelLimits:
        """Return what it was told that it takes."""
        return self._limits

    def complete(self, instructions: str, prompt: str) -> str:
        """Return the text of the next step, at once; errors as ``write``."""
        self._remember(instructions, prompt, (), None)
        step = self._step(instructions, prompt)
        if step.error is not None:
            raise step.error
        return step.text

    async def write(
        self,
        instructions: str,
        prompt: str,
        *,
        tools: Sequence[Tool] = (),
        on_text: Callable[[str], None] | None = None,
        output: OutputFormat | None = None,
        images: Sequence[Attachment] = (),
    ) -> Writing:
        """Write the next step, and those after it while a step calls tools.

        Raises:
            EngineError: the script is at its end, or says so.
            UsageError: a tool has a name or a schema that cannot be used.
        """
        check_tools(tools)
        self._remember(instructions, prompt, tuple(tool.name for tool in tools), output)
        self.images += images
        used, made = Usage(), list[ToolCall]()
        for _ in range(_STEPS):
            step = self._step(instructions, prompt)
            await self._stream(step, on_text)
            used += step.usage
            if not step.calls:
                return Writing(step.text, self.fingerprint, used, tuple(made), step.cut)
            calls = [(call.name, call.arguments) for call in step.calls]
            if wanted := wanted_calls(tools, calls):
                return Writing(step.text, self.fingerprint, used, tuple(made), wanted=wanted)
            results = await run_calls(tools, calls)
            made += results
            with self._lock:
                self.tool_results += results
        raise EngineError(f"The script of the language model called tools {_STEPS} times.")

    async def _stream(self, step: Step, on_text: Callable[[str], None] | None) -> None:
        if step.seconds:
            await asyncio.sleep(step.seconds)
        if on_text is not None:
            for piece in _pieces(step):
                await asyncio.sleep(0)  # as a model would, it lets others work
                on_text(piece)
        if step.error is not None:
            raise step.error

    def _remember(
        self,
        instructions: str,
        prompt: str,
        offered: tuple[str, ...],
        output: OutputFormat | None,
    ) -> None:
        with self._lock:
            self.asked.append((instructions, prompt))
            self.offered.append(offered)
            self.formats.append(output)

    def _step(self, instructions: str, prompt: str) -> Step:
        if callable(self._script):
            return _step_of(self._script(instructions, prompt))
        with self._lock:
            number, self._next = self._next, self._next + 1
        if number >= len(self._script):
            raise EngineError(f"The script of the language model ends after {number} answers.")
        return _step_of(self._script[number])


def _step_of(scripted: Scripted) -> Step:
    if isinstance(scripted, Step):
        return scripted
    if isinstance(scripted, str):
        return Step(scripted)
    if isinstance(scripted, EngineError):
        return Step(error=scripted)
    return Step(calls=tuple(scripted))


def _pieces(step: Step) -> Sequence[str]:
    if step.pieces:
        return step.pieces
    words = step.text.split(" ")
    return [f"{word} " for word in words[:-1]] + words[-1:] if step.text else ()
