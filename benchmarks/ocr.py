"""Words that each OCR engine reads from pictures of known texts, and how sure it says it is.

    python benchmarks/ocr.py

Prints texts of the data folder with LibreOffice Writer and makes pictures of them with pdftoppm;
leaves out the engines that are not installed. Processor seconds a page, on one thread.
"""

import html
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from chapterhouse.reading import tesseract
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.ocr import has_rapidocr
from data_folder import data_folder
from measuring import Machine, Row, Table, finish

RESOLUTIONS = (150, 300)
_WORD = re.compile(r"\w+")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_PARAGRAPHS = 5
_PROSE_WORDS = 15
COLUMNS = ("text", "dots an inch", "engine", "words", "accents", "confidence", "seconds")
NOTE = (
    "`words`: share of the words of the text that are read, letter by letter; `accents`: the same "
    "of the words with a letter outside ASCII; `confidence`: as the engine says it."
)

ReadPages = Callable[[bytes, Limits], list[tuple[str, float]]]


def texts(data: Path) -> Mapping[str, list[str]]:
    """Return some paragraphs in three languages."""
    french = (data / "folders/guides-fr/annotation/1-annotation-ia.md").read_text("utf-8")
    lines = (_LINK.sub(r"\1", line).strip("*#>- ") for line in french.splitlines())
    prose = (line for line in lines if len(line.split()) > _PROSE_WORDS)
    return {
        "English": list(islice(_passages(data / "retrieval/xquad-en"), _PARAGRAPHS)),
        "German": list(islice(_passages(data / "retrieval/xquad-de"), _PARAGRAPHS)),
        "French": list(islice(prose, 2 * _PARAGRAPHS)),
    }


def _passages(folder: Path) -> Iterator[str]:
    with (folder / "corpus.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"]


def pictures(paragraphs: list[str], dots: int, folder: Path) -> list[bytes]:
    """Return the pages of a text as PNG."""
    body = "".join(f"<p>{html.escape(paragraph)}</p>" for paragraph in paragraphs)
    page = folder / "page.html"
    page.write_text(f'<html><head><meta charset="utf-8"></head><body>{body}</body></html>', "utf-8")
    profile = f"-env:UserInstallation=file://{folder}/profile"  # another may be open
    office = ["soffice", profile, "--headless", "--convert-to"]
    reader = ["--infilter=HTML (StarWriter)"]
    commands = (
        [*office, "odt:writer8", "--outdir", str(folder), *reader, str(page)],
        [*office, "pdf:writer_pdf_Export", "--outdir", str(folder), f"{folder}/page.odt"],
        ["pdftoppm", "-gray", "-png", "-r", str(dots), f"{folder}/page.pdf", f"{folder}/page"],
    )
    for command in commands:
        subprocess.run(command, check=True, capture_output=True)
    found = sorted(folder.glob("page-*.png"))
    return [path.read_bytes() for path in found]


def engines() -> Mapping[str, ReadPages]:
    """Return the engines that are installed, by name and version."""
    found: dict[str, ReadPages] = {}
    if has_rapidocr():
        from chapterhouse.reading import rapidocr  # noqa: PLC0415 - an extra

        found[rapidocr.method()] = rapidocr.read_pages
    if tesseract.program():
        found[tesseract.method()] = tesseract.read_pages
    return found


def measure(read: ReadPages, images: list[bytes], paragraphs: list[str]) -> tuple[float, ...]:
    """Return the shares of words and of accented words, the confidence, and seconds a page."""
    start = _seconds()
    pages = [page for image in images for page in read(image, Limits())]
    seconds = (_seconds() - start) / len(images)
    wanted = Counter(_WORD.findall(" ".join(paragraphs)))
    found = Counter(_WORD.findall(" ".join(text for text, _ in pages)))
    accented = Counter({word: count for word, count in wanted.items() if not word.isascii()})
    shares = [
        round((some & found).total() / max(1, some.total()), 3) for some in (wanted, accented)
    ]
    read_well = [confidence for text, confidence in pages if text]
    return (*shares, round(sum(read_well) / max(1, len(read_well)), 2), round(seconds, 1))


def _seconds() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main() -> None:
    missing = [program for program in ("soffice", "pdftoppm") if not shutil.which(program)]
    if missing or not engines():
        sys.exit(f"needs an OCR engine and {' and '.join(missing) or 'the extra ocr'}")
    os.environ["OMP_THREAD_LIMIT"] = "1"  # as in the process that reads
    machine, rows = Machine(), list[Row]()
    for language, paragraphs in texts(data_folder()).items():
        for dots in RESOLUTIONS:
            with tempfile.TemporaryDirectory() as folder:
                images = pictures(paragraphs, dots, Path(folder))
            for name, read in engines().items():
                rows.append((language, dots, name, *measure(read, images, paragraphs)))
                print(*rows[-1], flush=True)
    table = Table("Pictures", COLUMNS, tuple(rows), NOTE)
    finish("ocr", "Text recognition", [], [table], machine.setting("rapidocr"))


if __name__ == "__main__":
    main()
