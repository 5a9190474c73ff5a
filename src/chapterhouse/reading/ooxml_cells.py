"""Cells of Excel files as they are shown, where the all-in-one library gives what is stored.

It gives ``0.25`` for a cell that shows ``25%``, and nothing for a formula that no program has
calculated. Such cells become texts before it reads the sheet; all others stay as they are.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from xml.sax.saxutils import escape

from chapterhouse.reading.number_formats import (
    BUILT_IN,
    formulas_notice,
    not_calculated,
    show_number,
)
from chapterhouse.reading.ooxml import children, descendants, main_part, relations
from chapterhouse.reading.xml_parts import Parts
from chapterhouse.types import Notice

_MAIN = "xl/workbook.xml"
_ATTRIBUTES = rb"(?:\s+[\w:]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*"
_CELL = re.compile(rb"<((?:\w+:)?c)(" + _ATTRIBUTES + rb")\s*>(.*?)</\1\s*>", re.DOTALL)
_TYPE = re.compile(rb"\st\s*=\s*[\"'](\w+)[\"']")
_STYLE = re.compile(rb"\ss\s*=\s*[\"'](\d+)[\"']")
_VALUE = re.compile(rb"<(?:\w+:)?v(?:\s[^>]*)?>([^<]*)</")
_FORMULA = re.compile(rb"<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>([^<]*)</)")


@dataclass(slots=True)
class _Cells:
    """Rewrites cells; counts the formulas without a value.

    Attributes:
        formats: Format codes by the number of the cell's style.
        from_1904: Whether days are counted from 1904.
    """

    formats: Mapping[bytes, str]
    from_1904: bool
    not_calculated: int = 0

    def show(self, cell: re.Match[bytes]) -> bytes:
        """Return a cell, as text where it shows something else than it stores."""
        tag, attributes, content = cell.groups()
        kind = _TYPE.search(attributes)
        if kind is not None and kind[1] != b"n":
            return cell[0]
        value = _VALUE.search(content)
        stored = value[1].strip() if value else b""
        if stored:
            style = _STYLE.search(attributes)
            code = self.formats.get(style[1] if style else b"0", "")
            shown = _shown(stored, code, from_1904=self.from_1904) if code else b""
        else:
            shown = self._formula(content)
        if not shown:
            return cell[0]
        prefix = tag[:-1]
        kept = _TYPE.sub(b"", attributes)
        return b'<%b%b t="str"><%bv>%b</%bv></%b>' % (tag, kept, prefix, shown, prefix, tag)

    def _formula(self, content: bytes) -> bytes:
        formula = _FORMULA.search(content)
        if formula is None:
            return b""
        self.not_calculated += 1
        text = unescape((formula[1] or b"").decode("utf-8", "replace"))
        return escape(not_calculated(text)).encode()


@lru_cache(maxsize=10_000)
def _shown(stored: bytes, code: str, *, from_1904: bool) -> bytes:
    number = stored.decode("ascii", "replace")
    return escape(show_number(number, code, from_1904=from_1904)).encode()


def show_cells(parts: Parts) -> tuple[Notice, ...]:
    """Make texts of the cells that show something else than they store.

    Raises:
        RejectedError: as `Parts.content`.
    """
    main = main_part(parts, _MAIN)
    targets = relations(parts, main)
    styles = next((found.target for found in targets if found.kind == "styles"), "")
    cells = _Cells(_formats(parts, styles), _counts_from_1904(parts, main))
    for relation in targets:
        content = parts.content(relation.target) if relation.kind == "worksheet" else None
        if content is None or content.startswith((b"\xff\xfe", b"\xfe\xff")):
            continue  # two bytes a character, which no program is known to write
        shown = _CELL.sub(cells.show, content)
        if shown != content:
            parts.replace(relation.target, shown)
    return formulas_notice(cells.not_calculated)


def _formats(parts: Parts, styles: str) -> dict[bytes, str]:
    """Return the codes of formats that are not General, by the number of the cell's style."""
    root = parts.xml(styles) if styles else None
    if root is None:
        return {}
    codes = {str(number): code for number, code in BUILT_IN.items()}
    codes |= {f.get("numFmtId", ""): f.get("formatCode", "") for f in descendants(root, "numFmt")}
    cells = next(descendants(root, "cellXfs"), None)
    used = children(cells, "xf") if cells is not None else ()
    named = (codes.get(style.get("numFmtId", "0"), "") for style in used)
    return {b"%d" % number: code for number, code in enumerate(named) if code}


def _counts_from_1904(parts: Parts, main: str) -> bool:
    book = parts.xml(main)
    properties = next(descendants(book, "workbookPr"), None) if book is not None else None
    return properties is not None and properties.get("date1904", "0") in {"1", "true", "on"}
