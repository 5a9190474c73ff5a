"""The media types of pages that can be read, and the extension that tells the reader so."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
# What can be read, and the extension that tells the reader so.
EXTENSIONS: Mapping[str, str] = MappingProxyType(
    {
        "text/html": "html",
        "application/xhtml+xml": "xhtml",
        "text/plain": "txt",
        "text/markdown": "md",
        "text/x-markdown": "md",
        "application/pdf": "pdf",
        "application/x-pdf": "pdf",
        "application/msword": "doc",
        "application/vnd.ms-powerpoint": "ppt",
        "application/vnd.ms-excel": "xls",
        "application/vnd.ms-excel.sheet.binary.macroenabled.12": "xlsb",
        f"{_OFFICE}wordprocessingml.document": "docx",
        f"{_OFFICE}presentationml.presentation": "pptx",
        f"{_OFFICE}presentationml.slideshow": "ppsx",
        f"{_OFFICE}spreadsheetml.sheet": "xlsx",
        f"{_OPEN_DOCUMENT}text": "odt",
        f"{_OPEN_DOCUMENT}presentation": "odp",
        f"{_OPEN_DOCUMENT}spreadsheet": "ods",
        f"{_OPEN_DOCUMENT}graphics": "odg",
        "application/epub+zip": "epub",
        "text/calendar": "ics",
        "text/vtt": "vtt",
        "application/x-tex": "tex",
        "text/x-tex": "tex",
        "application/x-latex": "tex",
        "text/csv": "csv",
        "text/tab-separated-values": "tsv",
        "application/json": "json",
        "application/ld+json": "json",
        "application/xml": "xml",
        "text/xml": "xml",
        "application/rss+xml": "xml",
        "application/atom+xml": "xml",
        "application/rtf": "rtf",
        "text/rtf": "rtf",
        "message/rfc822": "eml",
    }
)
# Servers that know no better send these; then the end of the path decides.
_UNKNOWN_TYPES: Final = frozenset({"", "application/octet-stream", "binary/octet-stream"})
_PLAIN_EXTENSIONS: Final = frozenset(
    {"md", "markdown", "csv", "tsv", "json", "xml", "ics", "tex", "vtt"}
)
_PATH_EXTENSIONS: Final = frozenset(EXTENSIONS.values()) | {"htm", "markdown"}

_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,100}/[a-z0-9!#$&^_.+-]{1,100}")
_CHARSET = re.compile(r';\s{0,9}charset="?([A-Za-z0-9._:-]{1,40})"?', re.IGNORECASE)


def media_type(stated: str) -> str:
    """Return the media type of a Content-Type header, ``unknown`` where it is none."""
    found = stated.partition(";")[0].strip().lower()
    return found if not found or _TYPE.fullmatch(found) else "unknown"


def charset(stated: str) -> str:
    """Return the character set that a Content-Type header names; or nothing."""
    match = _CHARSET.search(stated)
    return match[1].lower() if match else ""


def extension(content_type: str, ending: str) -> str:
    """Return the extension of a page's file; empty for what cannot be read."""
    if content_type == "text/plain" and ending in _PLAIN_EXTENSIONS:
        return ending
    if content_type in _UNKNOWN_TYPES and ending in _PATH_EXTENSIONS:
        return ending
    return EXTENSIONS.get(content_type, "")
