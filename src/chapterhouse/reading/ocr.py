"""Text from images: the engines that are installed, asked in turn until one is sure.

RapidOCR (PP-OCRv6, small) comes with the extra ``ocr`` and brings its models with it; tesseract is
the system's. RapidOCR is asked first, because it reads accents and noise better
(``benchmarks/ocr.py`` of commit 604e6751); tesseract reads scripts that RapidOCR does not, and then
RapidOCR's confidence is low.
"""

import math
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from io import BytesIO
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from chapterhouse import lazy
from chapterhouse.errors import RejectedError, install_command
from chapterhouse.reading.limits import Limits, need_time
from chapterhouse.types import ExtractedPage, Extraction, Notice

if TYPE_CHECKING:
    import cv2
    import numpy as np
    import rapidocr
    from PIL import Image, ImageOps, ImageSequence

    from chapterhouse.reading.pdf import layout
    from chapterhouse.reading.pdf import text as pdf_text

    _Line = tuple[pdf_text.Box, str, float]
    _Pixels = np.ndarray[Any, Any]
else:
    cv2 = lazy("cv2")
    np = lazy("numpy")
    rapidocr = lazy("rapidocr")
    Image = lazy("PIL.Image")
    ImageOps = lazy("PIL.ImageOps")
    ImageSequence = lazy("PIL.ImageSequence")
    layout = lazy("chapterhouse.reading.pdf.layout")  # words of a picture are laid out as a PDF's
    pdf_text = lazy("chapterhouse.reading.pdf.text")

ENGINES = ("RapidOCR", "tesseract")
_WRITING = re.compile(r"[^\W_]{2}")  # two letters or digits side by side


class Recognition(NamedTuple):
    """The text of one picture."""

    text: str  # lines, and blank lines between paragraphs; empty where there are no words
    confidence: float  # mean over the words, 0 to 1, as the engine says it; 0 without words
    sure: bool  # whether the confidence is what the engine reaches where it reads well
    method: str  # the engine and its version


class _Engine(NamedTuple):
    read: Callable[[bytes, Limits], list[tuple[str, float]]]
    method: str
    least: float  # confidence below which its text often is not what the picture says


@cache
def has_rapidocr() -> bool:
    """Whether the extra ``ocr`` is installed; nothing of it is imported."""
    return find_spec("rapidocr") is not None


def engine_names() -> tuple[str, ...]:
    """Return the installed engines, the one that is asked first at the head."""
    installed = (has_rapidocr(), bool(tesseract()))
    return tuple(name for name, found in zip(ENGINES, installed, strict=True) if found)


def how_to_install() -> str:
    """Return what to do where no engine is installed."""
    return f"OCR is not installed: run {install_command('ocr')} and add the file again."


def ocr_image(image: bytes, limits: Limits | None = None) -> tuple[Recognition, ...] | None:
    """Return the text of each page of an image, or None where no engine is installed.

    Of the formats PNG, JPEG, TIFF, BMP, GIF and WebP only a TIFF has more than one page.
    """
    best: tuple[Recognition, ...] | None = None
    for engine in _engines():
        pages = tuple(
            # A ring is no "O": what an engine sees without writing are single characters.
            Recognition(text, confidence, confidence >= engine.least, engine.method)
            if _WRITING.search(text)
            else Recognition("", 0.0, sure=False, method=engine.method)
            for text, confidence in engine.read(image, limits or Limits())
        )
        if any(page.text for page in pages) and all(page.sure for page in pages if page.text):
            return pages
        if best is None or not any(page.text for page in best):
            best = pages if best is None or any(page.text for page in pages) else best
    return best


def read_image(data: bytes, format_: str, limits: Limits) -> Extraction:
    """Read an image by OCR; without an engine the extraction is empty and says so."""
    found = ocr_image(data, limits)
    if found is None:
        notice = Notice("ocr-not-installed", f"No text, {how_to_install()}")
        return Extraction((), format_, "no OCR", markdown=False, notices=(notice,))
    several = len(found) != 1
    pages = tuple(
        ExtractedPage(page.text, number if several else None)
        for number, page in enumerate(found, 1)
    )
    notices = [ocr_notice(page, written.number) for page, written in zip(found, pages, strict=True)]
    return Extraction(
        pages,
        format_,
        found[0].method if found else "",
        page_kind="page" if len(pages) > 1 else "",
        markdown=False,
        notices=tuple(filter(None, notices)),
    )


