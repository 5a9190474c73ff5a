"""Files that a PDF carries, and what its pages are called in print."""

from dataclasses import replace

import pytest
from tests.reading.pdf_writer import Page, write_pdf

from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.text.naming import page_name

LIMITS = Limits()
PAGE = "The manual has an annex of its own, which names the surveyor."
ANNEX = b"The surveyor is Eskil Moen."


def page() -> Page:
    return Page().text(72, 100, PAGE)


def test_files_of_a_document_are_files_in_it_beside_its_pages() -> None:
    files = [("annex.txt", ANNEX), ("../../pr\xfcfung.csv", b"a;b\n1;2\n")]
    found = read(write_pdf([page()], files=files), "x.pdf", LIMITS)

    assert found.pages[0].text == PAGE
    assert [(one.path, one.data) for one in found.members] == [
        ("annex.txt", ANNEX), ("pr\xfcfung.csv", b"a;b\n1;2\n"),
    ]  # fmt: skip


def test_a_file_pinned_to_a_page_is_one_too_and_each_comes_once() -> None:
    pinned = page().annotation("FileAttachment", 300, 300, 20, 20, "/FS @0")
    files = [("annex.txt", ANNEX)]

    for listed in (True, False):
        found = read(write_pdf([page(), pinned], files=files, listed=listed), "x.pdf", LIMITS)
        assert [(one.path, one.data) for one in found.members] == files


def test_files_over_the_limits_are_named_and_the_pages_are_read_all_the_same() -> None:
    files = [(f"{number}.txt", ANNEX + bytes([48 + number])) for number in range(4)]
    data = write_pdf([page()], files=files)
    few = read(data, "x.pdf", replace(LIMITS, archive_files=2))
    small = read(data, "x.pdf", replace(LIMITS, archive_entry_bytes=3))

    assert few.pages[0].text == small.pages[0].text == PAGE
    assert [one.path for one in few.members] == ["0.txt", "1.txt"]
    assert [notice.code for notice in few.notices] == ["contents-not-read"]
    problems = [one.problem.code for one in small.members if one.problem and not one.data]
    assert problems == ["too-large"] * 4


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        ("", ["", "", "", ""]),
        ("0 << /S /D >>", ["", "", "", ""]),
        ("0 << /S /r >> 2 << /S /D >>", ["i", "ii", "1", "2"]),
        ("0 << /S /D /St 101 >>", ["101", "102", "103", "104"]),
        ("0 << /P (Cover) >> 1 << /S /D /P (A-) >>", ["Cover", "A-1", "A-2", "A-3"]),
        ("0 << /P (a\tb" + "x" * 80 + ") >>", ["a b" + "x" * 37] * 4),
    ],
)
def test_a_page_has_a_label_where_print_says_something_else(labels: str, wanted: list[str]) -> None:
    pages = read(write_pdf([page() for _ in range(4)], labels=labels), "x.pdf", LIMITS).pages

    assert [one.number for one in pages] == [1, 2, 3, 4]
    assert [one.label for one in pages] == wanted


@pytest.mark.parametrize(
    ("kind", "number", "label", "wanted"),
    [
        ("page", 4, "2", "page 4 (labelled 2)"),
        ("page", 4, "4", "page 4"),
        ("page", 4, "", "page 4"),
        ("", 4, "", "page 4"),
        ("slide", 4, "Plans", "slide 4"),
        ("sheet", 4, "Sales", "sheet Sales"),
        ("sheet", 4, "", "sheet 4"),
        ("page", None, "ii", ""),
    ],
)
def test_a_page_is_called_by_its_place_and_its_print(
    kind: str, number: int | None, label: str, wanted: str
) -> None:
    assert page_name(kind, number, label) == wanted
