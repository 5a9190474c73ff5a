"""Calls of tools by a model: looked at, carried out, and answered in any case.

Whatever goes wrong is told to the model as text, so that it can do better or write without. A call
runs in a daemon thread: one that hangs is left behind at its timeout and keeps nothing from ending.
"""

import asyncio
import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from contextvars import copy_context
from typing import Final

from chapterhouse.errors import ChapterhouseError, UsageError
from chapterhouse.models.schema import check_schema, faults
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import Tool, ToolCall

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_TOLD: Final = 300  # characters of a reason
_FAULTS: Final = 5
_AT_ONCE: Final = 8  # calls of one response that run at the same time

Arguments = str | Mapping[str, object] | None  # as a model wrote them, JSON or already read


def check_tools(tools: Sequence[Tool]) -> None:
    """Refuse tools that a service would refuse, or whose arguments could not be checked.

    Raises:
        UsageError: a name is no name or stands twice, a schema says what nobody checks, or a
            tool has no time or no room for a result.
    """
    names = [tool.name for tool in tools]
    for tool in tools:
        if not _NAME.fullmatch(tool.name) or names.count(tool.name) > 1:
            raise UsageError(f"{tool.name!r} cannot be the name of a tool, or stands twice.")
        if tool.parameters.get("type") != "object":
            raise UsageError(f"The arguments of the tool {tool.name} must be an object.")
        check_schema(tool.parameters, tool.name)
        if not (tool.timeout_seconds > 0 and tool.maximum_characters > 0):
            raise UsageError(f"The tool {tool.name} needs time, and room for what it finds.")


def run_call(
    tools: Sequence[Tool],
    name: str,
    arguments: Arguments,
    clock: Callable[[], float] = time.perf_counter,
) -> ToolCall:
    """Carry out one call and wait for it, at most as long as its tool may take.

    Args:
        tools: What there is.
        name: What the model calls.
        arguments: As the model wrote them.
        clock: Seconds, for how long it took.
    """
    call = _looked_at(tools, name, arguments)
    if isinstance(call, ToolCall):
        return call
    tool, given = call
    started = clock()
    try:
        result, failed = _started(tool, given).result(tool.timeout_seconds)
    except TimeoutError:
        result, failed = _too_slow(tool), True
    return ToolCall(name, given, result, failed, clock() - started)


async def run_calls(
    tools: Sequence[Tool],
    calls: Sequence[tuple[str, Arguments]],
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[ToolCall, ...]:
    """Carry out the calls of one response side by side, and answer in their order.

    Calls of one tool that is not ``parallel`` run one after the other, in their order. Each call
    has the whole time of its tool, from when it starts.

    Args:
        tools: What there is.
        calls: Name and arguments, as the model wrote them.
        clock: Seconds, for how long each took.
    """
    room = asyncio.Semaphore(_AT_ONCE)
    turns = {tool.name: asyncio.Lock() for tool in tools if not tool.parallel}

    async def carried_out(name: str, arguments: Arguments) -> ToolCall:
        call = _looked_at(tools, name, arguments)
        if isinstance(call, ToolCall):
            return call
        async with turns.get(name) or nullcontext(), room:
            return await _awaited(*call, clock)

    return tuple(await asyncio.gather(*(carried_out(*call) for call in calls)))


async def _awaited(tool: Tool, given: Mapping[str, object], clock: Callable[[], float]) -> ToolCall:
    started = clock()
    try:
        async with asyncio.timeout(tool.timeout_seconds):
            result, failed = await asyncio.wrap_future(_started(tool, given))
    except TimeoutError:
        result, failed = _too_slow(tool), True
    return ToolCall(tool.name, given, result, failed, clock() - started)


def _looked_at(
    tools: Sequence[Tool], name: str, arguments: Arguments
) -> ToolCall | tuple[Tool, Mapping[str, object]]:
    """Return what is to be called with what, or why nothing can be."""
    shown = sanitise_line(name)[:64]
    tool = next((tool for tool in tools if tool.name == name), None)
    if tool is None:
        known = ", ".join(tool.name for tool in tools)
        return ToolCall(
            shown, {}, f"failed: there is no tool {shown}; there are {known}", failed=True
        )
    given = _read(arguments)
    if given is None:
        return ToolCall(name, {}, "failed: the arguments are not a JSON object", failed=True)
    wrong = list(faults(given, tool.parameters))[:_FAULTS]
    if wrong:
        told = sanitise_line("; ".join(wrong))[:_TOLD]
        return ToolCall(name, given, f"failed: {told}", failed=True)
    return tool, given


def _started(tool: Tool, given: Mapping[str, object]) -> Future[tuple[str, bool]]:
    """Start a call; the future gives what the model is told, and whether it failed."""
    future: Future[tuple[str, bool]] = Future()
    future.set_running_or_notify_cancel()  # from here on nobody can cancel it: it always ends

    def work() -> None:
        try:
            told, failed = _cut(sanitise(tool.call(given)).text, tool.maximum_characters), False
        except BaseException as error:  # noqa: BLE001 - whatever a tool does, its model is answered
            told, failed = f"failed{_reason(error)}", True
        future.set_result((told, failed))

    threading.Thread(
        target=copy_context().run, args=(work,), name=f"tool {tool.name}", daemon=True
    ).start()
    return future


def _cut(text: str, maximum: int) -> str:
    if len(text) <= maximum:
        return text
    return f"{text[:maximum]}\n(cut: {maximum:,} of {len(text):,} characters are shown)"


def _too_slow(tool: Tool) -> str:
    return f"failed: {tool.name} took longer than {tool.timeout_seconds:g} seconds"


def _read(arguments: Arguments) -> Mapping[str, object] | None:
    if not isinstance(arguments, str):
        return _clean_mapping(arguments or {})
    if not arguments.strip():  # as some services write that there are none
        return {}
    try:
        read = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    return _clean_mapping(read) if isinstance(read, dict) else None


def _clean_mapping(given: Mapping[str, object]) -> Mapping[str, object]:
    return {sanitise_line(str(name)): _clean(value) for name, value in given.items()}


def _clean(value: object) -> object:
    """Return what a model wrote without what a reader could not see."""
    if isinstance(value, str):
        return sanitise(value).text
    if isinstance(value, Mapping):
        return _clean_mapping(value)
    return [_clean(entry) for entry in value] if isinstance(value, list) else value


def _reason(error: BaseException) -> str:
    """Return what the model is told: our own sentences, and nothing of anyone else's."""
    if not isinstance(error, ChapterhouseError):
        return ""
    return f": {sanitise_line(error.message)[:_TOLD]}"
