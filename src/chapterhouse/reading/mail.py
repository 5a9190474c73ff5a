"""Messages and mailboxes: subject as title, some headers, the body, and the files in it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from email import policy
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.parser import BytesHeaderParser, BytesParser
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.errors import RejectedError
from chapterhouse.reading.archives import limit_members
from chapterhouse.reading.detect import MESSAGE_START
from chapterhouse.reading.encodings import decode, decode_stated
from chapterhouse.reading.formats import METHOD, claimed_format
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.markdown import escaped_lines
from chapterhouse.text.counting import HAN, KANA
from chapterhouse.text.hyphens import join_lines
from chapterhouse.text.naming import slug
from chapterhouse.types import ExtractedPage, Extraction, Member, Notice

if TYPE_CHECKING:
    import html_to_markdown

    from chapterhouse.reading import calendars
else:
    html_to_markdown = lazy("html_to_markdown")
    calendars = lazy("chapterhouse.reading.calendars")

Body = tuple[str, tuple[Notice, ...]]

_PARTS_CEILING = 1_000
_DEPTH_CEILING = 100
_SPACES = re.compile(r"\s+")
_ADDRESS = re.compile(r"\]\([^)]*\)|https?://\S+")
# Scripts that are written without spaces are compared character by character.
_UNSPACED = f"{HAN}{KANA}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_MAILBOX = re.compile(r"[\w.+-]+@[\w-]+")
_SAME = 0.5  # share of the words of an alternative from which the other one has its content
_STUB = 40  # words of a plain text without a number that only says that there is HTML
# Of alternatives for watches and mail programs that run scripts: a message has HTML besides.
_SPECIAL = frozenset(("text/x-amp-html", "text/watch-html"))
_CALENDARS = frozenset(("text/calendar", "text/x-vcalendar"))
_CALENDAR_FILES = _CALENDARS | {"application/ics"}
# Signatures, and reports on delivery beside the one that people read.
_FOR_PROGRAMS = frozenset((
    "application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature",
    "message/delivery-status", "message/disposition-notification", "text/rfc822-headers",
))  # fmt: skip
# What the standard library raises on headers that break the grammar.
_GRAMMAR = (ValueError, TypeError, AttributeError, IndexError, KeyError)
_HEADERS = ("from", "to", "cc", "date")
_STATED = (*_HEADERS, "message-id", "in-reply-to", "references")  # the last place it in a thread
_NAMED = 20  # attachments
_SIGNATURE: Final = re.compile(r"^-- ?\r?$", re.MULTILINE)
# Between fences, or indented as far as Markdown wants it.
_CODE: Final = re.compile(r"(^```.*?^```|^(?:(?: {4}|\t)[^\n]*\n?)+)", re.MULTILINE | re.DOTALL)
_NOTHING: Final[tuple[str, Body]] = ("", ("", ()))
_QUOTED: Final = re.compile(rb"^>(>*From )", re.MULTILINE)
_SUBJECT: Final = 60  # characters of a subject in a message's name


def parse(data: bytes) -> EmailMessage:
    """Parse a message."""
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
    """Return the text of a message or part: of alternatives one, of others one after the other."""
    if depth > _DEPTH_CEILING:
        raise RejectedError("too-deep", "The message nests parts too deeply.")
    if _is_attachment(part):
        return "", ()
    kind = part.get_content_type()
    if part.is_multipart():
        found = [(child.get_content_type(), body(child, depth + 1)) for child in _children(part)]
        if kind == "multipart/alternative":
            found = best(found)
        texts = [text.strip("\n") for _, (text, _) in found if text.strip()]
        return "\n\n".join(texts), tuple(notice for _, (_, own) in found for notice in own)
    if kind in _CALENDARS:
        return _invitation(part)
    if kind == "text/html":
        return _html(part)
    text, notices = _text(part)
    return (plain_as_markdown(text) if kind == "text/plain" else text), notices


def attachments(message: EmailMessage) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of everything that a message carries, in order.

    A message inside it is yielded whole, as ``.eml``.
    """
    for part in _attached_parts(message):
        if part.get_content_maintype() == "message":
            inner = next(_children(part), part)
            yield _attachment_name(part), inner.as_bytes()
        else:
            content = part.get_payload(decode=True)
            yield _attachment_name(part), content if isinstance(content, bytes) else b""


