import os

import pytest
from tests.reading.pdf_writer import Page, write_pdf

from chapterhouse.errors import RejectedError
from chapterhouse.reading import budget
from chapterhouse.reading.ocr import Recognised
from chapterhouse.reading.pdf import document as pdf
from chapterhouse.reading.pdf.document import read_pdf
from chapterhouse.types import Extraction

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


def test_lines_of_a_paragraph_are_joined() -> None:
    extraction = read(body_page())

    assert extraction.pages[0].text == " ".join(BODY)
    assert extraction.format == "pdf"
    assert extraction.page_kind == "page"
    assert extraction.method.startswith("pypdfium2 5.")
    assert extraction.notices == ()


def test_pages_are_numbered_from_one() -> None:
    extraction = read(Page().text(72, 300, "first page"), Page().text(72, 300, "second page"))

    assert [(page.number, page.text) for page in extraction.pages] == [
        (1, "first page"),
        (2, "second page"),
    ]


def test_a_word_parted_at_the_end_of_a_line_is_made_whole() -> None:
    extraction = read(Page().lines(72, 120, ["The figures were still provi-", "sional and late."]))

    assert extraction.pages[0].text == "The figures were still provisional and late."


def test_a_hyphen_that_the_document_uses_elsewhere_stays() -> None:
    lines = ["It is a well-known fact that lines end, and a well-", "known nuisance."]
    extraction = read(Page().lines(72, 120, lines))

    assert extraction.pages[0].text.endswith("and a well-known nuisance.")


def test_a_wider_gap_parts_paragraphs() -> None:
    page = Page().lines(72, 120, BODY).lines(72, 190, BODY)

    assert read(page).pages[0].text == " ".join(BODY) + "\n\n" + " ".join(BODY)


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


def test_lists_keep_a_line_for_each_item() -> None:
    page = Page().lines(
        72, 120, ["\u2022 oars and", "   rowlocks", "\u2022 sails", "\u2022 a bucket"]
    )
    page.lines(72, 200, ["1. cast off", "2. row"])
    text = read(page).pages[0].text

    assert text.split("\n") == [
        "- oars and rowlocks",
        "- sails",
        "- a bucket",
        "1. cast off",
        "2. row",
    ]


def test_running_headers_and_page_numbers_are_dropped_after_their_first_page() -> None:
    pages = [
        Page()
        .text(72, 40, "Harbour report 1987")
        .lines(72, 120, [f"Page {number} says that {word}.", *BODY])
        .text(300, 760, str(number))
        for number, word in enumerate(("boats float", "nets dry", "gulls cry"), 1)
    ]
    texts = [page.text for page in read(*pages).pages]

    assert [text.count("Harbour report 1987") for text in texts] == [1, 0, 0]
    assert all(not text.rstrip().endswith(f"\n{number}") for number, text in enumerate(texts, 1))
    assert all("says that" in text and BODY[2] in text for text in texts)


def test_text_that_repeats_in_the_body_stays() -> None:
    pages = [Page().text(72, 300, "Signed and sealed.").lines(72, 400, BODY) for _ in range(4)]

    assert all("Signed and sealed." in page.text for page in read(*pages).pages)


def test_a_numeral_alone_at_the_edge_of_one_page_stays() -> None:
    assert "1987" in read(Page().text(72, 40, "1987").lines(72, 120, BODY)).pages[0].text


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


@pytest.mark.parametrize("placeholder", ["untitled", "Microsoft Word - draft.doc", "scan0001.pdf"])
def test_a_placeholder_title_gives_way_to_the_first_large_heading(placeholder: str) -> None:
    data = write_pdf([body_page("Harbour")], info={"Title": placeholder})

    assert read_pdf(data, "x.pdf").title == "Harbour"


def test_an_encrypted_file_is_rejected() -> None:
    with pytest.raises(RejectedError) as caught:
        read_pdf(write_pdf([body_page()], password="secret"), "closed.pdf")

    assert caught.value.code == "encrypted"
    assert "closed.pdf" in caught.value.message


@pytest.mark.parametrize(
    "data", [b"", b"%PDF-1.4\n", b"not a pdf at all", b"%PDF-1.7\n" + b"\0" * 500]
)
def test_what_is_no_pdf_is_rejected(data: bytes) -> None:
    with pytest.raises(RejectedError) as caught:
        read_pdf(data, "broken.pdf")

    assert caught.value.code == "unreadable"


@pytest.mark.parametrize(
    ("end", "told", "advice"),
    [
        (b"", "broken.pdf is cut off: the end of the PDF is missing.", "ask the sender"),
        (b"%%EOF\n", "broken.pdf is damaged and cannot be opened as a PDF.", "PDF viewer"),
    ],
)
def test_a_broken_file_is_told_of_in_plain_words(end: bytes, told: str, advice: str) -> None:
    with pytest.raises(RejectedError) as caught:
        read_pdf(b"%PDF-1.7\n" + b"\0" * 500 + end, "broken.pdf")

    assert caught.value.message == told
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
    monkeypatch.setattr(budget.Allowance, "lasts", lambda _: next(left))
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


def test_many_notices_of_one_kind_are_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MOST_CHARACTERS", 50)
    notices = read(*(body_page() for _ in range(30))).notices

    assert len(notices) == 1
    assert notices[0].sentence.startswith("30 pages (1, 2, 3")


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

    def recognise(image: bytes) -> tuple[Recognised]:
        images.append(image)
        return (Recognised("# read from\nthe picture", 0.875, sure=True, method="engine 1.0"),)

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


def test_a_blank_page_misses_nothing() -> None:
    extraction = read(body_page(), Page())

    assert extraction.pages[1].text == ""
    assert extraction.notices == ()


def test_reading_twice_gives_the_same() -> None:
    data = write_pdf([body_page("Harbour"), body_page()])

    assert read_pdf(data, "x.pdf") == read_pdf(data, "x.pdf")


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


def test_a_few_such_signs_of_a_formula_stay_for_the_count_of_what_is_removed() -> None:
    assert read(body_page().text(72, 400, "x = \x12 y")).notices == ()


def test_a_page_of_such_characters_is_given_to_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Recognised("Highlights", 0.95, sure=True, method="engine 1.0")
    monkeypatch.setattr(pdf, "ocr_image", lambda _image: (found,))
    extraction = read(Page().lines(72, 100, ["\x01\x04\x05\x07\x08" * 8] * 3))

    assert [page.text for page in extraction.pages] == ["Highlights"]
    assert [notice.code for notice in extraction.notices] == ["ocr"]
