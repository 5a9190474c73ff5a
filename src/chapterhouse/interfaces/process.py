"""How a process that answers many at the same time shares its time and its memory."""

import ctypes
import os
import sys
from collections.abc import Mapping
from typing import Final

# Python lets a thread calculate for 5 ms before another one may. A search asks for its turn after
# each look into the database; beside a question it took three times as long (p95, 100,000 chunks).
_TURN_SECONDS: Final = 0.0003
# The allocator of glibc keeps what each thread has freed for that thread, and learns from large
# blocks to keep them too: after some hundred requests that was 140 MB in the server, and as much in
# a worker. Names of the environment, names of ``malloc.h``, values:
_ALLOCATOR: Final = (
    ("MALLOC_ARENA_MAX", -8, 2),
    ("MALLOC_MMAP_THRESHOLD_", -3, 2_000_000),  # bytes
)


def tune_process() -> None:
    """Let threads take short turns and give back the memory that they free."""
    sys.setswitchinterval(_TURN_SECONDS)
    if os.name == "posix":
        set_option = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc alone has it
        for name, option, value in _ALLOCATOR:
            if set_option is not None and name not in os.environ:
                set_option(option, value)


def tuned_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a process whose threads give back the memory that they free."""
    return {**{name: str(value) for name, _, value in _ALLOCATOR}, **environment}
