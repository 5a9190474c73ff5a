"""The worker: whatever a reader does, one frame says how it went."""

import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import RejectedError
from chapterhouse.reading import worker
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.worker import (
    HEADER,
    REPLY,
    Frame,
    WireError,
    decode_extension,
    decode_job,
    decode_reply,
    encode_extension,
    encode_extraction,
    encode_job,
    encode_rejection,
    encode_view,
    pack,
    read_frame,
)
from chapterhouse.types import (
    ExtractedPage,
    Extraction,
    Member,
    Notice,
    PageView,
    PassagePlace,
)

READ = Extraction((ExtractedPage("nine", 7),), "test", "a test")
MAIN = (
    "import sys; from chapterhouse.reading.worker import main; main(int(sys.argv[1]), sys.argv[2])"
)


def replied(frame: bytes) -> worker.Reply:
    kind, length = HEADER.unpack(frame[: HEADER.size])
    assert length == len(frame) - HEADER.size
    return decode_reply(Frame(kind), frame[HEADER.size :])


def answered(act: Callable[[], Extraction]) -> worker.Reply:
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

        def receive() -> tuple[Frame, bytes]:
            return read_frame(lambda count: worker._receive(ours.fileno(), count), 10_000)

        for number, text in enumerate(jobs):
            if not number:
                assert receive()[0] is Frame.READY
            ours.sendall(encode_job("a.txt", len(text)) + text.encode())
            found = decode_reply(*receive()).outcome
            assert isinstance(found, Extraction)
            assert found.pages[0].text.strip() == text
        ours.close()
        assert process.wait(30) == status


# --- frames: everything comes back, and nothing unsound is believed ------------------------------

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
NOTICES = st.builds(Notice, TEXT, TEXT, st.none() | st.integers(1, 9))
MEMBERS = st.builds(Member, TEXT, st.binary(max_size=20), st.integers(0), st.none() | NOTICES)
EXTRACTIONS = st.builds(
    Extraction,
    pages=st.lists(st.builds(ExtractedPage, TEXT, st.none() | st.integers(1, 9), TEXT)).map(tuple),
    format=TEXT,
    method=TEXT,
    page_kind=TEXT,
    markdown=st.booleans(),
    title=TEXT,
    metadata=st.dictionaries(TEXT, TEXT, max_size=3),
    notices=st.lists(NOTICES, max_size=3).map(tuple),
    members=st.lists(MEMBERS, max_size=3).map(tuple),
)
SOUND: dict[str, Any] = {"pages": [{"text": "a", "number": 1}], "format": "txt", "method": "m"}


def opened(frame: bytes, ceiling: int = 1_000_000) -> tuple[Frame, bytes]:
    """Read a frame as it comes in from a socket."""
    place = 0

    def receive(count: int) -> bytes:
        nonlocal place
        place += count
        return frame[place - count : place]

    found = read_frame(receive, ceiling)
    assert place == len(frame)
    return found


def reply_of(value: object, data: bytes = b"") -> bytes:
    text = json.dumps(value).encode()
    return REPLY.pack(0, len(text)) + text + data


@given(EXTRACTIONS, st.integers(0, 2**63))
def test_an_extraction_comes_back_whole(extraction: Extraction, rss_bytes: int) -> None:
    frame, body = opened(encode_extraction(extraction, rss_bytes))
    reply = decode_reply(frame, body)
    assert reply.outcome == extraction
    assert reply.rss_bytes == rss_bytes


SHARES = st.floats(0, 1)
PLACES = st.builds(
    PassagePlace, st.integers(1, 9), st.lists(st.tuples(*[SHARES] * 4)).map(tuple), TEXT
)


@given(st.builds(PageView, st.binary(max_size=20), st.lists(PLACES, max_size=3).map(tuple)))
def test_a_page_comes_back_whole(view: PageView) -> None:
    reply = decode_reply(*opened(encode_view(view, 7)))
    assert (reply.outcome, reply.rss_bytes) == (view, 7)


