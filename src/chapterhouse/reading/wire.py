"""What parent and worker say to one another, over one byte stream.

A frame is a kind (one byte), a length (four bytes, big endian) and a body. The parent never
unpickles: a worker may have been taken over by the file that it reads, so its answers are
JSON, bounded in size, and every value is checked for its type.
"""

import json
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from chapterhouse.errors import RejectedError
from chapterhouse.types import ExtractedPage, Extraction, Member, Notice

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


def encode_extraction(extraction: Extraction, rss_bytes: int) -> bytes:
    """Return an extraction as a frame. Lone surrogates become question marks."""
    value = [
        [[page.text, page.number, page.label] for page in extraction.pages],
        extraction.format,
        extraction.method,
        extraction.page_kind,
        extraction.markdown,
        extraction.title,
        dict(extraction.metadata),
        [_row_of(notice) for notice in extraction.notices],
        [
            [one.path, len(one.data), one.modified, _row_of(one.problem) if one.problem else None]
            for one in extraction.members
        ],
    ]
    return _reply(Frame.EXTRACTION, rss_bytes, value, [one.data for one in extraction.members])


def encode_rejection(error: RejectedError, rss_bytes: int) -> bytes:
    """Return a rejection as a frame."""
    value = [error.code, error.message, error.hint]
    return _reply(Frame.REJECTION, rss_bytes, value)


def _reply(frame: Frame, rss_bytes: int, value: object, data: Sequence[bytes] = ()) -> bytes:
    """Return an answer: its head, JSON, and behind it the bytes of members, one after another."""
    text = _dump(value)
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
        value = json.loads(body[REPLY.size : behind])
        if frame is Frame.REJECTION:
            code, message, hint = map(_text, _row(value, 3))
            return Reply(RejectedError(code, message, hint=hint), rss_bytes)
        return Reply(_extraction(value, memoryview(body)[behind:]), rss_bytes)
    except (struct.error, ValueError, RecursionError) as error:
        raise WireError(f"an answer that cannot be decoded ({error})") from error


def _dump(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), check_circular=False)
    return text.encode("utf-8", "replace")


def _row_of(notice: Notice) -> list[object]:
    return [notice.code, notice.sentence, notice.page]


def _extraction(value: object, data: memoryview) -> Extraction:
    pages, format_, method, page_kind, markdown, title, metadata, notices, members = _row(value, 9)
    if not isinstance(markdown, bool) or not isinstance(metadata, dict):
        raise WireError("an extraction with values of the wrong type")
    return Extraction(
        pages=tuple(_page(page) for page in _list(pages)),
        format=_text(format_),
        method=_text(method),
        page_kind=_text(page_kind),
        markdown=markdown,
        title=_text(title),
        metadata={_text(key): _text(item) for key, item in metadata.items()},
        notices=tuple(_notice(notice) for notice in _list(notices)),
        members=tuple(_members(members, data)),
    )


def _members(value: object, data: memoryview) -> Iterator[Member]:
    place = 0
    for row in _list(value):
        path, size, modified, problem = _row(row, 4)
        length, seconds = _number(size), _number(modified)
        if length is None or seconds is None or not 0 <= length <= len(data) - place:
            raise WireError("a file in an archive without its bytes")
        content = bytes(data[place : place + length])
        place += length
        yield Member(_text(path), content, seconds, None if problem is None else _notice(problem))


def _page(value: object) -> ExtractedPage:
    text, number, label = _row(value, 3)
    return ExtractedPage(_text(text), _number(number), _text(label))


def _notice(value: object) -> Notice:
    code, sentence, page = _row(value, 3)
    return Notice(_text(code), _text(sentence), _number(page))


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise WireError("a value where a list belongs")
    return value


def _row(value: object, length: int) -> list[object]:
    row = _list(value)
    if len(row) != length:
        raise WireError(f"{len(row)} values where {length} belong")
    return row


def _text(value: object) -> str:
    # A JSON escape can name half of a surrogate pair, which no text may hold.
    if not isinstance(value, str):
        raise WireError("a value where text belongs")
    return value.encode("utf-8", "replace").decode("utf-8")


def _number(value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise WireError("a value where a number belongs")
