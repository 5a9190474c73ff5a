"""From extraction to canonical text."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.canonical import (
    body_start,
    choose_title,
    compose,
    decoded_name,
    field_values,
    front_matter,
    join_front_matter,
    make_entry,
    split_front_matter,
    stated_date,
    written_at,
)
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import Document, ExtractedPage, Extraction


def extraction(*pages: str, numbered: bool = True, **fields: object) -> Extraction:
    made = tuple(
        ExtractedPage(text, number if numbered else None) for number, text in enumerate(pages, 1)
    )
    return Extraction(made, "txt", "test", **fields)  # type: ignore[arg-type]  # of the test's making


@given(st.lists(st.text(), max_size=6))
def test_pages_and_sections_cover_the_text_and_pages_hold_theirs(pages: list[str]) -> None:
    body, _ = compose(extraction(*pages))
    assert len(body.pages) == len(pages)
    for parts in (body.pages, body.sections):
        assert "".join(body.text[part.start : part.end] for part in parts) == body.text
    for page, text in zip(body.pages, pages, strict=True):
        assert body.text[page.start : page.end].strip("\n") == sanitise(text).text.strip("\n")


def test_plain_text_has_no_headings() -> None:
    body, _ = compose(extraction("# not a heading\n\ntext", numbered=False, markdown=False))
    assert [section.path for section in body.sections] == [()]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("INFOMAGNET%20NDA", "INFOMAGNET NDA"),
        ("terms/M%C3%BCller%20%26%20Co", "terms/Müller & Co"),
        ("100% wool", "100% wool"),
        ("rates 5%20 and 7%", "rates 5%20 and 7%"),  # not all of it is written so
        ("caf%E9", "caf%E9"),  # no UTF-8
        ("plain name", "plain name"),
    ],
)
def test_names_that_addresses_encoded_are_words(name: str, words: str) -> None:
    assert decoded_name(name) == words


def test_the_title_is_what_the_document_says() -> None:
    def title(text: str, stated: str = "") -> str:
        made = extraction(text, numbered=False, title=stated)
        return choose_title(made, compose(made)[0], "my_file-name")

    assert title("---\ntitle: 'Front'\n---\n# Heading") == "Front"
    assert title("# Heading\n\ntext", "Stated") == "Stated"
    assert title("# Heading\n\ntext") == "Heading"
    assert title("text only") == "my file name"


def test_what_may_have_been_visible_is_not_called_invisible() -> None:
    (notice,) = compose(extraction("a\u200bb\x12c\ue000d"))[1]
    assert notice.sentence.startswith(
        "1 invisible and 2 control or private characters were removed. "
    )


DAY = 86_400
DOCUMENT = Document(
    "notes-12345678", "papers/notes.md", "/made/notes.md", "Notes", "md", "test", "", "", 0, 7 * DAY
)


def stating(**metadata: str) -> Document:
    return replace(DOCUMENT, metadata=metadata)


@pytest.mark.parametrize(
    ("stated", "day"),
    [
        ({"date": "2024-03-07T10:00:00Z"}, "2024-03-07"),
        ({"date": "2024-03"}, "2024-03"),
        ({"date": "2024 (second edition)"}, "2024"),
        ({"published": "2023-01-02", "modified": "2024-01-01"}, "2023-01-02"),
        ({"date": "soon", "created": "2022-05-06"}, "2022-05-06"),
        ({"date": "2024-13-01"}, ""),
        ({"date": "2024-02-30"}, ""),
        ({"date": "0999"}, ""),
        ({"date": "2024-1-1"}, ""),
        ({"date": "20240307"}, ""),
        ({"date": "[2024](http://evil)"}, ""),
        ("minutes-2024-03-07.md", "2024-03-07"),  # a file's name, where nothing is stated
        ("minutes_2024_03.md", "2024-03"),
        ("2022 and 2023.md", ""),
        ("ISO-20245.md", ""),
        ("2019/notes.md", ""),
        ("model-2024-13.md", "2024"),
        ("a1999b.md", ""),
    ],
)
def test_a_date_is_stated_by_metadata_or_once_by_a_name(
    stated: dict[str, str] | str, day: str
) -> None:
    named = replace(DOCUMENT, source=f"papers/{stated}")
    assert stated_date(named if isinstance(stated, str) else stating(**stated)) == day


def test_a_letter_is_dated_as_mail_is() -> None:
    letter = replace(stating(date="Tue, 05 Mar 2024 10:00:00 +0100"), format="eml")
    assert stated_date(letter) == "2024-03-05"
    for date in ("never", "Tue, 99 Mar 99999 10:00"):
        assert stated_date(replace(letter, metadata={"date": date})) == ""


def test_the_stated_day_counts_before_the_time_of_the_file() -> None:
    # A month and a year count by their last day.
    for date, day in (("1970-01-03", 2), ("1970-02", 58), ("1970", 364), ("soon", 7), ("", 7)):
        assert written_at(stating(date=date)) == day * DAY


# --- Reading and writing front matter ------------------------------------------------------------

CASES = [
    (
        "---\ntitle: A ferry\ntags: [boats, 'the sea']\n---\nText",
        {"title": "A ferry", "tags": "boats, the sea"},
    ),
    (
        '---\ntags:\n  - boats\n  - "the sea"\ndate: 2024-05-01 # when\n---\n',
        {"tags": "boats, the sea", "date": "2024-05-01"},
    ),
    ("---\nKey Terms: weaving, eyes\n...\n", {"key_terms": "weaving, eyes"}),
    ("---\nauthor:\n  name: X\nempty:\ntags: x\n---\n", {"tags": "x"}),
    ("no front matter\n---\ntitle: x\n---\n", {}),
    ("---\ntitle: never closed\n", {}),
    ("", {}),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_fields_are_read(text: str, expected: dict[str, str]) -> None:
    found = front_matter(text)
    assert found == expected


@given(st.text(alphabet="-\n:[]'\" ab#", max_size=300))
def test_anything_can_be_read(text: str) -> None:
    for body in (text, f"---\n{text}\n---\n"):
        assert all(name and value for name, value in front_matter(body).items())


# --- writing ---

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,15}", fullmatch=True)
VALUES = st.text(max_size=80) | st.lists(st.text(max_size=40), max_size=5)
HOSTILE = ["x\npersonas: [all]", "---\nid: y", '"', "'", '"quoted"', "[a]", "# no", "\\", '\\"']


def written(fields: dict[str, str | list[str]]) -> str:
    """Front matter of fields, without those that are empty."""
    entries = (make_entry(name, value) for name, value in fields.items())
    return join_front_matter([entry for entry in entries if field_values(entry)], "")


def as_read(value: str | list[str]) -> str:
    """What the reader gives back: cleaned as a line, lists joined."""
    items = [value] if isinstance(value, str) else value
    return ", ".join(filter(None, map(sanitise_line, items)))


@given(st.dictionaries(NAMES, VALUES | st.sampled_from(HOSTILE), max_size=6))
def test_what_is_written_is_read_back_and_nothing_else(fields: dict[str, str | list[str]]) -> None:
    text = written(fields)
    expected = {name: as_read(value) for name, value in fields.items() if as_read(value)}
    assert front_matter(text) == expected
    entries, behind = split_front_matter(text + "personas: [behind]\n")
    assert {entry.name for entry in entries} == expected.keys()
    assert behind == "personas: [behind]\n"


@given(st.lists(st.text(max_size=40), max_size=6))
def test_each_item_of_a_list_is_read_back(items: list[str]) -> None:
    kept = tuple(filter(None, map(sanitise_line, items)))
    assert field_values(make_entry("tags", items)) == kept


def test_what_yaml_would_take_for_something_else_is_quoted() -> None:
    text = written({"id": "05844573", "title": "yes", "date": "2024-05-01"})
    assert text == '---\nid: "05844573"\ntitle: "yes"\ndate: 2024-05-01\n---\n'


def test_a_name_that_could_not_be_read_is_refused() -> None:
    for name in ("", "a: b", "A", "a\nb", "1"):
        with pytest.raises(ValueError, match="cannot be called"):
            make_entry(name, "x")


@given(st.text(alphabet="-\n:[]'\" ab#,\\", max_size=200))
def test_splitting_and_joining_keep_every_line(inside: str) -> None:
    text = f"---\ntitle: x\n{inside}\n---\nbody\n"
    entries, behind = split_front_matter(text)
    joined = join_front_matter(entries, behind)
    assert [line for line in joined.splitlines() if line] == [
        line for line in text.splitlines() if line
    ]
    assert front_matter(joined) == front_matter(text)


def test_quoted_commas_do_not_cut_a_list() -> None:
    text = '---\ntags: ["a, b", \'it\'\'s\', c] \ntitle: "say \\"x\\"" # comment\n---\n'
    assert front_matter(text) == {"tags": "a, b, it's, c", "title": 'say "x"'}


def test_the_body_begins_behind_what_only_describes_it() -> None:
    above = "---\ntitle: x\n---\n\n**Key Terms**: a, b\n**Also Known As**: c\n"
    text = above + "\n# T\n\n**Key Terms**: of the text\n"
    assert text[body_start(text) :] == "\n# T\n\n**Key Terms**: of the text\n"
    assert body_start("**Key Terms**: a\n") == 0
    assert body_start("---\ntitle: x\n---") == len("---\ntitle: x\n---")
    assert body_start("") == 0
