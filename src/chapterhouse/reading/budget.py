"""More time for a slow step: a reader asks, the worker passes it on, the parent decides."""

from collections.abc import Callable


def _ignore(_seconds: float) -> None:
    """Outside a worker nobody measures the time."""


_ask: Callable[[float], None] = _ignore


def on_request(ask: Callable[[float], None]) -> None:
    """Have ``ask`` called with the seconds whenever a reader needs more time."""
    global _ask  # noqa: PLW0603 - one worker process reads one file at a time
    _ask = ask


def need(seconds: float) -> None:
    """Say that the next step may take so many seconds beyond the ordinary limit."""
    _ask(seconds)
