"""What the all-in-one library leaves out of Outlook messages ([MS-OXMSG]): threads, attachments."""

import re
from collections import defaultdict
from collections.abc import Iterator

from chapterhouse.errors import RejectedError
from chapterhouse.reading.ole import CompoundFile
from chapterhouse.reading.ole_writer import compound_file

_ATTACHMENT = re.compile(r"__attach_version1\.0_#[0-9A-Fa-f]{8}/")
_CONTENT, _OBJECT = "__substg1.0_37010102", "__substg1.0_3701000D"
_PROPERTIES = "__properties_version1.0"
_HEADER, _LONGER_BY = 24, 8
_LONG_NAME, _SHORT_NAME, _SHOWN_NAME, _SUBJECT = "3707", "3704", "3001", "0037"
# Numbers of the properties that place a message in a thread ([MS-OXPROPS]).
_THREAD = {"message-id": "1035", "references": "1039", "in-reply-to": "1042"}


def thread(data: bytes) -> dict[str, str]:
    """Return the identifiers that place a message in its thread, where it states some.

    Raises:
        RejectedError: ``unreadable``.
    """
    file = CompoundFile(data)
    found = {name: _string(file, "", number) for name, number in _THREAD.items()}
    return {name: " ".join(text.split()) for name, text in found.items() if text.strip()}


def attachments(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file that a message carries; a message inside it as ``.msg``.

    Raises:
        RejectedError: ``unreadable``.
    """
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
    name = " ".join((name or _string(file, folder, _SUBJECT) or "message").split())
    return f"{name.removesuffix('.msg')}.msg", compound_file(streams)


def _string(file: CompoundFile, folder: str, number: str) -> str:
    """Return a text property, which is kept in UTF-16 or in a code page of 8 bits."""
    if wide := file.read(f"{folder}__substg1.0_{number}001F"):
        return wide.decode("utf-16-le", "replace").rstrip("\0")
    return file.read(f"{folder}__substg1.0_{number}001E").decode("cp1252", "replace").rstrip("\0")
