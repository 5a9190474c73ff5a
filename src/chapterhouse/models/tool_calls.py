"""Calls of tools by a model: looked at, carried out, and answered in any case.

Whatever goes wrong is told to the model as text, so that it can do better or write without.
"""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from chapterhouse.errors import ChapterhouseError, UsageError
from chapterhouse.models.schema import check_schema, faults
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import Tool, ToolCall

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_TOLD: Final = 300  # characters of a reason
_FAULTS: Final = 5


def check_tools(tools: Sequence[Tool]) -> None:
    """Refuse tools that a service would refuse, or whose arguments could not be checked.

    Raises:
        UsageError: a name is no name or stands twice, or a schema says what nobody checks.
    """
    names = [tool.name for tool in tools]
    for tool in tools:
        if not _NAME.fullmatch(tool.name) or names.count(tool.name) > 1:
            raise UsageError(f"{tool.name!r} cannot be the name of a tool, or stands twice.")
        if tool.parameters.get("type") != "object":
            raise UsageError(f"The arguments of the tool {tool.name} must be an object.")
        check_schema(tool.parameters, tool.name)


def run_call(
    tools: Sequence[Tool],
    name: str,
    arguments: str | Mapping[str, object] | None,
    clock: Callable[[], float] = time.perf_counter,
) -> ToolCall:
    """Carry out one call.

    Args:
        tools: What there is.
        name: What the model calls.
        arguments: As the model wrote them, JSON or already read.
        clock: Seconds, for how long it took.
    """
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
    started = clock()
    try:
        result, failed = sanitise(tool.call(given)).text, False
    except Exception as error:  # noqa: BLE001 - a tool must not end the writing, whatever it does
        result, failed = f"failed{_reason(error)}", True
    return ToolCall(name, given, result, failed, clock() - started)


def _read(arguments: str | Mapping[str, object] | None) -> Mapping[str, object] | None:
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


def _reason(error: Exception) -> str:
    """Return what the model is told: our own sentences, and nothing of anyone else's."""
    if not isinstance(error, ChapterhouseError):
        return ""
    return f": {sanitise_line(error.message)[:_TOLD]}"
