"""What an XML file declares before its first element, found without an XML parser.

Entities (billion laughs, external files) can only be declared in a document type declaration,
so a file that has none is safe from them whatever its parser does.
"""

import re

from chapterhouse.reading.zip_directory import Entry, inflate

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
    """Return what `doctype` finds in an entry of a ZIP container, unpacking little of it.

    Raises:
        RejectedError: ``archive-damaged``.
    """
    head = inflate(data, entry, _PROLOG_BYTES)
    declaration = doctype(head)
    if len(head) == _PROLOG_BYTES and (b"<!--" in head or declaration):
        # A comment or a long declaration may reach beyond the first bytes.
        return doctype(inflate(data, entry, _LONG_PROLOG_BYTES))
    return declaration


def declares_entities(declaration: str) -> bool:
    """Tell whether a document type declaration has an internal subset, where entities stand."""
    quoted = re.sub(r"\"[^\"]*\"|'[^']*'", "", declaration.split(">", 1)[0])
    return bool(_ENTITY.search(quoted))


def _decode(data: bytes) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace").lstrip("\ufeff")
    return data.decode("latin-1")
