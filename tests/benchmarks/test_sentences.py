"""The fit of the weights by which sentences are judged, and what is counted as held."""

import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentence_cases import Facts, Spans


def test_the_fit_favours_what_tells_the_gold_apart() -> None:
    pytest.importorskip("scipy", reason="only the benchmarks install it")
    fit = importlib.import_module("sentences").fit

    chooser = np.random.default_rng(1)
    choices = []
    for _ in range(50):
        table = chooser.random((10, 2))
        gold = (table[:, 0] == table[:, 0].max()).astype(float)
        choices.append((table, gold, 1 / 50))
    telling, noise = fit(choices)
    assert telling > 1
    assert abs(noise) < telling / 4


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted), max_size=5))
def test_the_share_of_a_span_is_that_of_its_characters(places: list[list[int]]) -> None:
    wanted = Spans({"a": [(10, 20)]})
    shown = [("a", start, end, "") for start, end in places]
    inside = {at for start, end in places for at in range(start, end)} & set(range(10, 20))
    assert wanted.held([*shown, ("b", 10, 20, "")]) == len(inside) / 10


def test_facts_are_held_when_all_are_there() -> None:
    wanted = Facts((("30 days",), ("notice",)), ("within 30 days of a notice",))
    assert wanted.held([("a", 0, 0, "30 days"), ("b", 0, 0, "by notice")]) == 1
    assert wanted.held([("a", 0, 0, "30 days")]) == 0
    assert wanted.share("a", 0, 0, "within 30 days") == 0.5
    assert wanted.share("a", 0, 0, "within") == 0.125
