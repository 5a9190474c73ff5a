"""Titles that a text bears out, and words without their typography."""

import pytest

from chapterhouse.reading.html.page import read_html
from chapterhouse.reading.markdown import believable_title, count, first_heading
from chapterhouse.reading.pdf.document import read_pdf

from .conftest import docx_parts, odf_parts, packaged
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


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Minutes of 3 May\n\n## Present\n\nAda, Bo.", "Minutes of 3 May"),
        ("Protokoll vom 3. Mai 2024\n\n# Anwesend\n\nAda\n\n# Ende", "Protokoll vom 3. Mai 2024"),
        (
            "Protokoll der Sitzung vom\n3. Mai 2024\n\n## Ort",
            "Protokoll der Sitzung vom 3. Mai 2024",
        ),
        ("Licence No.\n12 for *boats*\n\n## Use", "Licence No. 12 for boats"),
        ("3. toukokuuta 2024\n\n## Läsnä", "3. toukokuuta 2024"),
        ("---\ntags: a\n---\n\nRules of St. Olaf\n\n### Use", "Rules of St. Olaf"),
        ("Board\n\n## Present\n\n# The Annual Report\n", "The Annual Report"),
        ("Fleet\n=====\n\n## Boats", "Fleet"),
        ("# [Fleet](a.md) of `x`\n\n# Boats", "Fleet of x"),
        # No titles: a sentence, several lines, a label, an item.
        ("We met in the hut.\n\n## Present", "Present"),
        ("Ada\nBo\n\n## Present", "Present"),
        ("Date: 3 May\n\n## Present", "Present"),
        ("1. Buy nails\n\n## Present", "Present"),
        ("Only text, and no heading", ""),
    ],
)
def test_a_text_is_headed_by_its_own_heading_or_the_line_above_the_others(
    text: str, title: str
) -> None:
    assert first_heading(text) == title


def test_no_title_is_cut_before_a_day_or_behind_no() -> None:
    lines = ("Protokoll der Sitzung vom", "3. Mai 2024 im Haus Nr.", "12, St. Olaf")
    whole = " ".join(lines)
    page = Page().lines(72, 72, list(lines), 20, step=24).text(72, 160, "Anwesend", bold=True)
    page.lines(72, 190, ["Ada und Bo waren da und haben lange geredet."] * 9)
    assert read_pdf(write_pdf([page]), "x.pdf").title == whole
    html = f"<h1>{'<br>'.join(lines)}</h1><h2>Anwesend</h2><p>Ada und Bo.</p>"
    assert read_html(html.encode()).title == whole
    html = f"<p>{whole}</p><h2>Anwesend</h2><p>Ada und Bo waren da.</p>"
    assert read_html(html.encode()).title == whole
    heads = ("Anwesend", "Ende")
    body = "".join(f'<text:h text:outline-level="1">{head}</text:h>' for head in heads)
    odt = odf_parts("text", f"<office:text><text:p>{whole}</text:p>{body}</office:text>")
    assert packaged(odt, "odt").title == whole
    style = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'
    paragraphs = ("", whole), *((style, head) for head in heads)
    docx = "".join(f"<w:p>{one}<w:r><w:t>{text}</w:t></w:r></w:p>" for one, text in paragraphs)
    assert packaged(docx_parts(docx), "docx").title == whole


def test_words_are_compared_without_their_typography() -> None:
    for one, other in (("ﬁsh", "FISH"), ("日本", "日 本"), ("a_b", "a b"), ("12.5", "12 5")):
        assert count(one) == count(other)
