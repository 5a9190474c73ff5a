"""What a worker takes from itself before it opens the first file.

Limits that the kernel keeps (memory, processor time, files written and open), a network
namespace without interfaces, Landlock and a filter of system calls where the system has them, and
an audit hook against sockets and other programs everywhere. None of it is the boundary alone: the
parent kills by the clock.
"""

import contextlib
import ctypes
import os
import platform
import resource
import signal
import struct
import sys
from collections.abc import Collection, Iterable, Iterator

from chapterhouse.reading.limits import Limits

_FORBIDDEN = frozenset((
    "socket.connect", "socket.bind", "socket.getaddrinfo", "os.system", "os.exec", "os.fork",
    "os.forkpty", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink",
    "os.truncate", "shutil.rmtree", "pty.spawn",
))  # fmt: skip
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_PR_SET_PDEATHSIG = 1
_AF_UNIX = 1  # the same number on Linux and macOS; naming it would import socket
_libc = ctypes.CDLL(None, use_errno=True)
NAMESPACE = "a network namespace"
FILTER = "a filter of system calls"


def enter(
    limits: Limits, programs: frozenset[str], parent: int, read: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Give up what a reader does not need, for the rest of this process's life.

    Only ``programs``, by their absolute paths, may be started; files and folders in ``read`` may
    be read beside what the interpreter needs. A worker whose parent is gone quits. Returns what the
    kernel keeps from now on.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when work ends
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_NOFILE, limits.worker_files)
    _lower(resource.RLIMIT_AS, limits.worker_memory_bytes)
    held: tuple[str, ...] = ()
    if sys.platform == "linux":
        held = (*_bind_to_parent(parent), *close_in(read, programs))
    sys.addaudithook(lambda event, arguments: _audit(event, arguments, programs))
    return held


def describe(held: Collection[str]) -> str:
    """Return what keeps workers from the network and from files, and what does not."""
    has_files = any(one.startswith("Landlock") for one in held)
    has_network = NAMESPACE in held or FILTER in held
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
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before the request above took hold
        os._exit(0)
    # As root the first is enough; others need a user namespace, which some systems forbid.
    for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET):
        if _libc.unshare(flags) == 0:
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


# --- what the kernel of Linux keeps native code from ----------------------------------------------

# Landlock: files that are not needed to read, all writing, TCP, processes of others. A filter of
# system calls: every socket that is not of the process itself, and looking into other processes.
# Neither needs a privilege, so both hold in containers, too.
_PR_SET_NO_NEW_PRIVS = 38

# linux/landlock.h
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_FILE_RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 5: 16}  # how many there are, from a version on
_TCP_VERSION, _TCP_RIGHTS = 4, 0b11  # to bind and to connect
_SCOPE_VERSION, _SCOPES = 6, 0b11  # abstract sockets and signals of others
_SYSTEM = (
    "/usr", "/lib", "/lib64", "/nix/store", "/etc/ld.so.cache", "/etc/localtime",
    "/etc/mime.types", "/etc/fonts", "/etc/ssl/openssl.cnf", "/dev/urandom", "/proc/self",
    "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu",
)  # fmt: skip

# linux/seccomp.h, linux/filter.h, linux/audit.h
_SET_MODE_FILTER, _ALL_THREADS = 1, 1
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # where they are in ``struct seccomp_data``
_ALLOW, _NOT_PERMITTED = 0x7FFF0000, 0x00050001
_FOREIGN_NUMBERS = 0x40000000  # of the x32 ABI, which means other calls by them
# By architecture: its number, those of seccomp and socket, and of connect, ptrace,
# process_vm_readv, process_vm_writev and io_uring_setup.
_CALLS = {
    "x86_64": (0xC000003E, 317, 41, (42, 101, 310, 311, 425)),
    "aarch64": (0xC00000B7, 277, 198, (203, 117, 270, 271, 425)),
}


def close_in(read: Iterable[str], programs: Iterable[str]) -> tuple[str, ...]:
    """Give up what reading does not need, for this process and all that it starts.

    Files and folders in ``read`` may be read too, and only ``programs`` started. Returns what holds
    from now on; what the kernel does not know is left out.
    """
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    version = _syscall(_CREATE_RULESET, None, 0, 1)
    held = []
    if version > 0 and _restrict_files(version, read, tuple(programs)):
        held.append(f"Landlock {version}")
    if _filter_calls():
        held.append(FILTER)
    return tuple(held)


def _needed() -> Iterator[str]:
    """Yield what the interpreter, its libraries and their data are in."""
    yield from _SYSTEM
    yield from (sys.prefix, sys.base_prefix)
    yield os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120 - no import for two lines
    yield from (path for path in sys.path if path.endswith(("/site-packages", "/dist-packages")))
    for name in ("TESSDATA_PREFIX", "LD_LIBRARY_PATH"):
        yield from filter(None, os.environ.get(name, "").split(":"))


def _restrict_files(version: int, read: Iterable[str], programs: tuple[str, ...]) -> bool:
    count = max(bits for least, bits in _FILE_RIGHTS_BY_VERSION.items() if least <= version)
    rights = [(1 << count) - 1]
    rights += [_TCP_RIGHTS] if version >= _TCP_VERSION else []
    rights += [_SCOPES] if version >= _SCOPE_VERSION else []
    attributes = struct.pack(f"{len(rights)}Q", *rights)
    ruleset = _syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        return False
    try:
        start = _EXECUTE if programs else 0  # of libraries, too: one of them loads the others
        for path in (*_needed(), *read):
            _allow(ruleset, path, _READ_FILE | _READ_DIR | start)
        for path in programs:
            _allow(ruleset, path, _READ_FILE | _EXECUTE)
        _allow(ruleset, os.devnull, _READ_FILE | _WRITE_FILE)
        return _syscall(_RESTRICT_SELF, ruleset, 0) == 0
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # this system does not have it
        return
    try:
        of_files = rights if os.path.isdir(path) else rights & ~_READ_DIR  # noqa: PTH112
        _syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", of_files, place), 0)
    finally:
        os.close(place)


def _filter_calls() -> bool:
    if platform.machine() not in _CALLS:
        return False
    architecture, seccomp, socket, denied = _CALLS[platform.machine()]
    # Each: a code, how many to leave out where it is true and where it is not, and a value.
    checks = [
        (_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _NOT_PERMITTED),
        (_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, _FOREIGN_NUMBERS),
        (_RETURN, 0, 0, _NOT_PERMITTED),
    ]  # fmt: skip
    for number in denied:
        checks += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _NOT_PERMITTED)]
    checks += [
        (_EQUAL, 1, 0, socket), (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _FIRST_ARGUMENT), (_EQUAL, 1, 0, _AF_UNIX),  # an event loop wants a pair
        (_RETURN, 0, 0, _NOT_PERMITTED), (_RETURN, 0, 0, _ALLOW),
    ]  # fmt: skip
    program = b"".join(struct.pack("HBBI", *one) for one in checks)
    stored = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxP", len(checks), ctypes.addressof(stored))
    return _syscall(seccomp, _SET_MODE_FILTER, _ALL_THREADS, header) == 0


def _syscall(number: int, *arguments: int | bytes | None) -> int:
    values = (ctypes.c_long(one) if isinstance(one, int) else one for one in arguments)
    return int(_libc.syscall(ctypes.c_long(number), *values))
