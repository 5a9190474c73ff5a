"""Titles that files state of themselves."""

import pytest

from chapterhouse.reading.titles import believable_title

TEXT = "# Crew Handbook\n\nThe ferry leaves at nine. 傳染病通報作業流程"


@pytest.mark.parametrize(
    "stated",
    [
        "Crew Handbook",
        "Crew",
        "The Harbour Board of Teal",
        "傳染病通報作業流程",
        "通報作業流程說明",
        "Presentation of the Annual Accounts",
        "Document Retention Policy",
    ],
)
def test_a_title_says_what_the_text_is_about(stated: str) -> None:
    assert believable_title(stated, TEXT)


@pytest.mark.parametrize(
    "stated",
    [
        "",
        " ",
        "12/2024",
        "docx",
        "Handbook.docx",
        "Microsoft Word - crew.doc",
        "PowerPoint Presentation",
        "PowerPoint-Präsentation",
        "Présentation PowerPoint",
        "Untitled 1",
        "Document1",
        "Mappe1",
        "Slide 1",
    ],
)
def test_what_a_program_left_is_no_title(stated: str) -> None:
    assert not believable_title(stated, TEXT)
