"""The process that reads files, one at a time, and what parent and worker say over their stream.

A frame is a kind (one byte), a length (four bytes, big endian) and a body. The parent never
unpickles: a worker may have been taken over by the file that it reads, so its answers are
JSON, bounded in size, and every value is checked for its type.
"""

import importlib
import json
import os
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from chapterhouse import lazy
from chapterhouse.errors import RejectedError
from chapterhouse.reading import sandbox
from chapterhouse.reading.limits import Limits, on_request
from chapterhouse.types import Extraction, Member, Notice, PageView, Passage, PassagePlace

if TYPE_CHECKING:
    import pydantic
else:
    pydantic = lazy("pydantic")  # no worker needs it

Task = Callable[[bytes, str, Limits], Extraction | PageView]
HEADER = struct.Struct(">BI")
JOB = struct.Struct(">I")
REPLY = struct.Struct(">QI")
_SECONDS = struct.Struct(">d")


class Frame(IntEnum):
    """Kinds of frames."""

    JOB = 1  # parent: a name and bytes to read
    EXTRACTION = 2  # worker: what was made of them
    REJECTION = 3  # worker: why they will not be read
    EXTENSION = 4  # worker: a slow step begins that may take this many seconds more
    READY = 5  # worker: started, waiting for its first job
    SHOW = 6  # parent: a page to draw or passages to find, and the bytes of their file
    VIEW = 7  # worker: the page and the places


class WireError(Exception):
    """The other side did not keep to the protocol."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A worker's answer: what it made or a rejection, and its peak memory in bytes."""

    outcome: Extraction | PageView | RejectedError
    rss_bytes: int


# --- the worker ----------------------------------------------------------------------------------


def main(descriptor: int, settings: str) -> None:
    """Serve jobs from ``descriptor`` and quit without running any exit handler.

    ``settings`` is JSON: ``reader`` (``module:function``), ``limits``, ``programs``, ``parent``.
    The pool starts it with ``python -c``, so that the parent's main module is not run again here.
    """
    status = 0
    try:
        _serve(descriptor, json.loads(settings))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the parent is gone or has closed the pool
    except BaseException:  # noqa: BLE001 - nothing may escape: see below
        status = 1
    finally:
        os._exit(status)  # native libraries abort in the interpreter's own shutdown


def _serve(descriptor: int, settings: dict[str, Any]) -> None:
    limits = Limits(**settings["limits"])
    module, _, function = settings["reader"].partition(":")
    imported = importlib.import_module(module)
    read: Task = getattr(imported, function)
    own = (os.path.dirname(imported.__file__),) if imported.__file__ else ()  # noqa: PTH120
    held = sandbox.enter(limits, frozenset(settings["programs"]), settings["parent"], own)

    def extend(seconds: float) -> None:
        sandbox.allow_cpu(limits.cpu_seconds + seconds)  # some slow steps run in this process
        _write(descriptor, encode_extension(seconds))

    on_request(extend)
    ceiling = limits.file_bytes + 1_000_000
    _write(descriptor, pack(Frame.READY, json.dumps(held).encode()))
    while True:
        frame, body = read_frame(lambda count: _receive(descriptor, count), ceiling)
        data, name = decode_job(body)
        del body
        sandbox.allow_cpu(limits.cpu_seconds)
        task: Task = imported.show if frame is Frame.SHOW else read
        _write(descriptor, answer(task, data, name, limits))


def answer(task: Task, data: bytes, name: str, limits: Limits) -> bytes:
    """Read or show one file and return the frame that tells how it went, whatever happens."""
    try:
        made = task(data, name, limits)
        if isinstance(made, PageView):
            return encode_view(made, sandbox.peak_rss_bytes())
        return encode_extraction(made, sandbox.peak_rss_bytes())
    except RejectedError as error:
        rejection = error
    except MemoryError:
        sentence = "Reading it needed more memory than a worker may use."
        rejection = RejectedError("out-of-memory", sentence)
    except ImportError as error:
        rejection = RejectedError("reader-crashed", f"A part of the reader is missing: {error}.")
    except RecursionError:
        rejection = RejectedError("too-deep", "Its parts are nested too deeply to be read.")
    except Exception as error:  # noqa: BLE001 - the boundary: parsers raise what they like
        detail = f"{type(error).__name__}: {error}"[:300]
        rejection = RejectedError("unreadable", f"It could not be read ({detail}).")
    return encode_rejection(rejection, sandbox.peak_rss_bytes())


def _receive(descriptor: int, count: int) -> bytes:
    first = os.read(descriptor, min(count, 1 << 20)) if count else b""
    if len(first) == count:
        return first
    parts, missing = [first], count - len(first)
    while missing:
        if not parts[-1]:
            raise EOFError
        parts.append(os.read(descriptor, min(missing, 1 << 20)))
        missing -= len(parts[-1])
    return b"".join(parts)


