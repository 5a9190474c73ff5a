"""One file to one reader: every format has its own, and what could not be read is said."""

from collections.abc import Mapping
from importlib import import_module

import pytest

from chapterhouse.reading import dispatch
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.names import PACKAGES
from chapterhouse.reading.pdf import document, visible_words
from chapterhouse.types import Extraction

from .conftest import EXTENSION, docx_parts, zipped
from .pdf_writer import Page, write_pdf


def codes(extraction: Extraction) -> list[str]:
    return [notice.code for notice in extraction.notices]


def test_every_package_has_a_reader_that_is_there() -> None:
    assert dispatch._PACKAGE_READERS.keys() == PACKAGES
    for path in dispatch._PACKAGE_READERS.values():
        module, _, name = path.partition(":")
        assert callable(getattr(import_module(f"chapterhouse.reading.office.{module}"), name))


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


def test_a_pdf_whose_layout_was_given_up_misses_nothing(
    limits: Limits, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write_pdf([Page().lines(72, 120, ["The ferry leaves at nine."] * 3)])
    assert codes(read(data, "a.pdf", limits)) == []
    monkeypatch.setattr(document, "MOST_CHARACTERS", 5)
    monkeypatch.setattr(visible_words, "pdf_words", None)  # is not asked
    assert codes(read(data, "a.pdf", limits)) == ["layout-skipped"]
