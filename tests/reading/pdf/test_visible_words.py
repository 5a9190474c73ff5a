"""The independent count of the words that a PDF file shows."""

import pytest
from tests.reading.pdf_writer import Page, write_pdf

from chapterhouse.reading.completeness import count, share
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pdf import furniture
from chapterhouse.reading.pdf.visible_words import pdf_words
from chapterhouse.text.sanitise import sanitise
from chapterhouse.types import ExtractedPage


def test_running_lines_count_once() -> None:
    lines = ["The harbour master wrote down the boats that came,", "their tons and their crews."]
    pages = [
        Page().text(72, 40, "Harbour report").lines(72, 200, [f"Day {number}", *lines])
        for number in range(9)
    ]
    assert pdf_words(write_pdf(pages))["report"] < furniture._LEAST_PAGES


@pytest.mark.parametrize("sign", "\x01\x02\x08")
def test_control_characters_part_no_words(sign: str) -> None:
    data = write_pdf([Page().lines(72, 200, [f"The har{sign}bour mas{sign}ter", "wrote"])])
    visible = pdf_words(data)
    stored = sanitise(read(data, "a.pdf", Limits()).pages[0].text).text

    assert visible == count("The harbour master wrote")
    assert share(visible, (ExtractedPage(stored),)) == 1.0


def test_values_of_fields_are_counted() -> None:
    page = Page().text(72, 120, "Name").field(110, 108, "n", "/FT /Tx /V (A. Smith)")

    assert pdf_words(write_pdf([page])) == count("Name A. Smith")
