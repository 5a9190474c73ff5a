"""A reader for tests of the pool: it does to its worker what the bytes say."""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from chapterhouse.errors import RejectedError
from chapterhouse.reading.limits import Limits, need_time
from chapterhouse.types import ExtractedPage, Extraction, PageView, PassagePlace


def read(data: bytes, name: str, limits: Limits) -> Extraction:
    order, _, argument = data.decode().partition(" ")
    return Extraction((ExtractedPage(_obey(order, argument, limits), 7, name),), "test", "a test")


def show(data: bytes, request: str, limits: Limits) -> PageView | Extraction:
    order, _, argument = data.decode().partition(" ")
    if order == "other":
        return read(data, request, limits)
    return PageView(_obey(order, argument, limits).encode(), (PassagePlace(1, reason=request),))


def _obey(order: str, argument: str, limits: Limits) -> str:  # noqa: C901, PLR0911, PLR0912 - a list of sins
    match order:
        case "spin":
            while True:
                pass
        case "sleep":
            time.sleep(float(argument))
        case "ask":
            need_time(5.0)
            time.sleep(float(argument))
        case "signal":
            os.kill(os.getpid(), int(argument))
        case "exit":
            os._exit(int(argument))
        case "hog":
            return str(len(bytearray(limits.worker_memory_bytes)))
        case "recurse":
            return _obey(order, argument, limits)
        case "raise":
            raise KeyError(argument)
        case "reject":
            raise RejectedError("encrypted", argument, hint="a hint")
        case "nonsense":
            os.write(int(_descriptor()), argument.encode())
            time.sleep(10)
        case "garble":
            body = b"\0" * 8 + b'{"not": "a row"}'
            os.write(int(_descriptor()), b"\x02" + len(body).to_bytes(4, "big") + body)
            time.sleep(10)
        case "child":
            subprocess.run(["/bin/sleep", "60"], check=False)
        case "socket":
            socket.socket(socket.AF_INET)
        case "resolve":
            socket.getaddrinfo("localhost", 80)
        case "write":
            Path(argument).write_text("escaped")
        case "append":
            os.open(argument, os.O_WRONLY | os.O_CREAT)
        case "read":
            return Path(argument).read_text()
        case "environment":
            return "\n".join(sorted(os.environ))
        case "interrupt":
            os.kill(os.getpid(), signal.SIGINT)
        case "process":
            return str(os.getpid())
        case "surrogate":
            return "a\ud800b"
        case "many":
            return "x" * int(argument)
    return order


def _descriptor() -> str:
    """The stream to the parent: the one socket among the open files."""
    for entry in Path("/dev/fd").iterdir():
        try:
            if int(entry.name) > 2 and str(entry.readlink()).startswith("socket"):
                return entry.name
        except OSError:
            continue
    raise LookupError
