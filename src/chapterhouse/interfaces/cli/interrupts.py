"""What Ctrl-C does: it ends the program at once while it loads, and stops the work of a command.

This is in force before anything else is loaded, so it imports next to nothing.
"""

import gc
import os
import sys

TYPE_CHECKING = False  # as in typing, which takes ten milliseconds to load
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from types import FrameType

    Handler = Callable[[int, FrameType | None], object]
else:
    # Built into Python: ``signal`` is the same with enumerations, which take longer to load than
    # Python itself. Until this module is loaded, Ctrl-C ends in a traceback.
    import _signal as signal

INTERRUPTED = 130


def end_at_once(_number: int, _frame: "FrameType | None") -> None:
    """End without a word; an exception would come out of an import as any other."""
    os._exit(INTERRUPTED)


class _Exchanged:
    """Another handler of Ctrl-C inside a block, unless whoever runs us has set one."""

    def __init__(self, before: "Handler", inside: "Handler") -> None:
        self._before = before
        self._inside = inside

    def __enter__(self) -> None:
        self._is_exchanged = exchange(self._before, self._inside)

    def __exit__(self, *_: object) -> None:
        if self._is_exchanged:
            exchange(self._inside, self._before)


def exchange(before: "Handler", after: "Handler") -> bool:
    """Set the handler ``after`` if ``before`` is the present one; say whether it was set."""
    if signal.getsignal(signal.SIGINT) is not before:
        return False
    try:
        signal.signal(signal.SIGINT, after)
    except ValueError:  # not in the main thread
        return False
    return True


def loading() -> _Exchanged:
    """Let Ctrl-C end the program at once inside a block, in which nothing may be half done."""
    return _Exchanged(signal.default_int_handler, end_at_once)


def working() -> _Exchanged:
    """Let Ctrl-C raise KeyboardInterrupt inside a block, as Python does."""
    return _Exchanged(end_at_once, signal.default_int_handler)


class WithoutCollection:
    """Loads modules in a block without looking for garbage among them, then or later.

    Loading makes tens of thousands of objects that stay; Python would look through all of them
    several times.
    """

    def __enter__(self) -> None:
        self._was_enabled, self._before = gc.isenabled(), len(sys.modules)
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if len(sys.modules) > self._before:
            gc.freeze()
        if self._was_enabled:
            gc.enable()
