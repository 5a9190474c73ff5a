"""What the parent looks at before any parser: size, containers, encryption, declared sizes.

Nothing here follows a structure that the file controls for longer than the limits allow.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from chapterhouse.errors import RejectedError
from chapterhouse.reading import ole
from chapterhouse.reading.detect import (
    archive_format,
    container_format,
    has_pdf_header,
    image_format,
    other_content,
)
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.zip_directory import Entry, check_claims, inflate, read_directory

_XML_PARTS = (".xml", ".rels", ".opf", ".ncx", ".xhtml", ".html", ".htm", ".svg", ".vml")


def preflight(data: bytes, name: str, limits: Limits) -> None:
    """Refuse what must not reach a parser. ``name`` stands in messages only.

    Raises:
        RejectedError: with one of the codes of `chapterhouse.reading.limits`.
    """
    if not data:
        raise RejectedError("empty", f"{name} has no bytes.")
    if len(data) > limits.file_bytes:
        sentence = f"{name} has {len(data):,} bytes; the limit is {limits.file_bytes:,}."
        raise RejectedError("too-large", sentence)
    if data.startswith(ole.SIGNATURE):
        return  # the worker looks into it
    if found := container_format(data, name, limits):
        if found != "zip":  # an archive is bounded as it is unpacked
            entries = read_directory(data, limits)
            check_claims(data, entries, limits)
            if found == "epub":  # readers of the others look at each part that they parse
                _check_parts(data, entries)
    elif not (  # the pixels of an image are counted before it is decoded
        image_format(data)
        or has_pdf_header(data, claimed=True)
        or data.startswith(b"{\\rtf")
        or other_content(data)
        or archive_format(data)
    ):
        _check_text(data, limits)


def _check_parts(data: bytes, entries: tuple[Entry, ...]) -> None:
    """Refuse declarations of entities; the pages of an e-book may have a document type."""
    for entry in entries:
        if not entry.name.lower().endswith(_XML_PARTS) or not entry.size:
            continue
        if _declares_entities(entry_doctype(data, entry)):
            sentence = f"{entry.name!r} in the container declares entities, as XML bombs do."
            raise RejectedError("xml-doctype", sentence)


def _check_text(data: bytes, limits: Limits) -> None:
    """Refuse declarations of entities that are more than characters, and endless lines."""
    if data[:200].lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n").startswith(b"<"):
        entities(doctype(data))
    start = 0
    while start + limits.line_bytes < len(data):
        start = 1 + data.rfind(b"\n", start, start + limits.line_bytes + 1)
        if not start:
            sentence = f"It has a line of more than {limits.line_bytes:,} bytes."
            raise RejectedError("line-too-long", sentence, hint="Break the text into lines.")


_PROLOG_CEILING = 1_000_000
_DECLARATION_CEILING = 200_000  # characters
_PROLOG_BYTES = 4_096
_LONG_PROLOG_BYTES = 1_100_000
_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
    (b"\x00<", "utf-16-be"),
    (b"<\x00", "utf-16-le"),
)
_DOCTYPE = re.compile(r"<!doctype", re.IGNORECASE)
_ENTITY = re.compile(r"<!entity|<!attlist|\[|%", re.IGNORECASE)
_MOST: Final = 1_000  # entities
_LONGEST: Final = 1_000  # characters of one, written out
_DEEPEST: Final = 4  # entities in entities
_GROWTH: Final = 1_000_000  # characters that all of them together may add to a file
_PREDEFINED: Final = frozenset({"lt", "gt", "amp", "quot", "apos"})
_QUOTED: Final = r"\"[^\"]*\"|'[^']*'"
_HEAD: Final = re.compile(rf"<!doctype\b(?:{_QUOTED}|[^\"'\[>])*+", re.IGNORECASE)
_PIECE: Final = re.compile(
    rf"\s+|<!--.*?-->|<\?.*?\?>|%(?P<used>[^\s;%]+);"
    rf"|<!(?P<kind>[A-Z]+)\b(?P<body>(?:{_QUOTED}|[^\"'>])*+)>",
    re.DOTALL,
)
_ENTITY_DECLARATION: Final = re.compile(
    rf"\s+(?P<parameter>%\s+)?(?P<name>[^\s\"'%&;<>]+)\s+(?:(?P<value>{_QUOTED})|SYSTEM|PUBLIC)"
)
_REFERENCE: Final = re.compile(
    r"&(?:#(?P<decimal>\d{1,7})|#x(?P<hexadecimal>[0-9A-Fa-f]{1,6})|(?P<name>[^\s&;#]{1,100}));"
)
_OUTSIDE: Final = re.compile(
    r"<!\[CDATA\[.*?\]\]>|<!--.*?-->|&(?P<name>[^\s&;#]{1,100});", re.DOTALL
)


def doctype(data: bytes) -> str:
    """Return the document type declaration in front of the first element, or an empty string.

    What is behind the declaration follows, up to a ceiling.
    """
    return declaration(_decode(data[:_PROLOG_CEILING]), cut=len(data) > _PROLOG_CEILING)


def declaration(text: str, *, cut: bool = False) -> str:
    """Return what `doctype` does of a text; ``cut`` where the file goes on behind it."""
    place = 0
    while (place := text.find("<", place)) >= 0:
        if text.startswith("<!--", place):
            place = text.find("-->", place + 4)
        elif text.startswith("<?", place):
            place = text.find("?>", place + 2)
        elif _DOCTYPE.match(text, place):
            return text[place : place + _DECLARATION_CEILING]
        else:
            return ""
        if place < 0:
            # A comment longer than any prolog hides what follows it: assume the worst.
            return "<!DOCTYPE unseen [" if cut else ""
        place += 1
    return ""


def entry_doctype(data: bytes, entry: Entry) -> str:
    """Return what `doctype` finds in an entry of a ZIP container, unpacking little of it."""
    head = inflate(data, entry, _PROLOG_BYTES)
    declaration = doctype(head)
    if len(head) == _PROLOG_BYTES and (b"<!--" in head or declaration):
        # A comment or a long declaration may reach beyond the first bytes.
        return doctype(inflate(data, entry, _LONG_PROLOG_BYTES))
    return declaration


def _declares_entities(declaration: str) -> bool:
    """Tell whether a document type declaration has an internal subset, where entities stand."""
    quoted = re.sub(r"\"[^\"]*\"|'[^']*'", "", declaration.split(">", 1)[0])
    return bool(_ENTITY.search(quoted))


def _decode(data: bytes) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace").lstrip("\ufeff")
    return data.decode("latin-1")


class Entities(NamedTuple):
    """What stands for each name, and how long the declaration is that says so."""

    values: Mapping[str, str]
    length: int


def entities(declaration: str) -> Entities:
    """Return the entities of a text that begins with a document type declaration."""
    head = _HEAD.match(declaration)
    place = head.end() if head else 0
    if declaration[place : place + 1] != "[":
        return Entities({}, place)
    stated: dict[str, str] = {}
    place += 1
    while not declaration.startswith("]", place):
        piece = _PIECE.match(declaration, place)
        if piece is None:
            raise _refused("its document type is too long or cannot be understood")
        if piece["used"]:
            raise _refused(f"its document type uses the parameter entity {piece['used'][:60]!r}")
        if piece["kind"] == "ENTITY":
            _declare(piece["body"], stated)
        if len(stated) > _MOST:
            raise _refused(f"it declares more than {_MOST:,} entities")
        place = piece.end()
    values: dict[str, str] = {}
    for name in stated:
        _value(name, stated, values, 1)
    return Entities(values, place + 1)


def expand_entities(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its entities written out, but for those in comments and CDATA."""
    names = (found["name"] for found in _OUTSIDE.finditer(text))
    if sum(len(values.get(name, "")) for name in names if name) > len(text) + _GROWTH:
        raise _refused("they would make it grow as XML bombs do")
    return _OUTSIDE.sub(lambda found: values.get(found["name"], found[0]), text)


