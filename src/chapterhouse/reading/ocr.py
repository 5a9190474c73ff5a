"""Text from images by the system's tesseract, where there is one."""

import os
import shutil
import subprocess
from functools import cache

from chapterhouse.errors import RejectedError
from chapterhouse.reading import budget
from chapterhouse.reading.image_size import image_size
from chapterhouse.reading.limits import Limits
from chapterhouse.types import ExtractedPage, Extraction, Notice

_NOT_LANGUAGES = frozenset({"osd", "equ", "snum"})
_LANGUAGES_CEILING = 4  # each one loaded makes recognition slower
NOT_INSTALLED = "No text, OCR not installed: install tesseract and add the file again."


@cache
def tesseract() -> str:
    """Return the path of the tesseract program, or an empty string."""
    found = shutil.which("tesseract")
    return os.path.realpath(found) if found else ""


@cache
def languages() -> str:
    """Return the installed languages as tesseract's ``-l`` takes them; English comes first."""
    listed = _run([tesseract(), "--list-langs"], b"", 10.0).decode("utf-8", "replace")
    found = {line.strip() for line in listed.splitlines()[1:]} - _NOT_LANGUAGES - {""}
    ordered = sorted(found, key=lambda language: (language != "eng", language))
    return "+".join(ordered[:_LANGUAGES_CEILING])


@cache
def version() -> str:
    """Return tesseract's version, or an empty string."""
    if not tesseract():
        return ""
    first = _run([tesseract(), "--version"], b"", 10.0).decode("utf-8", "replace").split("\n", 1)[0]
    return first.removeprefix("tesseract").strip()


def ocr_image(image: bytes, limits: Limits | None = None) -> str | None:
    """Return the text of an image (PNG, JPEG, TIFF, BMP, GIF, WebP), or None without tesseract.

    Pages of a TIFF are separated by form feeds.

    Raises:
        RejectedError: ``image-too-large``, ``timed-out``, or ``unreadable``.
    """
    if not tesseract():
        return None
    limits = limits or Limits()
    size = image_size(image)
    if size is not None and size[0] * size[1] > limits.image_pixels:
        raise RejectedError(
            "image-too-large", f"An image of {size[0]:,} x {size[1]:,} pixels is too large."
        )
    budget.need(limits.ocr_page_seconds)
    command = [tesseract(), "stdin", "stdout"]
    if spoken := languages():
        command += ["-l", spoken]
    return _run(command, image, limits.ocr_page_seconds).decode("utf-8", "replace")


def read_image(data: bytes, _name: str, format_: str, limits: Limits) -> Extraction:
    """Read an image by OCR; without tesseract the extraction is empty and says so.

    Raises:
        RejectedError: as `ocr_image`.
    """
    text = ocr_image(data, limits)
    if text is None:
        notice = Notice("ocr-not-installed", NOT_INSTALLED)
        return Extraction((), format_, "no OCR", markdown=False, notices=(notice,))
    method = f"tesseract {version()}"
    texts = text.rstrip("\f\n ").split("\f")
    if len(texts) == 1:
        return Extraction((ExtractedPage(texts[0]),), format_, method, markdown=False)
    pages = tuple(ExtractedPage(part, number) for number, part in enumerate(texts, 1))
    return Extraction(pages, format_, method, page_kind="page", markdown=False)


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
