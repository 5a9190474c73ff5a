import os

import pytest
from tests.reading.pdf_writer import Page, write_pdf

from chapterhouse.errors import RejectedError
from chapterhouse.reading.limits import Allowance
from chapterhouse.reading.markdown import count
from chapterhouse.reading.ocr import Recognition
from chapterhouse.reading.pdf import document as pdf
from chapterhouse.reading.pdf import furniture
from chapterhouse.reading.pdf import page as page_module
from chapterhouse.reading.pdf.document import read_pdf
from chapterhouse.types import ExtractedPage, Extraction

BODY = [
    "The committee met on the second floor and heard the treasurer, who",
    "explained how the figures had been gathered, which of them were still",
    "provisional, and why two of the stations had sent theirs late.",
]


def read(*pages: Page) -> Extraction:
    return read_pdf(write_pdf(list(pages)), "made.pdf")


def body_page(first: str = "") -> Page:
    page = Page()
    if first:
        page.text(72, 72, first, 20)
    return page.lines(72, 120, BODY)


WHOLE = " ".join(BODY)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (body_page(), WHOLE),
        (Page(), ""),
        (
            Page().lines(72, 120, ["The figures were provi-", "sional."]),
            "The figures were provisional.",
        ),
        (
            Page().lines(
                72, 120, ["It is a well-known fact that lines end, a well-", "known one."]
            ),
            "It is a well-known fact that lines end, a well-known one.",
        ),
        (body_page().lines(72, 190, BODY), f"{WHOLE}\n\n{WHOLE}"),
        (
            Page()
            .lines(72, 120, ["\u2022 oars and", "   rowlocks", "\u2022 sails", "\u2022 a bucket"])
            .lines(72, 200, ["1. cast off", "2. row"]),
            "- oars and rowlocks\n- sails\n- a bucket\n1. cast off\n2. row",
        ),
        (Page().text(72, 40, "1987").lines(72, 120, BODY), f"1987\n\n{WHOLE}"),
    ],
    ids=range(7),
)
def test_a_page_is_read_as_it_is_set(page: Page, text: str) -> None:
    extraction = read(body_page(), page)
    assert [(one.number, one.text) for one in extraction.pages] == [(1, WHOLE), (2, text)]
    assert (extraction.format, extraction.page_kind, extraction.notices) == ("pdf", "page", ())
    assert extraction.method.startswith("pypdfium2 5.")


def test_headings_by_size_and_weight() -> None:
    page = Page().text(72, 72, "Report of the Harbour", 22).text(72, 110, "First Part", 16)
    page.lines(72, 140, BODY).text(72, 210, "A bold line", 11, bold=True).lines(72, 235, BODY)
    text = read(page).pages[0].text
    assert "# Report of the Harbour\n" in text
    assert "\n## First Part\n" in text
    assert "\n### A bold line\n" in text
    assert text.count("#") == 6


def test_bookmarks_give_headings_their_level() -> None:
    page = Page().text(72, 72, "Of Boats", 11).lines(72, 120, BODY)
    data = write_pdf([page], outline=[("Of Boats", 0)])
    assert read_pdf(data, "x.pdf").pages[0].text.startswith("# Of Boats\n")


def test_markdown_marks_in_the_text_are_escaped() -> None:
    page = Page().text(72, 120, "# no heading").text(72, 200, "```").text(72, 280, "| no table")
    page.text(72, 340, "Above a rule").text(72, 354, "-----")
    text = read(page).pages[0].text
    assert text.split("\n\n")[:3] == ["\\# no heading", "\\```", "\\| no table"]
    assert "\n-----" not in text


def test_title_author_and_date_come_from_the_file() -> None:
    info = {"Title": "Of Boats", "Author": "A. Ferryman", "CreationDate": "D:19870512093000Z"}
    extraction = read_pdf(write_pdf([body_page("Harbour")], info=info), "x.pdf")
    assert extraction.title == "Of Boats"
    assert extraction.metadata == {"author": "A. Ferryman", "date": "1987-05-12"}


