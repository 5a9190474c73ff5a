"""Which format bytes have: by content; the name decides only among kinds of plain text."""

import json
import re
from dataclasses import dataclass

from chapterhouse.errors import RejectedError
from chapterhouse.reading import formats, ole, signatures
from chapterhouse.reading.limits import Limits, archive_limits
from chapterhouse.reading.zip_directory import Entry, inflate, read_directory
from chapterhouse.types import Notice

_PART_CEILING = 1_000_000
_OASIS = "application/vnd.oasis.opendocument."
_MIMETYPES = (
    ("application/epub+zip", "epub"), (f"{_OASIS}text", "odt"), (f"{_OASIS}presentation", "odp"),
    (f"{_OASIS}spreadsheet", "ods"), (f"{_OASIS}graphics", "odg"),
)  # fmt: skip
# Content types of main parts ([ECMA-376] part 1, 11.3) and their macro-enabled and template kin.
_MAIN_PARTS = re.compile(
    r"vnd\.openxmlformats-officedocument\.(?P<family>wordprocessingml|spreadsheetml|"
    r"presentationml)\.(?:document|sheet|presentation|slideshow|template)\.main\+xml"
    r"|vnd\.ms-(?P<macro>word|excel|powerpoint)\.\w+\.macroEnabled(?:Template|12)?\.main\+xml",
    re.IGNORECASE,
)
_BINARY_SHEETS = "application/vnd.ms-excel.sheet.binary.macroenabled.main"
_FAMILIES = {
    **dict.fromkeys(("wordprocessingml", "word"), "docx"),
    **dict.fromkeys(("spreadsheetml", "excel"), "xlsx"),
    **dict.fromkeys(("presentationml", "powerpoint"), "pptx"),
}
_MAIN_NAMES = {
    "word/document.xml": "docx",
    "xl/workbook.xml": "xlsx",
    "xl/workbook.bin": "xlsb",
    "ppt/presentation.xml": "pptx",
}
_PACKAGE_MARKS = frozenset({"mimetype", "[Content_Types].xml", "META-INF/container.xml"})
# A message may carry other files beside its own streams, so its mark comes first.
_STREAMS = {
    "__properties_version1.0": "msg",
    "WordDocument": "doc",
    "Workbook": "xls",
    "Book": "xls",
    "PowerPoint Document": "ppt",
}
# Obfuscated fonts are the one use of encryption.xml that leaves an EPUB readable.
_FONT_MANGLING = re.compile(
    rb"http://www\.idpf\.org/2008/embedding|http://ns\.adobe\.com/pdf/enc#RC"
)
_ALGORITHM = re.compile(rb"Algorithm\s*=\s*[\"']([^\"']*)")
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
_VISIO = "a Visio drawing"
_INSTEAD = {
    _VISIO: "Save it as PDF and add that.",
    "a Kindle or Mobipocket e-book": "Save it as EPUB or PDF, for example with Calibre.",
    **dict.fromkeys(
        ("a 7-Zip archive", "a RAR archive"), "Unpack it and add the folder, or pack it as ZIP."
    ),
}


def zip_format(data: bytes, entries: tuple[Entry, ...]) -> str:
    """Return the format of a ZIP container, or an empty string where it is only an archive."""
    parts = {entry.name: entry for entry in entries}
    if mimetype := parts.get("mimetype"):
        stated = inflate(data, mimetype, 200).decode("latin-1").strip()
        for prefix, name in _MIMETYPES:
            if stated.startswith(prefix):
                return name
    if types := parts.get("[Content_Types].xml"):
        return _ooxml_format(_decode(inflate(data, types, _PART_CEILING)), parts)
    is_book = "META-INF/container.xml" in parts
    return "epub" if is_book and any(name.lower().endswith(".opf") for name in parts) else ""


def zip_is_encrypted(data: bytes, entries: tuple[Entry, ...]) -> bool:
    """Tell whether entries, an OpenDocument manifest or EPUB rights ask for a key."""
    parts = {entry.name: entry for entry in entries}
    if any(entry.encrypted for entry in entries):
        return True
    if manifest := parts.get("META-INF/manifest.xml"):
        return b"encryption-data" in inflate(data, manifest, _PART_CEILING)
    if "META-INF/rights.xml" in parts:
        return True
    if encryption := parts.get("META-INF/encryption.xml"):
        used = _ALGORITHM.findall(inflate(data, encryption, _PART_CEILING))
        return any(not _FONT_MANGLING.match(algorithm) for algorithm in used)
    return False