def _attached_parts(message: EmailMessage) -> list[EmailMessage]:
    """Return the parts that are not the body, but for pictures that it shows."""
    found: list[EmailMessage] = []
    waiting = [message]
    while waiting and len(found) < _PARTS_CEILING:
        part = waiting.pop(0)
        if part.get_content_type() in _FOR_PROGRAMS:
            continue
        if _is_attachment(part):
            is_file = part.get_content_type() in _CALENDAR_FILES or not part.get("Content-ID")
            if is_file or part.get_content_disposition() == "attachment":
                found.append(part)
        elif part.is_multipart():
            waiting[:0] = _children(part)
    return found


def _attachment_name(part: EmailMessage) -> str:
    """Return the name of a carried part: its file's, its subject's, or its kind."""
    try:
        name = part.get_filename() or ""
    except _GRAMMAR:
        name = ""
    if not name and part.get_content_maintype() == "message":
        subject = next((header(inner, "subject") for inner in _children(part)), "")
        name = f"{subject or 'message'}.eml"
    if part.get_content_type() in _CALENDAR_FILES and claimed_format(name) != "ics":
        name = f"{name or 'invitation'}.ics"
    return _SPACES.sub(" ", name or part.get_content_type())


def _is_attachment(part: EmailMessage) -> bool:
    """Tell whether a part is no text of the message: a file, a picture, another message."""
    if part.get_content_type() in _FOR_PROGRAMS:
        return True
    if part.get_content_disposition() == "attachment":
        return True
    return part.get_content_maintype() not in {"text", "multipart"}


def _children(part: EmailMessage) -> Iterator[EmailMessage]:
    children = part.get_payload() if part.is_multipart() else ()
    return (child for child in children if isinstance(child, EmailMessage))


def best(found: list[tuple[str, Body]]) -> list[tuple[str, Body]]:
    """Return the plain text or the richer one, both where each has its own, and invitations.

    Plain text that says something else than the HTML is a stub, which only points to the HTML.
    """
    plain = next((one for one in found if one[0] == "text/plain"), _NOTHING)
    passed = {"text/plain", *_CALENDARS, *_SPECIAL}
    others = [one for one in found if one[0] not in passed]
    richest = max(others, key=lambda one: len(_words(one[1][0])), default=_NOTHING)
    words, theirs = _words(plain[1][0]), _words(richest[1][0])
    if has_content_of(plain[1][0], richest[1][0]):
        chosen = [plain]
    elif (
        has_content_of(richest[1][0], plain[1][0])
        or len(words) < _SAME * len(theirs)
        or _is_stub(words)
    ):
        chosen = [richest]
    else:
        chosen = [plain, richest]
    return [*chosen, *(one for one in found if one[0] in _CALENDARS)]


def has_content_of(text: str, other: str) -> bool:
    """Whether a text has many of the words of another, which says the same."""
    theirs = {*_words(other)}
    return len(theirs.intersection(_words(text))) >= _SAME * len(theirs)


def _words(text: str) -> list[str]:
    return _WORD.findall(_ADDRESS.sub(" ", text).casefold())


def _is_stub(words: list[str]) -> bool:
    """Whether a text speaks of HTML, untranslated in all languages, or is short without numbers."""
    says_nothing = len(words) <= _STUB and not any(word[0].isdigit() for word in words)
    return says_nothing or "html" in words


def _html(part: EmailMessage) -> Body:
    text, notices = _text(part)
    return html_text(text), notices


