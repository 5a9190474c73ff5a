"""What a worker cannot do: reach the network, start programs, write, take more than its share."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from chapterhouse.reading import sandbox
from chapterhouse.reading.pool import ReadingPool, describe_readers

from .conftest import HERE, LINUX, PATIENT, QUICK, Scripted, code_of, text_of


@pytest.mark.parametrize("order", ["socket", "resolve", "child", "write escaped", "append escaped"])
def test_what_is_forbidden_ends_in_a_reason_and_the_next_file_is_read(
    scripted: ReadingPool, tmp_path: Path, order: str
) -> None:
    escaped = tmp_path / "escaped"
    code, message = code_of(scripted, order.replace("escaped", str(escaped)))
    assert (code, "not allowed while reading" in message) == ("unreadable", True), message
    assert text_of(scripted, "hello") == "hello"
    assert not escaped.exists()


def test_what_readers_need_is_allowed() -> None:
    programs = frozenset({"/usr/bin/tesseract"})
    for event, arguments in (
        ("open", ("/etc/hosts", "rb", os.O_RDONLY)),
        ("open", (os.devnull, "w", os.O_WRONLY)),
        ("open", (7, "wb", os.O_WRONLY)),  # a pipe to a program
        ("subprocess.Popen", ("/usr/bin/tesseract", [], None, None)),
        ("socket.__new__", (None, socket.AF_UNIX, 1, 0)),  # the pair of an event loop
    ):
        sandbox._audit(event, arguments, programs)
    for event in ("subprocess.Popen", "os.posix_spawn"):
        with pytest.raises(PermissionError, match="program"):
            sandbox._audit(event, ("tesseract", [], None), programs)


@LINUX
def test_memory_is_limited(scripted: ReadingPool) -> None:
    assert code_of(scripted, "hog")[0] == "out-of-memory"
    assert text_of(scripted, "hello") == "hello"


@LINUX
def test_processor_time_is_limited(scripted_pool: Scripted) -> None:
    limits = replace(QUICK, wall_seconds=30.0, cpu_seconds=1)
    with scripted_pool(limits) as pool:
        found, message = code_of(pool, "spin")
        assert found == "timed-out"
        assert "processor" in message
        for _ in range(3):  # the allowance is for a file, not for the worker's life
            assert text_of(pool, "hello") == "hello"


@LINUX
def test_the_workers_of_a_large_parent_are_kept(scripted_pool: Scripted) -> None:
    ballast = bytearray(b"x") * 300_000_000
    limits = replace(PATIENT, recycle_rss_bytes=200_000_000)
    with scripted_pool(limits) as pool:
        assert text_of(pool, "process") == text_of(pool, "process")
    del ballast


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_die_with_their_parent(tmp_path: Path, number: signal.Signals) -> None:
    script = (
        "import sys, time\nfrom chapterhouse.reading.pool import ReadingPool, describe_readers\n"
        f"sys.path.insert(0, {str(HERE)!r})\n"
        "pool = ReadingPool(1, reader='misbehave:read')\n"
        "print(pool.read(b'process', 'a').pages[0].text, flush=True)\n"
        "pool.submit(b'sleep 60', 'a')\ntime.sleep(60)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1] / "src")}
    with subprocess.Popen(
        [sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        time.sleep(0.2)
        parent.send_signal(number)
        parent.wait(10)
    for _ in range(100):
        if not _alive(worker):
            return
        time.sleep(0.05)
    pytest.fail("the worker outlived its parent")


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(
        f"/proc/{process}/stat"
    )  # one that nobody has waited for yet is dead all the same
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


# --- what native code of a parser cannot do either: nothing but the kernel stands in the way ------

# It calls the C library, as a parser that was taken over would. No ``unshare``: as in a container.
ATTACK = """
import ctypes, os, struct, sys
from chapterhouse.reading import sandbox
secret, port, parent = sys.argv[1], int(sys.argv[2]), os.getppid()
libc = ctypes.CDLL(None, use_errno=True)
held = sandbox.close_in((), ())
address = struct.pack("=H", 2) + struct.pack("!H4s8x", port, bytes((127, 0, 0, 1)))
file = ctypes.create_string_buffer(struct.pack("=H", 1) + b"/run/x.sock", 110)
pair = (ctypes.c_int * 2)()
tried = {
    "read": libc.open(secret.encode(), 0),
    "read of another process": libc.open(f"/proc/{parent}/environ".encode(), 0),
    "write": libc.open(f"{secret}.new".encode(), os.O_WRONLY | os.O_CREAT, 0o600),
    "remove": libc.unlink(secret.encode()),
    "run": libc.execv(b"/bin/true", (ctypes.c_char_p * 2)(b"true", None)),
    "TCP": libc.socket(2, 1, 0),
    "UDP": libc.socket(2, 2, 0),
    "pair": libc.socketpair(1, 1, 0, pair),
    "connect": libc.connect(pair[0], file, 13),
    "trace": libc.ptrace(16, parent, None, None),
    "kill": libc.kill(parent, 0),
    "own child": os.waitpid(os.fork() or os._exit(0), 0)[1],
    "library": libc.open(os.__file__.encode(), 0),
    "nothing": libc.open(b"/dev/null", os.O_WRONLY),
}
print("|".join(held))
print("|".join(name for name, result in tried.items() if result >= 0))
"""


@LINUX
def test_what_the_kernel_keeps_from_native_code(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("zqsecret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        done = subprocess.run(
            [sys.executable, "-c", ATTACK, str(tmp_path / "secret"), str(server.getsockname()[1])],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    held, allowed = (line.split("|") for line in done.stdout.splitlines())
    landlock = [int(one.split()[1]) for one in held if one.startswith("Landlock")]
    if not landlock or sandbox.FILTER not in held:
        pytest.skip(f"this kernel has but {held}")
    expected = ["pair", "own child", "library", "nothing"]
    if landlock[0] < sandbox._SCOPE_VERSION:
        expected.insert(1, "kill")
    assert allowed == expected
    assert (tmp_path / "secret").exists()


@LINUX
def test_programs_that_are_named_can_be_run_and_no_others() -> None:
    """As text recognition is."""
    run = "import subprocess as s; from chapterhouse.reading import sandbox; import os, sys\n"
    run += "sandbox.close_in((), (sys.argv[1],))\nprint(s.run([sys.argv[1], 'hi']).returncode)"
    program = os.path.realpath("/bin/echo")
    done = subprocess.run(
        [sys.executable, "-c", run, program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "hi\n0\n"


@LINUX
def test_what_holds_is_said() -> None:
    told = describe_readers()
    assert re.fullmatch(r"Readers are (not )?cut off .*\.", told), told
    assert "not cut off from the network" in sandbox.describe(("Landlock 3",))
    assert "not cut off from your other files" in sandbox.describe((sandbox.NAMESPACE,))
    assert "network and your other files" in sandbox.describe(())
    whole = sandbox.describe(("Landlock 4", sandbox.FILTER))
    assert whole == "Readers are cut off by Landlock 4, a filter of system calls."
    assert os.environ["PATH"] not in told