def _write(descriptor: int, frame: bytes) -> None:
    view = memoryview(frame)
    while view:
        view = view[os.write(descriptor, view) :]


# --- frames --------------------------------------------------------------------------------------


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


def encode_job(name: str, size: int, frame: Frame = Frame.JOB) -> bytes:
    """Return the head of a job's frame; ``size`` bytes of content follow it.

    Where pages are to be shown, a request stands in the place of the file's name.
    """
    encoded = name.encode("utf-8", "surrogatepass")
    head = JOB.pack(len(encoded)) + encoded
    return HEADER.pack(frame, len(head) + size) + head


def encode_request(page: int, passages: Sequence[Passage]) -> str:
    """Return which page is to be drawn, 0 for none, and which passages are to be found."""
    return json.dumps((page, [astuple(one) for one in passages]))


def decode_job(body: bytes) -> tuple[bytes, str]:
    """Return content and name of a job."""
    start = JOB.size + JOB.unpack_from(body)[0]
    return body[start:], body[JOB.size : start].decode("utf-8", "surrogatepass")


def encode_extension(seconds: float) -> bytes:
    """Return a request for more time as a frame."""
    return pack(Frame.EXTENSION, _SECONDS.pack(seconds))


def decode_extension(body: bytes) -> float:
    """Return the seconds asked for."""
    if len(body) != _SECONDS.size:
        raise WireError("a request for time that is not a number")
    return float(_SECONDS.unpack(body)[0])


_Row = tuple[str, int, int, Notice | None]  # path, size, time and problem of a member


def encode_extraction(extraction: Extraction, rss_bytes: int) -> bytes:
    """Return an extraction as a frame. Lone surrogates become question marks."""
    rows = [
        (one.path, len(one.data), one.modified, asdict(one.problem) if one.problem else None)
        for one in extraction.members
    ]
    value = (asdict(replace(extraction, members=())), rows)
    return _reply(Frame.EXTRACTION, rss_bytes, value, [one.data for one in extraction.members])


def encode_view(view: PageView, rss_bytes: int) -> bytes:
    """Return a page and the places of passages as a frame."""
    return _reply(Frame.VIEW, rss_bytes, [asdict(one) for one in view.places], [view.png])


def encode_rejection(error: RejectedError, rss_bytes: int) -> bytes:
    """Return a rejection as a frame."""
    return _reply(Frame.REJECTION, rss_bytes, (error.code, error.message, error.hint))


def _reply(frame: Frame, rss_bytes: int, value: object, data: Sequence[bytes] = ()) -> bytes:
    """Return an answer: its head, JSON, and behind it the bytes of members, one after another."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    size = REPLY.size + len(text) + sum(map(len, data))
    head = HEADER.pack(frame, size) + REPLY.pack(rss_bytes, len(text))
    return b"".join((head, text, *data))


def decode_reply(frame: Frame, body: bytes) -> Reply:
    """Return a worker's answer, checked value by value.

    Raises:
        WireError: it is not what a sound worker would send.
    """
    rejections, extractions, places = _adapters()
    try:
        rss_bytes, length = REPLY.unpack_from(body)
        behind = REPLY.size + length
        text = body[REPLY.size : behind]
        if frame is Frame.REJECTION:
            code, message, hint = rejections.validate_json(text, strict=True)
            return Reply(RejectedError(code, message, hint=hint), rss_bytes)
        if frame is Frame.VIEW:
            return Reply(
                PageView(body[behind:], places.validate_json(text, strict=True)), rss_bytes
            )
        extraction, rows = extractions.validate_json(text, strict=True)
    except (struct.error, ValueError) as error:
        raise WireError(f"an answer that cannot be decoded ({error})") from error
    members = tuple(_members(rows, memoryview(body)[behind:]))
    return Reply(replace(extraction, members=members), rss_bytes)


@cache
def _adapters() -> "Sequence[pydantic.TypeAdapter[Any]]":
    """Return what checks rejections, extractions with the rows of members, and places."""
    kinds = (tuple[str, str, str], tuple[Extraction, list[_Row]], tuple[PassagePlace, ...])
    return tuple(map(pydantic.TypeAdapter[Any], kinds))


def _members(rows: Sequence[_Row], data: memoryview) -> Iterator[Member]:
    place = 0
    for path, size, modified, problem in rows:
        if not 0 <= size <= len(data) - place:
            raise WireError("a file in an archive without its bytes")
        yield Member(path, bytes(data[place : place + size]), modified, problem)
        place += size
