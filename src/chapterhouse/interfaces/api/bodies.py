"""How much one process takes of a caller, and forms parsed as they come."""

import asyncio
import time
from collections import Counter
from typing import Final

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.types import Message, Receive

from chapterhouse.errors import UsageError
from chapterhouse.interfaces.api.problems import Refusal

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


_MEMBERS: Final = frozenset({"file", "shelf"})
_LONGEST: Final = 1_000  # bytes of a member that is no file
_HINT: Final = "One file and perhaps a shelf: curl -F file=@NAME -F shelf=SHELF."


class UploadForm:
    """A form with one file, perhaps a shelf, and nothing that would be left out unseen."""

    def __init__(self, content_type: str) -> None:
        kind, options = parse_options_header(content_type)
        boundary = options.get(b"boundary", b"")
        if kind != b"multipart/form-data" or not boundary:
            raise UsageError("An upload is a form (multipart/form-data).", hint=_HINT)
        self.file_name = ""
        self._texts: dict[str, bytearray] = {}  # of the members that have come
        self._file = bytearray()  # what has come of the file since it was last asked for
        self._current = self._file
        self._header, self._value, self._disposition = b"", b"", b""
        self._is_whole = False
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_data": self._add_data,
                    "on_header_field": self._add_header,
                    "on_header_value": self._add_value,
                    "on_header_end": self._end_header,
                    "on_headers_finished": self._begin_member,
                    "on_end": self._end,
                },
            )
        except FormParserError as error:
            raise _unreadable() from error

    def feed(self, data: bytes) -> bytes:
        """Parse the next bytes of the form; return those of the file among them."""
        try:
            self._parser.write(data)
        except FormParserError as error:
            raise _unreadable() from error
        found = bytes(self._file)
        self._file.clear()
        return found

    def finish(self) -> str:
        """Return the shelf of a form that has come to its end; empty where it has none."""
        if not self._is_whole:
            raise _unreadable()
        if "file" not in self._texts:
            raise UsageError("The form has no file.", hint=_HINT)
        return self._texts.get("shelf", b"").decode("utf-8", "replace")

    def _add_data(self, data: bytes, start: int, end: int) -> None:
        self._current += data[start:end]
        if self._current is not self._file and len(self._current) > _LONGEST:
            raise UsageError(f"A member of the form has over {_LONGEST:,} bytes.", hint=_HINT)

    def _add_header(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _add_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = self._value
        self._header = self._value = b""

    def _begin_member(self) -> None:
        _, options = parse_options_header(self._disposition)
        self._disposition = b""
        name = _decode(options.get(b"name", b""))
        if name not in _MEMBERS:
            raise UsageError(f"The form has an unknown member '{name[:100]}'.", hint=_HINT)
        if name in self._texts:
            raise UsageError(f"The form has '{name}' more than once.", hint=_HINT)
        is_file = b"filename" in options
        if is_file != (name == "file"):
            kind = "a file" if is_file else "a text"
            raise UsageError(f"The member '{name}' of the form is {kind}.", hint=_HINT)
        self._texts[name] = bytearray()
        self._current = self._file if is_file else self._texts[name]
        if is_file:
            self.file_name = _decode(options[b"filename"])

    def _end(self) -> None:
        self._is_whole = True


def _unreadable() -> UsageError:
    return UsageError("The form cannot be read to its end.", hint=_HINT)


def _decode(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")
