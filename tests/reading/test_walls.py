"""What native code of a parser cannot do either: here nothing but the kernel stands in the way."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from chapterhouse.reading import sandbox, walls
from chapterhouse.reading.pool import describe_readers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux does this")

# It calls the C library, as a parser that was taken over would. No ``unshare``: as in a container.
ATTACK = """
import ctypes, os, struct, sys
from chapterhouse.reading import walls
secret, port, parent = sys.argv[1], int(sys.argv[2]), os.getppid()
libc = ctypes.CDLL(None, use_errno=True)
held = walls.close_in((), ())
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


def test_what_the_kernel_keeps_from_native_code(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("zqsecret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        done = subprocess.run(
            [sys.executable, "-c", ATTACK, str(tmp_path / "secret"), str(server.getsockname()[1])],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    held, allowed = (line.split("|") for line in done.stdout.splitlines())
    landlock = [int(one.split()[1]) for one in held if one.startswith("Landlock")]
    if not landlock or walls.FILTER not in held:
        pytest.skip(f"this kernel has but {held}")
    expected = ["pair", "own child", "library", "nothing"]
    if landlock[0] < walls._SCOPE_VERSION:
        expected.insert(1, "kill")
    assert allowed == expected
    assert (tmp_path / "secret").exists()


def test_programs_that_are_named_can_be_run_and_no_others() -> None:
    """As text recognition is."""
    run = "import subprocess as s; from chapterhouse.reading import walls; import os, sys\n"
    run += "walls.close_in((), (sys.argv[1],))\nprint(s.run([sys.argv[1], 'hi']).returncode)"
    program = os.path.realpath("/bin/echo")
    done = subprocess.run(
        [sys.executable, "-c", run, program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "hi\n0\n"


def test_what_holds_is_said() -> None:
    told = describe_readers()
    assert re.fullmatch(r"Readers are (not )?cut off .*\.", told), told
    assert "not cut off from the network" in sandbox.describe(("Landlock 3",))
    assert "not cut off from your other files" in sandbox.describe((sandbox.NAMESPACE,))
    assert "network and your other files" in sandbox.describe(())
    whole = sandbox.describe(("Landlock 4", walls.FILTER))
    assert whole == "Readers are cut off by Landlock 4, a filter of system calls."
    assert os.environ["PATH"] not in told
