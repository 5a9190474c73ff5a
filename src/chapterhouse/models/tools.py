"""Calls of tools by a model: looked at, carried out, and answered in any case.

Whatever goes wrong is told to the model as text, so that it can do better or write without. A call
runs in a daemon thread: one that hangs is left behind at its timeout and keeps nothing from ending.

Arguments are held to the tool's JSON schema (https://json-schema.org/draft/2020-12): types,
properties, required ones, enumerations, lengths and ranges. A schema that says more is refused
before a model sees it, so that nothing is promised that nobody checks.
"""

import asyncio
import json
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from dataclasses import dataclass
from typing import Final

from chapterhouse.errors import ChapterhouseError, UsageError
from chapterhouse.telemetry import Recorder, operations, tool_span
from chapterhouse.text.naming import is_tool_name
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import Tool, ToolCall, WantedCall

_LONGEST_REASON: Final = 300  # characters of a reason
_FAULTS: Final = 5
_AT_ONCE: Final = 8  # calls of one response that run at the same time

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (Mapping,),
    "array": (list, tuple),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_NOTES: Final = frozenset({"title", "description", "default", "examples"})
_CHECKED: Final = frozenset(
    {
        "type",
        "enum",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
    }
)

Arguments = str | Mapping[str, object] | None  # as a model wrote them, JSON or already read
_Looked = ToolCall | tuple[Tool, Mapping[str, object]]  # the call, if it is refused


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a call ended: what the model is told, and what went wrong."""

    result: str
    error: BaseException | None = None


def check_tools(tools: Sequence[Tool]) -> None:
    """Refuse tools that a service would refuse, or whose arguments could not be checked.

    Raises:
        UsageError: a name is no name or stands twice, a schema says what nobody checks, or a
            tool has no time or no room for a result.
    """
    names = [tool.name for tool in tools]
    for tool in tools:
        if not is_tool_name(tool.name) or names.count(tool.name) > 1:
            raise UsageError(f"{tool.name!r} cannot be the name of a tool, or stands twice.")
        if tool.parameters.get("type") != "object":
            raise UsageError(f"The arguments of the tool {tool.name} must be an object.")
        if not tool.external:
            check_schema(tool.parameters, tool.name)
        if not (tool.timeout_seconds > 0 and tool.maximum_characters > 0):
            raise UsageError(f"The tool {tool.name} needs time, and room for what it finds.")


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

    Args:
        tools: What there is.
        calls: Name and arguments, as the model wrote them.
        clock: Seconds, for how long each took.
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
    try:
        async with asyncio.timeout(tool.timeout_seconds):
            ended = await asyncio.wrap_future(_start(tool, given))
    except TimeoutError as error:
        late = f"failed: {tool.name} took longer than {tool.timeout_seconds:g} seconds"
        ended = _Ended(late, error)
    seconds = clock() - started
    if ended.error is None:
        recorder.event(operations.STOP)
    else:
        recorder.caught(ended.error)
    recorder.set_content(operations.TOOL_RESULT, ended.result)
    return ToolCall(tool.name, given, ended.result, ended.error is not None, seconds)


@contextmanager
def _in_span(
    tools: Sequence[Tool], name: str, arguments: Arguments
) -> Iterator[tuple[_Looked, Recorder]]:
    """Look at a call inside its span; one that is refused has a span, too.

    The name of a tool that does not exist is a model's own words: content, like the arguments.
    """
    known = any(tool.name == name for tool in tools)
    with tool_span(name if known else operations.UNKNOWN_TOOL) as recorder:
        if recorder.listening:
            recorder.set_content(operations.TOOL_ARGUMENTS, _written(arguments))
        call = _look_at(tools, name, arguments)
        if isinstance(call, ToolCall):
            recorder.fail("invalid_arguments" if known else "unknown_tool")
            recorder.set_content(operations.TOOL_RESULT, call.result)
        yield call, recorder


def _look_at(tools: Sequence[Tool], name: str, arguments: Arguments) -> _Looked:
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
    wrong = list(schema_errors(given, tool.parameters))[:_FAULTS]
    if wrong:
        reasons = sanitise_line("; ".join(wrong))[:_LONGEST_REASON]
        return ToolCall(name, given, f"failed: {reasons}", failed=True)
    return tool, given


def _start(tool: Tool, given: Mapping[str, object]) -> Future[_Ended]:
    """Start a call; the future gives what came of it."""
    future: Future[_Ended] = Future()
    future.set_running_or_notify_cancel()  # from here on nobody can cancel it: it always ends

    def work() -> None:
        try:
            ended = _Ended(_cut(sanitise(tool.call(given)).text, tool.maximum_characters))
        except BaseException as error:  # noqa: BLE001 - whatever a tool does, its model is answered
            ended = _Ended(f"failed{_reason(error)}", error)
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
    if not isinstance(arguments, str):
        return _clean_mapping(arguments or {})
    if not arguments.strip():  # as some services write that there are none
        return {}
    try:
        read = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    return _clean_mapping(read) if isinstance(read, dict) else None


def _written(arguments: Arguments) -> object:
    """Return arguments as they are told of: read, or as they stand where they cannot be."""
    read = _read(arguments)
    return sanitise(arguments).text if read is None and isinstance(arguments, str) else read


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
    return f": {sanitise_line(error.message)[:_LONGEST_REASON]}"


def check_schema(schema: Mapping[str, object], where: str) -> None:
    """Refuse a schema that ``schema_errors`` would not check whole.

    Args:
        schema: Of the arguments, or of a part of them.
        where: What it belongs to, for the message.

    Raises:
        UsageError: it has a keyword or a type that is not checked.
    """
    unknown = sorted(set(schema) - _CHECKED - _NOTES)
    kinds = [kind for kind in _kinds(schema) if kind not in _TYPES]
    if unknown or kinds:
        raise UsageError(
            f"The schema of {where} uses {', '.join(unknown + kinds)}, which is not checked."
        )
    for name, part in _mapping(schema.get("properties")).items():
        check_schema(_mapping(part), f"{where}.{name}")
    if "items" in schema:
        check_schema(_mapping(schema["items"]), f"{where}[]")


def schema_errors(value: object, schema: Mapping[str, object], where: str = "") -> Iterator[str]:
    """Yield what is wrong with ``value``, each as one sentence for the model."""
    name = where or "the arguments"
    kinds = _kinds(schema)
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield f"{name} must be of type {' or '.join(kinds)}"
        return
    choices = schema.get("enum")
    if isinstance(choices, Sequence) and value not in choices:
        yield f"{name} must be one of {', '.join(map(repr, choices))}"
    if isinstance(value, str):
        yield from _sized(len(value), schema, "minLength", "maxLength", f"the length of {name}")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _sized(value, schema, "minimum", "maximum", name)
    elif isinstance(value, Mapping):
        yield from _object_faults(value, schema, where)
    elif isinstance(value, (list, tuple)):
        yield from _sized(len(value), schema, "minItems", "maxItems", f"the length of {name}")
        for place, entry in enumerate(value):
            yield from schema_errors(entry, _mapping(schema.get("items")), f"{where}[{place}]")


def _object_faults(
    value: Mapping[object, object], schema: Mapping[str, object], where: str
) -> Iterator[str]:
    before = f"{where}." if where else ""
    known = _mapping(schema.get("properties"))
    required = schema.get("required")
    for name in required if isinstance(required, Sequence) else ():
        if name not in value:
            yield f"{before}{name} is missing"
    for name, entry in value.items():
        if name in known:
            yield from schema_errors(entry, _mapping(known[str(name)]), f"{before}{name}")
        elif schema.get("additionalProperties") is False:
            yield f"{before}{name} is not known"


def _sized(
    number: float, schema: Mapping[str, object], least: str, most: str, name: str
) -> Iterator[str]:
    lower, upper = schema.get(least), schema.get(most)
    if isinstance(lower, (int, float)) and number < lower:
        yield f"{name} must be at least {lower}"
    if isinstance(upper, (int, float)) and number > upper:
        yield f"{name} must be at most {upper}"


def _kinds(schema: Mapping[str, object]) -> tuple[str, ...]:
    stated = schema.get("type", ())
    if isinstance(stated, str):
        return (stated,)
    return tuple(str(kind) for kind in stated) if isinstance(stated, Sequence) else ()


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, float) and not math.isfinite(value):
        return False  # Python reads NaN and Infinity, JSON has none, and no range excludes NaN
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES.get(kind, ()))


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
