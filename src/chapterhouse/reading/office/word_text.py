"""The text of a paragraph of Word: runs, fields, links, notes, forms and formulas.

[ECMA-376] part 1, 17.3.2 and 17.16.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Final
from xml.etree.ElementTree import Element

from chapterhouse.reading.markdown import lowered, raised
from chapterhouse.reading.office.ooxml import (
    attribute,
    children,
    equation,
    local,
    relation_id,
)
from chapterhouse.reading.office.word_fields import shown_by
from chapterhouse.reading.office.word_properties import (
    NOT_TICKED,
    SYMBOLS,
    TICKED,
    Style,
    child_of,
    form_result,
    is_on,
    kind_of,
    symbol,
    value,
)

_SPACES: Final = re.compile(r"[ \t\r\n]+|\s{2,}")  # not one that holds a number together
_COUNTING: Final = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES|SECTION)\b", re.IGNORECASE)
_TARGET: Final = re.compile(r"\s*HYPERLINK\s+\"?((?:https?|mailto|ftp):[^\"\s]+)", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"(?:https?|mailto|ftp):\S+", re.IGNORECASE)
_MOST_FIELDS: Final = 100  # one in another
SKIPPED: Final = frozenset((
    "pPr", "rPr", "del", "moveFrom", "sdtPr", "sdtEndPr", "delText", "rt", "sectPr", "tblPr",
    "tblGrid", "trPr", "tcPr", "Fallback", "delInstrText", "pgNum", "binData",
))  # fmt: skip


@dataclass(slots=True)
class _Field:
    """A field that is open: what it calculates, what a form says of it, where its result begins."""

    instruction: str = ""
    data: Element | None = None
    start: int | None = None  # in the pieces of the paragraph


@dataclass(slots=True)
class TextReader:
    """Reads the text of the paragraphs of one story, in their order."""

    style: Callable[[str], Style]
    links: Mapping[str, str]  # addresses by relation
    note: Callable[[str, str], str]  # its text by kind and id
    is_body: bool  # elsewhere no field counts pages, and no note has notes
    is_cut: bool  # some fields do not end, so that nothing tells instructions from text
    notes: dict[tuple[str, str], str] = field(default_factory=dict)  # by kind and id
    fields: list[_Field] = field(default_factory=list)  # those that are open
    pieces: list[tuple[str, str]] = field(default_factory=list)  # texts of a paragraph, their kinds
    boxes: list[Element] = field(default_factory=list)  # of a paragraph
    signs: Mapping[int, str] = field(default_factory=dict)  # for the letters of the run's font

    def read(self, element: Element, style: Style) -> str:
        """Return the text of a paragraph on one line; the text boxes in it are remembered."""
        self.pieces, self.boxes = [], []
        for one in self.fields:
            one.start = None if one.start is None else 0
        self._collect(element, style.kind)
        text = ""
        for kind, group in groupby(self.pieces, key=itemgetter(1)):
            piece = (" " if kind == "equation" else "").join(part for part, _ in group)
            match kind:
                case "superscript":
                    text += raised(piece, text)
                case "subscript":
                    text += lowered(piece)
                case "struck" if shown := piece.strip():
                    text += piece.replace(shown, f"~~{shown}~~")
                case "" | "struck" | "equation":
                    text += piece
        is_plain = text.isprintable() and "  " not in text
        return (text if is_plain else _SPACES.sub(" ", text)).strip()

    def _collect(self, element: Iterable[Element], kind: str) -> None:  # noqa: C901, PLR0912 - a case for each element
        """Collect the pieces of text inside a paragraph, and the kind of each."""
        for child in element:
            match child.tag.rpartition("}")[2]:
                case "r":
                    self._run(child, kind)
                case "t":
                    text = child.text or ""
                    self._add(text.translate(self.signs) if self.signs else text, kind)
                case "tab" | "ptab" | "br" | "cr":
                    self._add(" ", kind)
                case "noBreakHyphen":
                    self._add("\u2011", kind)
                case "sym":
                    self._add(symbol(child), kind)
                case "fldChar":
                    self._mark(child, kind)
                case "instrText" if self.fields:
                    self.fields[-1].instruction += child.text or ""
                case "fldSimple":
                    self.fields.append(_Field(attribute(child, "instr"), start=len(self.pieces)))
                    self._collect(child, kind)
                    self._close(kind)
                case "hyperlink":
                    self._hyperlink(child, kind)
                case "footnoteReference" | "endnoteReference":
                    self._note(child)
                case "sdt":
                    self._control(child, kind)
                case "oMathPara" | "oMath":
                    self._add(equation(child), "equation")
                case "AlternateContent":
                    self._collect(alternative(child), kind)
                case "txbxContent" | "txBody":
                    self.boxes.append(child)
                case name if name not in SKIPPED:
                    self._collect(child, kind)

    def _add(self, text: str, kind: str) -> None:
        """Add text, unless it is part of an instruction or counts pages."""
        for one in reversed(self.fields):
            if one.start is None and not self.is_cut:
                one.instruction += text
                return
            if not self.is_body and _COUNTING.match(one.instruction):
                return
        self.pieces.append((text, kind))

    def _run(self, run: Element, kind: str) -> None:
        properties = child_of(run, "rPr")
        fonts = child_of(properties, "rFonts")
        self.signs = {} if fonts is None else SYMBOLS.get(attribute(fonts, "ascii").casefold(), {})
        kind = self.style(value(properties, "rStyle")).kind or kind
        self._collect(run, kind_of(properties, kind))

    def _mark(self, element: Element, kind: str) -> None:
        """Open a field, or let its result begin, or close it."""
        match attribute(element, "fldCharType"):
            case "begin" if len(self.fields) < _MOST_FIELDS:
                self.fields.append(_Field(data=child_of(element, "ffData")))
            case "separate" if self.fields:
                self.fields[-1].start = len(self.pieces)
            case "end" if self.fields:
                self._close(kind)

    def _close(self, kind: str) -> None:
        found = self.fields.pop()
        start = len(self.pieces) if found.start is None else found.start
        target = _TARGET.match(found.instruction)
        if all(text.isspace() for text, _ in self.pieces[start:]):
            self._add(form_result(found.data) or shown_by(found.instruction), kind)
        elif target:
            self._link(start, target[1])

    def _hyperlink(self, element: Element, kind: str) -> None:
        start, anchor = len(self.pieces), attribute(element, "anchor")
        target = self.links.get(relation_id(element), "")
        self._collect(element, kind)
        self._link(start, f"{target}#{anchor}" if anchor else target)

    def _link(self, start: int, target: str) -> None:
        """Make a link of the pieces from a place on, unless they show its address."""
        text = "".join(text for text, kind in self.pieces[start:] if kind != "hidden").strip()
        is_shown = "." in text and text.casefold() in target.casefold()
        if text and not is_shown and _ADDRESS.fullmatch(target):
            self.pieces.insert(start, ("[", ""))
            self.pieces.append((f"]({target.replace('(', '%28').replace(')', '%29')})", ""))

    def _note(self, element: Element) -> None:
        if not self.is_body:  # a note could name itself
            return
        kind, name = local(element).removesuffix("Reference"), attribute(element, "id")
        if (kind, name) not in self.notes and (text := self.note(kind, name)):
            self.notes[kind, name] = f"[^{len(self.notes) + 1}]: {text}"
        self._add(self.notes.get((kind, name), "").partition(":")[0], "")

    def _control(self, element: Element, kind: str) -> None:
        """Collect what a control of a form shows; a box to tick is shown alike in every font."""
        start = len(self.pieces)
        for content in children(element, "sdtContent"):
            self._collect(content, kind)
        box = child_of(child_of(element, "sdtPr"), "checkbox")
        if box is not None and len("".join(text for text, _ in self.pieces[start:]).strip()) <= 1:
            del self.pieces[start:]
            self._add(TICKED if is_on(child_of(box, "checked")) else NOT_TICKED, kind)


def alternative(element: Element) -> Iterable[Element]:
    """Return what a program that knows everything shows of alternatives."""
    return next((one for one in element if local(one) == "Choice"), next(iter(element), ()))
