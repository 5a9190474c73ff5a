"""One call of a tool, carried out and waited for."""

import asyncio
import time
from collections.abc import Callable, Sequence

from chapterhouse.models.tools import Arguments, run_calls
from chapterhouse.types import Tool, ToolCall


def run_call(
    tools: Sequence[Tool],
    name: str,
    arguments: Arguments,
    clock: Callable[[], float] = time.perf_counter,
) -> ToolCall:
    """Return what came of one call."""
    (made,) = asyncio.run(run_calls(tools, [(name, arguments)], clock))
    return made
