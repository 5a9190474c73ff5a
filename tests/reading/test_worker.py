"""The worker: whatever a reader does, one frame says how it went."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict

import pytest

from chapterhouse.errors import RejectedError
from chapterhouse.reading import wire, worker
from chapterhouse.reading.limits import Limits
from chapterhouse.types import ExtractedPage, Extraction

READ = Extraction((ExtractedPage("nine", 7),), "test", "a test")
MAIN = (
    "import sys; from chapterhouse.reading.worker import main; main(int(sys.argv[1]), sys.argv[2])"
)


def replied(frame: bytes) -> wire.Reply:
    kind, length = wire.HEADER.unpack(frame[: wire.HEADER.size])
    assert length == len(frame) - wire.HEADER.size
    return wire.decode_reply(wire.Frame(kind), frame[wire.HEADER.size :])


def answered(act: Callable[[], Extraction]) -> wire.Reply:
    return replied(worker.answer(lambda *_: act(), b"", "a.txt", Limits()))


def recurse() -> Extraction:
    return recurse()


def fail(error: BaseException) -> Callable[[], Extraction]:
    def act() -> Extraction:
        raise error

    return act


def test_what_was_read_is_told_with_the_memory_it_took() -> None:
    reply = answered(lambda: READ)
    assert reply.outcome == READ
    assert reply.rss_bytes > 1_000_000


@pytest.mark.parametrize(
    ("act", "code", "words"),
    [
        (recurse, "too-deep", "nested too deeply"),
        (fail(MemoryError()), "out-of-memory", "more memory"),
        (fail(ImportError("no spoon")), "reader-crashed", "missing: no spoon"),
        (fail(KeyError("spoon")), "unreadable", "(KeyError: 'spoon')"),
        (fail(ValueError("x" * 9_000)), "unreadable", f"({'ValueError: ' + 'x' * 288})"),
    ],
)
def test_every_failure_has_its_code(act: Callable[[], Extraction], code: str, words: str) -> None:
    error = answered(act).outcome
    assert isinstance(error, RejectedError)
    assert (error.code, words in error.message) == (code, True), error.message


def test_a_reader_says_itself_why_a_file_cannot_be_read() -> None:
    error = answered(fail(RejectedError("encrypted", "It is locked.", hint="Unlock it."))).outcome
    assert isinstance(error, RejectedError)
    assert (error.code, error.message, error.hint) == ("encrypted", "It is locked.", "Unlock it.")


@pytest.mark.parametrize(
    ("reader", "jobs", "status"),
    [("chapterhouse.reading.dispatch:read", ["one", "two"], 0), ("no.such:reader", [], 1)],
)
def test_a_worker_serves_until_its_stream_ends(reader: str, jobs: list[str], status: int) -> None:
    ours, theirs = socket.socketpair()
    settings = {"reader": reader, "limits": asdict(Limits()), "programs": [], "parent": os.getpid()}
    command = [sys.executable, "-c", MAIN, str(theirs.fileno()), json.dumps(settings)]
    with ours, theirs, subprocess.Popen(command, pass_fds=[theirs.fileno()]) as process:

        def receive() -> tuple[wire.Frame, bytes]:
            return wire.read_frame(lambda count: worker._receive(ours.fileno(), count), 10_000)

        for number, text in enumerate(jobs):
            if not number:
                assert receive()[0] is wire.Frame.READY
            ours.sendall(wire.encode_job("a.txt", len(text), 9.0) + text.encode())
            found = wire.decode_reply(*receive()).outcome
            assert isinstance(found, Extraction)
            assert found.pages[0].text.strip() == text
        ours.close()
        assert process.wait(30) == status
