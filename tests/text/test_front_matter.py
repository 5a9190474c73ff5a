"""Reading front matter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.front_matter import front_matter

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