def _declare(body: str, stated: dict[str, str]) -> None:
    found = _ENTITY_DECLARATION.match(body)
    if found is None:
        raise _refused("one of them cannot be understood")
    name = found["name"][:60]
    if found["parameter"]:
        if found["value"]:
            raise _refused(f"{name!r} is a parameter entity")
    elif not found["value"]:
        raise _refused(f"{name!r} leads out of the file")
    elif found["name"] not in _PREDEFINED:
        stated.setdefault(found["name"], found["value"][1:-1])  # the first one holds


def _value(name: str, stated: Mapping[str, str], values: dict[str, str], depth: int) -> str:
    """Return what an entity stands for, with the entities in it written out."""
    if name in values:
        return values[name]
    if depth > _DEEPEST:
        raise _refused(f"{name[:60]!r} stands too deep in others, or in itself")

    def instead(found: re.Match[str]) -> str:
        if inner := found["name"]:
            return _value(inner, stated, values, depth + 1) if inner in stated else found[0]
        code = int(found["decimal"] or found["hexadecimal"], 10 if found["decimal"] else 16)
        return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else found[0]  # noqa: PLR2004 - Unicode

    value = _REFERENCE.sub(instead, stated[name])
    if len(value) > _LONGEST:
        raise _refused(f"{name[:60]!r} stands for more than {_LONGEST:,} characters")
    if "<" in value:
        raise _refused(f"{name[:60]!r} holds markup")
    values[name] = value
    return value


def _refused(reason: str) -> RejectedError:
    return RejectedError(
        "xml-doctype",
        f"The XML declares entities that are not written out: {reason}.",
        hint="Save it without its DOCTYPE and add that.",
    )
