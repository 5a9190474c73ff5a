"""Messages: the subject as title, a short block of headers, the body, and the files in it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from chapterhouse.errors import RejectedError
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.mail_parts import attachments, body, header, parse
from chapterhouse.reading.members import bounded
from chapterhouse.reading.plain import METHOD
from chapterhouse.types import ExtractedPage, Extraction, Member

_HEADERS = ("from", "to", "cc", "date")
_STATED = (*_HEADERS, "message-id", "in-reply-to", "references")  # the last place it in a thread
_NAMED = 20  # attachments


def read_eml(data: bytes, limits: Limits) -> Extraction:
    """Read a message in Internet format ([RFC 5322], MIME).

    Raises:
        RejectedError: ``too-deep``, ``unreadable``, or it carries more than the limits allow.
    """
    parsed = parse(data)
    try:
        headers = {name: text for name in _STATED if (text := header(parsed, name))}
        text, notices = body(parsed)
        members = [Member(name, content) for name, content in attachments(data)]
    except RecursionError as error:
        raise RejectedError("too-deep", "The message nests parts too deeply.") from error
    extraction = message(
        header(parsed, "subject"),
        headers,
        text,
        tuple(bounded(members, limits)),
        format_="eml",
        method=METHOD,
    )
    return replace(extraction, notices=notices)


def message(
    subject: str,
    stated: Mapping[str, str],
    text: str,
    members: Sequence[Member],
    *,
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
    told = text.strip() or subject or members
    page = ExtractedPage("\n\n".join(parts) + "\n" if told else "")
    return Extraction(
        (page,), format_, method, title=subject, metadata=metadata, members=tuple(members)
    )
