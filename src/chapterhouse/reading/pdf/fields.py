"""What stands on a PDF page beside its content: filled fields, boxes, notes and stamps.

PDFium keeps the values of fields and the text of annotations out of a page's text. They are
placed among its words where they are drawn, so that a value follows its label.
"""

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from chapterhouse.reading.pdf.text import Box, Place, Word

_MOST_ANNOTATIONS = 5_000  # of a page
_MOST_TEXT = 1_000_000  # characters of a page's annotations
_MOST_PAIRS = 1_000_000  # of marks and words that are compared; beyond, marks have their own labels
_LONGEST = 20_000  # UTF-16 units of one value
_NOT_SHOWN = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
_PASSWORD = 1 << 13  # field flag, ISO 32000-1 table 228
_DRAWN = frozenset({pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_STAMP})
_NOTES = frozenset((
    pdfium.FPDF_ANNOT_TEXT, pdfium.FPDF_ANNOT_HIGHLIGHT, pdfium.FPDF_ANNOT_UNDERLINE,
    pdfium.FPDF_ANNOT_SQUIGGLY, pdfium.FPDF_ANNOT_STRIKEOUT, pdfium.FPDF_ANNOT_CARET,
    pdfium.FPDF_ANNOT_SQUARE, pdfium.FPDF_ANNOT_CIRCLE, pdfium.FPDF_ANNOT_LINE,
    pdfium.FPDF_ANNOT_POLYGON, pdfium.FPDF_ANNOT_POLYLINE, pdfium.FPDF_ANNOT_INK,
))  # fmt: skip
_BOXES = frozenset({pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON})
_VALUES = frozenset({pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX})
_SHOWN_TEXT = re.compile(r"\(((?:[^()\\]|\\.)*)\)\s*(?:Tj|'|\")")
_LINE = 15.0  # points: height in which the label of a field stands
_LABEL_LEFT = 250.0  # points from a label to its field
_LABEL_NEAR = 30.0  # points from a box to the label behind it
_LABEL_ABOVE = 20.0
_OVERLAP = 2.0  # points by which a label may reach into its field
_SIZE = 10.0  # points, where no word of the page tells a size


class Mark(NamedTuple):
    """Text that a page shows beside its content."""

    text: str  # of a box whether it is checked
    place: Place
    label: str = ""  # what its field is called
    is_box: bool = False  # its label stands behind it


class PageMarks(NamedTuple):
    """The marks of a page, and its notes from top to bottom, which are read on their own."""

    marks: tuple[Mark, ...] = ()
    notes: tuple[str, ...] = ()


def page_marks(form: Any, page: Any) -> PageMarks:
    """Return what stands on a loaded page beside its content."""
    marks: list[Mark] = []
    notes: list[tuple[float, str]] = []
    length = 0
    for number in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MOST_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        if not annotation or length > _MOST_TEXT:
            continue
        try:
            kind = pdfium.FPDFAnnot_GetSubtype(annotation)
            place = _place(annotation)
            if place is None or pdfium.FPDFAnnot_GetFlags(annotation) & _NOT_SHOWN:
                continue
            known = len(marks)
            if kind in _NOTES and (note := _note(annotation)):
                notes.append((-place.high, note))
                length += len(note)
            elif kind == pdfium.FPDF_ANNOT_WIDGET and form is not None:
                marks += _field(form, annotation, place)
            elif kind in _DRAWN and (text := _drawn_text(annotation)):
                marks.append(Mark(text, place))
            length += sum(len(mark.text) for mark in marks[known:])
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)
    return PageMarks(tuple(marks), tuple(note for _, note in sorted(notes)))


def _place(annotation: Any) -> Place | None:
    rectangle = pdfium.FS_RECTF()
    if not pdfium.FPDFAnnot_GetRect(annotation, rectangle):
        return None
    low, high = sorted((rectangle.bottom, rectangle.top))
    left, right = sorted((rectangle.left, rectangle.right))
    return Place(left, low, right, high)


def _note(annotation: Any) -> str:
    text, author = _string(annotation, b"Contents"), _string(annotation, b"T")
    return f"Note{f' by {author}' if author else ''}: {text}" if text else ""


def _field(form: Any, annotation: Any, place: Place) -> Iterator[Mark]:
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    label = wide_string(partial(pdfium.FPDFAnnot_GetFormFieldAlternateName, form, annotation))
    label = label or wide_string(partial(pdfium.FPDFAnnot_GetFormFieldName, form, annotation))
    if kind in _BOXES:
        checked = pdfium.FPDFAnnot_IsChecked(form, annotation)
        yield Mark("\u2612" if checked else "\u2610", place, label, is_box=True)
        return
    if pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD:
        return
    text = ""
    if kind in _VALUES:
        text = wide_string(partial(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation))
    elif kind == pdfium.FPDF_FORMFIELD_LISTBOX:
        text = ", ".join(_selected(form, annotation))
    if text:
        yield Mark(text, place, label)