def encrypted() -> RejectedError:
    """Return why a document with a password is not read."""
    sentence = "The document is protected by a password."
    return RejectedError("encrypted", sentence, hint="Save it without a password and add it again.")


def ole_format(data: bytes) -> str:
    """Return the format of an OLE compound file, or an empty string."""
    file = ole.CompoundFile(data)
    if ole.is_encrypted(file):
        raise encrypted()
    return next((found for mark, found in _STREAMS.items() if file.has(mark)), "")


def _ooxml_format(types: str, parts: dict[str, Entry]) -> str:
    if match := _MAIN_PARTS.search(types):
        return _FAMILIES[(match["family"] or match["macro"]).lower()]
    if _BINARY_SHEETS in types.lower():
        return "xlsb"
    return next((found for name, found in _MAIN_NAMES.items() if name in parts), "")


def _decode(data: bytes) -> str:
    return data.decode("utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8", "replace")


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
    claimed = formats.claimed_format(name)
    found = _binary_format(data, name, limits) or _text_format(data, claimed)
    if found == claimed or not formats.extension(name):
        return Detected(found, formats.language(name) if found == "code" else "")
    if not claimed and found in formats.TEXTS:
        return Detected(found)  # an extension that nobody knows contradicts nothing
    sentence = f"The name ends in .{formats.extension(name)}, but the content is {found}."
    return Detected(found, notices=(Notice("extension-mismatch", sentence),))


def container_format(data: bytes, name: str, limits: Limits) -> str:
    """Return the format of a ZIP or OLE container, or an empty string for other bytes."""
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        if formats.may_be_archive(name):
            files = read_directory(data, archive_limits(limits))
            if _PACKAGE_MARKS.isdisjoint(entry.name for entry in files):
                return "zip"  # files of its own, and not the parts of one document
        entries = read_directory(data, limits)
        if zip_is_encrypted(data, entries):
            raise RejectedError(
                "encrypted",
                "The document is protected by a password or by rights management.",
                hint="Save it without protection and add it again.",
            )
        drawing = any(entry.name == "visio/document.xml" for entry in entries)
        return zip_format(data, entries) or _unsupported(_VISIO if drawing else "a ZIP archive")
    if data.startswith(ole.SIGNATURE):
        return ole_format(data) or _unsupported("an OLE compound file of another program")
    return ""


def _binary_format(data: bytes, name: str, limits: Limits) -> str:
    if found := container_format(data, name, limits):
        return found
    if signatures.has_pdf_header(data, claimed=formats.claimed_format(name) == "pdf"):
        return "pdf"
    if data.startswith(b"{\\rtf"):
        return "rtf"
    if found := signatures.image_format(data) or signatures.archive_format(data):
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
    if formats.claimed_format(name):
        kind = formats.extension(name)
        sentence = f"It is called .{kind}, but its content is binary data of another kind."
        return RejectedError("unsupported-format", sentence, hint=f"It may be damaged. {again}")
    sentence = "This is not a document that can be read; it looks like binary data."
    return RejectedError("unsupported-format", sentence, hint=_FORMATS)


def _unsupported(what: str) -> str:
    sentence = f"This is not a document that can be read; it looks like {what}."
    raise RejectedError("unsupported-format", sentence, hint=_INSTEAD.get(what, _FORMATS))


def _text_format(data: bytes, claimed: str) -> str:
    """Tell among kinds of text: an unmistakable beginning, else the name, else a guess."""
    if claimed == "code":
        return claimed
    if signatures.is_mailbox(data, 1 if claimed == "mbox" else 2):
        return "mbox"
    head = _narrow(data[:_SNIFFED])
    if _XML.match(head) or _SVG.match(head):
        return "html" if _HTML_IN_XML.search(head) else "xml"
    if _HTML.match(head):
        return "html"
    if claimed not in formats.TEXTS:
        return _guess(data, head)
    return claimed if _STARTS.get(claimed, _ANYTHING).match(head) else "txt"


def _guess(data: bytes, head: bytes) -> str:
    if _MAIL_START.match(head) and len(set(_MAIL_HEADER.findall(head))) >= 3:  # noqa: PLR2004 - fewer occur in notes
        return "eml"
    if head.lstrip().startswith((b"{", b"[")) and _is_json(data):
        return "json"
    marked = next((name for name in ("vtt", "ics") if _STARTS[name].match(head)), "")
    return marked or ("csv" if _is_csv(head) else "txt")


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
    for mark, encoding in signatures.BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return head[len(mark) :].decode(encoding, "replace").encode()
    wide = signatures.wide_encoding(head)
    return head.decode(wide, "replace").encode() if wide else head