def ocr_notice(page: Recognition, number: int | None = None) -> Notice | None:
    """Return how far the text of a page can be trusted, or None where there is no text."""
    if not page.text:
        return None
    subject = f"Page {number}: read" if number is not None else "Read"
    shown = math.floor(round(page.confidence * 100, 6)) / 100  # .899 is below .90, and says so
    sentence = f"{subject} by OCR, mean confidence {shown:.2f}"
    if page.sure:
        return Notice("ocr", f"{sentence}.", number)
    return Notice("ocr-unsure", f"{sentence}: check it against the original.", number)


def _engines() -> Iterator[_Engine]:
    names = engine_names()
    if "RapidOCR" in names:
        method = f"RapidOCR {version('rapidocr')}"
        yield _Engine(read_by_rapidocr, method, _LEAST_OF_RAPIDOCR)
    if "tesseract" in names:
        yield _Engine(read_by_tesseract, tesseract_method(), _LEAST_OF_TESSERACT)


# --- tesseract, in a process of its own -----------------------------------------------------------

_LEAST_OF_TESSERACT = 0.8  # .93 and more where it read well, .73 where it missed half of the words
_NOT_LANGUAGES = frozenset({"osd", "equ", "snum"})
_LANGUAGES_CEILING = 4  # each one loaded makes recognition slower
_WORD_LEVEL = "5"


class _Word(NamedTuple):
    page: int
    paragraph: tuple[str, str]
    line: str
    text: str
    confidence: float


@cache
def tesseract() -> str:
    """Return the path of the tesseract program, or an empty string."""
    found = shutil.which("tesseract")
    return os.path.realpath(found) if found else ""


@cache
def tesseract_languages() -> str:
    """Return the installed languages as tesseract's ``-l`` takes them; English comes first."""
    listed = _run([tesseract(), "--list-langs"], b"", 10.0).decode("utf-8", "replace")
    found = {line.strip() for line in listed.splitlines()[1:]} - _NOT_LANGUAGES - {""}
    ordered = sorted(found, key=lambda language: (language != "eng", language))
    return "+".join(ordered[:_LANGUAGES_CEILING])


@cache
def tesseract_method() -> str:
    """Return the name and version of the installed program."""
    first = _run([tesseract(), "--version"], b"", 10.0).decode("utf-8", "replace").split("\n", 1)[0]
    return f"tesseract {first.removeprefix('tesseract').strip()}"


def read_by_tesseract(image: bytes, limits: Limits) -> list[tuple[str, float]]:
    """Return text and mean confidence (0 to 1) of each page of an image."""
    need_time(limits.ocr_page_seconds)
    command = [tesseract(), "stdin", "stdout"]
    if installed := tesseract_languages():
        command += ["-l", installed]
    output = _run([*command, "tsv"], image, limits.ocr_page_seconds).decode("utf-8", "replace")
    rows = [line.split("\t") for line in output.splitlines()[1:]]
    words = list(_words(rows))
    count = max((int(row[1]) for row in rows), default=1)
    return [
        _tesseract_page([word for word in words if word.page == number])
        for number in range(1, count + 1)
    ]


def _words(rows: list[list[str]]) -> Iterator[_Word]:
    """Yield the words; columns: level, page, block, paragraph, line, ..., confidence, text."""
    for row in rows:
        if row[0] == _WORD_LEVEL and (text := row[-1].strip()):
            yield _Word(int(row[1]), (row[2], row[3]), row[4], text, float(row[-2]) / 100)


def _tesseract_page(words: list[_Word]) -> tuple[str, float]:
    paragraphs = [
        "\n".join(
            " ".join(word.text for word in line)
            for _, line in groupby(paragraph, key=lambda word: word.line)
        )
        for _, paragraph in groupby(words, key=lambda word: word.paragraph)
    ]
    confidence = sum(word.confidence for word in words) / max(1, len(words))
    return "\n\n".join(paragraphs), confidence


def _run(command: list[str], stdin: bytes, seconds: float) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - the program found on PATH, arguments of our own
            command, input=stdin, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise RejectedError("timed-out", f"OCR took more than {seconds:.0f} seconds.") from error
    if done.returncode:
        detail = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no reason"]
        raise RejectedError("unreadable", f"OCR could not read the image ({detail[0][:200]}).")
    return done.stdout


# --- RapidOCR, on ONNX Runtime in the process that reads ------------------------------------------