def _selected(form: Any, annotation: Any) -> Iterator[str]:
    for number in range(max(0, pdfium.FPDFAnnot_GetOptionCount(form, annotation))):
        if pdfium.FPDFAnnot_IsOptionSelected(form, annotation, number):
            yield wide_string(partial(pdfium.FPDFAnnot_GetOptionLabel, form, annotation, number))


def _drawn_text(annotation: Any) -> str:
    """Return the text of a stamp or a note on the page, as stated or else as drawn."""
    if text := _string(annotation, b"Contents"):
        return text
    mode = pdfium.FPDF_ANNOT_APPEARANCEMODE_NORMAL
    drawn = wide_string(partial(pdfium.FPDFAnnot_GetAP, annotation, mode))
    return " ".join(re.sub(r"\\(.)", r"\1", part) for part in _SHOWN_TEXT.findall(drawn))


def _string(annotation: Any, key: bytes) -> str:
    return wide_string(partial(pdfium.FPDFAnnot_GetStringValue, annotation, key))


def wide_string(call: Callable[..., int]) -> str:
    """Return the UTF-16 string that a call writes to a buffer, white space as single spaces."""
    size = min(call(None, 0), 2 * _LONGEST)
    if size <= 2:  # noqa: PLR2004 - the end mark alone
        return ""
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    written = min(call(buffer, size), size)
    text = bytes(buffer)[: max(0, written - 2)].decode("utf-16-le", "replace")
    return " ".join(text.replace("\0", "").split())


def with_marks(
    words: Sequence[Word], marks: Sequence[Mark], turn: Callable[[Place], Box]
) -> tuple[Word, ...]:
    """Return the words of a page with its marks among them, in drawn order.

    A mark stands behind the label to its left, before the one to its right where it is a box,
    else behind the line above it.
    """
    if not marks:
        return tuple(words)
    boxed = sorted(
        ((turn(mark.place), mark) for mark in marks), key=lambda pair: (pair[0].top, pair[0].left)
    )
    line = max((word.line for word in words), default=0) + 1
    near = words if len(words) * len(marks) <= _MOST_PAIRS else ()
    found = []
    for number, (box, mark) in enumerate(boxed):
        anchor, before = _anchor(near, box, mark)
        place = _position(near, box, anchor, before=before) if near else len(words)
        label = words[anchor] if anchor is not None else None
        word = Word(mark.text, box, _SIZE, bold=False, line=line + number, sideways=False, order=0)
        if label is None:
            word = word._replace(text=f"{mark.label}: {mark.text}" if mark.label else mark.text)
        elif _shares_line(label, box):  # on the level of its label
            level = Box(box.left, label.box.top, box.right, label.box.bottom)
            word = word._replace(box=level, size=label.size, line=label.line)
        else:
            word = word._replace(size=label.size)
        found.append((place, number, word))
    merged = [(float(place) + 0.5, 1, word) for place, word in enumerate(words)]
    merged += [(float(place), number, word) for place, number, word in found]
    merged.sort(key=lambda item: item[:2])
    return tuple(word._replace(order=order) for order, (_, _, word) in enumerate(merged))


def _shares_line(word: Word, box: Box) -> bool:
    bottom = min(box.bottom, box.top + _LINE)
    shared = min(word.box.bottom, bottom) - max(word.box.top, box.top)
    return shared > 0.4 * min(word.box.height, bottom - box.top)


def _anchor(words: Sequence[Word], box: Box, mark: Mark) -> tuple[int | None, bool]:
    """Return the place of the word that labels a mark, and whether the mark stands before it."""
    left: tuple[float, int] | None = None
    right: tuple[float, int] | None = None
    above: tuple[float, int] | None = None
    for place, word in enumerate(words):
        if _shares_line(word, box):
            before, behind = box.left - word.box.right, word.box.left - box.right
            if -_OVERLAP < before < _LABEL_LEFT:
                left = min(left or (before, place), (before, place))
            elif -_OVERLAP < behind < _LABEL_NEAR:
                right = min(right or (behind, place), (behind, place))
        gap = box.top - word.box.bottom
        if (
            -_OVERLAP < gap < _LABEL_ABOVE
            and word.box.left < box.right
            and box.left < word.box.right
        ):
            above = min(above or (gap, -place), (gap, -place))
    if right is not None and (mark.is_box or left is None):
        return right[1], True
    if left is not None:
        return left[1], False
    return (None, False) if above is None else (-above[1], False)


def _position(words: Sequence[Word], box: Box, anchor: int | None, *, before: bool) -> int:
    """Return the number of words that stand before a mark."""
    if anchor is None:
        below = (place for place, word in enumerate(words) if word.box.top >= box.bottom)
        return next(below, len(words))
    if before:
        return anchor
    if _shares_line(words[anchor], box):
        return anchor + 1
    last = anchor
    while last + 1 < len(words) and words[last + 1].line == words[anchor].line:
        last += 1
    return last + 1
