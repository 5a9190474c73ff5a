"""Limits of what a caller may ask for and send; requests in numbers, and forms as they come."""

import asyncio
import math
import os
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive

from chapterhouse.concurrency import run_in_thread
from chapterhouse.errors import UsageError
from chapterhouse.ingest.uploads import Upload
from chapterhouse.interfaces.api.problems import Refusal
from chapterhouse.store.shared import SharedDatabase


def is_alive(process: int) -> bool:
    """Whether a process of this server lives."""
    with suppress(OSError):  # there is none, or it is somebody else's by now
        os.kill(process, 0)
        return True
    return False


_TAKE: Final = """
INSERT INTO bucket VALUES (:name, :now + :interval)
ON CONFLICT (name) DO UPDATE SET full_at = max(full_at, :now) + :interval
WHERE full_at - :now <= :slack RETURNING full_at
"""
_BETWEEN_CLEANINGS: Final = 1_000  # tokens


class RateLimit:
    """A bucket of ``burst`` tokens for each caller, of which a request takes one.

    The ``kind`` tells buckets of several limits apart. All processes have the same ``clock``.
    """

    def __init__(
        self,
        shared: SharedDatabase,
        kind: str,
        per_second: float,
        burst: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shared = shared
        self._kind = kind
        self._interval = 1 / per_second
        self._slack = (burst - 1) / per_second
        self._clock = clock
        self._taken = 0

    def take(self, name: str) -> None:
        """Take a token from the bucket of ``name``; refuse where it is empty, and until when."""
        now, name = self._clock(), f"{self._kind} {name}"
        values = {"name": name, "now": now, "interval": self._interval, "slack": self._slack}
        is_taken = bool(self._shared.rows(_TAKE, values))
        self._taken += 1
        if self._taken % _BETWEEN_CLEANINGS == 0:
            self._shared.rows("DELETE FROM bucket WHERE full_at < ?", (now,))
        if is_taken:
            return
        ((full_at,),) = self._shared.rows("SELECT full_at FROM bucket WHERE name = ?", (name,))
        seconds = max(1, math.ceil(full_at - self._slack - now))
        raise Refusal(429, "Too many requests.", headers={"Retry-After": str(seconds)})


# Whatever else a client sends is counted together: its words are no labels.
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
_COUNT: Final = """
INSERT INTO request VALUES (?, ?, ?, ?, 1, ?)
ON CONFLICT DO UPDATE SET number = number + 1, seconds = seconds + excluded.seconds
"""
_MOVE: Final = "UPDATE process SET in_progress = in_progress + ? WHERE id = ?"


class Metrics:
    """Counts requests of all processes, without names, for Prometheus' text format."""

    def __init__(self, shared: SharedDatabase) -> None:
        self._shared = shared
        shared.rows("INSERT OR REPLACE INTO process VALUES (?, 0)", (os.getpid(),))

    def begin(self) -> None:
        """Count a request that is in progress from now on, until it is counted as answered."""
        self._shared.rows(_MOVE, (1, os.getpid()))

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that has ended; its route is the pattern of its address."""
        known = method if method in _METHODS else "other"  # a client may make names up
        row = (known, route, status, bisect_left(_BOUNDS, seconds), seconds)
        self._shared.rows(_COUNT, row)
        self._shared.rows(_MOVE, (-1, os.getpid()))

    def in_progress(self) -> int:
        """Return how many requests are being answered."""
        statement = "SELECT id, in_progress FROM process WHERE in_progress"
        found = self._shared.rows(statement)
        return sum(number for process, number in found if is_alive(process))

    def text(self) -> str:
        """Return all of it, one metric a line."""
        requests: Counter[tuple[str, str, int]] = Counter()
        buckets: Counter[tuple[str, int]] = Counter()
        times: defaultdict[str, float] = defaultdict(float)
        for method, route, status, bound, number, seconds in self._shared.rows(
            "SELECT * FROM request"
        ):
            requests[method, route, status] += number
            buckets[route, bound] += number
            times[route] += seconds
        lines = ["# TYPE chapterhouse_requests_total counter"]
        for (method, route, status), number in sorted(requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            lines.append(f"chapterhouse_requests_total{{{labels}}} {number}")
        lines.append("# TYPE chapterhouse_request_seconds histogram")
        for route, seconds in sorted(times.items()):
            name, total = "chapterhouse_request_seconds", 0
            for place, limit in enumerate((*map(str, _BOUNDS), "+Inf")):
                total += buckets[route, place]
                lines.append(f'{name}_bucket{{route="{route}",le="{limit}"}} {total}')
            lines.append(f'{name}_sum{{route="{route}"}} {seconds:.6f}')
            lines.append(f'{name}_count{{route="{route}"}} {total}')
        lines.append("# TYPE chapterhouse_requests_in_progress gauge")
        lines.append(f"chapterhouse_requests_in_progress {self.in_progress()}")
        return "\n".join(lines) + "\n"


_BYTES_A_SECOND: Final = 8_192  # of a body, in the long run


class InProgress:
    """How much each caller has under way: bytes of answers, or uploads. Belongs to one loop.

    Something larger than ``most`` has its turn when there is nothing else.
    """

    def __init__(self, most: int, refused: str) -> None:
        self._most = most
        self._refused = refused
        self._amounts: Counter[str] = Counter()

    def add(self, name: str, amount: int) -> None:
        """Count something that begins; refuse it where there is too much already."""
        if self._amounts[name] and self._amounts[name] + amount > self._most:
            raise Refusal(503, self._refused, headers={"Retry-After": "1"})
        self._amounts[name] += amount

    def end(self, name: str, amount: int) -> None:
        """Count something that has ended."""
        self._amounts[name] -= amount
        if not self._amounts[name]:
            del self._amounts[name]


def bounded(receive: Receive, maximum: float, seconds: float) -> Receive:
    """Return what receives a body of at most so many bytes, and refuses more and what is slow.

    The next piece may take so many seconds; all of it twice as long, and a second more for every
    8 kilobytes that have come. What the header ``Content-Length`` states is not relied on.
    """
    total = 0
    waited = 0.0
    is_whole = False

    async def receive_bounded() -> Message:
        nonlocal total, waited, is_whole
        if is_whole:  # then only the end of the connection is waited for
            return await receive()
        began = time.monotonic()
        left = 2 * seconds + total / _BYTES_A_SECOND - waited
        try:
            async with asyncio.timeout(min(seconds, left)):
                message = await receive()
        except TimeoutError:
            raise Refusal(408, "The body of the request did not come.") from None
        waited += time.monotonic() - began
        if message["type"] == "http.request":
            total += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            if total > maximum:
                raise Refusal(413, f"The body has over {maximum:,} bytes.")
        return message

    return receive_bounded


_MEMBERS: Final = frozenset({"file", "shelf", "keep"})
_LONGEST: Final = 1_024  # bytes of a member that is no file
_MOST_FILES: Final = 200  # of a form that may have several
_AROUND: Final = 2**20  # bytes around the files
_PIECE: Final = 2**18  # bytes of files that are written at a time
_HINT: Final = "One file and perhaps a shelf: curl -F file=@NAME -F shelf=SHELF -F keep=both."


@dataclass(frozen=True, slots=True)
class ReceivedForm:
    """A form that has come whole: its files by their names, and its texts, empty what it has not.

    Attributes:
        both: ``both`` where what the shelf has under these names stays, too.
    """

    files: tuple[tuple[str, Upload], ...]
    shelf: str
    both: str


class UploadForm(MultiPartParser):
    """A form with a file, perhaps a shelf and ``keep``, and nothing that is left out unseen."""

    def __init__(
        self, request: Request, begin: Callable[[], Upload], *, is_page: bool = False
    ) -> None:
        """Write each file of a request's form to an upload, as it comes.

        Args:
            is_page: Whether the form is one of a page, which may have several files.
        """
        stream = self._stream(request)
        super().__init__(request.headers, stream, max_files=_MOST_FILES, max_part_size=_LONGEST)
        self._begin = begin
        self._is_page = is_page
        self._uploads: list[Upload] = []
        self._parts: dict[int, bytearray] = {}  # what has come of files and is not written yet
        self._size = 0  # of all files, as far as they have come
        self._is_whole = False

    async def read(self) -> ReceivedForm:
        """Return what the form has, once it is whole."""
        kind = self.headers.get("Content-Type", "").lower()
        if not kind.startswith("multipart/form-data"):
            raise UsageError("An upload is a form (multipart/form-data).", hint=_HINT)
        try:
            form = await self.parse()
        except MultiPartException as error:
            raise _unreadable(error.message) from error
        except ClientDisconnect:
            raise Refusal(400, "The form did not come to its end.") from None
        finally:
            for unused in self._files_to_close_on_error:  # the uploads have what would be in them
                unused.close()
        if not self._is_whole:
            raise _unreadable()
        names = [one.filename or "" for one in form.getlist("file") if isinstance(one, UploadFile)]
        # A field of a page in which nothing was chosen sends a file without name and bytes.
        files = tuple(
            (name, upload)
            for name, upload in zip(names, self._uploads, strict=True)
            if name or upload.size or not self._is_page
        )
        if not files:
            raise UsageError("The form has no file.", hint=_HINT)
        return ReceivedForm(files, *(str(form.get(name, "")) for name in ("shelf", "keep")))

    async def _stream(self, request: Request) -> AsyncGenerator[bytes]:
        """Yield the bytes of the form; when it goes on, they are parsed."""
        around = 0
        async for data in request.stream():
            before = self._size
            yield data
            around += len(data) - (self._size - before)
            if around > _AROUND:
                raise Refusal(413, f"The form has over {_AROUND:,} bytes beside its file.")
            if sum(map(len, self._parts.values())) >= _PIECE or not data:  # the last is empty
                parts, self._parts = self._parts, {}
                await run_in_thread(partial(self._write, parts))

    def _write(self, parts: Mapping[int, bytearray]) -> None:
        for number, data in parts.items():
            if number == len(self._uploads):
                self._uploads.append(self._begin())
            self._uploads[number].write(bytes(data))

    def on_headers_finished(self) -> None:
        """Refuse a member that there is not, or not so, or not twice."""
        super().on_headers_finished()
        name, is_file = self._current_part.field_name, self._current_part.file is not None
        if name not in _MEMBERS:
            raise UsageError(f"The form has an unknown member '{name[:100]}'.", hint=_HINT)
        if name in dict(self.items) and not (self._is_page and is_file):
            raise UsageError(f"The form has '{name}' more than once.", hint=_HINT)
        if is_file != (name == "file"):
            kind = "a file" if is_file else "a text"
            raise UsageError(f"The member '{name}' of the form is {kind}.", hint=_HINT)
        if is_file:
            self._parts[self._current_files - 1] = bytearray()

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        """Take the next bytes of a member."""
        if self._current_part.file is None:
            super().on_part_data(data, start, end)
        else:
            self._parts.setdefault(self._current_files - 1, bytearray()).extend(data[start:end])
            self._size += end - start

    def on_end(self) -> None:
        """Take note that the form is whole."""
        self._is_whole = True


def _unreadable(why: str = "") -> UsageError:
    return UsageError(f"The form cannot be read to its end. {why}".strip(), hint=_HINT)