# The classifier of upside-down lines is left out: it turned lines that were upright. A page that
# makes no sense is turned as a whole instead.
_LEAST_OF_RAPIDOCR = 0.9  # .96 and more where it read well, .88 and less on scripts it cannot read
_LEAST_LINE = 0.5  # confidence below which a line is left out
_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "GIF", "WEBP")
_TURNS = (0, 2, 1, 3)  # quarters, the likeliest first
_LINE_POINTS = 12.0  # height of an ordinary line; the search for columns measures in points
_PARAGRAPH_GAP = 0.8  # of the height of a line
# A line that stands alone on a large page is missed at full size in some fonts, and found
# where the page is as large as those that the detector was made for.
_SMALLER = 960  # pixels of the longer side
_SAME_LINE = 0.5  # likewise, between the middles of two parts of a line


def read_by_rapidocr(image: bytes, limits: Limits) -> list[tuple[str, float]]:
    """Return text and mean confidence (0 to 1) of each page of an image."""
    try:
        return [_page(pixels, limits) for pixels in _pictures(image, limits)]
    except Image.DecompressionBombError as error:
        raise RejectedError("image-too-large", "The image has too many pixels.") from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:  # what Pillow raises on damage
        sentence = f"OCR could not read the image ({str(error)[:200]})."
        raise RejectedError("unreadable", sentence) from error


def _pictures(image: bytes, limits: Limits) -> Iterator["_Pixels"]:
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


def _page(pixels: "_Pixels", limits: Limits) -> tuple[str, float]:
    """Return text and confidence of a page, turned where it is the surer for it."""
    best: tuple[list[_Line], float] = ([], 0.0)
    for turn in _TURNS:
        need_time(limits.ocr_page_seconds)
        lines = _lines(np.ascontiguousarray(np.rot90(pixels, turn)))
        confidence = _confidence(lines)
        if confidence > best[1]:
            best = (lines, confidence)
        if not lines or confidence >= _LEAST_OF_RAPIDOCR:
            break
    lines, confidence = best
    return _text([line for line in lines if line[2] >= _LEAST_LINE]), confidence


@cache
def _rapidocr() -> Any:
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


def _lines(pixels: "_Pixels") -> list["_Line"]:
    """Return the lines in which letters or digits were found."""
    found = _rapidocr()(pixels)
    longest = max(pixels.shape[:2])
    if found.txts is None and longest > _SMALLER:
        scale = _SMALLER / longest
        smaller = cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        found = _rapidocr()(smaller)
    if found.txts is None:
        return []
    lines = []
    for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
        if any(map(str.isalnum, text)):
            box = pdf_text.Box(*map(float, (*corners.min(axis=0), *corners.max(axis=0))))
            lines.append((box, text.strip(), float(score)))
    return lines


def _confidence(lines: list["_Line"]) -> float:
    """Return the mean over words; a line speaks for each of its words."""
    counts = [len(text.split()) for _, text, _ in lines]
    scores = (score * count for (_, _, score), count in zip(lines, counts, strict=True))
    return sum(scores) / max(1, sum(counts))


def _text(lines: list["_Line"]) -> str:
    """Return the lines in reading order, column by column, paragraphs parted by blank lines."""
    if not lines:
        return ""
    scale = _LINE_POINTS / max(1.0, median(box.height for box, _, _ in lines))
    rows = layout.visual_rows(_segment(number, line, scale) for number, line in enumerate(lines))
    across = [segment for row in rows for segment in row]
    segments = [segment._replace(order=number) for number, segment in enumerate(across)]
    written = ""
    last: layout.Segment | None = None
    for segment in layout.reading_order(segments, layout.columns(segments)):
        written += _between(last, segment) + segment.text
        last = segment
    return written


def _between(last: "layout.Segment | None", segment: "layout.Segment") -> str:
    """Return what parts two segments: a space on one line, a blank line where a gap is wide."""
    if last is None:
        return ""
    above, below = last.box, segment.box
    if abs(above.middle - below.middle) < _SAME_LINE * _LINE_POINTS and below.left > above.left:
        return " "
    near = -_LINE_POINTS < below.top - above.bottom < _PARAGRAPH_GAP * _LINE_POINTS
    return "\n" if near else "\n\n"


def _segment(number: int, line: "_Line", scale: float) -> "layout.Segment":
    box, text, _ = line
    points = pdf_text.Box(*(scale * value for value in box))
    word = pdf_text.Word(
        text, points, _LINE_POINTS, bold=False, line=number, sideways=False, order=number
    )
    return layout.segment_of([word])