def test_an_encrypted_file_is_rejected() -> None:
    with pytest.raises(RejectedError) as caught:
        read_pdf(write_pdf([body_page()], password="secret"), "closed.pdf")
    assert caught.value.code == "encrypted"
    assert "closed.pdf" in caught.value.message


def test_a_broken_file_is_told_of_in_plain_words() -> None:
    cut = "is cut off: the end of the PDF is missing."
    for data, told, advice in (
        (b"", cut, "ask the sender"),
        (b"not a pdf at all", cut, "ask the sender"),
        (b"%PDF-1.7\n" + bytes(500), cut, "ask the sender"),
        (b"%PDF-1.7\n%%EOF\n", "is damaged and cannot be opened as a PDF.", "PDF viewer"),
    ):
        with pytest.raises(RejectedError) as caught:
            read_pdf(data, "broken.pdf")
        assert (caught.value.code, caught.value.message) == ("unreadable", f"broken.pdf {told}")
        assert advice in caught.value.hint


def test_a_file_without_its_end_is_still_read() -> None:
    data = write_pdf([body_page(), body_page()])
    assert read_pdf(data[: data.rindex(b"xref")], "cut.pdf").pages[1].text == " ".join(BODY)


def test_a_page_that_cannot_be_opened_is_named() -> None:
    data = write_pdf([body_page(), body_page()])
    broken = data.replace(b"7 0 obj\n<< /Type /Page ", b"7 0 obj\n<< /Type /Pag_ ").replace(
        b"/Kids [5 0 R 7 0 R]", b"/Kids [5 0 R 99 0]"
    )
    extraction = read_pdf(broken, "half.pdf")
    assert extraction.pages[0].text == " ".join(BODY)
    assert [(notice.code, notice.page) for notice in extraction.notices] == [("page-unreadable", 2)]


@pytest.mark.large
def test_many_pages_are_read() -> None:
    pages = 6_000 if "CHAPTERHOUSE_LARGE" in os.environ else 600
    extraction = read(*(Page().text(72, 72, f"Leaf {n} of the book.") for n in range(pages)))
    assert len(extraction.pages) == pages
    assert extraction.pages[-1].text.strip() == f"Leaf {pages - 1} of the book."
    assert not extraction.notices


def test_pages_for_which_there_is_no_time_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    left = iter((True, True, False))
    monkeypatch.setattr(Allowance, "lasts", lambda _: next(left))
    extraction = read(*(body_page() for _ in range(5)))
    assert len(extraction.pages) == 2
    assert [notice.code for notice in extraction.notices] == ["text-truncated"]
    assert "Pages 3 to 5 were not read: the others took" in extraction.notices[0].sentence


def test_after_many_pages_that_cannot_be_opened_the_rest_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pdf, "_MOST_UNREADABLE", 1)
    data = write_pdf([body_page(), body_page(), body_page()])
    broken = data.replace(b"7 0 obj\n<< /Type /Page ", b"7 0 obj\n<< /Type /Pag_ ").replace(
        b"/Kids [5 0 R 7 0 R 9 0 R]", b"/Kids [5 0 R 99 0 9 0 R]"
    )
    notices = read_pdf(broken, "half.pdf").notices
    assert [notice.code for notice in notices] == ["page-unreadable", "text-truncated"]
    assert "Page 3 was not read: 1 other pages" in notices[1].sentence


def test_a_crowded_page_keeps_its_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MOST_CHARACTERS", 50)
    extraction = read(body_page("Harbour"))
    assert extraction.pages[0].text.split("\n") == ["Harbour", *BODY]
    assert [(notice.code, notice.page) for notice in extraction.notices] == [("layout-skipped", 1)]
    (notice,) = read(*(body_page() for _ in range(30))).notices
    assert notice.sentence.startswith("30 pages (1, 2, 3")


def test_a_page_without_text_is_named_where_there_is_no_ocr(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pdf, "ocr_image", lambda _image: None)
    extraction = read(body_page(), Page().filled())
    assert [page.text for page in extraction.pages] == [" ".join(BODY), ""]
    assert [(notice.code, notice.page) for notice in extraction.notices] == [
        ("ocr-not-installed", 2)
    ]


