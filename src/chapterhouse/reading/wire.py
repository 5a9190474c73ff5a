"""What parent and worker say to one another, over one byte stream.

A frame is a kind (one byte), a length (four bytes, big endian) and a body. The parent never
unpickles: a worker may have been taken over by the file that it reads, so its answers are
JSON, bounded in size, and every value is checked for its type.
"""

import json
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING

from chapterhouse.errors import RejectedError
from chapterhouse.loading import lazy
from chapterhouse.types import Extraction, Member, Notice

if TYPE_CHECKING:
    import pydantic
else:
    pydantic = lazy("pydantic")  # no worker needs it

HEADER = struct.Struct(">BI")
JOB = struct.Struct(">IId")
REPLY = struct.Struct(">QI")


class Frame(IntEnum):
    """Kinds of frames."""

    JOB = 1  # parent: a name and bytes to read
    EXTRACTION = 2  # worker: what was made of them
    REJECTION = 3  # worker: why they will not be read
    EXTENSION = 4  # worker: a slow step begins that may take this many seconds more
    READY = 5  # worker: started, waiting for its first job


class WireError(Exception):
    """The other side did not keep to the protocol."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A worker's answer: an extraction or a rejection, and its peak memory in bytes."""

    outcome: Extraction | RejectedError
    rss_bytes: int


def pack(frame: Frame, body: bytes) -> bytes:
    """Return a frame as bytes."""
    return HEADER.pack(frame, len(body)) + body


def read_frame(receive: Callable[[int], bytes], ceiling: int) -> tuple[Frame, bytes]:
    """Read one frame by ``receive``, which returns exactly the number of bytes asked for.

    Raises:
        WireError: the kind is unknown or the body longer than ``ceiling``.
    """
    kind, length = HEADER.unpack(receive(HEADER.size))
    if length > ceiling:
        raise WireError(f"a frame of {length} bytes, the limit is {ceiling}")
    try:
        return Frame(kind), receive(length)
    except ValueError as error:
        raise WireError(f"a frame of unknown kind {kind}") from error


def encode_job(name: str, size: int, cpu_seconds: float) -> bytes:
    """Return the head of a job's frame; ``size`` bytes of content follow it."""
    encoded = name.encode("utf-8", "surrogatepass")
    head = JOB.pack(len(encoded), size, cpu_seconds) + encoded
    return HEADER.pack(Frame.JOB, len(head) + size) + head


def decode_job(body: bytes) -> tuple[bytes, str, float]:
    """Return content, name and processor seconds of a job."""
    name_length, size, cpu_seconds = JOB.unpack_from(body)
    start = JOB.size + name_length
    name = body[JOB.size : start].decode("utf-8", "surrogatepass")
    return body[start : start + size], name, cpu_seconds


_Row = tuple[str, int, int, Notice | None]  # path, size, time and problem of a member


def encode_extraction(extraction: Extraction, rss_bytes: int) -> bytes:
    """Return an extraction as a frame. Lone surrogates become question marks."""
    rows = [
        (one.path, len(one.data), one.modified, asdict(one.problem) if one.problem else None)
        for one in extraction.members
    ]
    value = (asdict(replace(extraction, members=())), rows)
    return _reply(Frame.EXTRACTION, rss_bytes, value, [one.data for one in extraction.members])


def encode_rejection(error: RejectedError, rss_bytes: int) -> bytes:
    """Return a rejection as a frame."""
    return _reply(Frame.REJECTION, rss_bytes, (error.code, error.message, error.hint))


def _reply(frame: Frame, rss_bytes: int, value: object, data: Sequence[bytes] = ()) -> bytes:
    """Return an answer: its head, JSON, and behind it the bytes of members, one after another."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    size = REPLY.size + len(text) + sum(map(len, data))
    head = HEADER.pack(frame, size) + REPLY.pack(rss_bytes, len(text))
    return b"".join((head, text, *data))


def encode_extension(seconds: float) -> bytes:
    """Return a request for more time as a frame."""
    return pack(Frame.EXTENSION, struct.pack(">d", seconds))


def decode_extension(body: bytes) -> float:
    """Return the seconds asked for."""
    try:
        (seconds,) = struct.unpack(">d", body)
    except struct.error as error:
        raise WireError("a request for time that is not a number") from error
    return float(seconds)


def decode_reply(frame: Frame, body: bytes) -> Reply:
    """Return a worker's answer, checked value by value.

    Raises:
        WireError: it is not what a sound worker would send.
    """
    try:
        rss_bytes, length = REPLY.unpack_from(body)
        behind = REPLY.size + length
        text = body[REPLY.size : behind]
        if frame is Frame.REJECTION:
            code, message, hint = _rejections().validate_json(text, strict=True)
            return Reply(RejectedError(code, message, hint=hint), rss_bytes)
        extraction, rows = _extractions().validate_json(text, strict=True)
    except (struct.error, ValueError) as error:
        raise WireError(f"an answer that cannot be decoded ({error})") from error
    members = tuple(_members(rows, memoryview(body)[behind:]))
    return Reply(replace(extraction, members=members), rss_bytes)


@cache
def _rejections() -> "pydantic.TypeAdapter[tuple[str, str, str]]":
    return pydantic.TypeAdapter(tuple[str, str, str])


@cache
def _extractions() -> "pydantic.TypeAdapter[tuple[Extraction, list[_Row]]]":
    return pydantic.TypeAdapter(tuple[Extraction, list[_Row]])


def _members(rows: Sequence[_Row], data: memoryview) -> Iterator[Member]:
    place = 0
    for path, size, modified, problem in rows:
        if not 0 <= size <= len(data) - place:
            raise WireError("a file in an archive without its bytes")
        yield Member(path, bytes(data[place : place + size]), modified, problem)
        place += size
