"""Which format bytes have: by content; the name decides only among kinds of plain text."""

import codecs
import json
import re
from dataclasses import dataclass

from chapterhouse.errors import RejectedError
from chapterhouse.reading import formats, ole
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
    "ipynb": re.compile(rb"\s*\{"),
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
class Detection:
    """A format, the language of code, and the notice where name and content disagree."""

    format: str
    language: str = ""
    notices: tuple[Notice, ...] = ()


def detect(data: bytes, name: str, limits: Limits) -> Detection:
    """Return the format of ``data``.

    Raises:
        RejectedError: ``unsupported-format``, ``encrypted``, or what is wrong with a container.
    """
    claimed = formats.claimed_format(name)
    found = _binary_format(data, name, limits) or _text_format(data, claimed)
    if found == claimed or not formats.extension(name):
        return Detection(found, formats.language(name) if found == "code" else "")
    # An extension that nobody knows contradicts nothing, and a notebook is JSON.
    if (not claimed and found in formats.TEXTS) or (claimed == "json" and found == "ipynb"):
        return Detection(found)
    sentence = f"The name ends in .{formats.extension(name)}, but the content is {found}."
    return Detection(found, notices=(Notice("extension-mismatch", sentence),))


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
    if has_pdf_header(data, claimed=formats.claimed_format(name) == "pdf"):
        return "pdf"
    if data.startswith(b"{\\rtf"):
        return "rtf"
    if found := image_format(data) or archive_format(data):
        return found
    if what := other_content(data):
        _unsupported(what)
    if looks_binary(data):
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
    if is_mailbox(data, 1 if claimed == "mbox" else 2):
        return "mbox"
    head = _narrow(data[:_SNIFFED])
    if _XML.match(head) or _SVG.match(head):
        return "html" if _HTML_IN_XML.search(head) else "xml"
    if _HTML.match(head):
        return "html"
    is_claimed = claimed in formats.TEXTS and _STARTS.get(claimed, _ANYTHING).match(head)
    found = claimed if is_claimed else "txt" if claimed in formats.TEXTS else _guess(data, head)
    return "ipynb" if found == "json" and _is_notebook(data) else found


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


def _is_notebook(data: bytes) -> bool:
    """Tell whether JSON names the version of Jupyter's format, as each notebook does."""
    if b'"nbformat"' not in data or not _is_json(data):
        return False
    stated = json.loads(data)
    return isinstance(stated, dict) and isinstance(stated.get("nbformat"), int)


def _is_csv(head: bytes) -> bool:
    """Tell whether every whole line has the same number, at least two, of commas."""
    lines = head.split(b"\n")[: -1 if len(head) == _SNIFFED else None]
    counts = {line.count(b",") for line in lines if line.strip()}
    return len(lines) >= 3 and len(counts) == 1 and counts.pop() >= 2  # noqa: PLR2004 - prose has commas too


def _narrow(head: bytes) -> bytes:
    """Return the beginning of a text as ASCII-compatible bytes, so that patterns can match."""
    for mark, encoding in BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return head[len(mark) :].decode(encoding, "replace").encode()
    wide = wide_encoding(head)
    return head.decode(wide, "replace").encode() if wide else head


# --- first bytes: what is told by them alone -----------------------------------------------------

PDF_WINDOW = 1024  # Adobe readers accept a header anywhere in it ([ISO 32000-1] note to 7.5.2)

# UTF-32 first: its little-endian mark begins like that of UTF-16.
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"II*\0", "tiff"),
    (b"MM\0*", "tiff"),
)
_ARCHIVES = (
    (b"\x1f\x8b\x08", "gz"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\0", "xz"),
)
_OTHERS = (
    (b"\x7fELF", "a program for Linux"),
    (b"MZ", "a program for Windows"),
    (b"\xcf\xfa\xed\xfe", "a program for macOS"),
    (b"\xce\xfa\xed\xfe", "a program for macOS"),
    (b"\xca\xfe\xba\xbe", "compiled Java or a program for macOS"),
    (b"\0asm", "a WebAssembly module"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"OggS", "an Ogg sound or film"),
    (b"ID3", "an MP3 sound"),
    (b"\xff\xfb", "an MP3 sound"),
    (b"fLaC", "a FLAC sound"),
    (b"\x1aE\xdf\xa3", "a Matroska or WebM film"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"OTTO", "a font"),
    (b"\0\x01\0\0\0", "a font"),
    (b"%!PS", "a PostScript file"),
    (b"\xd7\xcd\xc6\x9a", "a Windows metafile"),
    (b"PAR1", "a Parquet table"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x80\x04\x95", "a Python pickle"),
    (b"!<arch>\n", "a static library or Debian package"),
)
_TEXTUAL = frozenset({b"MZ", b"BZh", b"ID3", b"PAR1", b"OTTO", b"OggS"})  # words begin so too
_PALM_KIND = slice(60, 68)
_CONTROLS = 0.1  # share of a text above which it is none
_NOISE_CONTROLS = 0.02  # likewise among many bytes beyond ASCII, of which noise has a ninth
_NOISE_BEYOND = 0.2
_ASCII = bytes(range(128))
_CONTROL = bytes({*range(32)} - {9, 10, 12, 13, 27} | {127})
# A message begins behind an empty line with "From ", a sender and a date that ends in a year.
MESSAGE_START = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\r\n\r\n))From \S[^\n]*\b\d{4}[^\S\n]*\r?\n")


