"""Every format that can be read: its extensions, its kind, what reads it, and whether it can here.

What a file's name says about it is advice and no more.
"""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from chapterhouse import lazy
from chapterhouse.types import FormatSupport

if TYPE_CHECKING:
    from chapterhouse.reading import ocr
else:
    ocr = lazy("chapterhouse.reading.ocr")

METHOD = f"Python {platform.python_version()}"  # of readers that need no library
# An archive holds files and no text of its own; a package is a ZIP whose parts are looked into.
Kind = Literal["archive", "image", "package", "text", "other"]


@dataclass(frozen=True, slots=True)
class Format:
    """What is known of a format; ``libraries`` are distributions, none where Python reads it."""

    name: str
    extensions: tuple[str, ...]
    kind: Kind
    note: str
    libraries: tuple[str, ...]


def _format(name: str, extensions: str, kind: Kind, note: str = "", libraries: str = "") -> Format:
    return Format(name, tuple(extensions.split()), kind, note, tuple(libraries.split()))


# Languages of a fenced block with their extensions, first those that are one of their own; names
# as GitHub Linguist and Pygments know them.
_OWN_NAMES = """
asm awk cmake conf css dart dockerfile go graphql java jsx less lisp lua makefile nim nix
php properties r sass scala scss sql svelte swift tcl toml tsx vim vue zig zsh
"""
_NAMED = """
bash=bash,sh batch=bat c=c,h cpp=cc,cpp,cxx,hpp ini=cfg,ini clojure=clj csharp=cs
diff=diff,patch elisp=el erlang=erl elixir=ex,exs fortran=f90 fsharp=fs groovy=gradle,groovy
haskell=hs julia=jl javascript=js,mjs kotlin=kt,kts objective-c=m ocaml=ml
pascal=pas perl=pl,pm protobuf=proto powershell=ps1 python=py,pyi ruby=rb rust=rs hcl=tf
typescript=ts verilog=v vbnet=vb
"""
LANGUAGES: Mapping[str, str] = MappingProxyType(
    {name: name for name in _OWN_NAMES.split()}
    | {
        extension: language
        for language, _, extensions in (pair.partition("=") for pair in _NAMED.split())
        for extension in extensions.split(",")
    }
)

_SHEETS: Final = "One page a sheet, as a table, with its shapes and comments."
_SLIDES: Final = "One page a slide, with its notes"
_PPT: Final = "One page a slide; notes stand behind the last."
_MESSAGE: Final = "Headers and body; each attachment is read by itself."
_MARKUP: Final = "Headings and code blocks; the rest as it stands."
_ROWS: Final = "Tables under their headings, with the lines around them."
_SUBTITLES: Final = "What is said, in paragraphs with the time at which each begins."
_OCR: Final = "Text by OCR, which needs the extra `ocr` or tesseract."
_EACH: Final = "Each file in it is read by itself."
_PACKED: Final = "The file in it, or each file of the tar in it, is read by itself."
_PDF: Final = "Pages, headings, tables and the files in it; scanned pages need OCR."
_DOCX: Final = "Headings, numbers, tables, forms, notes and headers; it has no pages."
_CODE: Final = "Kept as a code block in its language."
_JSON: Final = "Kept as a code block; minified files are indented."
_NOTEBOOK: Final = "Markdown, code in its language, and what it printed; no pictures."
_XML: Final = "Kept as a code block; names of characters that it declares are written out."
_TEX: Final = "Headings, lists, code and all words; formulas as they are written."
_TYPST: Final = "Headings, lists, code and words; what it would calculate is not shown."

