"""Texts read side by side: all of them, in their order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.models.side_by_side import THREADS, apply_each


@given(st.lists(st.text(max_size=9), max_size=12), st.integers(1, 4))
def test_results_stand_in_the_order_of_the_texts(texts: list[str], threads: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(THREADS, str(threads))
        assert apply_each(texts, str.upper) == [text.upper() for text in texts]
