"""From extraction to canonical text."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.canonical import choose_title, compose, stated_date, written_at
from chapterhouse.text.sanitise import sanitise
from chapterhouse.types import Document, ExtractedPage, Extraction


def extraction(*pages: str, numbered: bool = True, **fields: object) -> Extraction:
    made = tuple(
        ExtractedPage(text, number if numbered else None) for number, text in enumerate(pages, 1)
    )
    return Extraction(made, "txt", "test", **fields)  # type: ignore[arg-type]  # of the test's making


@given(st.lists(st.text(), max_size=6))
def test_pages_follow_one_another_and_hold_their_text(pages: list[str]) -> None:
    body, _ = compose(extraction(*pages))
    assert len(body.pages) == len(pages)
    assert "".join(body.text[page.start : page.end] for page in body.pages) == body.text
    for page, text in zip(body.pages, pages, strict=True):
        assert body.text[page.start : page.end].strip("\n") == sanitise(text).text.strip("\n")


@given(st.lists(st.text(), max_size=6))
def test_sections_cover_the_text(pages: list[str]) -> None:
    body, _ = compose(extraction(*pages))
    assert "".join(body.text[s.start : s.end] for s in body.sections) == body.text


def test_plain_text_has_no_headings() -> None:
    body, _ = compose(extraction("# not a heading\n\ntext", numbered=False, markdown=False))
    assert [section.path for section in body.sections] == [()]


def test_the_title_is_what_the_document_says() -> None:
    def title(text: str, stated: str = "") -> str:
        made = extraction(text, numbered=False, title=stated)
        return choose_title(made, compose(made)[0], "my_file-name")

    assert title("---\ntitle: 'Front'\n---\n# Heading") == "Front"
    assert title("# Heading\n\ntext", "Stated") == "Stated"
    assert title("# Heading\n\ntext") == "Heading"
    assert title("text only") == "my file name"


def test_what_may_have_been_visible_is_not_called_invisible() -> None:
    extraction = Extraction((ExtractedPage("a\u200bb\x12c\ue000d"),), "txt", "")
    (notice,) = compose(extraction)[1]
    sentence = (
        "1 invisible and 2 control or private characters were removed. "
        "Fonts may show control and private ones as signs."
    )
    assert notice.sentence == sentence


DAY = 86_400
DOCUMENT = Document(
    "notes-12345678", "papers/notes.md", "/made/notes.md", "Notes", "md", "test", "", "", 0, 7 * DAY
)


def stating(**metadata: str) -> Document:
    return replace(DOCUMENT, metadata=metadata)


@pytest.mark.parametrize(
    ("metadata", "day"),
    [
        ({"date": "2024-03-07"}, "2024-03-07"),
        ({"date": "2024-03-07T10:00:00Z"}, "2024-03-07"),
        ({"date": "2024-03"}, "2024-03"),
        ({"date": "2024"}, "2024"),
        ({"date": "2024 (second edition)"}, "2024"),
        ({"published": "2023-01-02", "modified": "2024-01-01"}, "2023-01-02"),
        ({"date": "soon", "created": "2022-05-06"}, "2022-05-06"),
        ({"date": "2024-13-01"}, ""),
        ({"date": "2024-02-30"}, ""),
        ({"date": "0999"}, ""),
        ({"date": "2024-1-1"}, ""),
        ({"date": "20240307"}, ""),
        ({"date": "[2024](http://evil)"}, ""),
        ({}, ""),
    ],
)
def test_the_day_that_a_document_states_is_a_day(metadata: dict[str, str], day: str) -> None:
    assert stated_date(stating(**metadata)) == day


@pytest.mark.parametrize(
    ("source", "day"),
    [
        ("minutes-2024-03-07.md", "2024-03-07"),
        ("minutes_2024_03.md", "2024-03"),
        ("report-2023.pdf", "2023"),
        ("2022 and 2023.md", ""),
        ("ISO-20245.md", ""),
        ("2019/notes.md", ""),
        ("model-2024-13.md", "2024"),
        ("a1999b.md", ""),
    ],
)
def test_the_one_date_in_a_files_name_counts_where_none_is_stated(source: str, day: str) -> None:
    assert stated_date(replace(DOCUMENT, source=f"papers/{source}")) == day


def test_a_letter_is_dated_as_mail_is() -> None:
    letter = replace(stating(date="Tue, 05 Mar 2024 10:00:00 +0100"), format="eml")
    assert stated_date(letter) == "2024-03-05"
    assert stated_date(replace(letter, metadata={"date": "never"})) == ""
    assert stated_date(replace(letter, metadata={"date": "Tue, 99 Mar 99999 10:00"})) == ""


@pytest.mark.parametrize(
    ("metadata", "day"),
    [
        ({"date": "1970-01-03"}, 2),
        ({"date": "1970-02"}, 58),  # its last day
        ({"date": "1970"}, 364),
        ({"date": "soon"}, 7),  # the file's
        ({}, 7),
    ],
)
def test_the_stated_day_counts_before_the_time_of_the_file(
    metadata: dict[str, str], day: int
) -> None:
    assert written_at(stating(**metadata)) == day * DAY
