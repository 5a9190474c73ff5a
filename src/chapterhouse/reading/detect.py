"""Which format bytes have: by content; the name decides only among kinds of plain text."""

import json
import re
from dataclasses import dataclass

from chapterhouse.errors import RejectedError
from chapterhouse.reading import names, ole, signatures
from chapterhouse.reading.containers import (
    is_package,
    ole_format,
    zip_format,
    zip_is_encrypted,
)
from chapterhouse.reading.limits import Limits, archive_limits
from chapterhouse.reading.mailbox import is_mailbox
from chapterhouse.reading.zip_directory import read_directory
from chapterhouse.types import Notice

_SNIFFED = 4096
_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*"
    rb"<(?:!doctype\s+html|html|head|body)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_XML = re.compile(rb"\s*<\?xml[\s?]", re.IGNORECASE)
_HTML_IN_XML = re.compile(rb"<(?:!doctype\s+)?html[\s>]", re.IGNORECASE)
_SVG = re.compile(rb"\s*(?:<!--.*?-->\s*)*<svg[\s>]", re.DOTALL)
_MAIL_HEADER = re.compile(
    rb"^(?:from|to|cc|subject|date|received|mime-version|message-id|return-path|"
    rb"content-type|delivered-to|reply-to):",
    re.IGNORECASE | re.MULTILINE,
)
_MAIL_START = re.compile(
    rb"(?:From [^\n]*\r?\n)?(?:[!-9;-~]+:[^\n]*\r?\n(?:[ \t][^\n]*\r?\n)*){3,}"
)

# What a text must begin with to be what its name claims.
_ANYTHING = re.compile(rb"")
_STARTS = {
    "eml": re.compile(rb"\s*(?:From [^\n]*\r?\n)?[!-9;-~]+[ \t]*:"),
    "json": re.compile(rb"\s*(?:[\[{\"/0-9-]|true|false|null)"),
    "xml": re.compile(rb"\s*<"),
    "srt": re.compile(rb"\s*(?:\d+\s+)?(?:\d+:)?\d+:\d+[\d.,]*[ \t]*-->"),
    "vtt": re.compile(rb"WEBVTT(?:[ \t\r\n]|$)"),
    "ics": re.compile(rb"\s*BEGIN:VCALENDAR\s", re.IGNORECASE),
}

_FORMATS = "See which formats are read with: chapterhouse docs formats"


@dataclass(frozen=True, slots=True)
class Detected:
    """A format, the language of code, and the notice where name and content disagree."""

    format: str
    language: str = ""
    notices: tuple[Notice, ...] = ()


def detect(data: bytes, name: str, limits: Limits) -> Detected:
    """Return the format of ``data``.

    Raises:
        RejectedError: ``unsupported-format``, ``encrypted``, or what is wrong with a container.
    """
    claimed = names.claimed_format(name)
    found = _binary_format(data, name, limits) or _text_format(data, claimed)
    if found == claimed or not names.extension(name):
        return Detected(found, names.language(name) if found == "code" else "")
    if not claimed and found in names.TEXTS:
        return Detected(found)  # an extension that nobody knows contradicts nothing
    sentence = f"The name ends in .{names.extension(name)}, but the content is {found}."
    return Detected(found, notices=(Notice("extension-mismatch", sentence),))


def container_format(data: bytes, name: str, limits: Limits) -> str:
    """Return the format of a ZIP or OLE container, or an empty string for other bytes.

    Raises:
        RejectedError: as `detect`.
    """
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        if names.may_be_archive(name) and not is_package(
            read_directory(data, archive_limits(limits))
        ):
            return "zip"
        entries = read_directory(data, limits)
        if zip_is_encrypted(data, entries):
            raise RejectedError(
                "encrypted",
                "The document is protected by a password or by rights management.",
                hint="Save it without protection and add it again.",
            )
        return zip_format(data, entries) or _unsupported("a ZIP archive")
    if data.startswith(ole.SIGNATURE):
        return ole_format(data) or _unsupported("an OLE compound file of another program")
    return ""


def _binary_format(data: bytes, name: str, limits: Limits) -> str:
    if found := container_format(data, name, limits):
        return found
    if signatures.has_pdf_header(data, claimed=names.claimed_format(name) == "pdf"):
        return "pdf"
    if data.startswith(b"{\\rtf"):
        return "rtf"
    if found := signatures.image_format(data):
        return found
    if found := signatures.book_format(data) or signatures.archive_format(data):
        return found
    if what := signatures.other_content(data):
        _unsupported(what)
    if signatures.looks_binary(data):
        raise _not_readable(data, name)
    return ""


def _not_readable(data: bytes, name: str) -> RejectedError:
    """Return why bytes that are no text are not read, as far as they and the name tell."""
    again = "Get it again from where it came from."
    if 2 * data.count(0) > len(data):
        sentence = "Most of its bytes are zeros, as in a damaged file."
        return RejectedError("unsupported-format", sentence, hint=again)
    if names.claimed_format(name):
        kind = names.extension(name)
        sentence = f"It is called .{kind}, but its content is binary data of another kind."
        return RejectedError("unsupported-format", sentence, hint=f"It may be damaged. {again}")
    return RejectedError(
        "unsupported-format",
        "This is not a document that can be read; it looks like binary data.",
        hint=_FORMATS,
    )


def _unsupported(what: str) -> str:
    raise RejectedError(
        "unsupported-format",
        f"This is not a document that can be read; it looks like {what}.",
        hint=_FORMATS,
    )


def _text_format(data: bytes, claimed: str) -> str:
    """Tell among kinds of text: an unmistakable beginning, else the name, else a guess."""
    if claimed == "code":
        return claimed
    if is_mailbox(data, 1 if claimed == "mbox" else 2):
        return "mbox"
    head = _narrow(data[:_SNIFFED])
    if _XML.match(head) or _SVG.match(head):
        return "html" if _HTML_IN_XML.search(head) else "xml"
    if _HTML.match(head):
        return "html"
    if claimed not in names.TEXTS:
        return _guess(data, head)
    return claimed if _STARTS.get(claimed, _ANYTHING).match(head) else "txt"


def _guess(data: bytes, head: bytes) -> str:
    if _MAIL_START.match(head) and len(set(_MAIL_HEADER.findall(head))) >= 3:  # noqa: PLR2004 - fewer occur in notes
        return "eml"
    if head.lstrip().startswith((b"{", b"[")) and _is_json(data):
        return "json"
    for marked in ("vtt", "ics"):
        if _STARTS[marked].match(head):
            return marked
    return "csv" if _is_csv(head) else "txt"


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def _is_csv(head: bytes) -> bool:
    """Tell whether every whole line has the same number, at least two, of commas."""
    lines = head.split(b"\n")[: -1 if len(head) == _SNIFFED else None]
    counts = {line.count(b",") for line in lines if line.strip()}
    return len(lines) >= 3 and len(counts) == 1 and counts.pop() >= 2  # noqa: PLR2004 - prose has commas too


def _narrow(head: bytes) -> bytes:
    """Return the beginning of a text as ASCII-compatible bytes, so that patterns can match."""
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe\0\0", "utf-32-le"),
        (b"\0\0\xfe\xff", "utf-32-be"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
    ):
        if head.startswith(mark):
            return head[len(mark) :].decode(encoding, "replace").encode()
    wide = signatures.wide_encoding(head)
    return head.decode(wide, "replace").encode() if wide else head
