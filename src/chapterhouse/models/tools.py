"""Calls of tools by a model: looked at, carried out, and answered in any case.

Whatever goes wrong is told to the model as text, so that it can do better or write without. A call
runs in a daemon thread: one that hangs is left behind at its timeout and keeps nothing from ending.
"""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from typing import TYPE_CHECKING, Final, NoReturn

from chapterhouse import lazy
from chapterhouse.errors import ChapterhouseError, UsageError
from chapterhouse.telemetry import Recorder, operations, tool_span
from chapterhouse.text.naming import is_tool_name
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import Tool, ToolCall, WantedCall

if TYPE_CHECKING:
    import jsonschema
    import referencing
else:
    jsonschema = lazy("jsonschema")
    referencing = lazy("referencing")

_LONGEST_REASON: Final = 300  # characters of a reason
_AT_ONCE: Final = 8  # calls of one response that run at the same time

Arguments = str | Mapping[str, object] | None  # as a model wrote them, JSON or already read
_Ended = tuple[str, BaseException | None]  # what the model is told, and what went wrong


def check_tools(tools: Sequence[Tool]) -> None:
    """Refuse tools that a service would refuse, or whose arguments could not be checked.

    Raises:
        UsageError: a name is no name or stands twice, a schema is none, or a tool has no time or
            no room for a result.
    """
    names = [tool.name for tool in tools]
    for tool in tools:
        if not is_tool_name(tool.name) or names.count(tool.name) > 1:
            raise UsageError(f"{tool.name!r} cannot be the name of a tool, or stands twice.")
        if tool.parameters.get("type") != "object":
            raise UsageError(f"The arguments of the tool {tool.name} must be an object.")
        if not (tool.timeout_seconds > 0 and tool.maximum_characters > 0):
            raise UsageError(f"The tool {tool.name} needs time, and room for what it finds.")
        if tool.external:
            continue
        try:
            jsonschema.Draft202012Validator.check_schema(tool.parameters)
        except jsonschema.SchemaError as error:
            why = sanitise_line(error.message)[:_LONGEST_REASON]
            raise UsageError(f"The schema of the tool {tool.name} is none: {why}.") from None


def schema_errors(value: object, schema: Mapping[str, object]) -> Iterator[str]:
    """Yield what is wrong with the arguments of a call, for the model. Nothing is fetched."""
    # Without a registry of its own, the library would fetch what a schema refers to.
    checking = jsonschema.Draft202012Validator(schema, registry=referencing.Registry())
    try:
        for error in checking.iter_errors(value):
            where = error.json_path.removeprefix("$").removeprefix(".")
            yield f"{where}: {error.message}" if where else error.message
    except Exception:  # noqa: BLE001 - a reference leads nowhere, or round in a circle
        yield "the tool's schema cannot be followed"


def wanted_calls(
    tools: Sequence[Tool], calls: Sequence[tuple[str, Arguments]]
) -> tuple[WantedCall, ...]:
    """Return the calls of external tools among those of one response; nobody carries them out."""
    external = {tool.name for tool in tools if tool.external}
    return tuple(
        WantedCall(
            name,
            sanitise(arguments).text if isinstance(arguments, str) else json.dumps(arguments or {}),
        )
        for name, arguments in calls
        if name in external
    )


