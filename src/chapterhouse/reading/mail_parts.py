"""The parts of a MIME message: which are its body, and which it only carries ([RFC 2046])."""

import re
from collections.abc import Iterator
from email import policy
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.parser import BytesParser

from chapterhouse.errors import RejectedError
from chapterhouse.reading.encodings import decode, decode_stated
from chapterhouse.types import Notice

Body = tuple[str, tuple[Notice, ...]]

_PARTS_CEILING = 1_000
_DEPTH_CEILING = 100
_SPACES = re.compile(r"\s+")
_ADDRESS = re.compile(r"\]\([^)]*\)|https?://\S+")
_WORD = re.compile(r"\w+")
_MAILBOX = re.compile(r"[\w.+-]+@[\w-]+")
_STUB = 0.5  # of the words of the HTML; a plain text with fewer only says that there is HTML
# Signatures, and reports on delivery beside the one that people read.
_FOR_PROGRAMS = frozenset(
    {
        "application/pkcs7-signature",
        "application/x-pkcs7-signature",
        "application/pgp-signature",
        "message/delivery-status",
        "message/disposition-notification",
        "text/rfc822-headers",
    }
)
# What the standard library raises on headers that break the grammar.
_GRAMMAR = (ValueError, TypeError, AttributeError, IndexError, KeyError)


def parse(data: bytes) -> EmailMessage:
    """Parse a message.

    Raises:
        RejectedError: ``too-deep``.
    """
    try:
        return BytesParser(policy=policy.default).parsebytes(data)
    except RecursionError as error:
        raise RejectedError("too-deep", "The message nests parts too deeply.") from error


def header(part: EmailMessage, name: str) -> str:
    """Return a header, by its name in lower case, on one line.

    As it stands where it breaks the grammar, or an address would be lost.
    """
    try:
        value = str(part.get(name, ""))
    except _GRAMMAR:
        value = _raw(part, name)
    else:
        raw = _raw(part, name)
        if any(address not in value for address in _MAILBOX.findall(raw)):
            value = _decoded(raw)
    return _SPACES.sub(" ", value).strip()


def _raw(part: EmailMessage, name: str) -> str:
    return next((str(raw) for key, raw in part.raw_items() if key.casefold() == name), "")


def _decoded(raw: str) -> str:
    try:
        return str(make_header(decode_header(raw)))
    except (LookupError, ValueError):
        return raw


def body(part: EmailMessage, depth: int = 0) -> Body:
    """Return the text of a message or part: of alternatives one, of others one after the other.

    Raises:
        RejectedError: ``too-deep``.
    """
    if depth > _DEPTH_CEILING:
        raise RejectedError("too-deep", "The message nests parts too deeply.")
    if _is_carried(part):
        return "", ()
    kind = part.get_content_type()
    if part.is_multipart():
        found = [(child.get_content_type(), body(child, depth + 1)) for child in _children(part)]
        if kind == "multipart/alternative":
            return _best(found)
        texts = [text.strip("\n") for _, (text, _) in found if text.strip()]
        return "\n\n".join(texts), tuple(notice for _, (_, told) in found for notice in told)
    return _html(part) if kind == "text/html" else _text(part)


def attachments(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of everything that a message carries, in order.

    A message inside it is yielded whole, as ``.eml``.

    Raises:
        RejectedError: ``too-deep``.
    """
    for part in carried(parse(data)):
        if part.get_content_maintype() == "message":
            inner = next(_children(part), part)
            yield attachment_name(part), inner.as_bytes()
        else:
            content = part.get_payload(decode=True)
            yield attachment_name(part), content if isinstance(content, bytes) else b""


def carried(message: EmailMessage) -> list[EmailMessage]:
    """Return the parts that are not the body, but for pictures that it shows."""
    found: list[EmailMessage] = []
    waiting = [message]
    while waiting and len(found) < _PARTS_CEILING:
        part = waiting.pop(0)
        if part.get_content_type() in _FOR_PROGRAMS:
            continue
        if _is_carried(part):
            if part.get_content_disposition() == "attachment" or not part.get("Content-ID"):
                found.append(part)
        elif part.is_multipart():
            waiting[:0] = _children(part)
    return found


def attachment_name(part: EmailMessage) -> str:
    """Return the name of a carried part: its file's, its subject's, or its kind."""
    try:
        name = part.get_filename() or ""
    except _GRAMMAR:
        name = ""
    if not name and part.get_content_maintype() == "message":
        subject = next((header(inner, "subject") for inner in _children(part)), "")
        name = f"{subject or 'message'}.eml"
    return _SPACES.sub(" ", name or part.get_content_type())


def _is_carried(part: EmailMessage) -> bool:
    """Tell whether a part is no text of the message: a file, a picture, another message."""
    if part.get_content_type() in _FOR_PROGRAMS:
        return True
    if part.get_content_disposition() == "attachment":
        return True
    return part.get_content_maintype() not in {"text", "multipart"}


def _children(part: EmailMessage) -> Iterator[EmailMessage]:
    children = part.get_payload() if part.is_multipart() else ()
    return (child for child in children if isinstance(child, EmailMessage))


def _best(found: list[tuple[str, Body]]) -> Body:
    """Return the plain text, or the richer one where the plain is a stub."""
    plain = next((text for kind, text in found if kind == "text/plain"), ("", ()))
    others = [text for kind, text in found if kind not in {"text/plain", "text/calendar"}]
    richest = max(others, key=lambda other: _words(other[0]), default=("", ()))
    return plain if _words(plain[0]) >= _STUB * _words(richest[0]) else richest


def _words(text: str) -> int:
    return len(_WORD.findall(_ADDRESS.sub(" ", text)))


def _html(part: EmailMessage) -> Body:
    from html_to_markdown import convert  # noqa: PLC0415 - messages in HTML only

    text, notices = _text(part)
    return str(convert(text).content or ""), notices


def _text(part: EmailMessage) -> Body:
    content = part.get_payload(decode=True)
    content = content if isinstance(content, bytes) else b""
    charset = part.get_content_charset("")
    return decode_stated(content, charset) if charset else (decode(content)[0], ())
