"""The independent count of the words that a PDF file shows."""

import pytest
from tests.reading.pdf_writer import Page, write_pdf

from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.markdown import count
from chapterhouse.reading.pdf import document, furniture, page
from chapterhouse.reading.pdf.visible_words import missing_words, pdf_words
from chapterhouse.types import ExtractedPage

LINES = ["The harbour master wrote down the boats that came,", "their tons and their crews."]


def report(pages: int = 5) -> bytes:
    return write_pdf(
        [
            Page().text(72, 40, "Harbour report").lines(72, 200, [f"Day {number}", *LINES])
            for number in range(pages)
        ]
    )


def codes(data: bytes) -> list[str]:
    return [notice.code for notice in read(data, "report.pdf", Limits()).notices]


def test_text_that_the_reader_loses_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "incomplete" not in codes(report())
    lines = page._lines
    monkeypatch.setattr(page, "_lines", lambda *given: iter(list(lines(*given))[:1]))
    assert "incomplete" in codes(report())


def test_few_words_are_no_matter_and_many_are() -> None:
    assert missing_words(write_pdf([Page().lines(72, 200, LINES[1:])]), ()) == ()
    (notice,) = missing_words(report(), [ExtractedPage("harbour")])
    assert notice.sentence.startswith("2% of the words")


def test_a_pdf_whose_layout_was_given_up_misses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MOST_CHARACTERS", 5)
    monkeypatch.setattr(document, "missing_words", None)  # is not asked
    assert codes(write_pdf([Page().lines(72, 120, LINES)])) == ["layout-skipped"]


def test_running_lines_count_once() -> None:
    assert pdf_words(report(9))["report"] < furniture._LEAST_PAGES


@pytest.mark.parametrize("sign", "\x01\x02\x08")
def test_control_characters_part_no_words(sign: str) -> None:
    data = write_pdf([Page().lines(72, 200, [f"The har{sign}bour mas{sign}ter", "wrote"])])
    assert pdf_words(data) == count("The harbour master wrote")


def test_values_of_fields_are_counted() -> None:
    form = Page().text(72, 120, "Name").field(110, 108, "n", "/FT /Tx /V (A. Smith)")
    assert pdf_words(write_pdf([form])) == count("Name A. Smith")
