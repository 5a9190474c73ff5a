"""What text files, messages and e-books show, read from their bytes with the standard library."""

import codecs
import re
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message
from html.parser import HTMLParser
from pathlib import Path

_TIMES = re.compile(r"^(?:\d+|WEBVTT.*|(?:\d+:)?\d+:\d+[.,]\d+ --> .*)$", re.MULTILINE)
_HEADERS = ("Subject", "From", "To", "Cc", "Date")
_MARKED = (("utf-32", codecs.BOM_UTF32_LE), ("utf-32", codecs.BOM_UTF32_BE),
           ("utf-16", codecs.BOM_UTF16_LE), ("utf-16", codecs.BOM_UTF16_BE))  # fmt: skip


def plain_text(path: Path) -> str:
    """Return a text file in the encoding that its folder is called after, else UTF-8 or cp1252."""
    data = path.read_bytes()
    marked = [name for name, mark in _MARKED if data.startswith(mark)]
    for name in (*marked, *_encodings(path.parent.name), "utf-8-sig", "cp1252"):
        try:
            return data.decode(name)
        except (LookupError, UnicodeDecodeError):
            continue
    return ""


def _encodings(folder: str) -> Iterator[str]:
    """Yield what ``iso-8859-9-turkish`` or ``MacCyrillic`` may call an encoding."""
    yield folder
    yield folder.rpartition("-")[0]
    yield re.sub(r"(?<=[a-z])(?=[A-Z])", "-", folder)


def subtitles(path: Path) -> str:
    """Return what is said in subtitles, without their times and numbers."""
    return _TIMES.sub("", plain_text(path).replace("\r", ""))


def mail(path: Path) -> str:
    """Return the headers of a message that people read, and its texts."""
    message = message_from_bytes(path.read_bytes())
    return "\n".join([*_headers(message), *_bodies(message)])


def _headers(message: Message) -> Iterator[str]:
    stated = {name.title(): str(value) for name, value in message.raw_items()}
    for name in _HEADERS:
        written = stated.get(name, "").encode("utf-8", "surrogateescape")
        value = written.decode("utf-8", "replace")
        try:
            yield str(make_header(decode_header(value)))
        except (LookupError, ValueError):
            yield value


def _bodies(part: Message) -> Iterator[str]:
    kind = part.get_content_type()
    if part.get_content_disposition() == "attachment" or kind == "message/rfc822":
        return
    inside = part.get_payload()
    if isinstance(inside, list):
        texts = ["\n".join(_bodies(child)) for child in inside if isinstance(child, Message)]
        is_choice = kind == "multipart/alternative"
        yield from [text for text in texts if text.strip()][:1] if is_choice else texts
    elif kind in {"text/plain", "text/html"}:
        content = part.get_payload(decode=True)
        content = content if isinstance(content, bytes) else b""
        try:
            text = content.decode(part.get_content_charset("utf-8"))
        except (LookupError, UnicodeDecodeError):
            text = content.decode("cp1252", "replace")
        yield _without_tags(text) if kind == "text/html" else text


def epub(path: Path) -> str:
    """Return the text of every page of an e-book."""
    with zipfile.ZipFile(path) as book:
        pages = [name for name in book.namelist() if name.endswith((".xhtml", ".html", ".htm"))]
        texts = [_without_tags(book.read(name).decode("utf-8", "replace")) for name in pages]
    return "\n".join(texts)


class _Texts(HTMLParser):
    """Collects the text of HTML that is no style, script or title."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, _attributes: object) -> None:
        self._hidden += tag in {"style", "script", "title"}

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in {"style", "script", "title"}

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.texts.append(data)


def _without_tags(markup: str) -> str:
    parser = _Texts()
    parser.feed(markup)
    return " ".join(parser.texts)


WRITTEN = ("txt", "md", "csv", "tsv", "json", "yaml", "xml", "rst", "adoc")
