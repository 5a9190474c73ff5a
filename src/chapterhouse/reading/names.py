"""Extensions: what a file's name says about it, which is advice and no more."""

from collections.abc import Mapping
from types import MappingProxyType

# Languages of a fenced block with their extensions, first those that are one of their own; names
# as GitHub Linguist and Pygments know them.
_OWN_NAMES = """
asm awk cmake conf css dart dockerfile go graphql java jsx less lisp lua makefile nim nix
php properties r sass scala scss sql svelte swift tcl toml tsx vim vue zig zsh
"""
_NAMED = """
bash=bash,sh batch=bat c=c,h cpp=cc,cpp,cxx,hpp ini=cfg,ini clojure=clj csharp=cs
diff=diff,patch elisp=el erlang=erl elixir=ex,exs fortran=f90 fsharp=fs groovy=gradle,groovy
haskell=hs json=ipynb julia=jl javascript=js,mjs kotlin=kt,kts objective-c=m ocaml=ml
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

# Extensions of every format but code.
EXTENSIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "pdf": ("pdf",),
        "docx": ("docx", "docm", "dotx", "dotm"),
        "pptx": ("pptx", "pptm", "ppsx", "ppsm", "potx", "potm"),
        "xlsx": ("xlsx", "xlsm", "xltx", "xltm"),
        "xlsb": ("xlsb",),
        "doc": ("doc", "dot"),
        "ppt": ("ppt", "pps", "pot"),
        "xls": ("xls", "xlt"),
        "odt": ("odt", "ott"),
        "odp": ("odp", "otp"),
        "ods": ("ods", "ots"),
        "odg": ("odg", "otg"),
        "epub": ("epub",),
        "rtf": ("rtf",),
        "eml": ("eml",),
        "msg": ("msg",),
        "html": ("html", "htm", "xhtml"),
        "md": ("md", "markdown", "mdown", "mkd"),
        "txt": ("txt", "text", "log"),
        "rst": ("rst",),
        "adoc": ("adoc", "asciidoc"),
        "org": ("org",),
        "tex": ("tex", "latex", "ltx"),
        "typst": ("typ", "typst"),
        "csv": ("csv",),
        "tsv": ("tsv", "tab"),
        "json": ("json", "jsonl", "ndjson", "geojson"),
        "yaml": ("yaml", "yml"),
        "xml": ("xml", "svg", "xsd", "xsl", "xslt", "rss", "atom", "opml", "kml", "gpx"),
        "ics": ("ics", "ical", "vcs"),
        "srt": ("srt",),
        "vtt": ("vtt",),
        "png": ("png",),
        "jpeg": ("jpg", "jpeg"),
        "tiff": ("tif", "tiff"),
        "bmp": ("bmp",),
        "gif": ("gif",),
        "webp": ("webp",),
        "zip": ("zip",),
        "tar": ("tar",),
        "gz": ("gz", "tgz"),
        "bz2": ("bz2", "tbz2", "tbz"),
        "xz": ("xz", "txz"),
        "mbox": ("mbox", "mbx"),
    }
)
# What holds files and no text.
ARCHIVES = frozenset({"zip", "tar", "gz", "bz2", "xz", "mbox"})
# ZIPs that hold a program and no documents.
_PROGRAMS = frozenset(
    {"aab", "aar", "apk", "appx", "crx", "ear", "egg", "ipa", "jar", "nupkg", "vsix", "war", "whl"}
    | {"xpi"}
)
PACKAGES = frozenset({"docx", "xlsx", "xlsb", "pptx", "odt", "ods", "odp", "odg"})
IMAGES = frozenset({"png", "jpeg", "tiff", "bmp", "gif", "webp"})
TEXTS = frozenset(
    {"md", "txt", "csv", "tsv", "json", "yaml", "xml", "html", "eml", "code"}
    | {"srt", "vtt", "ics", "rst", "adoc", "org", "tex", "typst"}
)

_BY_EXTENSION = MappingProxyType(
    {extension: name for name, extensions in EXTENSIONS.items() for extension in extensions}
    | dict.fromkeys(LANGUAGES, "code")
)


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
