"""Messages: the subject as title, a short block of headers, the body; attachments by name."""

import re
from collections.abc import Mapping, Sequence
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser

from chapterhouse.errors import RejectedError
from chapterhouse.reading.encodings import decode
from chapterhouse.reading.plain import METHOD
from chapterhouse.types import ExtractedPage, Extraction, Notice

_HEADERS = ("from", "to", "cc", "date")
_NAMES_CEILING = 20
_PARTS_CEILING = 1_000
_SPACES = re.compile(r"\s+")


def read_eml(data: bytes, _name: str) -> Extraction:
    """Read a message in Internet format ([RFC 5322], MIME).

    Raises:
        RejectedError: ``too-deep`` or ``unreadable``.
    """
    try:
        parsed = BytesParser(policy=policy.default).parsebytes(data)
        headers = {name: text for name in _HEADERS if (text := _header(parsed, name))}
        body, notices = _body(parsed)
        names = _attachments(parsed)
    except RecursionError as error:
        raise RejectedError("too-deep", "The message nests parts too deeply.") from error
    extraction = message(
        _header(parsed, "subject"), headers, body, names, format_="eml", method=METHOD
    )
    return Extraction(
        extraction.pages,
        extraction.format,
        extraction.method,
        title=extraction.title,
        metadata=extraction.metadata,
        notices=(*extraction.notices, *notices),
    )


def message(
    subject: str,
    headers: Mapping[str, str],
    body: str,
    attachments: Sequence[str],
    *,
    format_: str,
    method: str,
) -> Extraction:
    """Return a message as an extraction, whatever it was stored in."""
    shown = [f"{name.title()}: {headers[name]}" for name in _HEADERS if name in headers]
    parts = [f"# {subject}"] if subject else []
    parts.extend(["  \n".join(shown)] if shown else [])
    if body.strip():
        parts.append(body.strip("\n"))
    notices: tuple[Notice, ...] = ()
    if attachments:
        named = ", ".join(attachments[:_NAMES_CEILING])
        number = "an attachment" if len(attachments) == 1 else f"{len(attachments)} attachments"
        sentence = f"The message carries {number}, not read: {named}."
        notices = (Notice("attachments-not-read", sentence),)
    metadata = {**headers, **({"author": headers["from"]} if "from" in headers else {})}
    text = "\n\n".join(parts) + "\n" if body.strip() or subject else ""
    return Extraction(
        (ExtractedPage(text),), format_, method, title=subject, metadata=metadata, notices=notices
    )


def _header(parsed: EmailMessage, name: str) -> str:
    # The standard library raises many kinds of errors on headers that break the grammar.
    try:
        value = str(parsed.get(name, ""))
    except (ValueError, TypeError, AttributeError, IndexError, KeyError):
        raw = dict(parsed.raw_items()).get(name.title(), "")
        value = str(raw)
    return _SPACES.sub(" ", value).strip()


def _body(parsed: EmailMessage) -> tuple[str, tuple[Notice, ...]]:
    """Return the plain body, or the HTML one as Markdown where it is alone."""
    plain, html = None, None
    for part in _leaves(parsed):
        if part.get_content_disposition() == "attachment":
            continue
        kind = part.get_content_type()
        plain = part if plain is None and kind == "text/plain" else plain
        html = part if html is None and kind == "text/html" else html
    if plain is not None:
        text, notices = _text(plain)
        if text.strip() or html is None:
            return text, notices
    if html is None:
        return "", ()
    from html_to_markdown import convert  # noqa: PLC0415 - messages in HTML only

    text, notices = _text(html)
    return str(convert(text).content or ""), notices


def _leaves(parsed: EmailMessage) -> list[EmailMessage]:
    """Return the parts that hold content, those of an attached message left out."""
    leaves: list[EmailMessage] = []
    waiting = [parsed]
    while waiting and len(leaves) < _PARTS_CEILING:
        part = waiting.pop(0)
        if part.get_content_maintype() == "multipart" and part.is_multipart():
            waiting[:0] = [item for item in part.get_payload() if isinstance(item, EmailMessage)]
        elif part.get_content_maintype() != "message":
            leaves.append(part)
    return leaves


def _text(part: EmailMessage) -> tuple[str, tuple[Notice, ...]]:
    content = part.get_payload(decode=True)
    content = content if isinstance(content, bytes) else b""
    charset = part.get_content_charset("")
    try:
        return content.decode(charset).replace("\r\n", "\n") if charset else decode(content)[0], ()
    except (UnicodeDecodeError, LookupError):
        return decode(content)


def _attachments(parsed: EmailMessage) -> list[str]:
    names: list[str] = []
    for part in parsed.walk():
        if part.get_content_disposition() == "attachment" or part.get_content_type() == (
            "message/rfc822"
        ):
            try:
                name = part.get_filename()
            except (ValueError, TypeError, AttributeError, IndexError, KeyError):
                name = None
            names.append(_SPACES.sub(" ", name or part.get_content_type()))
    return names
