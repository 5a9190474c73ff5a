import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import UsageError
from chapterhouse.evaluation.measures import estimate, measure_named

NAMES = ["nDCG@10", "nDCG@3", "R@5", "R@10", "R@100", "RR@10", "MAP", "nDCG"]
MEASURES = [measure_named(name) for name in NAMES]
DOCUMENTS = [f"d{number}" for number in range(30)]

rankings = st.permutations(DOCUMENTS).flatmap(
    lambda order: st.integers(0, len(order)).map(lambda size: order[:size])
)
grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 4))


@given(ranking=rankings, judged=grades, data=st.data())
def test_laws_of_every_measure(
    ranking: list[str], judged: dict[str, int], data: st.DataObject
) -> None:
    shuffled = dict(data.draw(st.permutations(list(judged.items()))))
    perfect = sorted(judged, key=lambda name: (-judged[name], name))
    relevant = sum(grade > 0 for grade in judged.values())
    better = [*ranking]
    if up := [
        place
        for place in range(1, len(ranking))
        if judged.get(ranking[place], 0) > judged.get(ranking[place - 1], 0)
    ]:
        place = data.draw(st.sampled_from(up))
        better[place - 1], better[place] = better[place], better[place - 1]
    for measure in MEASURES:
        figure = measure.of(ranking, judged)
        assert 0.0 <= figure <= 1.0 + 1e-12
        assert measure.of(ranking, shuffled) == figure  # the order of judgements means nothing
        assert measure.of(better, judged) >= figure - 1e-12  # moving up never costs
        assert measure.of([], judged) == 0.0
        family, _, cut = measure.name.partition("@")
        limit = min(relevant, int(cut)) / max(relevant, 1) if family == "R" else 1.0
        assert not relevant or measure.of(perfect, judged) == pytest.approx(limit)


def test_worked_examples() -> None:
    ranking, judged = ["a", "b", "c", "d"], {"b": 2, "d": 1, "z": 1}
    values = {measure.name: measure.of(ranking, judged) for measure in MEASURES}
    best = 2 + 1 / math.log2(3) + 1 / 2
    assert values["nDCG@10"] == pytest.approx((2 / math.log2(3) + 1 / math.log2(5)) / best)
    assert values["R@5"] == pytest.approx(2 / 3)
    assert values["RR@10"] == 0.5
    assert values["MAP"] == pytest.approx((1 / 2 + 2 / 4) / 3)


def test_names_are_read_whatever_their_case_and_others_refused() -> None:
    assert measure_named("ndcg@10").name == "nDCG@10"
    assert measure_named(" AP ").name == "AP"
    for name in ("", "R", "P@10", "nDCG@", "nDCG@0", "R@1.5", "F1", "R@99999"):
        with pytest.raises(UsageError, match="no measure"):
            measure_named(name)


# --- intervals of means

figures = st.lists(st.floats(0, 1), min_size=1, max_size=40)


@given(figures)
def test_a_mean_lies_in_its_interval(values: list[float]) -> None:
    found = estimate(values)
    assert min(values) - 1e-6 <= found.low <= found.mean + 1e-6
    assert found.mean - 1e-6 <= found.high <= max(values) + 1e-6
    assert found.mean == pytest.approx(math.fsum(values) / len(values), abs=1e-6)
    assert found.count == len(values)
    assert found == estimate(values)
    assert estimate([]).count == 0