def image_format(data: bytes) -> str:
    """Return the format of an image, or an empty string."""
    for signature, name in _IMAGES:
        if data.startswith(signature):
            return name
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "webp"
    # "BM" begins words as well: the header's reserved bytes and size of the next part decide.
    header = int.from_bytes(data[14:18], "little")
    if (
        data.startswith(b"BM")
        and data[6:10] == b"\0\0\0\0"
        and header in {12, 40, 52, 56, 108, 124}
    ):
        return "bmp"
    return ""


def has_pdf_header(data: bytes, *, claimed: bool) -> bool:
    """Tell whether the bytes are a PDF.

    The header may follow some other bytes; then the name or the end of the file must agree, or
    a text about PDF would be taken for one.
    """
    place = data.find(b"%PDF-", 0, PDF_WINDOW)
    if place < 0:
        return False
    return not data[:place].strip(b"\xef\xbb\xbf \t\r\n\0") or claimed or b"%%EOF" in data[-2048:]


def archive_format(data: bytes) -> str:
    """Return the format of an archive that is no ZIP, or an empty string."""
    for signature, name in _ARCHIVES:
        if data.startswith(signature) and (signature not in _TEXTUAL or looks_binary(data)):
            return name
    return "tar" if is_tar(data) else ""


def is_tar(data: bytes) -> bool:
    """Whether bytes are a tar archive."""
    return data[257:262] == b"ustar"


def other_content(data: bytes) -> str:
    """Say what bytes that are no document look like, or return an empty string."""
    for signature, what in _OTHERS:
        if data.startswith(signature) and (signature not in _TEXTUAL or looks_binary(data)):
            return what
    if data[_PALM_KIND] == b"BOOKMOBI":
        return "a Kindle or Mobipocket e-book"
    if data[4:8] == b"ftyp":
        return "a film, sound or photo (MP4, QuickTime, HEIF or AVIF)"
    if data.startswith(b"RIFF") and data[8:12] in {b"WAVE", b"AVI "}:
        return "a sound or film (RIFF)"
    return ""


def wide_encoding(data: bytes) -> str:
    """Return the UTF-16 or UTF-32 encoding of bytes without a byte order mark, or nothing.

    In text of most scripts the upper bytes of many characters are zero, always on one side.
    """
    sample = data[: 4096 - len(data[:4096]) % 4 if len(data) >= 4 else 0]  # noqa: PLR2004 - one UTF-32 unit
    if not sample or len(data) % 2:
        return ""
    zeros = [sample[offset::4].count(0) / (len(sample) // 4) for offset in range(4)]
    if len(data) % 4 == 0 and min(zeros[2:]) > 0.95 and zeros[0] < 0.1:  # noqa: PLR2004 - shares of zeros
        return "utf-32-le"
    if len(data) % 4 == 0 and min(zeros[:2]) > 0.95 and zeros[3] < 0.1:  # noqa: PLR2004 - likewise
        return "utf-32-be"
    even, odd = (zeros[0] + zeros[2]) / 2, (zeros[1] + zeros[3]) / 2
    if odd > 0.4 and even < 0.05:  # noqa: PLR2004 - likewise
        return "utf-16-le"
    if even > 0.4 and odd < 0.05:  # noqa: PLR2004 - likewise
        return "utf-16-be"
    return ""


def looks_binary(data: bytes) -> bool:
    """Tell whether bytes hold more control characters than any text does."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")) or wide_encoding(data):
        return False
    sample = data[:65_536]
    if b"\x1b$)" in sample:  # ISO 2022 switches its character sets by control characters
        sample = sample.translate(None, b"\x0e\x0f")
    controls = len(sample) - len(sample.translate(None, _CONTROL))
    # A text with a few stray NULs stays a text, but no table of letters has controls among them.
    bound = _NOISE_CONTROLS if _is_noise(sample) else _CONTROLS
    return controls > bound * len(sample)


def _is_noise(sample: bytes) -> bool:
    """Tell whether many bytes are beyond ASCII and few of them UTF-8."""
    beyond = len(sample.translate(None, _ASCII))
    if beyond <= _NOISE_BEYOND * len(sample):
        return False
    return sample.decode("utf-8", "replace").count("\ufffd") > _NOISE_BEYOND * beyond


def is_mailbox(data: bytes, least: int) -> bool:
    """Whether a text begins with the separator of a mailbox and has so many of them, 1 or 2."""
    found = MESSAGE_START.match(data)
    return found is not None and (least == 1 or MESSAGE_START.search(data, found.end()) is not None)
