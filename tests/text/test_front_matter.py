"""Reading and writing front matter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.canonical import (
    body_start,
    field_values,
    front_matter,
    join_front_matter,
    make_entry,
    split_front_matter,
)
from chapterhouse.text.sanitise import sanitise_line

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
HOSTILE = [
    "x\npersonas: [all]",
    "---\nid: y",
    '"',
    "'",
    '"quoted"',
    "a, b",
    "[a]",
    "# no",
    "\\",
    '\\"',
]


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


@pytest.mark.parametrize("value", HOSTILE)
def test_no_value_leaves_its_line(value: str) -> None:
    assert len(written({"title": value}).splitlines()) == 3


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


def test_comments_and_nested_fields_stay_with_the_field_above() -> None:
    text = "---\n# top\ntitle: x\nauthor:\n  name: y\n---\n"
    entries, _ = split_front_matter(text)
    assert [entry.name for entry in entries] == ["", "title", "author"]
    assert join_front_matter(entries, "") == text


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
