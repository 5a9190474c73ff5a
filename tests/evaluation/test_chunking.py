"""Ways of cutting, scored on gold spans through the whole library."""

import os
from pathlib import Path

import pytest

from chapterhouse.evaluation.chunking import score_strategies, strategies
from chapterhouse.evaluation.spans import GoldQuestion, GoldSpans, load_gold
from chapterhouse.settings import Settings
from chapterhouse.types import Progress

LARGE = "CHAPTERHOUSE_LARGE" in os.environ

GATE = "The gate closes at nine."
TARIFF = "A guest berth costs 80 euros a metre."
# Line ends and a soft hyphen, which the library does not keep, move what stands behind them.
HARBOUR = (
    f"\r\n\r\n# Harbour\r\n\r\nThe har\u00adbour opens at dawn. {GATE}\r\n\r\n"
    f"## Prices\r\n\r\n{TARIFF}\r\n"
)
OTHER = "# Kitchen\n\nThe soup is served at noon. Bread is baked every morning.\n"


def gold() -> GoldSpans:
    def question(text: str, answer: str) -> GoldQuestion:
        start = HARBOUR.index(answer)
        return GoldQuestion(text, "harbour", ((start, start + len(answer)),))

    questions = (question("When does the gate close?", GATE), question("A guest berth?", TARIFF))
    return GoldSpans({"harbour": HARBOUR, "kitchen": OTHER}, questions)


def test_every_way_of_cutting_is_scored() -> None:
    told: list[Progress] = []
    found = score_strategies(gold(), on_progress=told.append)
    assert [entry.strategy for entry in found] == list(strategies())
    assert {"sentence", "fixed"} <= set(strategies())
    assert told[-1] == Progress(len(found), len(found), strategies()[-1])
    for entry in found:
        assert entry.measures["recall"].mean == 1.0
        assert 0 < entry.measures["iou"].mean <= entry.measures["precision"].mean + 1e-6
        assert entry.chunks >= 2


def test_spans_are_found_where_the_cleaned_text_has_them() -> None:
    settings = Settings.model_validate({"chunking": {"minimum": 25, "target": 50, "maximum": 100}})
    (found,) = score_strategies(gold(), settings, ["sentence"])
    assert found.measures["recall"].mean == 1.0
    assert found.measures["precision_omega"].mean > 0.3


@pytest.mark.data
@pytest.mark.large
def test_the_open_set(data_folder: Path) -> None:
    whole = load_gold(data_folder / "chunking")
    shortest = min(whole.texts, key=lambda name: len(whole.texts[name]))
    chosen = [name for name in whole.texts if LARGE or name == shortest]
    asked = tuple(question for question in whole.questions if question.corpus in chosen)
    few = GoldSpans({name: whole.texts[name] for name in chosen}, asked[::3])
    (found,) = score_strategies(few, names=["sentence"])
    assert found.measures["recall"].mean > 0.8
    assert found.measures["recall"].count == len(asked[::3]) > 5
