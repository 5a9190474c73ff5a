"""What looks like a citation of ours is made harmless."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.look_alikes import LOOKS_LIKE_A_CITATION, inert, without_brackets


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        "[2, 3]",
        "[4–6]",
        "[^doc:section]",
        "[doc tariff §1]",
        "【3†source】",
        "[note 4]",
        "［5］",
    ],
)
def test_a_citation_is_no_longer_one(text: str) -> None:
    assert not LOOKS_LIKE_A_CITATION.search(inert(f"It is so {text}."))
    assert inert(text).strip("⟦⟧") == text[1:-1]


@pytest.mark.parametrize("text", ["[yes]", "a[i]", "[x](http://a.example)", "[12345]", "(1)"])
def test_other_brackets_stay(text: str) -> None:
    assert inert(text) == text


@given(st.text(alphabet="[]【】〔〕［］^1a ,;\n", max_size=30))
def test_nothing_looks_like_a_citation_twice(text: str) -> None:
    once = inert(text)
    assert inert(once) == once
    assert len(once) == len(text)
    assert without_brackets(once) == without_brackets(text)
