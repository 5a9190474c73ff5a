"""Text recognition by the system's tesseract, in a process of its own."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import NamedTuple

from chapterhouse.errors import RejectedError
from chapterhouse.reading import budget
from chapterhouse.reading.limits import Limits

LEAST_CONFIDENCE = 0.8  # .93 and more where it read well, .73 where it missed half of the words
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
def program() -> str:
    """Return the path of the tesseract program, or an empty string."""
    found = shutil.which("tesseract")
    return os.path.realpath(found) if found else ""


@cache
def languages() -> str:
    """Return the installed languages as tesseract's ``-l`` takes them; English comes first."""
    listed = _run([program(), "--list-langs"], b"", 10.0).decode("utf-8", "replace")
    found = {line.strip() for line in listed.splitlines()[1:]} - _NOT_LANGUAGES - {""}
    ordered = sorted(found, key=lambda language: (language != "eng", language))
    return "+".join(ordered[:_LANGUAGES_CEILING])


@cache
def method() -> str:
    """Return the name and version of the installed program."""
    first = _run([program(), "--version"], b"", 10.0).decode("utf-8", "replace").split("\n", 1)[0]
    return f"tesseract {first.removeprefix('tesseract').strip()}"


def read_pages(image: bytes, limits: Limits) -> list[tuple[str, float]]:
    """Return text and mean confidence (0 to 1) of each page of an image."""
    budget.need(limits.ocr_page_seconds)
    command = [program(), "stdin", "stdout"]
    if installed := languages():
        command += ["-l", installed]
    output = _run([*command, "tsv"], image, limits.ocr_page_seconds).decode("utf-8", "replace")
    rows = [line.split("\t") for line in output.splitlines()[1:]]
    words = list(_words(rows))
    count = max((int(row[1]) for row in rows), default=1)
    return [
        _page([word for word in words if word.page == number]) for number in range(1, count + 1)
    ]


def _words(rows: list[list[str]]) -> Iterator[_Word]:
    """Yield the words; columns: level, page, block, paragraph, line, ..., confidence, text."""
    for row in rows:
        if row[0] == _WORD_LEVEL and (text := row[-1].strip()):
            yield _Word(int(row[1]), (row[2], row[3]), row[4], text, float(row[-2]) / 100)


def _page(words: list[_Word]) -> tuple[str, float]:
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
