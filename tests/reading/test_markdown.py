"""Titles that a text bears out, and words without their typography."""

import pytest

from chapterhouse.reading.html.page import read_html
from chapterhouse.reading.markdown import believable_title, count
from chapterhouse.reading.pdf.document import read_pdf

from .pdf_writer import Page, write_pdf

TEXT = (
    "The harbour master reads out the annual report on boats and nets. Übersicht der Schiffe. "
    "Every ferry that came in was counted, with its crew and its catch, by day and by month, "
    "and so were those that left for the northern stations before the first of May. "
) * 4


SHORT = "# Crew Handbook\n\nThe ferry leaves at nine. 傳染病通報作業流程"


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        (TEXT, ("Annual report on boats;Boats and nets | The Paper;The Paper - Boats and nets;"
               "Harbour regulations 1987;Übersicht;ferry")),
        (SHORT, "Crew Handbook;Crew;The Harbour Board of Teal;傳染病通報作業流程;Retention Policy"),
        ("12 13", "Of Boats"),  # a text of few words does not speak against a title
    ],
)  # fmt: skip
def test_titles_that_a_text_bears_out(text: str, titles: str) -> None:
    assert [one for one in titles.split(";") if not believable_title(one, text)] == []


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        (TEXT, ("Letterhead template of some other company;1234-5678;Ãœbersicht der boats;"
               "boats \ufffd\ufffd nets;yxwvutsrqponmlkjihgfedcba;untitled;(anonymous);Unbenannt 1;"
               "Microsoft Word - annual report.doc;annual report.docx;scan0001.pdf;Home;ab;")),
        (SHORT, ("; ;12/2024;Handbook.docx;PowerPoint-Präsentation;Présentation PowerPoint;"
                "Untitled 1;Document1;Mappe1;Slide 1;Classeur (2);PowerPoint Presentation")),
        ("12 13", "yxwvutsrqponmlk;asdfghj"),
    ],
)  # fmt: skip
def test_what_a_program_left_or_no_text_bears_out_is_no_title(text: str, titles: str) -> None:
    assert [one for one in titles.split(";") if believable_title(one, text)] == []
    assert not believable_title("boats " * 80, text)


def test_what_has_a_garbage_title_is_named_by_its_heading() -> None:
    page = Page().text(72, 72, "Harbour report", 22)
    words = TEXT.replace("Ü", "U").split()
    page.lines(72, 120, [" ".join(words[n : n + 10]) for n in range(0, len(words), 10)])
    data = write_pdf([page], info={"Title": "yxwvutsrqponmlk"})
    assert read_pdf(data, "x.pdf").title == "Harbour report"
    html = f"<html><title>Untitled Document</title><body><h1>Boats</h1><p>{TEXT}</p></body></html>"
    assert read_html(html.encode()).title == "Boats"


def test_words_are_compared_without_their_typography() -> None:
    for one, other in (("ﬁsh", "FISH"), ("日本", "日 本"), ("a_b", "a b"), ("12.5", "12 5")):
        assert count(one) == count(other)
