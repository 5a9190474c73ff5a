"""What stands inside a ZIP or OLE container: told by its parts, never by the file's name."""

import re

from chapterhouse.errors import RejectedError
from chapterhouse.reading import ole
from chapterhouse.reading.zip_directory import Entry, inflate

_PART_CEILING = 1_000_000
_MIMETYPES = (
    ("application/epub+zip", "epub"),
    ("application/vnd.oasis.opendocument.text", "odt"),
    ("application/vnd.oasis.opendocument.presentation", "odp"),
    ("application/vnd.oasis.opendocument.spreadsheet", "ods"),
    ("application/vnd.oasis.opendocument.graphics", "odg"),
)
# Content types of main parts ([ECMA-376] part 1, 11.3) and their macro-enabled and template kin.
_MAIN_PARTS = re.compile(
    r"vnd\.openxmlformats-officedocument\.(?P<family>wordprocessingml|spreadsheetml|"
    r"presentationml)\.(?:document|sheet|presentation|slideshow|template)\.main\+xml"
    r"|vnd\.ms-(?P<macro>word|excel|powerpoint)\.\w+\.macroEnabled(?:Template|12)?\.main\+xml",
    re.IGNORECASE,
)
_BINARY_SHEETS = "application/vnd.ms-excel.sheet.binary.macroenabled.main"
_DRAWINGS = re.compile(
    r"application/vnd\.ms-visio\.(?:drawing|template)\.(?:macroEnabled\.)?main\+xml", re.IGNORECASE
)
_FAMILIES = {
    "wordprocessingml": "docx",
    "word": "docx",
    "spreadsheetml": "xlsx",
    "excel": "xlsx",
    "presentationml": "pptx",
    "powerpoint": "pptx",
}
_MAIN_NAMES = {
    "word/document.xml": "docx",
    "xl/workbook.xml": "xlsx",
    "xl/workbook.bin": "xlsb",
    "visio/document.xml": "vsdx",
    "ppt/presentation.xml": "pptx",
}
_PACKAGE_MARKS = frozenset({"mimetype", "[Content_Types].xml", "META-INF/container.xml"})
_STREAMS = {
    "WordDocument": "doc",
    "Workbook": "xls",
    "Book": "xls",
    "PowerPoint Document": "ppt",
    "__properties_version1.0": "msg",
}
# Obfuscated fonts are the one use of encryption.xml that leaves an EPUB readable.
_FONT_MANGLING = re.compile(
    rb"http://www\.idpf\.org/2008/embedding|http://ns\.adobe\.com/pdf/enc#RC"
)
_ALGORITHM = re.compile(rb"Algorithm\s*=\s*[\"']([^\"']*)")


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
    return "epub" if "META-INF/container.xml" in parts and _has_opf(parts) else ""


def is_package(entries: tuple[Entry, ...]) -> bool:
    """Whether a ZIP holds the parts of one document, or else files of its own."""
    names = {entry.name for entry in entries}
    return bool(names & _PACKAGE_MARKS)


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


def ole_format(data: bytes) -> str:
    """Return the format of an OLE compound file, or an empty string.

    Raises:
        RejectedError: ``encrypted`` or ``unreadable``.
    """
    file = ole.CompoundFile(data)
    if ole.is_encrypted(file):
        raise RejectedError(
            "encrypted",
            "The document is protected by a password.",
            hint="Save it without a password and add it again.",
        )
    # A message may carry other files beside its own streams, so its mark comes first.
    marks = ("__properties_version1.0", *_STREAMS)
    return next((_STREAMS[mark] for mark in marks if file.has(mark)), "")


def _ooxml_format(types: str, parts: dict[str, Entry]) -> str:
    if match := _MAIN_PARTS.search(types):
        return _FAMILIES[(match["family"] or match["macro"]).lower()]
    if _BINARY_SHEETS in types.lower():
        return "xlsb"
    if _DRAWINGS.search(types):
        return "vsdx"
    for name, found in _MAIN_NAMES.items():
        if name in parts:
            return found
    return ""


def _has_opf(parts: dict[str, Entry]) -> bool:
    return any(name.lower().endswith(".opf") for name in parts)


def _decode(data: bytes) -> str:
    return data.decode("utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8", "replace")
