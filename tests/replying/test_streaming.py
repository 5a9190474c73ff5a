"""What streams to a reader before it is checked shows no citation."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.replying.streaming import without_marks


def streamed(*pieces: str) -> str:
    passed: list[str] = []
    receive = without_marks(passed.append)
    for piece in pieces:
        receive(piece)
    assert all(passed)  # nobody is bothered with nothing
    return "".join(passed)


@given(st.lists(st.text(alphabet="ab[]^(1!\x1b\u202e\n :", max_size=30), max_size=20))
def test_no_opening_bracket_ever_leaves(pieces: list[str]) -> None:
    shown = streamed(*pieces)
    assert "[" not in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown


@given(st.text(alphabet="ab [^1]:", max_size=60), st.lists(st.integers(0, 60), max_size=8))
def test_where_pieces_end_makes_no_difference(text: str, cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(places)]
    assert streamed(*pieces) == streamed(text)


@given(st.lists(st.text(alphabet="abc .,\n1(ü港", min_size=1, max_size=10), max_size=20))
def test_text_without_brackets_passes_as_it_comes(pieces: list[str]) -> None:
    assert streamed(*pieces) == "".join(pieces)


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (("It is so [^a:b].",), "It is so ."),
        (("It is so [", "^a:", "b", "] and so."), "It is so  and so."),
        (("a [x](http://b)",), "a (http://b)"),
        (("a [[x]] b",), "a ] b"),
        (("open [for ever",), "open "),
        (("[" + "x" * 500 + "y",), "(" + "x" * 500 + "y"),
        (("[" + "x" * 300, "[" + "x" * 300, "z"), "(" + "x" * 300 + "(" + "x" * 300 + "z"),
    ],
)
def test_what_stands_in_brackets_is_withheld(pieces: tuple[str, ...], shown: str) -> None:
    expected = shown
    assert streamed(*pieces) == expected
