import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st


def _loaded() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "extraction_measures.py"
    spec = importlib.util.spec_from_file_location("extraction_measures", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


measures = _loaded()


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("# Of *boats* and **oars**", "Of boats and oars"),
        ("- a\n* b\n1. c", "a b 1. c"),
        ('[the log](http://x.org/a "b") of May', "the log of May"),
        ("![a boat](x.png) <!-- image -->", "a boat"),
        ("| a | b |\n| --- | :-: |\n| c\\|d | e |", "a b c d e"),
        ("Notices . . . . . . . . vii", "Notices vii"),
        ("“so” – it’s", '"so" - it\'s'),
        ("a &amp;lt; b\\_c", "a &lt; b_c"),
        ("```python\nx = 1\n```", "x = 1"),
    ],
)
def test_marks_are_removed(markdown: str, plain: str) -> None:
    assert measures.plain_text(markdown) == plain


def test_word_f1_counts_words_as_often_as_both_have_them() -> None:
    assert measures.word_f1("a b b", "A b c") == pytest.approx(2 / 3)
    assert measures.word_f1("", "") == 1
    assert measures.word_f1("a", "") == 0
    assert measures.word_f1("", "a") == 0


def test_order_tells_apart_what_bags_of_words_do_not() -> None:
    pytest.importorskip("rapidfuzz")
    assert measures.order("one two three", "one two three") == 1
    assert measures.order("three two one", "one two three") < 0.7


def test_headings_are_found_outside_code() -> None:
    text = "# One\n\n```\n# no\n```\n\n### Two *and* three ###\n\n#hash"

    assert measures.headings(text) == ["one", "two and three"]
    assert measures.heading_f1("# One", "## one\n\n# Two") == pytest.approx(2 / 3)


def test_a_row_counts_only_whole() -> None:
    wanted = "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"

    assert measures.table_rows(wanted) == [("a", "b"), ("1", "2"), ("3", "4")]
    assert measures.table_row_f1(wanted, wanted) == 1
    assert measures.table_row_f1(wanted.replace("4", "5"), wanted) == pytest.approx(2 / 3)
    assert measures.table_row_f1("no table", wanted) == 0


def test_marks_of_lists_and_empty_cells_at_the_end_do_not_count_in_cells() -> None:
    assert measures.table_rows("| - a - b | 1. c |  |") == [("a b", "c")]


def test_shingles_are_runs_of_four_words() -> None:
    counts = measures.shingle_counts("a b c d e", "x b c d e")

    assert (counts.precision, counts.recall) == (0.5, 0.5)
    assert measures.shingle_counts("a b", "a b").f1 == 1
    assert measures.shingle_counts("", "a b").f1 == 0


@pytest.mark.parametrize(("share", "value"), [(0.0, 1.0), (0.5, 2.0), (0.95, 4.0), (1.0, 4.0)])
def test_percentile_is_the_nearest_rank(share: float, value: float) -> None:
    assert measures.percentile([4.0, 2.0, 1.0, 3.0], share) == value


def test_nothing_to_average() -> None:
    assert measures.mean([]) is None
    assert measures.percentile([], 0.5) == 0


@given(st.text(), st.text())
def test_scores_are_shares_and_symmetric(one: str, other: str) -> None:
    score = measures.word_f1(one, other)

    assert 0 <= score <= 1
    assert score == pytest.approx(measures.word_f1(other, one))


@given(st.text())
def test_a_text_agrees_with_itself(text: str) -> None:
    assert measures.word_f1(text, text) == 1
    assert measures.heading_f1(text, text) == 1
    assert measures.table_row_f1(text, text) == 1
