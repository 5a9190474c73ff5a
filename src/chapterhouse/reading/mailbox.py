"""Mailboxes in one file (mbox, RFC 4155): each message becomes a document of its own."""

import re
from collections.abc import Iterator
from email import policy
from email.parser import BytesHeaderParser
from typing import Final

from chapterhouse.reading.plain import METHOD
from chapterhouse.text.naming import slug
from chapterhouse.types import Extraction, Member

# A message begins behind an empty line with "From ", a sender and a date that ends in a year.
_FROM: Final = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\r\n\r\n))From \S[^\n]*\b\d{4}[^\S\n]*\r?\n")
_QUOTED: Final = re.compile(rb"^>(>*From )", re.MULTILINE)
_SUBJECT: Final = 60  # characters of a subject in a message's name


def is_mailbox(data: bytes, least: int) -> bool:
    """Whether a text begins with the separator of a mailbox and has so many of them, 1 or 2."""
    found = _FROM.match(data)
    return found is not None and (least == 1 or _FROM.search(data, found.end()) is not None)


def read_mbox(data: bytes) -> Extraction:
    """Return the messages of a mailbox as files in it, in their order."""
    return Extraction((), "mbox", METHOD, members=tuple(_messages(data)))


def _messages(data: bytes) -> Iterator[Member]:
    places = [match.span() for match in _FROM.finditer(data)] or [(0, 0)]
    ends = [start for start, _ in places[1:]] + [len(data)]
    for number, ((_, start), end) in enumerate(zip(places, ends, strict=True), start=1):
        message = _QUOTED.sub(rb"\1", data[start:end])
        yield Member(f"{number:05d} {_name(message)}.eml", message)


def _name(message: bytes) -> str:
    """Return a message's subject as part of a file's name."""
    head = message[: message.find(b"\n\n") + 1 or None]
    try:
        subject = str(BytesHeaderParser(policy=policy.default).parsebytes(head).get("subject", ""))
    except (ValueError, TypeError, AttributeError, IndexError, KeyError):
        subject = ""  # headers that break the grammar raise many kinds of errors
    return slug(subject[:_SUBJECT]) if subject.strip() else "message"
