"""Every format has its reader, and what could not be read is said."""

import os
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pytest

from chapterhouse.errors import RejectedError
from chapterhouse.reading import dispatch
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.formats import IMAGES, supported_formats
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.office import xberg
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.types import Extraction

from .conftest import EXTENSION, docx_parts, zipped

SOURCE = Path(__file__).parents[2] / "src"
STEP = int(os.environ.get("CHAPTERHOUSE_FILES_STEP", "20"))  # 1 before a release: every real file
FOLDERS = ("docling-groundtruth", "csv-spectrum", "eml-mikel-mail", "odfpy-samples")


def codes(extraction: Extraction) -> list[str]:
    return [notice.code for notice in extraction.notices]


def test_every_format_is_listed_once_with_a_reader_that_is_there() -> None:
    rows = supported_formats()
    extensions = [extension for row in rows for extension in row.extensions]
    assert len(extensions) == len(set(extensions))
    assert {row.format for row in rows} == dispatch.READERS.keys() | xberg.MIME_TYPES.keys()
    assert all(row.extensions and row.method for row in rows)
    assert all(row.available or row.format in IMAGES for row in rows)
    for path, *_ in dispatch.READERS.values():
        module, _, name = path.partition(":")
        assert callable(getattr(import_module(f"chapterhouse.reading.{module}"), name))


def test_every_reader_reads_its_own_format(documents: Mapping[str, bytes], limits: Limits) -> None:
    for name in documents.keys() - {"png"}:  # a picture needs an engine
        extraction = read(documents[name], f"a.{EXTENSION.get(name, name)}", limits)
        assert (extraction.format, codes(extraction)) == (name, []), name
        assert "nine" in "".join(page.text for page in extraction.pages) or name in TABLES, name


TABLES = {"csv", "tsv", "xlsx", "xlsb", "ods", "json", "yaml", "xml", "ics"}


def test_what_the_name_hides_is_said_before_what_the_reader_says(limits: Limits) -> None:
    empty = zipped(docx_parts("<w:p/>"))
    assert codes(read(empty, "a.pdf", limits)) == ["extension-mismatch", "no-text"]


def test_a_package_of_pictures_says_what_was_not_read(limits: Limits) -> None:
    inside = {"word/media/image1.png": b"x", "word/embeddings/b.xlsx": b"x"}
    extraction = read(zipped({**docx_parts("<w:p/>"), **inside}), "a.docx", limits)
    assert codes(extraction) == ["no-text", "contents-not-read"]
    assert "Not read: 1 picture and 1 embedded file." in extraction.notices[1].sentence
    assert codes(read(zipped({**docx_parts(), **inside}), "a.docx", limits)) == []


def test_an_archive_is_no_document_without_text(limits: Limits) -> None:
    extraction = read(zipped({"a.txt": "Pier 3"}), "a.zip", limits)
    assert [member.data for member in extraction.members] == [b"Pier 3"]
    assert codes(extraction) == []


def test_listing_formats_imports_no_reader() -> None:
    script = (
        "import sys; from chapterhouse.reading.formats import supported_formats as s; s();"
        "from chapterhouse.reading.pool import ReadingPool;"
        "print([m for m in ('xberg','pypdfium2','selectolax','charset_normalizer') "
        "if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


@pytest.mark.data
def test_real_files_end_in_text_or_a_reason(pool: ReadingPool, data_folder: Path) -> None:
    files = [
        path
        for folder in FOLDERS
        for path in sorted((data_folder / "documents" / folder).rglob("*"))
        if path.is_file() and "groundtruth" not in path.parts[-2] and path.suffix != ".tsv"
    ][::STEP]
    assert len(files) > 150 / STEP
    readable = 0
    codes: dict[str, str] = {}
    for path in files:
        try:
            extraction = pool.read(path.read_bytes(), path.name)
        except RejectedError as error:
            codes[path.name] = error.code
            continue
        text = "".join(page.text for page in extraction.pages)
        assert text.strip() or extraction.notices, path
        readable += bool(text.strip())
    assert not set(codes.values()) & {"reader-crashed", "timed-out", "out-of-memory"}, codes
    assert readable > 0.8 * len(files)
