"""Messages: the subject as title, a short block of headers, the body; attachments by name."""

from collections.abc import Mapping, Sequence

from chapterhouse.errors import RejectedError
from chapterhouse.reading.mail_parts import attachment_name, body, carried, header, parse
from chapterhouse.reading.plain import METHOD
from chapterhouse.types import ExtractedPage, Extraction, Notice

_HEADERS = ("from", "to", "cc", "date")
_STATED = (*_HEADERS, "message-id", "in-reply-to", "references")  # the last place it in a thread
_NAMES_CEILING = 20


def read_eml(data: bytes, _name: str) -> Extraction:
    """Read a message in Internet format ([RFC 5322], MIME).

    Raises:
        RejectedError: ``too-deep`` or ``unreadable``.
    """
    parsed = parse(data)
    try:
        headers = {name: text for name in _STATED if (text := header(parsed, name))}
        text, notices = body(parsed)
        names = [attachment_name(part) for part in carried(parsed)]
    except RecursionError as error:
        raise RejectedError("too-deep", "The message nests parts too deeply.") from error
    extraction = message(
        header(parsed, "subject"), headers, text, names, format_="eml", method=METHOD
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
    stated: Mapping[str, str],
    text: str,
    attachments: Sequence[str],
    *,
    format_: str,
    method: str,
) -> Extraction:
    """Return a message as an extraction, whatever it was stored in."""
    shown = [f"{name.title()}: {stated[name]}" for name in _HEADERS if name in stated]
    parts = [f"# {subject}"] if subject else []
    parts.extend(["  \n".join(shown)] if shown else [])
    if text.strip():
        parts.append(text.strip("\n"))
    notices: tuple[Notice, ...] = ()
    if attachments:
        named = ", ".join(attachments[:_NAMES_CEILING])
        number = "an attachment" if len(attachments) == 1 else f"{len(attachments)} attachments"
        sentence = f"The message carries {number}, not read: {named}."
        notices = (Notice("attachments-not-read", sentence),)
    metadata = {**stated, **({"author": stated["from"]} if "from" in stated else {})}
    page = ExtractedPage("\n\n".join(parts) + "\n" if text.strip() or subject else "")
    return Extraction((page,), format_, method, title=subject, metadata=metadata, notices=notices)