def test_a_page_without_text_is_given_to_ocr_as_a_png(monkeypatch: pytest.MonkeyPatch) -> None:
    images: list[bytes] = []

    def recognise(image: bytes) -> tuple[Recognition]:
        images.append(image)
        return (Recognition("# read from\nthe picture", 0.875, sure=True, method="engine 1.0"),)

    monkeypatch.setattr(pdf, "ocr_image", recognise)
    extraction = read(Page().filled())
    assert images[0].startswith(b"\x89PNG\r\n\x1a\n")
    assert extraction.pages[0].text == "\\# read from\nthe picture"
    assert extraction.method.endswith(", engine 1.0")
    assert [(notice.code, notice.sentence) for notice in extraction.notices] == [
        ("ocr", "Page 1: read by OCR, mean confidence 0.87.")
    ]


def test_failing_ocr_is_a_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(image: bytes) -> None:
        raise RejectedError("timed-out", "OCR took more than 30 seconds.")

    monkeypatch.setattr(pdf, "ocr_image", fail)
    notices = read(Page().filled()).notices
    assert [(notice.code, notice.page) for notice in notices] == [("ocr-failed", 1)]
    assert "30 seconds" in notices[0].sentence


def test_characters_that_a_font_does_not_name_are_told_and_left_out() -> None:
    codes = "\x01\x04\x05\x07 " * 5
    extraction = read(body_page(), body_page().text(72, 400, f"Highlights {codes}here."))
    (notice,) = extraction.notices
    assert (notice.code, notice.page) == ("undecodable-characters", 2)
    assert notice.sentence.startswith(
        "Page 2: at least 20 characters shown there could not be read"
    )
    assert "Highlights" in extraction.pages[1].text
    assert "\x01" not in extraction.pages[1].text


def test_a_page_of_such_characters_is_given_to_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Recognition("Highlights", 0.95, sure=True, method="engine 1.0")
    monkeypatch.setattr(pdf, "ocr_image", lambda _image: (found,))
    extraction = read(Page().lines(72, 100, ["\x01\x04\x05\x07\x08" * 8] * 3))
    assert [page.text for page in extraction.pages] == ["Highlights"]
    assert [notice.code for notice in extraction.notices] == ["ocr"]


# --- the independent count of the words that a file shows ----------------------------------------

REPORT = ["The harbour master wrote down the boats that came,", "their tons and their crews."]


def report(pages: int = 5) -> bytes:
    return write_pdf(
        [
            Page().text(72, 40, "Harbour report").lines(72, 200, [f"Day {number}", *REPORT])
            for number in range(pages)
        ]
    )


def codes(data: bytes) -> list[str]:
    return [notice.code for notice in read_pdf(data, "report.pdf").notices]


def test_text_that_the_reader_loses_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "incomplete" not in codes(report())
    lines = page_module._lines
    monkeypatch.setattr(page_module, "_lines", lambda *given: iter(list(lines(*given))[:1]))
    assert "incomplete" in codes(report())


def test_few_words_are_no_matter_and_many_are() -> None:
    assert pdf.missing_words(write_pdf([Page().lines(72, 200, REPORT[1:])]), ()) == ()
    (notice,) = pdf.missing_words(report(), [ExtractedPage("harbour")])
    assert notice.sentence.startswith("2% of the words")


def test_a_pdf_whose_layout_was_given_up_misses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MOST_CHARACTERS", 5)
    monkeypatch.setattr(pdf, "missing_words", None)  # is not asked
    assert codes(write_pdf([Page().lines(72, 120, REPORT)])) == ["layout-skipped"]


def test_words_are_counted_once_whatever_stands_in_them_and_in_fields() -> None:
    for sign in "\x01\x02\x08":
        data = write_pdf([Page().lines(72, 200, [f"The har{sign}bour mas{sign}ter", "wrote"])])
        assert pdf.pdf_words(data) == count("The harbour master wrote")
    form = Page().text(72, 120, "Name").field(110, 108, "n", "/FT /Tx /V (A. Smith)")
    assert pdf.pdf_words(write_pdf([form])) == count("Name A. Smith")
    assert pdf.pdf_words(report(9))["report"] < furniture._LEAST_PAGES