FORMATS: Final[Mapping[str, Format]] = MappingProxyType({
    one.name: one
    for one in (
        _format("pdf", "pdf", "other", _PDF, "pypdfium2"),
        _format("docx", "docx docm dotx dotm", "package", _DOCX),
        _format("pptx", "pptx pptm ppsx ppsm potx potm", "package", f"{_SLIDES} and charts."),
        _format("xlsx", "xlsx xlsm xltx xltm", "package", _SHEETS, "xberg"),
        _format("xlsb", "xlsb", "package", _SHEETS, "xberg"),
        _format("doc", "doc dot", "other", "", "xberg"),
        _format("ppt", "ppt pps pot", "other", _PPT, "xberg"),
        _format("xls", "xls xlt", "other", "One page a sheet, as a table.", "xberg"),
        _format("odt", "odt ott", "package"),
        _format("odp", "odp otp", "package", f"{_SLIDES}."),
        _format("ods", "ods ots", "package", _SHEETS),
        _format("odg", "odg otg", "package", "Texts of the shapes, one page a page."),
        _format("epub", "epub", "other", "", "xberg"),
        _format("rtf", "rtf", "other", "", "xberg"),
        _format("eml", "eml", "text", _MESSAGE),
        _format("msg", "msg", "other", _MESSAGE, "xberg"),
        _format("html", "html htm xhtml", "text", "", "selectolax html-to-markdown"),
        _format("md", "md markdown mdown mkd", "text"),
        _format("txt", "txt text log", "text"),
        _format("rst", "rst", "text", _MARKUP),
        _format("adoc", "adoc asciidoc", "text", _MARKUP),
        _format("org", "org", "text", _MARKUP),
        _format("tex", "tex latex ltx", "text", _TEX),
        _format("typst", "typ typst", "text", _TYPST, "xberg"),
        _format("csv", "csv", "text", _ROWS),
        _format("tsv", "tsv tab", "text", _ROWS),
        _format("json", "json jsonl ndjson geojson", "text", _JSON),
        _format("yaml", "yaml yml", "text"),
        _format("ipynb", "ipynb", "text", _NOTEBOOK),
        _format("xml", "xml svg xsd xsl xslt rss atom opml kml gpx", "text", _XML),
        _format("ics", "ics ical vcs", "text", "One section for each event and task."),
        _format("srt", "srt", "text", _SUBTITLES),
        _format("vtt", "vtt", "text", _SUBTITLES),
        _format("code", " ".join(sorted(LANGUAGES)), "text", _CODE),
        _format("png", "png", "image", _OCR),
        _format("jpeg", "jpg jpeg", "image", _OCR),
        _format("tiff", "tif tiff", "image", _OCR),
        _format("bmp", "bmp", "image", _OCR),
        _format("gif", "gif", "image", _OCR),
        _format("webp", "webp", "image", _OCR),
        _format("zip", "zip", "archive", _EACH),
        _format("tar", "tar", "archive", _EACH),
        _format("gz", "gz tgz", "archive", _PACKED),
        _format("bz2", "bz2 tbz2 tbz", "archive", _PACKED),
        _format("xz", "xz txz", "archive", _PACKED),
        _format("mbox", "mbox mbx", "archive", "Each message is read by itself."),
    )
})  # fmt: skip


def _of(kind: Kind) -> frozenset[str]:
    return frozenset(one.name for one in FORMATS.values() if one.kind == kind)


ARCHIVES, PACKAGES, IMAGES, TEXTS = _of("archive"), _of("package"), _of("image"), _of("text")
# ZIPs that hold a program and no documents.
_PROGRAMS = frozenset(
    {"aab", "aar", "apk", "appx", "crx", "ear", "egg", "ipa", "jar", "nupkg", "vsix", "war", "whl"}
    | {"xpi"}
)
_BY_EXTENSION: Final = {ending: one.name for one in FORMATS.values() for ending in one.extensions}


def extension(name: str) -> str:
    """Return a file name's extension in lower case without its dot, or an empty string.

    A name such as ``Makefile`` that is known by itself counts as its own extension.
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1].lower()
    stem, dot, suffix = last.rpartition(".")
    if dot and (stem or suffix in _BY_EXTENSION):
        return suffix
    return last if last in {"makefile", "dockerfile"} else ""


def claimed_format(name: str) -> str:
    """Return the format that a file's name claims, or an empty string."""
    return _BY_EXTENSION.get(extension(name), "")


def may_be_archive(name: str) -> bool:
    """Whether a ZIP of this name may be an archive: not where it says that it is a document."""
    claimed = claimed_format(name)
    return claimed == "zip" or (not claimed and extension(name) not in _PROGRAMS)


def language(name: str) -> str:
    """Return the programming language that a file's name claims, or an empty string."""
    return LANGUAGES.get(extension(name), "")


def supported_formats() -> tuple[FormatSupport, ...]:
    """Return one row a format, in order of name; no reader is imported."""
    return tuple(_row(FORMATS[name]) for name in sorted(FORMATS))


def _row(one: Format) -> FormatSupport:
    if one.kind == "image":
        method, available = " or ".join(ocr.ENGINES), bool(ocr.engine_names())
    else:
        versions = {library: _version(library) for library in one.libraries}
        method = " + ".join(f"{library} {found}".strip() for library, found in versions.items())
        method, available = method or METHOD, all(versions.values())
    return FormatSupport(one.name, one.extensions, method, available, one.note)


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
