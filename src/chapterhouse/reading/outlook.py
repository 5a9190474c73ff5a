"""Messages of Outlook ([MS-OXMSG]): what of their properties the library does not read."""

import re
import struct
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from chapterhouse.errors import RejectedError
from chapterhouse.reading import calendars
from chapterhouse.reading.encodings import decode
from chapterhouse.reading.html.page import decode_html
from chapterhouse.reading.mail import best, has_content_of, html_text, plain_as_markdown
from chapterhouse.reading.ole import CompoundFile, compound_file

_ATTACHMENT = re.compile(r"__attach_version1\.0_#[0-9A-Fa-f]{8}/")
_CONTENT, _OBJECT = "__substg1.0_37010102", "__substg1.0_3701000D"
_PLAIN, _HTML = "__substg1.0_1000", "__substg1.0_1013"
_RTF = "__substg1.0_10090102"
_PROPERTIES = "__properties_version1.0"
_HEADER, _LONGER_BY = 24, 8
_NAMES = "__nameid_version1.0/__substg1.0_00030102"
_NAMED_FROM, _TIME, _CLASS_OF_MSG = 0x8000, 0x40, "001A"
_MEETINGS = ("IPM.SCHEDULE.MEETING", "IPM.APPOINTMENT")
# Properties of a meeting by their names; the times may have numbers of their own instead.
_LOCATION, _TIMES = 0x8208, {"DTSTART": (0x820D, 0x60), "DTEND": (0x820E, 0x61)}
_ESCAPED = re.compile(r"[\\;,]")
_LONG_NAME, _SHORT_NAME, _SHOWN_NAME, _SUBJECT_OF_MSG = "3707", "3704", "3001", "0037"
# Numbers of the properties that place a message in a thread ([MS-OXPROPS]).
_THREAD = {"message-id": "1035", "references": "1039", "in-reply-to": "1042"}


def body(data: bytes, shown: str, read: Callable[[bytes], str]) -> str:
    """Return the body of a message, which may have it as plain text, in HTML and in RTF.

    Args:
        shown: What the library reads of it, which is RTF where there is nothing else.
    """
    file = CompoundFile(data)
    plain = _wide(file, _PLAIN) or decode(file.read(f"{_PLAIN}001E"))[0]
    rich, rtf = _html(file), file.read(_RTF)
    if rich.strip() and (not plain.strip() or has_content_of(rich, plain)):
        return rich
    if not plain.strip():
        return shown
    if not rich.strip() and rtf:
        rich = read(compound_file({_PROPERTIES: file.read(_PROPERTIES), _RTF: rtf}))
    chosen = best([("text/plain", (plain_as_markdown(plain), ())), ("text/html", (rich, ()))])
    return "\n\n".join(text.strip("\n") for _, (text, _) in chosen)


def _html(file: CompoundFile) -> str:
    """Return a message's HTML as Markdown."""
    narrow = file.read(f"{_HTML}0102") or file.read(f"{_HTML}001E")
    return html_text(_wide(file, _HTML) or decode_html(narrow)[0])


def _wide(file: CompoundFile, property_: str) -> str:
    text = file.read(f"{property_}001F").decode("utf-16-le", "replace").rstrip("\0")
    return text.replace("\r\n", "\n")


def thread(data: bytes) -> dict[str, str]:
    """Return the identifiers that place a message in its thread, where it states some."""
    file = CompoundFile(data)
    found = {name: _string(file, "", number) for name, number in _THREAD.items()}
    return {name: " ".join(text.split()) for name, text in found.items() if text.strip()}


