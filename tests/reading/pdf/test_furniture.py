from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading.pdf_writer import HEIGHT, Page, write_pdf

from chapterhouse.reading.pdf.document import read_pdf
from chapterhouse.types import BENIGN_NOTICES, Extraction

SUBJECTS = ("boats float", "nets dry", "gulls cry", "ropes rot", "tides turn", "buoys ring")


def read(pages: list[Page]) -> Extraction:
    return read_pdf(write_pdf(pages), "made.pdf")


def prose(number: int) -> Page:
    subject = SUBJECTS[number % len(SUBJECTS)]
    lines = [f"Line {line} of chapter {number} says that {subject}." for line in range(4)]
    return Page().lines(72, 200, lines)


def invoice(number: str, amount: str) -> Page:
    page = Page().text(72, 40, "Harbour Supplies Limited").text(72, 60, f"Invoice {number}")
    page.text(72, 300, "Payable within thirty days.").text(72, 330, "For the goods delivered:")
    return page.text(72, 760, f"Total due: EUR {amount}")


def form(n: int) -> Page:
    """A page whose numbers stand apart from their label."""
    page = Page().text(72, 40, "Invoice").text(400, 40, str(1001 + n)).text(400, 60, str(501 + n))
    return page.text(72, 300, "Payable within thirty days.")


def short(n: int) -> Page:
    page = Page().text(72, 40, "Invoice").text(300, 40, str(1001 + n))
    return page.text(72, 60, "For Acme")


STAYS: dict[str, tuple[Callable[[int], Page], Callable[[int], tuple[str, ...]]]] = {
    "invoices from 1": (
        lambda n: invoice(str(1 + n), f"12{n % 2}.50"),
        lambda n: (f"Invoice {1 + n}\n", f"EUR 12{n % 2}.50"),
    ),
    "invoices from 7": (lambda n: invoice(str(7 + n), "1.00"), lambda n: (f"Invoice {7 + n}\n",)),
    "forms": (form, lambda n: (f"Invoice {1001 + n}", f"{501 + n}")),
    "short invoices": (short, lambda n: (f"Invoice {1001 + n}",)),
    "who it is for": (
        lambda n: invoice("9", "1.00").text(300, 80, f"For {'AB'[n // 6]}"),
        lambda n: (f"For {'AB'[n // 6]}",),
    ),
    "headings": (
        lambda n: prose(n).text(72, 60, f"Clause {3 * n}"),
        lambda n: (f"Clause {3 * n}",),
    ),
    "other numbers": (lambda n: prose(n).text(72, 760, str(7 * n)), lambda n: (f"\n{7 * n}",)),
}


@pytest.mark.parametrize("what", STAYS)
def test_what_differs_from_page_to_page_stays(what: str) -> None:
    build, wanted = STAYS[what]
    for n, page in enumerate(read([build(n) for n in range(12)]).pages):
        assert all(part in page.text for part in wanted(n)), (n, page.text)


@pytest.mark.parametrize(
    ("first", "pattern", "left"),
    [
        (1, "{}", 0),
        (8, "{}", 0),
        (1, "Page {} of 6", 0),
        (1, "- {} -", 0),
        (3, "Seite {} von 9", 0),
        (1, "Harbour report, page {}", 1),
        (1, "Harbour report       {}", 1),
        (1, "Clause {}", 6),
    ],
)
def test_a_number_that_counts_the_pages_goes(first: int, pattern: str, left: int) -> None:
    texts = [pattern.format(first + place) for place in range(6)]
    pages = [prose(place) for place in range(6)]
    for page, text in zip(pages, texts, strict=True):
        label, _, number = text.partition("       ")
        page.text(72, 760, label)
        if number:
            page.text(500, 760, number)
    found = [
        " ".join(text.split()) == page.text.splitlines()[-1]
        for text, page in zip(texts, read(pages).pages, strict=True)
    ]
    assert sum(found) == left
    assert found == sorted(found, reverse=True)


def test_a_line_whose_sentence_goes_on_in_the_body_stays() -> None:
    clause = [
        "This clause is a demonstration and carries no legal weight, for it has a",
        "purpose.",
    ]
    pages = [
        Page().text(72, 40, f"Sample — page {place}").lines(72, 70, [*clause, f"Part {place}."])
        for place in (1, 2, 3, 4)
    ]
    extraction = read(pages)
    assert all(clause[0] in page.text for page in extraction.pages)
    assert [page.text.startswith("Sample") for page in extraction.pages] == [True] + [False] * 3


@pytest.mark.parametrize(
    ("footer", "sentence"),
    [
        ("{}", "The page numbers 1 to 5 are not in the text."),
        ("Page {} of 5", "The page numbers 1 to 5 are not in the text."),
        (
            "Harbour report, page {}",
            (
                "4 running headers or footers with page numbers are not in the text, "
                "as “Harbour report, page 2” on page 2."
            ),
        ),
        (
            "Harbour report",
            (
                "4 running headers and footers are not in the text: "
                "“Harbour report” (4 times, pages 2 to 5)."
            ),
        ),
    ],
)
def test_the_notice_says_what_is_not_in_the_text(footer: str, sentence: str) -> None:
    pages = [prose(place).text(72, 760, footer.format(place + 1)) for place in range(5)]
    (notice,) = read(pages).notices
    assert notice.sentence == sentence
    assert notice.code in BENIGN_NOTICES


LINES = st.sampled_from(
    ["Harbour", "Total 12", "Total 13", "Page {}", "{}", "Invoice {}", "Invoice 7", "iv", "9"]
)


@given(st.lists(st.tuples(LINES, LINES), min_size=1, max_size=9), st.booleans())
def test_only_what_is_said_before_or_counts_the_pages_is_dropped(
    edges: list[tuple[str, str]],
    filled: bool,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    pages, shown = [], []
    for place, (top, bottom) in enumerate(edges):
        page = prose(place)
        if filled:
            page.text(72, 400, "Payable within thirty days.")
        shown.append((top.format(place + 1), bottom.format(place + 1)))
        page.text(72, 40, shown[-1][0]).text(72, HEIGHT - 30, shown[-1][1])
        pages.append(page)
    before: list[str] = []
    for place, read_page in enumerate(read(pages).pages):
        lines = read_page.text.split("\n")
        for line in shown[place]:
            counts = line in (f"Page {place + 1}", f"{place + 1}") or (line, place) == ("iv", 3)
            assert line in lines or line in before or counts
        before += lines