def html_text(html: str) -> str:
    """Return a body in HTML as Markdown."""
    options = html_to_markdown.ConversionOptions(extract_metadata=False)
    return str(html_to_markdown.convert(html, options).content or "")


def plain_as_markdown(text: str) -> str:
    """Return plain text with the words whole that its lines part, but for code and a signature.

    Nothing in it is a heading, nor what stands above a signature.
    """
    end = found.start() if (found := _SIGNATURE.search(text)) else len(text)
    parts = _CODE.split(text[:end])  # every other one is code
    parts[::2] = (escaped_lines(join_lines(part)) for part in parts[::2])
    gap = "\n" if text[:end].strip() and not text[:end].endswith("\n\n") else ""
    return "".join(parts) + (gap if found else "") + escaped_lines(text[end:])


def _invitation(part: EmailMessage) -> Body:
    text, notices = _text(part)
    try:
        found = calendars.read_ics(text.encode())
    except RejectedError as error:
        return text, (*notices, Notice("part-unreadable", error.message))
    return found.pages[0].text, (*notices, *found.notices)


def _text(part: EmailMessage) -> Body:
    content = part.get_payload(decode=True)
    content = content if isinstance(content, bytes) else b""
    charset = part.get_content_charset("")
    return decode_stated(content, charset) if charset else (decode(content)[0], ())


def read_eml(data: bytes, limits: Limits) -> Extraction:
    """Read a message in Internet format ([RFC 5322], MIME)."""
    parsed = parse(data)
    try:
        headers = {name: text for name in _STATED if (text := header(parsed, name))}
        text, notices = body(parsed)
        members = (Member(name, content) for name, content in attachments(parsed))
        inside = tuple(limit_members(members, limits))
    except RecursionError as error:
        raise RejectedError("too-deep", "The message nests parts too deeply.") from error
    extraction = message(header(parsed, "subject"), headers, text, inside, "eml", METHOD)
    return replace(extraction, notices=notices)


def message(
    subject: str,
    stated: Mapping[str, str],
    text: str,
    members: tuple[Member, ...],
    format_: str,
    method: str,
) -> Extraction:
    """Return a message as an extraction, whatever it was stored in."""
    shown = [f"{name.title()}: {stated[name]}" for name in _HEADERS if name in stated]
    if members:
        named = [member.path for member in members]
        further = f", and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        shown.append(f"Attachments: {', '.join(named[:_NAMED])}{further}")
    parts = [f"# {subject}"] if subject else []
    parts.extend(["  \n".join(shown)] if shown else [])
    if text.strip():
        parts.append(text.strip("\n"))
    metadata = {**stated, **({"author": stated["from"]} if "from" in stated else {})}
    content = text.strip() or subject or members
    page = ExtractedPage("\n\n".join(parts) + "\n" if content else "")
    return Extraction((page,), format_, method, title=subject, metadata=metadata, members=members)


def read_mbox(data: bytes) -> Extraction:
    """Return the messages of a mailbox as files in it, in their order."""
    return Extraction((), "mbox", METHOD, members=tuple(_messages(data)))


def _messages(data: bytes) -> Iterator[Member]:
    places = [match.span() for match in MESSAGE_START.finditer(data)] or [(0, 0)]
    ends = [start for start, _ in places[1:]] + [len(data)]
    for number, ((_, start), end) in enumerate(zip(places, ends, strict=True), start=1):
        message = _QUOTED.sub(rb"\1", data[start:end])
        yield Member(f"{number:05d} {_name(message)}.eml", message)


def _name(message: bytes) -> str:
    """Return a message's subject as part of a file's name."""
    head = message[: message.find(b"\n\n") + 1 or None]
    try:
        subject = str(BytesHeaderParser(policy=policy.default).parsebytes(head).get("subject", ""))
    except _GRAMMAR:
        subject = ""
    return slug(subject[:_SUBJECT]) if subject.strip() else "message"
