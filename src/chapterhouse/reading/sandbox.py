"""What a worker takes from itself before it opens the first file.

Limits that the kernel keeps (memory, processor time, files written and open), a network
namespace without interfaces, Landlock and a filter of system calls where the system has them
(``walls``), and an audit hook against sockets and other programs everywhere. None of it is the
boundary alone: the parent kills by the clock.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys
from collections.abc import Collection

from chapterhouse.reading import walls
from chapterhouse.reading.limits import Limits

_FORBIDDEN = frozenset(
    {
        "socket.connect",
        "socket.bind",
        "socket.getaddrinfo",
        "os.system",
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.mkdir",
        "os.link",
        "os.symlink",
        "os.truncate",
        "shutil.rmtree",
        "pty.spawn",
    }
)
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_PR_SET_PDEATHSIG = 1
_AF_UNIX = 1  # the same number on Linux and macOS; naming it would import socket


NAMESPACE = "a network namespace"


def enter(
    limits: Limits, programs: frozenset[str], parent: int, read: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Give up what a reader does not need, for the rest of this process's life.

    Only ``programs``, by their absolute paths, may be started; files and folders in ``read`` may
    be read beside what the interpreter needs. A worker whose parent is gone quits.

    Returns:
        What the kernel keeps from now on.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when work ends
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_NOFILE, limits.worker_files)
    _lower(resource.RLIMIT_AS, limits.worker_memory_bytes)
    held: tuple[str, ...] = ()
    if sys.platform == "linux":
        held = (*_bind_to_parent(parent), *walls.close_in(read, programs))
    sys.addaudithook(lambda event, arguments: _audit(event, arguments, programs))
    return held


def describe(held: Collection[str]) -> str:
    """Return what keeps workers from the network and from files, and what does not."""
    has_files = any(one.startswith("Landlock") for one in held)
    has_network = NAMESPACE in held or walls.FILTER in held
    lacks = [
        name
        for name, holds in (("the network", has_network), ("your other files", has_files))
        if not holds
    ]
    cut_off = f"Readers are cut off by {', '.join(held)}." if held else ""
    open_to = f"Readers are not cut off from {' and '.join(lacks)} on this system." if lacks else ""
    return f"{cut_off} {open_to}".strip()


def allow_cpu(seconds: float) -> None:
    """Let the kernel end this process after so much more processor time."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = int(usage.ru_utime + usage.ru_stime + seconds) + 1
    with contextlib.suppress(OSError, ValueError):  # a lower ceiling from outside stays
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def peak_rss_bytes() -> int:
    """Return the most memory this process has held.

    On Linux not by ``getrusage``: a process inherits that figure from the one that started it, so
    that the workers of a large parent would all look grown.
    """
    if sys.platform == "linux":
        with open("/proc/self/status", "rb") as status:  # noqa: PTH123 - no import for one line
            for line in status:
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _lower(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    ceiling = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(OSError, ValueError):  # macOS refuses some; the clock still holds
        resource.setrlimit(which, (ceiling, ceiling))


def _bind_to_parent(parent: int) -> tuple[str, ...]:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before the request above took hold
        os._exit(0)
    # As root the first is enough; others need a user namespace, which some systems forbid.
    for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET):
        if libc.unshare(flags) == 0:
            return (NAMESPACE,)
    return ()


def _audit(event: str, arguments: tuple[object, ...], programs: frozenset[str]) -> None:
    if event in _FORBIDDEN:
        raise PermissionError(f"{event} is not allowed while reading a document")
    # Newer Pythons start programs by posix_spawn, older ones by a fork of their own.
    starts = event in {"subprocess.Popen", "os.posix_spawn"}
    if starts and str(arguments[0]) not in programs:
        raise PermissionError("starting a program is not allowed while reading a document")
    if event == "socket.__new__" and arguments[1] != _AF_UNIX:  # an event loop wants a pair
        raise PermissionError("the network is not allowed while reading a document")
    if event == "open" and _writes(arguments[0], arguments[1], arguments[2]):
        raise PermissionError("writing a file is not allowed while reading a document")


def _writes(path: object, mode: object, flags: object) -> bool:
    if isinstance(path, int) or path == os.devnull:
        return False  # a pipe to a program that is allowed
    by_mode = isinstance(mode, str) and bool(set(mode) & set("wax+"))
    return by_mode or (isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR)))