def meeting(data: bytes) -> str:
    """Return when and where the meeting is to which a message invites, as calendars are read."""
    file = CompoundFile(data)
    kind = _string(file, "", _CLASS_OF_MSG).upper()
    if not kind.startswith(_MEETINGS):
        return ""
    names = {
        number: _NAMED_FROM + index
        for number, kind, index in _rows("<IHH", file.read(_NAMES))
        if not kind & 1  # others have a text for a name
    }
    times = {
        number: value
        for kind, number, _, value in _rows("<HHIQ", file.read(_PROPERTIES)[_HEADER + _LONGER_BY :])
        if kind == _TIME
    }
    found = {"SUMMARY": _string(file, "", _SUBJECT_OF_MSG)}
    if where := names.get(_LOCATION):
        found["LOCATION"] = _string(file, "", f"{where:04X}")
    for name, (own, usual) in _TIMES.items():
        if stamp := _stamp(times.get(names.get(own, 0)) or times.get(usual) or 0):
            found[name] = stamp
    if not found.keys() & {"LOCATION", *_TIMES}:
        return ""
    texts = {name: _ESCAPED.sub(r"\\\g<0>", " ".join(text.split())) for name, text in found.items()}
    lines = (f"{name}:{text}" for name, text in texts.items())
    event = "\n".join(["BEGIN:VEVENT", *lines, "END:VEVENT"])
    method = "METHOD:CANCEL\n" if kind.endswith("CANCELED") else ""
    calendar = f"BEGIN:VCALENDAR\n{method}{event}\nEND:VCALENDAR"
    return calendars.read_ics(calendar.encode()).pages[0].text


def _rows(form: str, data: bytes) -> Iterator[tuple[int, ...]]:
    size = struct.calcsize(form)
    return struct.iter_unpack(form, data[: len(data) // size * size])


def _stamp(ticks: int) -> str:
    """Return a time, in tenths of microseconds since 1601, as calendars write it; none for 0."""
    start = datetime(1601, 1, 1)  # noqa: DTZ001 - UTC by definition
    try:
        return f"{start + timedelta(microseconds=ticks // 10):%Y%m%dT%H%M%SZ}" if ticks else ""
    except OverflowError:
        return ""


def attachments(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file that a message carries, messages as ``.msg``."""
    file = CompoundFile(data)
    inside: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(file.names()):
        if match := _ATTACHMENT.match(path):
            inside[match[0]].append(path)
    for folder, paths in inside.items():
        names = (_string(file, folder, n) for n in (_LONG_NAME, _SHORT_NAME, _SHOWN_NAME))
        name = next(filter(None, names), "")
        objects = [path for path in paths if path.startswith(f"{folder}{_OBJECT}/")]
        if objects:
            yield _object(file, f"{folder}{_OBJECT}/", name, objects, len(data))
        elif f"{folder}{_CONTENT}" in paths:
            yield name or "attachment", file.read(f"{folder}{_CONTENT}")


def _object(
    file: CompoundFile, folder: str, name: str, paths: list[str], most: int
) -> tuple[str, bytes]:
    """Return a message inside, or an object of another program, as a file of its own."""
    streams: dict[str, bytes] = {}
    for path in paths:
        streams[path.removeprefix(folder)] = file.read(path)
        most -= len(streams[path.removeprefix(folder)])
        if most < 0:
            raise RejectedError("unreadable", "The message is damaged: its parts share bytes.")
    if _PROPERTIES not in streams:
        return name or "object", compound_file(streams)
    # The header is longer in a file than in a message inside one ([MS-OXMSG] 2.4).
    stated = streams[_PROPERTIES]
    streams[_PROPERTIES] = stated[:_HEADER] + bytes(_LONGER_BY) + stated[_HEADER:]
    name = " ".join((name or _string(file, folder, _SUBJECT_OF_MSG) or "message").split())
    return f"{name.removesuffix('.msg')}.msg", compound_file(streams)


def _string(file: CompoundFile, folder: str, number: str) -> str:
    """Return a text property, which is kept in UTF-16 or in a code page of 8 bits."""
    if wide := file.read(f"{folder}__substg1.0_{number}001F"):
        return wide.decode("utf-16-le", "replace").rstrip("\0")
    return file.read(f"{folder}__substg1.0_{number}001E").decode("cp1252", "replace").rstrip("\0")
