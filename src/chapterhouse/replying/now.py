"""Run a coroutine to its end from a plain function."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

Value = TypeVar("Value")


def run_now(work: Coroutine[Any, Any, Value]) -> Value:
    """Return what ``work`` gives.

    Where a loop runs in this thread already, as in a notebook, it runs in another thread, in a
    copy of the context.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(copy_context().run, asyncio.run, work).result()
