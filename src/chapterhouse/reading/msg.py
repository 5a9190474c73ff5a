"""What the all-in-one library leaves out of Outlook messages ([MS-OXMSG]): threads, attachments."""

import re
from collections.abc import Iterator

from chapterhouse.reading.ole import CompoundFile

_ATTACHMENT = re.compile(r"(__attach_version1\.0_#[0-9A-Fa-f]{8})/__substg1\.0_37010102")
_LONG_NAME, _SHORT_NAME, _SHOWN_NAME = "3707", "3704", "3001"
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
    """Yield name and content of each file that a message carries; messages inside it are not files.

    Raises:
        RejectedError: ``unreadable``.
    """
    file = CompoundFile(data)
    for path in sorted(file.names()):
        if match := _ATTACHMENT.fullmatch(path):
            names = (
                _string(file, match[1] + "/", n) for n in (_LONG_NAME, _SHORT_NAME, _SHOWN_NAME)
            )
            yield next(filter(None, names), "attachment"), file.read(path)


def _string(file: CompoundFile, folder: str, number: str) -> str:
    """Return a text property, which is kept in UTF-16 or in a code page of 8 bits."""
    if wide := file.read(f"{folder}__substg1.0_{number}001F"):
        return wide.decode("utf-16-le", "replace").rstrip("\0")
    return file.read(f"{folder}__substg1.0_{number}001E").decode("cp1252", "replace").rstrip("\0")
