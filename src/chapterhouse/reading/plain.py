"""Plain text, Markdown and program code: the text as it stands."""

import platform
import re

from chapterhouse.reading.encodings import decode
from chapterhouse.types import ExtractedPage, Extraction

METHOD = f"Python {platform.python_version()}"
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_FENCE = re.compile(r"^(`{3,}|~{3,})", re.MULTILINE)
_BACKTICKS = re.compile(r"`{3,}")
_TITLE_WINDOW = 4_000


def read_text(data: bytes, _name: str) -> Extraction:
    """Read plain text; nothing in it is taken for a heading."""
    text, notices = decode(data)
    return Extraction((ExtractedPage(text),), "txt", METHOD, markdown=False, notices=notices)


def read_markdown(data: bytes, _name: str) -> Extraction:
    """Read Markdown; its title is its first heading."""
    text, notices = decode(data)
    title = first_heading(text)
    return Extraction((ExtractedPage(text),), "md", METHOD, title=title, notices=notices)


def read_code(data: bytes, _name: str, language: str) -> Extraction:
    """Read a program as one fenced block."""
    text, notices = decode(data)
    return Extraction((ExtractedPage(fenced(text, language)),), "code", METHOD, notices=notices)


def first_heading(text: str) -> str:
    """Return the first heading near the beginning and outside code blocks, or nothing."""
    head = text[:_TITLE_WINDOW]
    fence = _FENCE.search(head)
    found = _HEADING.search(head, 0, fence.start() if fence else len(head))
    return found[1].strip() if found else ""


def fenced(text: str, language: str) -> str:
    """Return text as a Markdown code block whose fence is longer than any run of backticks."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    end = "" if text.endswith("\n") or not text else "\n"
    return f"{fence}{language}\n{text}{end}{fence}\n" if text.strip() else ""
