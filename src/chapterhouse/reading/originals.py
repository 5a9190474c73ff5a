"""What a file shows, as plain text taken the shortest way and without the readers.

Runs in a worker, for people who compare a file with the text that the library holds.
"""

import re
from collections.abc import Iterator
from email.message import EmailMessage
from html import unescape

import selectolax.lexbor

from chapterhouse.reading.completeness import words
from chapterhouse.reading.detect import detect
from chapterhouse.reading.encodings import decode, decode_stated
from chapterhouse.reading.html.page import decode_html, is_too_deep, strip_tags
from chapterhouse.reading.html.prune import drop_unseen, write_out_controls
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.mail import attached_parts, header, parse
from chapterhouse.reading.names import TEXTS
from chapterhouse.reading.office.parts import Parts
from chapterhouse.types import ExtractedPage, Extraction, Notice

MOST_CHARACTERS = 1_000_000
_CUT = f"Only the first {MOST_CHARACTERS:,} characters of the file are shown."
_HEADERS = ("subject", "from", "to", "cc", "date")
_EBOOK_PAGES = (".xhtml", ".html", ".htm")
_BREAK = "\x1e"  # record separator: no text has it
_BLOCKS = (
    "address, article, aside, blockquote, br, button, caption, dd, details, div, dl, dt, "
    "fieldset, figcaption, figure, footer, form, h1, h2, h3, h4, h5, h6, header, hr, legend, li, "
    "main, nav, ol, option, p, pre, section, summary, table, tr, ul"
)


def show(data: bytes, name: str, limits: Limits) -> Extraction:
    """Return the text that a file shows, a line a paragraph; no page where it has no way to.

    The pages of an e-book have the names of their files as labels.

    Raises:
        RejectedError: the bytes cannot be read.
    """
    found = detect(data, name, limits).format
    pages: list[ExtractedPage] = []
    notices: list[Notice] = []
    remaining = MOST_CHARACTERS
    for label, text in _texts(data, found, limits):
        pages += [ExtractedPage(text[:remaining], label=label)] if text.strip() else []
        remaining -= len(text)
        if remaining <= 0:
            notices.append(Notice("text-truncated", _CUT))
            break
    return Extraction(tuple(pages), found, "as it stands", markdown=False, notices=tuple(notices))


def _texts(data: bytes, format_: str, limits: Limits) -> Iterator[tuple[str, str]]:
    match format_:
        case "html":
            yield "", _web_page(data)
        case "eml":
            yield from _message(parse(data))
        case "epub":
            parts = Parts(data, limits)
            for name in parts.names():
                if name.lower().endswith(_EBOOK_PAGES):
                    yield name, _web_page(parts.content(name) or b"")
        case text if text in TEXTS:
            yield "", decode(data)[0]


def _web_page(data: bytes) -> str:
    """Return what a browser shows of a page, its blocks on lines of their own."""
    text, _ = decode_html(data)
    if is_too_deep(text):
        return unescape(strip_tags(text))
    body = selectolax.lexbor.LexborHTMLParser(text).body
    if body is None:
        return ""
    drop_unseen(body)
    write_out_controls(body)
    for cell in body.css("td, th"):
        cell.insert_before(" ")
    for block in body.css(_BLOCKS):
        block.insert_before(_BREAK)
        block.insert_after(_BREAK)
    lines = (" ".join(line.split()) for line in re.split(_BREAK, body.text() or ""))
    return "\n".join(line for line in lines if line)


def _message(message: EmailMessage) -> Iterator[tuple[str, str]]:
    yield "headers", "\n".join(header(message, name) for name in _HEADERS)
    left_out = frozenset(map(id, attached_parts(message)))
    yield from _body_parts(message, left_out)


def _body_parts(part: EmailMessage, left_out: frozenset[int]) -> list[tuple[str, str]]:
    """Return kind and text of each part of a body; of alternatives those that say most."""
    kind = part.get_content_type()
    if id(part) in left_out:
        return []
    if part.is_multipart():
        children = (p for p in part.get_payload() if isinstance(p, EmailMessage))
        found = [_body_parts(child, left_out) for child in children]
        if kind == "multipart/alternative":
            return max(found, key=_word_count, default=[])
        return [one for parts in found for one in parts]
    return [(kind, _part_text(part, kind))] if kind.startswith("text/") else []


def _word_count(parts: list[tuple[str, str]]) -> int:
    return sum(len(words(text)) for _, text in parts)


def _part_text(part: EmailMessage, kind: str) -> str:
    content = part.get_payload(decode=True)
    content = content if isinstance(content, bytes) else b""
    text, _ = decode_stated(content, part.get_content_charset("utf-8"))
    return _web_page(text.encode()) if kind == "text/html" else text
