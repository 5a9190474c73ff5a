"""Every format has its reader, and what could not be read is said."""

import os
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from random import Random

import pytest

from chapterhouse.errors import RejectedError
from chapterhouse.reading import dispatch, formats
from chapterhouse.reading.detect import detect
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.formats import IMAGES, supported_formats
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.office import xberg
from chapterhouse.reading.ole import compound_file as ole
from chapterhouse.reading.pool import ReadingPool

from .conftest import EXTENSION, codes, docx_parts, zipped

SOURCE = Path(__file__).parents[2] / "src"
STEP = int(os.environ.get("CHAPTERHOUSE_FILES_STEP", "20"))  # 1 before a release: every real file
FOLDERS = ("docling-groundtruth", "csv-spectrum", "eml-mikel-mail", "odfpy-samples")


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


# --- which format bytes have ---------------------------------------------------------------------

EVERY_EXTENSION = sorted(ending for one in formats.FORMATS.values() for ending in one.extensions)
# Formats that their content proves; the rest are kinds of plain text, where the name decides.
PROVEN = formats.FORMATS.keys() - formats.TEXTS


def test_content_decides_whatever_the_name(documents: Mapping[str, bytes], limits: Limits) -> None:
    for name in documents.keys() & PROVEN:
        for extension in EVERY_EXTENSION:
            detected = detect(documents[name], f"a.{extension}", limits)
            assert detected.format == name, (name, extension)
            mismatch = extension not in formats.FORMATS[name].extensions
            assert codes(detected) == ["extension-mismatch"] * mismatch, (name, extension)


def test_text_stays_text_whatever_the_name(documents: Mapping[str, bytes], limits: Limits) -> None:
    for name in documents.keys() & formats.TEXTS:
        for extension in EVERY_EXTENSION:
            assert detect(documents[name], f"a.{extension}", limits).format in formats.TEXTS


def test_every_document_under_every_name_can_be_read(
    pool: ReadingPool, documents: Mapping[str, bytes], limits: Limits
) -> None:
    # A name decides about a format and nothing else: of the names with one format one is read.
    for kind, data in documents.items():
        files = [f"a.{extension}" for extension in EVERY_EXTENSION]
        by_format = {detect(data, file, limits).format: file for file in files}
        for file in by_format.values():
            assert pool.read(data, file).pages or kind == "png", file


@pytest.mark.parametrize(
    ("data", "name", "wanted"),
    [
        (b"<?xml version='1.0'?><html><p>x</p></html>", "a.xml", "html"),
        (b"\n<!-- made by hand -->\n<HTML><p>x</p></HTML>", "a.txt", "html"),
        ("<!doctype html><p>x</p>".encode("utf-16"), "a", "html"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "a", "xml"),
        (b"<?php echo 1; ?>\n<html>", "a.php", "code"),
        (b"From: a@b.c\nTo: d@e.f\nSubject: x\n\nhello\n", "letter", "eml"),
        (b"From: a@b.c\nTo: d@e.f\nSubject: x\n\nhello\n", "notes.txt", "txt"),
        (b"no headers at all\n", "a.eml", "txt"),
        (b'{"a": [1, 2]}', "unnamed", "json"),
        (b'{"a": [1, 2', "unnamed", "txt"),
        (b"not json", "a.json", "txt"),
        (b"a,b,c\n1,2,3\n4,5,6\n", "unnamed", "csv"),
        (b"Dear all,\nthank you, and good bye\n", "unnamed", "txt"),
        (b"all: build\n", "Makefile", "code"),
        (b"text about %PDF-1.4 headers\n", "notes.txt", "txt"),
        (b"junk\n%PDF-1.4\n...\n%%EOF\n", "a.bin", "pdf"),
        (b"BM is how the word begins, and it goes on for a while", "a.txt", "txt"),
        (b"MZ stands for nothing here", "a.txt", "txt"),
        ("Grüße aus Köln\n".encode("latin-1"), "a.txt", "txt"),
        ("ferry".encode("utf-16-le"), "a.txt", "txt"),
        ("ferry".encode("utf-32-be"), "a.txt", "txt"),
        ("渡船九点开\n".encode("gb18030") * 20, "a.txt", "txt"),
        (zipped({k: v for k, v in docx_parts().items() if "Types" not in k}), "a", "zip"),
        (
            zipped(docx_parts() | {"[Content_Types].xml": "<x/>", "word/document.xml": ""}),
            "a.zip",
            "docx",
        ),
        (zipped({"a.txt": "x"}), "a.docx", ""),
        (ole({"Workbook": b"\x09\x08\x10\0\0\x06\x05\0"}), "a", "xls"),
        (ole({"WordDocument": b"\xec\xa5" + bytes(100)}), "a.xls", "doc"),
        (ole({"PowerPoint Document": b"x"}), "a", "ppt"),
        (ole({"__properties_version1.0": b"x", "WordDocument": b"x"}), "a", "msg"),
        (ole({"Catalog": b"x"}), "Thumbs.db", ""),
        (b"SQLite format 3\0" + bytes(100), "a.db", ""),
        (b"\0\0\0\x18ftypmp42" + bytes(100), "a.mp4", ""),
        (b"ID3\x04\0\0" + bytes(100), "a.mp3", ""),
        (bytes(257) + b"ustar\0" + bytes(300), "a.tar", "tar"),
        (b"\x1f\x8b\x08" + bytes(100), "a.svg", "gz"),
        (b"BZh is how a word begins", "a.txt", "txt"),
        (b"a,b\n1,2\n", "a.mbox", "txt"),
    ],
)
def test_detection(data: bytes, name: str, wanted: str, limits: Limits) -> None:
    if wanted:
        assert detect(data, name, limits).format == wanted
        return
    with pytest.raises(RejectedError) as caught:
        detect(data, name, limits)
    assert caught.value.code == "unsupported-format"
    assert "looks like" in caught.value.message


