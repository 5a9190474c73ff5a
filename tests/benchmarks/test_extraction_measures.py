import pytest
from hypothesis import given
from hypothesis import strategies as st

import extraction_measures as measures


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("# Of *boats* and **oars**", "Of boats and oars"),
        ("- a\n* b\n1. c", "a b 1. c"),
        ('[the log](http://x.org/a "b") of May', "the log of May"),
        ("![a boat](x.png) <!-- image -->", "a boat"),
        ("| a | b |\n| --- | :-: |\n| c\\|d | e |", "a b c d e"),
        ("“so” – it’s", '"so" - it\'s'),
        ("a &amp;lt; b\\_c", "a &lt; b_c"),
        ("```python\nx = 1\n```", "x = 1"),
    ],
)
def test_marks_are_removed(markdown: str, plain: str) -> None:
    assert measures.plain_text(markdown) == plain


def test_word_f1_counts_words_as_often_as_both_have_them() -> None:
    assert measures.word_f1("a b b", "A b c") == pytest.approx(2 / 3)
    assert measures.word_f1("a", "") == measures.word_f1("", "a") == 0


def test_a_row_counts_only_whole() -> None:
    wanted = "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"

    assert measures.table_rows(wanted) == [("a", "b"), ("1", "2"), ("3", "4")]
    assert measures.table_row_f1(wanted, wanted) == 1
    assert measures.table_row_f1(wanted.replace("4", "5"), wanted) == pytest.approx(2 / 3)
    assert measures.table_row_f1("no table", wanted) == 0
    assert measures.table_rows("| - a - b | 1. c |  |") == [("a b", "c")]  # marks of lists are none


@given(st.text(), st.text())
def test_scores_are_shares_and_symmetric_and_whole_of_oneself(one: str, other: str) -> None:
    score = measures.word_f1(one, other)
    assert 0 <= score <= 1
    assert score == pytest.approx(measures.word_f1(other, one))
    for measure in (measures.word_f1, measures.heading_f1, measures.table_row_f1):
        assert measure(one, one) == 1
