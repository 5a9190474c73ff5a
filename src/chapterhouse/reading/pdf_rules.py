"""Ruling lines of a PDF page: the straight edges of its drawn paths."""

import ctypes
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from chapterhouse.reading.pdf_text import Box, Place

_THIN = 2.5  # points: a path no thicker than this is a line
_SHORT = 4.0  # points: a line no longer than this is a dot
_MOST_OBJECTS = 6_000  # a page with more is a drawing, and its lines are no table
_MOST_SEGMENTS = 400  # likewise for one path
_DEEPEST_FORM = 3

Matrix = tuple[float, float, float, float, float, float]
_IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


class Rule(NamedTuple):
    """A straight line along an axis: at ``place``, from ``start`` to ``end``, in points."""

    horizontal: bool
    place: float
    start: float
    end: float


class Drawn(NamedTuple):
    """What a page draws besides text. ``images`` are the boxes of its pictures."""

    rules: tuple[Rule, ...]
    images: tuple[Box, ...]
    objects: int
    complete: bool  # False where the page draws more than was looked at


def drawn(page: Any, turn: "Callable[[Place], Box]") -> Drawn:
    """Collect lines and pictures of a loaded page, turned to its reading direction."""
    rules: list[Rule] = []
    images: list[Box] = []
    seen = 0
    for item, kind, matrix in _objects(page):
        seen += 1
        if seen > _MOST_OBJECTS:
            return Drawn((), tuple(images), seen, complete=False)
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            images.append(turn(_bounds(item, matrix)))
        elif kind == pdfium.FPDF_PAGEOBJ_PATH:
            rules.extend(rule for place in _edges(item, matrix) if (rule := _rule(turn(place))))
    return Drawn(tuple(rules), tuple(images), seen, complete=True)


def _objects(page: Any) -> Iterator[tuple[Any, int, Matrix]]:
    """Yield paths and pictures with the matrix of the forms around them; text is passed over."""
    for index in range(min(pdfium.FPDFPage_CountObjects(page), _MOST_OBJECTS + 1)):
        yield from _unfolded(pdfium.FPDFPage_GetObject(page, index), _IDENTITY, 0)


def _unfolded(item: Any, matrix: Matrix, depth: int) -> Iterator[tuple[Any, int, Matrix]]:
    kind = pdfium.FPDFPageObj_GetType(item)
    if kind in (pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_IMAGE):
        yield item, kind, matrix
    elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth < _DEEPEST_FORM:
        inner = _product(_matrix_of(item), matrix)
        for index in range(min(pdfium.FPDFFormObj_CountObjects(item), _MOST_OBJECTS + 1)):
            yield from _unfolded(pdfium.FPDFFormObj_GetObject(item, index), inner, depth + 1)


def _matrix_of(item: Any) -> Matrix:
    matrix = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(item, matrix):
        return _IDENTITY
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _product(first: Matrix, then: Matrix) -> Matrix:
    a, b, c, d, e, f = first
    p, q, r, s, t, u = then
    return (
        a * p + b * r,
        a * q + b * s,
        c * p + d * r,
        c * q + d * s,
        e * p + f * r + t,
        e * q + f * s + u,
    )


def _moved(x: float, y: float, matrix: Matrix) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _bounds(item: Any, matrix: Matrix) -> Place:
    left, low, right, high = (ctypes.c_float() for _ in range(4))
    pdfium.FPDFPageObj_GetBounds(item, left, low, right, high)
    return _spanned(_moved(left.value, low.value, matrix), _moved(right.value, high.value, matrix))


def _spanned(one: tuple[float, float], other: tuple[float, float]) -> Place:
    (x0, y0), (x1, y1) = one, other
    return Place(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def _edges(item: Any, matrix: Matrix) -> Iterator[Place]:
    """Yield the edges of a path as thin rectangles."""
    count = pdfium.FPDFPath_CountSegments(item)
    if count < 2 or count > _MOST_SEGMENTS:  # noqa: PLR2004 - a point is no line
        return
    whole = _bounds(item, matrix)
    if min(whole.right - whole.left, whole.high - whole.low) <= _THIN:
        yield whole
        return
    yield from _straight_edges(item, count, _product(_matrix_of(item), matrix))


def _straight_edges(item: Any, count: int, matrix: Matrix) -> Iterator[Place]:
    x, y = ctypes.c_float(), ctypes.c_float()
    begun = last = None
    for index in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(item, index)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        point = _moved(x.value, y.value, matrix)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            begun = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO and last is not None:
            yield _spanned(last, point)
        last = point
        if begun is not None and pdfium.FPDFPathSegment_GetClose(segment):
            yield _spanned(point, begun)


def _rule(box: Box) -> Rule | None:
    if box.height <= _THIN and box.width > _SHORT:
        return Rule(horizontal=True, place=box.middle, start=box.left, end=box.right)
    if box.width <= _THIN and box.height > _SHORT:
        return Rule(horizontal=False, place=box.centre, start=box.top, end=box.bottom)
    return None
