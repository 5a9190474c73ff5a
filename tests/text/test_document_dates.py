"""When a document was written."""

from dataclasses import replace

import pytest

from chapterhouse.text.document_dates import stated_date, written_at
from chapterhouse.types import Document

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
