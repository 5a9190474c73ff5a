"""Async answers for plain callers."""

import asyncio
import threading
from contextvars import ContextVar

import pytest

from chapterhouse.replying.now import run_now


async def _named() -> str:
    await asyncio.sleep(0)
    return threading.current_thread().name


def test_it_runs_in_this_thread_where_no_loop_does() -> None:
    assert run_now(_named()) == threading.current_thread().name


def test_it_runs_beside_a_loop_that_runs_already() -> None:
    async def notebook() -> str:
        return run_now(_named())

    assert asyncio.run(notebook()) != threading.current_thread().name


def test_it_runs_in_the_context_of_its_caller() -> None:
    who = ContextVar("who", default="nobody")

    async def ask() -> str:
        return who.get()

    async def notebook() -> str:
        who.set("maria")
        return run_now(ask())

    assert asyncio.run(notebook()) == "maria"


def test_what_fails_there_fails_here() -> None:
    async def failing() -> None:
        await asyncio.sleep(0)
        raise LookupError("gone")

    async def notebook() -> None:
        run_now(failing())

    with pytest.raises(LookupError, match="gone"):
        run_now(failing())
    with pytest.raises(LookupError, match="gone"):
        asyncio.run(notebook())
