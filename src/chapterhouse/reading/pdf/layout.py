"""Segments of a PDF page, its columns, and the order in which it is read.

PDFium gives text in the order in which it was drawn, mostly the order in which it was written.
Columns are found by looking for gutters (after Breuel, "Two Geometric Algorithms for Layout
Analysis", 2002, cut down to vertical gutters between lines of prose), and the order by columns
replaces the drawn order only where it lets more lines be followed by the line below them.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from chapterhouse.reading.pdf.text import Box, Word, is_right_to_left, is_wide

_GAP = 1.1  # of the font size: a wider space between words parts two segments
_GUTTER = 6.0  # points: narrowest space between columns
_PROSE_CHARACTERS = 14.0  # mean characters a line from which a column is prose
_LONG_CHARACTERS = 20.0  # likewise where there may be more columns
_LONGEST_MARK = 3  # characters of what stands before an item of a list
_LEAST_LINES = 3
_LEAST_ROWS = 6
_MOST_GUTTERS = 10  # candidate gutters tried at one level
_DEEPEST = 4


class Segment(NamedTuple):
    """Words on one line without a wide gap between them.

    ``order`` is the place of its first word on the page. A segment without words stands for a
    ruled table.
    """

    words: tuple[Word, ...]
    box: Box
    size: float
    bold: bool
    line: int
    order: int
    sideways: bool

    @property
    def text(self) -> str:
        """The words, parted by single spaces."""
        return " ".join(word.text for word in self.words)


def segments(words: Sequence[Word]) -> list[Segment]:
    """Join neighbouring words of a line to segments, in the drawn order."""
    found: list[Segment] = []
    run: list[Word] = []
    for word in words:
        if run and not _continues(run[-1], word):
            found.append(segment_of(run))
            run = []
        run.append(word)
    if run:
        found.append(segment_of(run))
    return found


def segment_of(words: Sequence[Word]) -> Segment:
    """Return the segment that these words of one line make."""
    longest = max(words, key=lambda word: len(word.text))
    return Segment(
        tuple(words),
        bounding_box(word.box for word in words),
        longest.size,
        all(word.bold for word in words),
        words[0].line,
        words[0].order,
        words[0].sideways,
    )


def _continues(last: Word, word: Word) -> bool:
    if last.line != word.line or last.sideways != word.sideways:
        return False
    if is_right_to_left(last.text) or is_right_to_left(word.text):
        return True  # runs of both directions stand out of order: distance says nothing
    gap = max(word.box.left - last.box.right, last.box.left - word.box.right)
    return gap <= _GAP * max(last.size, word.size, 1.0)


def bounding_box(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around some boxes."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return Box(min(lefts), min(tops), max(rights), max(bottoms))


def visual_rows(items: Iterable[Segment]) -> list[list[Segment]]:
    """Group segments that stand at the same height, top to bottom, each row left to right."""
    rows: list[list[Segment]] = []
    for item in sorted(items, key=lambda item: (item.box.middle, item.box.left)):
        if rows and item.box.middle - rows[-1][0].box.middle < 0.4 * min(
            item.box.height, rows[-1][0].box.height
        ):
            rows[-1].append(item)
        else:
            rows.append([item])
    return [sorted(row, key=lambda item: item.box.left) for row in rows]


def columns(items: Sequence[Segment], depth: int = 0) -> list[list[Segment]]:
    """Part segments into regions in reading order; a region has no columns of prose any more."""
    cut = _best_cut(items) if depth < _DEEPEST else None
    if cut is None:
        return [list(items)]
    regions: list[list[Segment]] = []
    for band in cut:
        if band.parted:
            regions += columns(band.left, depth + 1) + columns(band.right, depth + 1)
        else:
            regions.append([*band.left, *band.right])
    return regions


class _Band(NamedTuple):
    left: list[Segment]
    right: list[Segment]
    parted: bool


def _best_cut(items: Sequence[Segment]) -> list[_Band] | None:
    """Return the bands along the gutter that parts the most lines of prose, or None."""
    if len(items) < 2 * _LEAST_LINES:
        return None
    best: list[_Band] | None = None
    most = 0
    for gutter in _gutters(items):
        bands = _bands(items, gutter)
        parted = sum(len(band.left) + len(band.right) for band in bands if band.parted)
        if parted > most:
            best, most = bands, parted
    return best


def _gutters(items: Sequence[Segment]) -> list[float]:
    """Return places with lines on both sides and the fewest lines across, the fewest first."""
    lefts = sorted({round(item.box.left) for item in items})
    crossings = []
    for left in lefts:
        place = left - 1.5
        before = sum(item.box.right <= place for item in items)
        after = sum(item.box.left >= place for item in items)
        if before >= _LEAST_LINES and after >= _LEAST_LINES:
            crossings.append((len(items) - before - after, -min(before, after), place))
    return [place for _, _, place in sorted(crossings)[:_MOST_GUTTERS]]


def _bands(items: Sequence[Segment], gutter: float) -> list[_Band]:
    """Part the lines at those that cross the gutter, top to bottom."""
    bands: list[_Band] = []
    left: list[Segment] = []
    right: list[Segment] = []
    for item in sorted(items, key=lambda item: (item.box.middle, item.box.left)):
        if item.box.left < gutter < item.box.right:
            if left or right:
                bands.append(_band(left, right, gutter))
                left, right = [], []
            bands.append(_Band([item], [], parted=False))
        else:
            (left if item.box.right <= gutter else right).append(item)
    if left or right:
        bands.append(_band(left, right, gutter))
    return _merged(bands)


def _band(left: list[Segment], right: list[Segment], gutter: float) -> _Band:
    parted = _is_prose(left) and _is_prose(right) and _is_apart(left, right, gutter)
    return _Band(left, right, parted)


def _merged(bands: list[_Band]) -> list[_Band]:
    """Join neighbouring bands that are not parted."""
    merged: list[_Band] = []
    for band in bands:
        if merged and not band.parted and not merged[-1].parted:
            left, right, _ = merged.pop()
            merged.append(_Band([*left, *right, *band.left, *band.right], [], parted=False))
        else:
            merged.append(band)
    return merged


def _is_prose(side: Sequence[Segment]) -> bool:
    """Whether enough rows of a side fill its width, and are one line of text and long enough.

    Rows of several segments may be more columns of prose, if the segments are long.
    """
    if len(side) < _LEAST_LINES:
        return False
    rows = visual_rows(side)
    width = max(item.box.right for item in side) - min(item.box.left for item in side)
    full = sum(row[-1].box.right - row[0].box.left > 0.6 * width for row in rows)
    # An item of a list stands behind its mark.
    items = sum(len(row) == 2 and len(row[0].text) <= _LONGEST_MARK for row in rows)  # noqa: PLR2004
    single = sum(len(row) == 1 for row in rows) + items
    characters = sum(_weight(item) for item in side)
    if single < 0.5 * len(rows):
        several = len(rows) >= _LEAST_ROWS and characters >= _LONG_CHARACTERS * len(side)
        return several and full >= 0.3 * len(rows)
    return full >= 0.3 * len(rows) and characters >= _PROSE_CHARACTERS * len(rows)


def _weight(item: Segment) -> int:
    return sum(len(word.text) * (2 if is_wide(word.text) else 1) + 1 for word in item.words)


def _is_apart(left: Sequence[Segment], right: Sequence[Segment], gutter: float) -> bool:
    """Whether most lines keep the width of a gutter away from the other column."""
    near_left = sorted(gutter - item.box.right for item in left)
    near_right = sorted(item.box.left - gutter for item in right)
    return near_left[len(left) // 20] + near_right[len(right) // 20] >= _GUTTER


def reading_order(items: Sequence[Segment], regions: Sequence[Sequence[Segment]]) -> list[Segment]:
    """Return the segments in the order by columns or as drawn, whichever flows better."""
    drawn = sorted(items, key=lambda item: item.order)
    by_columns = [item for region in regions for row in visual_rows(region) for item in row]
    gain = _flow(by_columns) - _flow(drawn)
    fewer_leaps = _leaps(by_columns) < _leaps(drawn)
    return by_columns if gain > 2 or (gain >= -1 and fewer_leaps) else drawn  # noqa: PLR2004


def _leaps(ordered: Sequence[Segment]) -> int:
    """Count how often the text goes on higher up than it was."""
    return sum(other.box.bottom < one.box.top for one, other in pairwise(ordered))


def _flow(ordered: Sequence[Segment]) -> int:
    """Count how often a line is followed by the one right of it or the next below it."""
    return sum(follows(one, other) for one, other in pairwise(ordered))


def follows(one: Segment, other: Segment) -> bool:
    """Whether a segment continues the line or column of the one before it."""
    overlap = min(one.box.right, other.box.right) - max(one.box.left, other.box.left)
    height = max(one.box.height, other.box.height)
    if overlap > 0:
        return 0 < other.box.middle - one.box.middle < 2 * height
    return abs(other.box.middle - one.box.middle) < 0.4 * height and other.box.left > one.box.right