@pytest.mark.parametrize(
    "changed",
    [{"page": "1"}, {"rectangles": [[0, 0, 1]]}, {"rectangles": [["0", 0, 1, 1]]}, {"reason": 1}],
)
def test_a_place_of_the_wrong_kind_is_refused(changed: dict[str, Any]) -> None:
    sound = {"page": 1, "rectangles": [[0, 0, 1, 1]]}
    assert decode_reply(Frame.VIEW, reply_of([sound], b"png"))
    with pytest.raises(WireError):
        decode_reply(Frame.VIEW, reply_of([sound | changed], b"png"))


@given(st.text(max_size=30), st.binary(max_size=30))
def test_a_job_comes_back_whatever_its_file_is_called(name: str, data: bytes) -> None:
    frame, body = opened(encode_job(name, len(data)) + data)
    assert (frame, decode_job(body)) == (Frame.JOB, (data, name))


def test_half_characters_become_question_marks() -> None:
    error = RejectedError("damaged", "a\ud800b", hint="c")
    outcome = decode_reply(*opened(encode_rejection(error, 0))).outcome
    assert isinstance(outcome, RejectedError)
    assert (outcome.code, outcome.message, outcome.hint) == ("damaged", "a?b", "c")
    with pytest.raises(WireError):  # a worker that was taken over may name one by an escape
        decode_reply(Frame.REJECTION, reply_of(["x", "\ud800", ""]))


def test_a_frame_that_is_too_long_or_of_no_known_kind_is_not_read() -> None:
    assert opened(pack(Frame.READY, b"abc"), ceiling=3) == (Frame.READY, b"abc")
    asked: list[int] = []

    def receive(count: int) -> bytes:
        asked.append(count)
        return HEADER.pack(Frame.READY, 4)

    with pytest.raises(WireError, match="the limit is 3"):
        read_frame(receive, 3)
    assert asked == [HEADER.size]
    with pytest.raises(WireError, match="unknown kind 99"):
        opened(HEADER.pack(99, 0))


def test_time_is_asked_for_by_a_number() -> None:
    assert decode_extension(opened(encode_extension(2.5))[1]) == 2.5
    for body in (b"", b"1234567", struct.pack(">dB", 1.0, 1)):
        with pytest.raises(WireError):
            decode_extension(body)


NOTICE = {"code": "c", "sentence": "s", "page": "1"}


@pytest.mark.parametrize(
    ("changed", "rows"),
    [
        ({"pages": "pages"}, []),
        ({"pages": [{"number": 1}]}, []),
        ({"pages": [{"text": "a", "number": True}]}, []),
        ({"pages": [{"text": 1}]}, []),
        ({"format": None}, []),
        ({"markdown": 1}, []),
        ({"metadata": []}, []),
        ({"metadata": {"a": 1}}, []),
        ({"notices": [NOTICE]}, []),
        ({}, [["a", 3, 0, None]]),
        ({}, [["a", -1, 0, None]]),
        ({}, [["a", None, 0, None]]),
        ({}, [["a", 1, 0, None], ["b", 2, 0, None]]),
        ({}, [["a", 1, 0]]),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused(changed: dict[str, Any], rows: list[Any]) -> None:
    assert decode_reply(Frame.EXTRACTION, reply_of([SOUND, [["a", 2, 0, None]]], b"xy"))
    with pytest.raises(WireError):
        decode_reply(Frame.EXTRACTION, reply_of([SOUND | changed, rows], b"xy"))


@pytest.mark.parametrize(
    "body", [b"", REPLY.pack(0, 9), REPLY.pack(0, 2) + b"[]", b"\xff" * 40, reply_of([SOUND])]
)
@pytest.mark.parametrize("frame", [Frame.EXTRACTION, Frame.REJECTION])
def test_an_answer_that_is_cut_off_is_refused(frame: Frame, body: bytes) -> None:
    with pytest.raises(WireError):
        decode_reply(frame, body)


@given(st.binary(max_size=60))
def test_any_bytes_are_an_answer_or_refused(body: bytes) -> None:
    deep = b"[" * 200_000
    for frame in (Frame.EXTRACTION, Frame.REJECTION, Frame.VIEW):
        with suppress(WireError):
            decode_reply(frame, body)
        with pytest.raises(WireError):
            decode_reply(frame, REPLY.pack(0, len(deep)) + deep)
