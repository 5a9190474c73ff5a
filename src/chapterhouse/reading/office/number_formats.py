"""Numbers as a cell of a spreadsheet shows them, by its format code ([ECMA-376] part 1, 18.8.31).

Only in writings that no country reads otherwise: a point before the decimals, no separators of
thousands, so that "1,234" is nowhere taken for one and a bit, and dates as in ISO 8601. Of
fractions and powers of ten the stored number says more.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from functools import lru_cache, partial
from html import unescape
from operator import eq, ge, gt, le, lt, ne
from typing import Final
from xml.sax.saxutils import escape

from chapterhouse.reading.office.ooxml import children, descendants, main_part, relations
from chapterhouse.reading.office.parts import Parts
from chapterhouse.types import Notice

# Formats that files name by number alone; those of money in a currency that the file does not say.
BUILT_IN: Final = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: "#,##0", 6: "#,##0", 7: "#,##0.00",
    8: "#,##0.00", 9: "0%", 10: "0.00%", 14: "m/d/yy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy",
    18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "m/d/yy h:mm",
    37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)", 41: "#,##0", 42: "#,##0", 43: "#,##0.00", 44: "#,##0.00",
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0",
}  # fmt: skip
_TOKEN: Final = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_(?P<room>.)|\*(?P<fill>.)'
    r"|\[\$(?P<symbol>[^\]-]*)[^\]]*\]|\[(?P<test>[<>=]{1,2})(?P<bound>-?\d+(?:\.\d+)?)\]"
    r"|\[(?P<elapsed>[hHmMsS]+)\]|\[[^\]]*\]|(?P<digit>[0#?])|(?P<plain>.)",
    re.DOTALL,
)
_OTHERWISE_SHOWN: Final = frozenset("yYmMdDhHsSaAgGeEbBnN@/")  # dates, powers, fractions, text
# Of a bound and a value, in this order.
_TESTS: Final[Mapping[str, Callable[[Decimal, Decimal], bool]]] = {
    "<": gt, "<=": ge, ">": lt, ">=": le, "=": eq, "<>": ne,
}  # fmt: skip
_PRECISION: Final = Context(prec=15)  # digits of a number in a spreadsheet
_MOST_DECIMALS: Final = 30
_LONGEST_CODE: Final = 255
_SAYS_SOMETHING: Final = re.compile(r"[^\W_]")
_DAY: Final = 86_400  # seconds
_SECONDS_1904: Final = 1_462 * _DAY  # by which workbooks of early Macintoshes count less
_LEAP_DAY: Final = 60 * _DAY  # 29 February 1900, which spreadsheets count and no calendar has
_LAST_DAY: Final = 2_958_466 * _DAY  # the end of the year 9999
_MAIN = "xl/workbook.xml"
_ATTRIBUTES = rb"(?:\s+[\w:]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*"
_CELL = re.compile(rb"<((?:\w+:)?c)(" + _ATTRIBUTES + rb")\s*>(.*?)</\1\s*>", re.DOTALL)
_TYPE = re.compile(rb"\st\s*=\s*[\"'](\w+)[\"']")
_STYLE = re.compile(rb"\ss\s*=\s*[\"'](\d+)[\"']")
_VALUE = re.compile(rb"<(?:\w+:)?v(?:\s[^>]*)?>([^<]*)</")
_FORMULA = re.compile(rb"<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>([^<]*)</)")


@dataclass(frozen=True, slots=True)
class _Section:
    """What is shown of some numbers."""

    pieces: tuple[tuple[str, bool], ...]  # literal text, or a placeholder of a digit, or the point
    scale: int  # power of ten that the number is multiplied by before it is shown
    holds: Callable[[Decimal], bool] | None  # which numbers; None where it states no condition

    @property
    def marks(self) -> tuple[str, str]:
        """The placeholders before and behind the point."""
        marks = "".join(piece for piece, is_placeholder in self.pieces if is_placeholder)
        before, _, behind = marks.partition(".")
        return before, behind


def show_number(stored: str, code: str, *, from_1904: bool = False) -> str:
    """Return a number as its cell shows it; empty where the stored number says it better.

    It is stored such as ``0.25`` or ``1.5E3``; the code of its format is such as ``0%`` or
    ``#,##0.00 "€";[Red]-#,##0.00 "€"``.
    """
    try:
        value = _PRECISION.create_decimal(stored)
        if value.is_finite() and abs(value.adjusted()) <= _MOST_DECIMALS:
            signs = _moment_signs(code)
            return _show_moment(value, signs, from_1904=from_1904) if signs else _show(value, code)
    except InvalidOperation:  # no number, or a format of a hundred per cent signs
        pass
    return ""


def not_calculated(formula: str) -> str:
    """Return what stands for a formula without a value; its text is unknown where it is shared."""
    text = " ".join(formula.split())
    return f"={text} (not calculated)" if text else "(not calculated)"


def formulas_notice(number: int) -> tuple[Notice, ...]:
    """Return a notice of formulas without a value, if there are any."""
    if not number:
        return ()
    sentence = (
        f"Formulas that no program has calculated: {number:,}. Open the file in a spreadsheet "
        "program, save it and add it again to have their values."
    )
    return (Notice("not-calculated", sentence),)


@lru_cache(maxsize=1_000)
def _moment_signs(code: str) -> str:
    """Return the letters of a format of dates or times, ``[`` where it counts on; else nothing."""
    signs = ""
    for token in _TOKEN.finditer(code[:_LONGEST_CODE]):
        plain = (token["plain"] or "").lower()
        if plain == ";":
            break
        if token["elapsed"]:
            signs += "[" + token["elapsed"][0].lower()
        elif token["digit"] in {"#", "?"} or plain in {"@", "e", "g", "n"}:
            return ""  # a number, text or year of another calendar
        elif plain in "ymdhs":
            signs += plain
    return signs


def _show_moment(value: Decimal, signs: str, *, from_1904: bool) -> str:
    """Return a date, time of day or duration; empty for what is none."""
    seconds = round(value * _DAY)
    has_time = "h" in signs or "s" in signs or "[" in signs
    has_date = "y" in signs or "d" in signs or not has_time
    if not 0 <= seconds < _LAST_DAY:
        return ""
    if not has_date:
        hours, rest = divmod(seconds if "[" in signs else seconds % _DAY, 3_600)
        clock = f"{hours:02}:{rest // 60:02}"
        return clock if "s" not in signs else f"{clock}:{rest % 60:02}"
    if from_1904:
        seconds += _SECONDS_1904
    if seconds < _DAY or _LEAP_DAY <= seconds < _LEAP_DAY + _DAY:
        return ""
    days = timedelta(seconds=seconds, days=seconds < _LEAP_DAY)
    moment = datetime(1899, 12, 30) + days  # noqa: DTZ001 - of no time zone, as in the cell
    if not has_time or not seconds % _DAY:  # programs write midnight for a day alone
        return f"{moment:%Y-%m-%d}"
    return moment.isoformat(" ", "seconds" if "s" in signs else "minutes")


def _show(value: Decimal, code: str) -> str:
    """Return a number by its format; raises `InvalidOperation` where the format is absurd."""
    section = _chosen(_sections(code), value)
    shown = " ".join(_fill(section, abs(value)).split()) if section else ""
    if not _SAYS_SOMETHING.search(shown):  # hidden by its format, and there all the same
        return ""
    is_marked = "-" in shown or "(" in shown or not any(letter in "123456789" for letter in shown)
    return shown if value >= 0 or is_marked else f"-{shown}"


def _chosen(sections: Sequence[_Section], value: Decimal) -> _Section | None:
    """Return the section for a value: the first that holds; without conditions by its sign."""
    if any(section.holds for section in sections):
        fits = (s for s in sections if s.holds is None or s.holds(value))
        return next(fits, None)
    own = 1 if value < 0 else 2 if value == 0 else 0  # positive; negative; zero
    return sections[own if own < len(sections) else 0] if sections else None


@lru_cache(maxsize=1_000)
def _sections(code: str) -> tuple[_Section, ...]:
    """Parse a format; nothing for dates, texts, fractions, powers of ten and ``General``."""
    sections: list[_Section] = []
    tokens: list[re.Match[str]] = []
    for token in _TOKEN.finditer(code[:_LONGEST_CODE] + ";"):
        if token["plain"] != ";":
            tokens.append(token)
            continue
        is_number = not any(t["elapsed"] or (t["plain"] or "") in _OTHERWISE_SHOWN for t in tokens)
        if is_number:
            sections.append(_section(tokens))
        elif len(sections) < 3:  # noqa: PLR2004 - the fourth is of texts
            return ()
        tokens = []
    return tuple(sections[:3])


def _section(tokens: Sequence[re.Match[str]]) -> _Section:
    pieces: list[tuple[str, bool]] = []
    scale = 0
    last_digit = max((i for i, token in enumerate(tokens) if token["digit"]), default=-1)
    has_point = False
    holds = None
    for place, token in enumerate(tokens):
        plain = token["plain"]
        if token["digit"]:
            pieces.append((token["digit"], True))
        elif plain == "." and not has_point:
            pieces.append((".", True))
            has_point = True
        elif plain == ",":  # of thousands between digits, a division by them behind the last
            scale -= 3 * (0 <= last_digit < place)
        elif plain:
            pieces.append((plain, False))
            scale += 2 * (plain == "%")
        elif token["test"] in _TESTS:
            holds = partial(_TESTS[token["test"]], Decimal(token["bound"]))
        elif token["room"] or token["fill"]:
            touches = token["fill"] and pieces and not pieces[-1][0][-1:].isalnum()
            pieces.append(("" if touches else " ", False))
        else:
            pieces.append((token["quoted"] or token["escaped"] or token["symbol"] or "", False))
    return _Section(tuple(pieces), scale, holds)


def _fill(section: _Section, value: Decimal) -> str:
    """Put the digits of a number into a section."""
    before, behind = section.marks
    places = min(len(behind), _MOST_DECIMALS)
    scaled = value.scaleb(section.scale).quantize(
        Decimal(1).scaleb(-places), ROUND_HALF_UP, Context(prec=100)
    )
    whole, _, fraction = f"{scaled:f}".partition(".")
    digits = _whole_digits(before, whole.lstrip("0"))
    written = []
    for piece, is_placeholder in section.pieces:
        if not is_placeholder:
            written.append(piece)
        elif piece == ".":
            written.append("".join(digits))  # of a format that begins with the point
            written.append("." if fraction.rstrip("0") or "0" in behind else "")
            # ``#`` shows no zeros at the end.
            shown = max(len(fraction.rstrip("0")), behind.rfind("0") + 1)
            digits = iter(fraction[:shown])
        else:
            written.append(next(digits, ""))
    return "".join(written)


def _whole_digits(before: str, digits: str) -> Iterator[str]:
    """Return what each placeholder before the point shows; the first shows all that is left."""
    needed = len(before) - before.find("0") if "0" in before else 0
    digits = digits.rjust(needed, "0")
    surplus = max(len(digits) - len(before), 0)
    missing = max(len(before) - len(digits), 0)
    first = digits if not before else digits[: surplus + 1]
    return iter((*[""] * missing, *([first] if first else []), *digits[surplus + 1 :]))


@dataclass(slots=True)
class _Cells:
    """Rewrites cells by the formats of their styles; counts the formulas without a value."""

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
        untyped = _TYPE.sub(b"", attributes)
        return b'<%b%b t="str"><%bv>%b</%bv></%b>' % (tag, untyped, prefix, shown, prefix, tag)

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
    """Make texts of the cells that show something else than they store."""
    main = main_part(parts, _MAIN)
    targets = relations(parts, main)
    styles = next((found.target for found in targets if found.kind == "styles"), "")
    book = parts.xml(main)
    properties = () if book is None else descendants(book, "workbookPr")
    from_1904 = any(stated.get("date1904") in {"1", "true", "on"} for stated in properties)
    cells = _Cells(_formats(parts, styles), from_1904)
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
