"""Segments of a PDF page, its columns, and the order in which it is read.

PDFium gives text in the order in which it was drawn, mostly the order in which it was written.
Columns are found by looking for gutters (after Breuel, "Two Geometric Algorithms for Layout
Analysis", 2002, cut down to vertical gutters between lines of prose), and the order by columns
replaces the drawn order only where it lets more lines be followed by the line below them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from chapterhouse.reading.pdf.text import Box, Word, is_right_to_left, is_wide

_GAP = 1.1  # of the font size: a wider space between words parts two segments
_RAISED = 0.5  # of the font size: what stands higher or lower is on another line
_GUTTER = 6.0  # points: narrowest space between columns
_PROSE_CHARACTERS = 14.0  # mean characters a line from which a column is prose
_LONG_CHARACTERS = 20.0  # likewise where there may be more columns
_LONGEST_MARK = 3  # characters of what stands before an item of a list
_SPACED = 2.5  # times the height of a line: a wider step than lines of prose make
_LEAST_LINES = 3
_FEW_LINES = 2  # of a column whose text goes on from line to line
_MOST_SHORT = 8  # lines of such a column; longer ones are known by their width
_LEVEL = 4.0  # points by which columns may begin at different heights
_SENTENCE_ENDS = (".", "!", "?", ":", "…")
_LEAST_ROWS = 6
_MOST_GUTTERS = 10  # candidate gutters tried at one level
_FEW_GUTTERS = 4  # likewise for columns of a few lines
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
    # PDFium takes what stands beside the middle of a cell of two lines for a part of its line.
    height = abs(word.box.middle - last.box.middle)
    if height > _RAISED * max(last.size, word.size) and not word.sideways:
        return False
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
    cut = _best_cut(items, _prose_bands, _LEAST_LINES) if depth < _DEEPEST else None
    if cut is None:
        return _short_columns(items)
    regions: list[list[Segment]] = []
    for band in cut:
        if band.parted:
            regions += columns(band.left, depth + 1) + columns(band.right, depth + 1)
        else:
            regions += _short_columns([*band.left, *band.right])
    return regions


def _short_columns(items: Sequence[Segment]) -> list[list[Segment]]:
    """Part segments at columns of a few lines whose text goes on from line to line."""
    cut = _best_cut(items, _sentence_bands, _FEW_LINES) or []
    parted = [band.left for band in cut if band.parted]
    if not parted:
        return [list(items)]
    # A few lines of an index or a table may look like columns; these are most of one side.
    gutter = max(min(item.box.left for item in side) for side in parted[:2])
    sides = [
        item.box.left >= gutter for item in items if not item.box.left < gutter < item.box.right
    ]
    if sum(map(len, parted)) < min(sum(sides), len(sides) - sum(sides)):
        return [list(items)]
    return [band.left for band in cut]


_Side = list[Segment]


class _Band(NamedTuple):
    left: list[Segment]
    right: list[Segment]
    parted: bool


def _best_cut(
    items: Sequence[Segment], part: "Callable[[_Side, _Side, float], list[_Band]]", least: int
) -> list[_Band] | None:
    """Return the bands along the gutter that parts the most lines, or None.

    ``part`` makes bands of the lines on both sides, of which there are ``least`` at least.
    """
    if len(items) < 2 * least:
        return None
    best: list[_Band] | None = None
    most = 0
    for gutter in _gutters(items, least):
        bands = _bands(items, gutter, part)
        parted = sum(len(band.left) + len(band.right) for band in bands if band.parted)
        if parted > most:
            best, most = bands, parted
    return best


def _gutters(items: Sequence[Segment], least: int) -> list[float]:
    """Return places with lines on both sides and the fewest lines across, the fewest first."""
    lefts = sorted(item.box.left for item in items)
    rights = sorted(item.box.right for item in items)
    crossings = []
    for place in {round(left) - 1.5 for left in lefts}:
        before, after = bisect_right(rights, place), len(items) - bisect_left(lefts, place)
        if before >= least and after >= least:
            crossings.append((len(items) - before - after, -min(before, after), place))
    most = _MOST_GUTTERS if least >= _LEAST_LINES else _FEW_GUTTERS
    return [place for _, _, place in sorted(crossings)[:most]]


def _bands(
    items: Sequence[Segment], gutter: float, part: "Callable[[_Side, _Side, float], list[_Band]]"
) -> list[_Band]:
    """Part the lines at those that cross the gutter, top to bottom."""
    bands: list[_Band] = []
    left: list[Segment] = []
    right: list[Segment] = []
    for item in sorted(items, key=lambda item: (item.box.middle, item.box.left)):
        if item.box.left < gutter < item.box.right:
            bands += part(left, right, gutter)
            left, right = [], []
            bands.append(_Band([item], [], parted=False))
        else:
            (left if item.box.right <= gutter else right).append(item)
    bands += part(left, right, gutter)
    return _merged(bands)


def _prose_bands(left: _Side, right: _Side, gutter: float) -> list[_Band]:
    parted = _is_prose(left) and _is_prose(right) and _is_apart(left, right, gutter)
    return [_Band(left, right, parted)] if left or right else []


def _sentence_bands(left: _Side, right: _Side, gutter: float) -> list[_Band]:
    """Return each column that begins at one height as a band, and what is above and below them."""
    both = [*left, *right]
    if not left or not right or not _is_apart(left, right, gutter):
        return [_Band(both, [], parted=False)] if both else []
    begin = max(min(item.box.middle for item in side) for side in (left, right)) - _LEVEL
    sides = [[one for one in side if one.box.middle >= begin] for side in (left, right)]
    columns = [_paragraph(one) for one in (sides[0], *_apart(sides[1]))]
    if not _is_sentence(*columns):
        return [_Band(both, [], parted=False)]
    taken = {item.order for column in columns for item in column}
    above = [one for side in (left, right) for one in side if one.box.middle < begin]
    below = [[one for one in side if one.order not in taken] for side in sides]
    bands = [_Band(above, [], parted=False)] if above else []
    bands += [_Band(one, [], parted=True) for one in columns]
    return [*bands, *_sentence_bands(below[0], below[1], gutter)]


def _apart(side: Sequence[Segment]) -> list[list[Segment]]:
    """Return the columns between which white runs through a whole side."""
    found: list[list[Segment]] = []
    edge = 0.0
    for item in sorted(side, key=lambda item: item.box.left):
        if not found or item.box.left - edge >= _GUTTER:
            found.append([])
        found[-1].append(item)
        edge = max(edge, item.box.right)
    return found


def _paragraph(side: Sequence[Segment]) -> list[Segment]:
    """Return the lines of one size with which a side begins and that stand close together."""
    found: list[Segment] = []
    for row in visual_rows(side):
        above = found[-1] if found else row[0]
        if (
            abs(row[0].size - above.size) > 1
            or row[0].box.top - above.box.bottom > above.box.height
        ):
            break
        found += row
    return found


def _is_sentence(*columns: Sequence[Segment]) -> bool:
    """Whether short columns are text that goes on from line to line, as rows of cells do not.

    A line of it begins with a small letter, or the line above is full. A row of cells with several
    lines each may be read by columns, too.
    """
    breaks = [pair for column in columns for pair in pairwise(column)]
    if len(breaks) < _FEW_LINES or not all(0 < len(column) <= _MOST_SHORT for column in columns):
        return False
    if any(sum(map(_weight, column)) < _PROSE_CHARACTERS * len(column) for column in columns):
        return False
    if columns[0][0].text[0].islower() or any(a.line == b.line for a, b in breaks):
        return False
    widest = [max(item.box.width for item in column) for column in columns for _ in column[1:]]
    flowing = [below.text[0].islower() for _, below in breaks]
    return 2 * sum(flowing) >= len(breaks) and all(
        flows or _is_full(*pair, width)
        for flows, pair, width in zip(flowing, breaks, widest, strict=True)
    )


def _is_full(above: Segment, below: Segment, width: float) -> bool:
    """Whether the next word would not have fitted on a line, or the line ends a sentence."""
    has_words = above.words and below.words
    if above.text.endswith(_SENTENCE_ENDS) or not has_words:
        return bool(has_words)
    return (
        above.box.width + below.words[0].box.width > width and _weight(above) >= _PROSE_CHARACTERS
    )


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
    steps = [below.box.middle - above.box.middle for (above, *_), (below, *_) in pairwise(rows)]
    heights = sorted(row[0].box.height for row in rows)
    if sorted([0.0, *steps])[len(rows) // 2] > _SPACED * heights[len(rows) // 2]:
        return False
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
    # Their lines may be drawn row by row, which leaps less.
    sentences = any(
        one and other and _is_sentence(_level_with(one, other), other)
        for one, other in pairwise(regions)
    )
    return by_columns if gain > 2 or (gain >= -1 and (fewer_leaps or sentences)) else drawn  # noqa: PLR2004


def _level_with(one: Sequence[Segment], other: Sequence[Segment]) -> list[Segment]:
    """Return what of a region does not stand above another."""
    return [item for item in one if item.box.middle >= other[0].box.middle - _LEVEL]


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