def test_macros_and_templates_are_documents(limits: Limits) -> None:
    main = "vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    for kind in (
        main,
        main.replace("document.main", "template.main"),
        "vnd.ms-word.document.macroEnabled.main+xml",
        "vnd.ms-word.template.macroEnabledTemplate.main+xml",
    ):
        parts = docx_parts()
        parts["[Content_Types].xml"] = str(parts["[Content_Types].xml"]).replace(main, kind)
        for extension in ("docx", "docm", "dotx"):
            detected = detect(zipped(parts), f"a.{extension}", limits)
            assert (detected.format, detected.notices) == ("docx", ())
    (notice,) = detect(zipped(docx_parts()), "letter.PDF", limits).notices
    assert notice.code == "extension-mismatch"
    assert ".pdf" in notice.sentence
    assert "docx" in notice.sentence


@pytest.mark.parametrize(
    ("data", "advice"),
    [
        (b"7z\xbc\xaf\x27\x1c\0\4" + bytes(500), "Unpack it"),
        (b"Book".ljust(60, b"\0") + b"BOOKMOBI" + bytes(2_000_000), "EPUB or PDF"),
        (zipped({"[Content_Types].xml": "<Types/>", "visio/document.xml": "<V/>"}), "as PDF"),
    ],
    ids=["7z", "mobi", "vsdx"],
)
def test_what_is_not_read_says_what_to_save_it_as(
    data: bytes, advice: str, pool: ReadingPool
) -> None:
    with pytest.raises(RejectedError) as caught:
        pool.read(data, "a")
    assert caught.value.code == "unsupported-format"
    assert advice in caught.value.hint


def test_noise_is_no_text(limits: Limits) -> None:
    for seed in range(60):
        data = Random(seed).randbytes((128, 288, 5_000)[seed % 3])
        for name in ("blah.gz", "a.txt", "a"):
            with pytest.raises(RejectedError) as error:
                detect(data, name, limits)
            assert error.value.code == "unsupported-format"


def test_old_text_with_a_stray_control_is_no_noise(limits: Limits) -> None:
    for encoding in ("cp1251", "koi8_r", "cp932", "euc_jp", "gb18030", "cp866"):
        text = "Компания 会社は開いた " if encoding != "cp866" else "Компания открыла завод "
        data = (text * 20).encode(encoding, "ignore") + b"\f\x00\x1a"
        assert detect(data, "a.txt", limits).format == "txt", encoding
