"""Entities that an XML file declares for itself: plain characters are written out, no more.

Nothing is ever fetched. What could grow without end, leads out of the file or holds markup is
refused ([XML] 4.2 to 4.5); a parameter entity that is declared and not used does nothing.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from chapterhouse.errors import RejectedError

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
_ENTITY: Final = re.compile(
    rf"\s+(?P<parameter>%\s+)?(?P<name>[^\s\"'%&;<>]+)\s+(?:(?P<value>{_QUOTED})|SYSTEM|PUBLIC)"
)
_REFERENCE: Final = re.compile(
    r"&(?:#(?P<decimal>\d{1,7})|#x(?P<hexadecimal>[0-9A-Fa-f]{1,6})|(?P<name>[^\s&;#]{1,100}));"
)
_OUTSIDE: Final = re.compile(
    r"<!\[CDATA\[.*?\]\]>|<!--.*?-->|&(?P<name>[^\s&;#]{1,100});", re.DOTALL
)


class Entities(NamedTuple):
    """What stands for each name, and how long the declaration is that says so."""

    values: Mapping[str, str]
    length: int


def entities(declaration: str) -> Entities:
    """Return the entities of a text that begins with a document type declaration.

    Raises:
        RejectedError: ``xml-doctype``, one of them is not plain characters, or not bounded.
    """
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


def written_out(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its entities written out, but for those in comments and CDATA.

    Raises:
        RejectedError: ``xml-doctype``, it would grow too much.
    """
    names = (found["name"] for found in _OUTSIDE.finditer(text))
    if sum(len(values.get(name, "")) for name in names if name) > len(text) + _GROWTH:
        raise _refused("they would make it grow as XML bombs do")
    return _OUTSIDE.sub(lambda found: values.get(found["name"], found[0]), text)


def _declare(body: str, stated: dict[str, str]) -> None:
    found = _ENTITY.match(body)
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
