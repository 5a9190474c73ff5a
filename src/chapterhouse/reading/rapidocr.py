"""Text recognition by RapidOCR (PP-OCRv6, small), whose models are in its wheel.

It runs on ONNX Runtime in the process that reads. The classifier of upside-down lines is left
out: it turned lines that were upright. A page that makes no sense is turned as a whole instead.
"""

from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import Any

import cv2
import numpy as np
import rapidocr
from PIL import Image, ImageOps, ImageSequence

from chapterhouse.errors import RejectedError
from chapterhouse.reading import budget
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pdf.layout import (
    Segment,
    columns,
    reading_order,
    visual_rows,
)
from chapterhouse.reading.pdf.text import Box, Word

LEAST_CONFIDENCE = 0.9  # .96 and more where it read well, .88 and less on scripts it cannot read
_LEAST_LINE = 0.5  # confidence below which a line is left out
_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "GIF", "WEBP")
_TURNS = (0, 2, 1, 3)  # quarters, the likeliest first
_LINE_POINTS = 12.0  # height of an ordinary line; the search for columns measures in points
_PARAGRAPH_GAP = 0.8  # of the height of a line
# A line that stands alone on a large page is missed at full size in some fonts, and found
# where the page is as large as those that the detector was made for.
_SMALLER = 960  # pixels of the longer side
_SAME_LINE = 0.5  # likewise, between the middles of two parts of a line

_Line = tuple[Box, str, float]


def method() -> str:
    """Return the name and version of the engine."""
    return f"RapidOCR {version('rapidocr')}"


def read_pages(image: bytes, limits: Limits) -> list[tuple[str, float]]:
    """Return text and mean confidence (0 to 1) of each page of an image."""
    try:
        return [_page(pixels, limits) for pixels in _pictures(image, limits)]
    except (OSError, SyntaxError, ValueError, EOFError) as error:  # what Pillow raises on damage
        sentence = f"OCR could not read the image ({str(error)[:200]})."
        raise RejectedError("unreadable", sentence) from error


def _pictures(image: bytes, limits: Limits) -> Iterator[np.ndarray[Any, Any]]:
    """Yield the pages as pixels, blue first; of an animation only the first picture."""
    with Image.open(BytesIO(image), formats=_FORMATS) as opened:
        for number, frame in enumerate(ImageSequence.Iterator(opened)):
            if number and (opened.format != "TIFF" or number >= limits.image_pages):
                return
            if frame.width * frame.height > limits.image_pixels:
                sentence = f"A page of {frame.width:,} x {frame.height:,} pixels is too large."
                raise RejectedError("image-too-large", sentence)
            upright = ImageOps.exif_transpose(frame).convert("RGBA")
            paper = Image.new("RGBA", upright.size, "white")
            yield np.asarray(Image.alpha_composite(paper, upright).convert("RGB"))[:, :, ::-1]


def _page(pixels: np.ndarray[Any, Any], limits: Limits) -> tuple[str, float]:
    """Return text and confidence of a page, turned where it is the surer for it."""
    best: tuple[list[_Line], float] = ([], 0.0)
    for turn in _TURNS:
        budget.need(limits.ocr_page_seconds)
        lines = _lines(np.ascontiguousarray(np.rot90(pixels, turn)))
        confidence = _confidence(lines)
        if confidence > best[1]:
            best = (lines, confidence)
        if not lines or confidence >= LEAST_CONFIDENCE:
            break
    lines, confidence = best
    return _text([line for line in lines if line[2] >= _LEAST_LINE]), confidence


@cache
def _engine() -> Any:
    """Return the engine, made on first use: one thread, and never a look for models elsewhere."""
    cv2.setNumThreads(0)
    models = Path(rapidocr.__file__).parent / "models"
    return rapidocr.RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.text_score": 0.0,  # lines are left out here, and still counted as unsure
            "Global.use_cls": False,
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            "Det.model_path": str(models / "PP-OCRv6_det_small.onnx"),
            "Det.box_thresh": 0.3,  # by default short words that stand alone were missed
            "Rec.model_path": str(models / "PP-OCRv6_rec_small.onnx"),
            "Rec.rec_batch_num": 1,  # lines of different length are padded to the longest
        }
    )


def _lines(pixels: np.ndarray[Any, Any]) -> list[_Line]:
    """Return the lines in which letters or digits were found."""
    found = _engine()(pixels)
    longest = max(pixels.shape[:2])
    if found.txts is None and longest > _SMALLER:
        scale = _SMALLER / longest
        smaller = cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        found = _engine()(smaller)
    if found.txts is None:
        return []
    lines = zip(found.boxes, found.txts, found.scores, strict=True)
    return [
        (Box(*map(float, (*box.min(axis=0), *box.max(axis=0)))), text.strip(), float(score))
        for box, text, score in lines
        if any(map(str.isalnum, text))
    ]


def _confidence(lines: list[_Line]) -> float:
    """Return the mean over words; a line speaks for each of its words."""
    counts = [len(text.split()) for _, text, _ in lines]
    scores = (score * count for (_, _, score), count in zip(lines, counts, strict=True))
    return sum(scores) / max(1, sum(counts))


def _text(lines: list[_Line]) -> str:
    """Return the lines in reading order, column by column, paragraphs parted by blank lines."""
    if not lines:
        return ""
    scale = _LINE_POINTS / max(1.0, median(box.height for box, _, _ in lines))
    rows = visual_rows(_segment(number, line, scale) for number, line in enumerate(lines))
    across = [segment for row in rows for segment in row]
    segments = [segment._replace(order=number) for number, segment in enumerate(across)]
    written = ""
    last: Segment | None = None
    for segment in reading_order(segments, columns(segments)):
        written += _between(last, segment) + segment.text
        last = segment
    return written


def _between(last: Segment | None, segment: Segment) -> str:
    """Return what parts two segments: a space on one line, a blank line where a gap is wide."""
    if last is None:
        return ""
    above, below = last.box, segment.box
    if abs(above.middle - below.middle) < _SAME_LINE * _LINE_POINTS and below.left > above.left:
        return " "
    near = -_LINE_POINTS < below.top - above.bottom < _PARAGRAPH_GAP * _LINE_POINTS
    return "\n" if near else "\n\n"


def _segment(number: int, line: _Line, scale: float) -> Segment:
    box, text, _ = line
    points = Box(*(scale * value for value in box))
    word = Word(text, points, _LINE_POINTS, bold=False, line=number, sideways=False, order=number)
    return Segment(
        (word,), points, word.size, bold=False, line=number, order=number, sideways=False
    )
