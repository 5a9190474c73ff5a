"""Every format that can be read, how, and whether it can be read here."""

import platform
from importlib.metadata import PackageNotFoundError, version

from chapterhouse.reading.names import EXTENSIONS, IMAGES, LANGUAGES
from chapterhouse.reading.ocr import ENGINES, engine_names
from chapterhouse.types import FormatSupport

_PYTHON = "Python"
_DISTRIBUTIONS = {
    "pdf": ("pypdfium2",),
    "html": ("selectolax", "html-to-markdown"),
} | dict.fromkeys(
    ("docx", "xlsx", "xlsb", "doc", "ppt", "xls", "epub", "rtf", "msg", "typst"), ("xberg",)
)
_NOTES = {
    "pdf": "Pages, headings and tables; scanned pages need OCR.",
    "docx": "Headings, tables, notes, comments and headers; such a file has no pages.",
    "pptx": "One page a slide, with its notes and charts.",
    "ppt": "One page a slide; notes stand behind the last.",
    "odg": "Texts of the shapes, one page a page.",
    "odp": "One page a slide, with its notes.",
    "xlsx": "One page a sheet, as a table, with its shapes and comments.",
    "xlsb": "One page a sheet, as a table, with its shapes and comments.",
    "xls": "One page a sheet, as a table.",
    "ods": "One page a sheet, as a table, with its shapes and comments.",
    "eml": "Headers and body; each attachment is read by itself.",
    "msg": "Headers and body; each attachment is read by itself.",
    "csv": "One table; its first row is the heading.",
    "tsv": "One table; its first row is the heading.",
    "json": "Kept as a code block; minified files are indented.",
    "xml": "Kept as a code block; names of characters that it declares are written out.",
    "tex": "Headings, lists, code and all words; formulas as they are written.",
    **dict.fromkeys(("rst", "adoc", "org"), "Headings and code blocks; the rest as it stands."),
    "typst": "Headings, lists, code and words; what it would calculate is not shown.",
    "code": "Kept as a code block in its language.",
    "ics": "One section for each event and task.",
    "srt": "What is said, in paragraphs with the time at which each begins.",
    "vtt": "What is said, in paragraphs with the time at which each begins.",
    "zip": "Each file in it is read by itself.",
    "tar": "Each file in it is read by itself.",
    "gz": "The file in it, or each file of the tar in it, is read by itself.",
    "bz2": "The file in it, or each file of the tar in it, is read by itself.",
    "xz": "The file in it, or each file of the tar in it, is read by itself.",
    "mbox": "Each message is read by itself.",
}
_OCR_NOTE = "Text by OCR, which needs the extra `ocr` or tesseract."


def supported_formats() -> tuple[FormatSupport, ...]:
    """Return one row a format, in order of name; no reader is imported."""
    extensions = {**EXTENSIONS, "code": tuple(sorted(LANGUAGES))}
    return tuple(_row(name, extensions[name]) for name in sorted(extensions))


def _row(name: str, extensions: tuple[str, ...]) -> FormatSupport:
    if name in IMAGES:
        engines = " or ".join(ENGINES)
        return FormatSupport(name, extensions, engines, bool(engine_names()), _OCR_NOTE)
    distributions = _DISTRIBUTIONS.get(name, ())
    versions = {distribution: _version(distribution) for distribution in distributions}
    method = " + ".join(
        f"{distribution} {found}".strip() for distribution, found in versions.items()
    )
    return FormatSupport(
        name,
        extensions,
        method or f"{_PYTHON} {platform.python_version()}",
        all(versions.values()),
        _NOTES.get(name, ""),
    )


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