async def run_calls(
    tools: Sequence[Tool],
    calls: Sequence[tuple[str, Arguments]],
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[ToolCall, ...]:
    """Carry out the calls of one response side by side, and answer in their order.

    Calls of one tool that is not ``parallel`` run one after the other, in their order. Each call
    has the whole time of its tool, from when it starts.
    """
    slots = asyncio.Semaphore(_AT_ONCE)
    turns = {tool.name: asyncio.Lock() for tool in tools if not tool.parallel}

    async def answered(name: str, arguments: Arguments) -> ToolCall:
        with _in_span(tools, name, arguments) as (call, recorder):
            if isinstance(call, ToolCall):
                return call
            async with turns.get(name) or nullcontext(), slots:
                return await _run_call(*call, clock, recorder)

    return tuple(await asyncio.gather(*(answered(*call) for call in calls)))


async def _run_call(
    tool: Tool, given: Mapping[str, object], clock: Callable[[], float], recorder: Recorder
) -> ToolCall:
    recorder.event(operations.START)
    started = clock()
    error: BaseException | None
    try:
        async with asyncio.timeout(tool.timeout_seconds):
            result, error = await asyncio.wrap_future(_start(tool, given))
    except TimeoutError as late:
        result = f"failed: {tool.name} took longer than {tool.timeout_seconds:g} seconds"
        error = late
    seconds = clock() - started
    if error is None:
        recorder.event(operations.STOP)
    else:
        recorder.caught(error)
    recorder.set_content(operations.TOOL_RESULT, result)
    return ToolCall(tool.name, given, result, error is not None, seconds)


@contextmanager
def _in_span(
    tools: Sequence[Tool], name: str, arguments: Arguments
) -> Iterator[tuple[ToolCall | tuple[Tool, Mapping[str, object]], Recorder]]:
    """Look at a call inside its span: what is to be called with what, or why nothing can be.

    The name of a tool that does not exist is a model's own words: content, like the arguments.
    """
    tool = next((tool for tool in tools if tool.name == name), None)
    given = _read(arguments)
    with tool_span(name if tool else operations.UNKNOWN_TOOL) as recorder:
        written = sanitise(arguments).text if isinstance(arguments, str) else arguments
        recorder.set_content(operations.TOOL_ARGUMENTS, written if given is None else given)
        why = _refusal(tools, tool, name, given)
        if tool and given is not None and not why:
            yield (tool, given), recorder
            return
        recorder.fail("invalid_arguments" if tool else "unknown_tool")
        recorder.set_content(operations.TOOL_RESULT, why)
        yield ToolCall(sanitise_line(name)[:64], given or {}, why, failed=True), recorder


def _refusal(
    tools: Sequence[Tool], tool: Tool | None, name: str, given: Mapping[str, object] | None
) -> str:
    """Return why a call cannot be carried out; empty where it can."""
    if tool is None:
        known = ", ".join(tool.name for tool in tools)
        return f"failed: there is no tool {sanitise_line(name)[:64]}; there are {known}"
    if given is None:
        return "failed: the arguments are not a JSON object"
    wrong = sanitise_line("; ".join(schema_errors(given, tool.parameters)))[:_LONGEST_REASON]
    return f"failed: {wrong}" if wrong else ""


def _start(tool: Tool, given: Mapping[str, object]) -> Future[_Ended]:
    """Start a call; the future gives what came of it."""
    future: Future[_Ended] = Future()
    future.set_running_or_notify_cancel()  # from here on nobody can cancel it: it always ends

    def work() -> None:
        ended: _Ended
        try:
            ended = _cut(sanitise(tool.call(given)).text, tool.maximum_characters), None
        except BaseException as error:  # noqa: BLE001 - whatever a tool does, its model is answered
            # Our own sentences, and nothing of anyone else's.
            own = error.message if isinstance(error, ChapterhouseError) else ""
            why = f": {sanitise_line(own)[:_LONGEST_REASON]}" if own else ""
            ended = f"failed{why}", error
        future.set_result(ended)

    threading.Thread(
        target=copy_context().run, args=(work,), name=f"tool {tool.name}", daemon=True
    ).start()
    return future


def _cut(text: str, maximum: int) -> str:
    if len(text) <= maximum:
        return text
    return f"{text[:maximum]}\n(cut: {maximum:,} of {len(text):,} characters are shown)"


def _read(arguments: Arguments) -> Mapping[str, object] | None:
    """Return arguments without what a reader could not see; None where they are no object."""
    if isinstance(arguments, str):
        try:
            # Nothing at all is how some services write that there are none.
            read = json.loads(arguments.strip() or "{}", parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            return None
    else:
        read = arguments or {}
    return _clean_mapping(read) if isinstance(read, Mapping) else None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)  # Python reads NaN and Infinity, JSON has none


def _clean_mapping(given: Mapping[str, object]) -> Mapping[str, object]:
    return {sanitise_line(str(name)): _clean(value) for name, value in given.items()}


def _clean(value: object) -> object:
    if isinstance(value, str):
        return sanitise(value).text
    if isinstance(value, Mapping):
        return _clean_mapping(value)
    return [_clean(entry) for entry in value] if isinstance(value, list) else value
