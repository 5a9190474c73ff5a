from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.reading.completeness import count, missing, share
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pdf import page
from chapterhouse.types import BENIGN_NOTICES, ExtractedPage, Extraction

from .pdf_writer import Page, write_pdf

TEXTS = st.text(st.sampled_from("ab \n-1é日"), max_size=60)


def report(pages: int = 5) -> bytes:
    lines = ["The harbour master wrote down the boats that came,", "their tons and their crews."]
    return write_pdf(
        [
            Page().text(72, 40, "Harbour report").lines(72, 200, [f"Day {number}", *lines])
            for number in range(pages)
        ]
    )


def read_report() -> Extraction:
    return read(report(), "report.pdf", Limits())


def test_what_is_read_whole_gives_no_notice() -> None:
    assert {notice.code for notice in read_report().notices} <= {"running-lines"}


def test_text_that_a_reader_loses_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(*arguments: object) -> object:
        yield from list(lines(*arguments))[:1]  # type: ignore[arg-type]

    lines = page._lines
    monkeypatch.setattr(page, "_lines", forgetful)
    (notice,) = [n for n in read_report().notices if n.code not in BENIGN_NOTICES]

    assert notice.code == "incomplete"
    assert notice.sentence.startswith("5% of the words")


def test_a_web_page_whose_prose_is_left_out_is_incomplete() -> None:
    story = "The harbour master reads out what is written on the board, {} times a day. "
    teasers = "".join(f"<div><p>{story.format(n) * 2}</p></div>" for n in range(20, 40))
    html = (
        "<html><body><nav><a href=/>Home</a></nav><div><article><h1>Boats</h1>"
        f"<p>{story.format(3) * 9}</p></article></div>{teasers}</body></html>"
    )
    extraction = read(html.encode(), "page.html", Limits())
    complete = all(f"{n} times" in extraction.pages[0].text for n in range(20, 40))

    assert complete or "incomplete" in {notice.code for notice in extraction.notices}


@pytest.mark.parametrize(
    ("one", "other"),
    [("ﬁsh", "FISH"), ("日本", "日 本"), ("a_b", "a b"), ("12.5", "12 5"), ("é", "é")],
)
def test_words_are_compared_without_their_typography(one: str, other: str) -> None:
    assert count(one) == count(other)


@given(TEXTS, TEXTS)
def test_a_share_is_whole_where_the_text_is_there(text: str, more: str) -> None:
    assert share(count(text), [ExtractedPage(text), ExtractedPage(more)]) == 1.0
    assert 0.0 <= share(count(text), [ExtractedPage(more)]) <= 1.0


def test_few_words_are_no_matter() -> None:
    assert missing(Counter(["ten", "words"]), "pdf", []) == ()
