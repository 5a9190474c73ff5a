"""Gold spans and the tokens found of them."""

import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.evaluation.spans import (
    SpanScores,
    count_tokens,
    load_gold,
    mean_scores,
    score_spans,
    token_places,
)
from chapterhouse.models.static import StaticEmbedder

TEXT = "The harbour opens at dawn. The gate closes at nine. Boats wait outside."
ANSWER = "The gate closes at nine."


def write_set(folder: Path, references: Sequence[object], corpus: str = "harbour") -> Path:
    (folder / "corpora").mkdir()
    (folder / "corpora" / "harbour.md").write_text(TEXT, "utf-8")
    with (folder / "questions.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["question", "references", "corpus_id"])
        writer.writerow(["When does the gate close?", json.dumps(references), corpus])
    return folder


def reference(start: int, content: str) -> object:
    return {"content": content, "start_index": start, "end_index": start + len(content)}


def test_a_set_is_read(tmp_path: Path) -> None:
    gold = load_gold(write_set(tmp_path, [reference(TEXT.index(ANSWER), ANSWER)]))
    (question,) = gold.questions
    assert gold.texts == {"harbour": TEXT}
    assert (question.text, question.corpus) == ("When does the gate close?", "harbour")
    assert [TEXT[start:end] for start, end in question.ranges] == [ANSWER]


@pytest.mark.parametrize("references", [[reference(0, ANSWER)], [], [{"content": "a"}], 3])
def test_a_span_that_does_not_hold_its_content_is_refused(
    tmp_path: Path, references: Sequence[object]
) -> None:
    with pytest.raises(UsageError, match="question 1"):
        load_gold(write_set(tmp_path, references))


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"questions\.csv"):
        load_gold(tmp_path)
    with pytest.raises(NotFoundError, match="elsewhere"):
        load_gold(write_set(tmp_path, [reference(0, "The")], corpus="elsewhere"))


def test_a_corpus_outside_the_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a corpus name"):
        load_gold(write_set(tmp_path, [reference(0, "The")], corpus="../harbour"))


def test_tokens_are_shared_out_without_remainder() -> None:
    places = token_places(TEXT, StaticEmbedder().token_offsets)
    start = TEXT.index(ANSWER)
    parts = [(0, start), (start, start + len(ANSWER)), (start + len(ANSWER), len(TEXT))]
    assert sum(count_tokens([part], places) for part in parts) == len(places)
    assert count_tokens(parts, places) == len(places)


def test_the_measures_on_an_example_by_hand() -> None:
    places = np.arange(100)  # a token a character
    scores = score_spans(
        gold=[(10, 20), (50, 60)],
        retrieved=[(0, 20), (15, 25)],
        chunks=[(0, 20), (15, 25), (20, 50), (50, 100)],
        places=places,
        elsewhere=10,
    )
    assert scores.recall == 10 / 20
    assert scores.precision == 10 / 40  # 15 to 20 was retrieved twice
    assert scores.precision_omega == 20 / (20 + 10 + 50)
    assert scores.iou == 10 / (40 + 20 - 10)


def test_nothing_retrieved_scores_zero() -> None:
    scores = score_spans([(0, 5)], [], [(0, 10)], np.arange(10))
    assert scores == SpanScores(0.0, 0.0, 0.5, 0.0)
    assert mean_scores([]) == SpanScores(0.0, 0.0, 0.0, 0.0)
    assert mean_scores([scores, SpanScores(1.0, 1.0, 0.5, 1.0)]) == SpanScores(0.5, 0.5, 0.5, 0.5)


STRETCHES = st.lists(
    st.tuples(st.integers(0, 49), st.integers(1, 20)).map(lambda p: (p[0], p[0] + p[1])),
    max_size=5,
)


@given(STRETCHES.filter(bool), STRETCHES, st.integers(0, 30))
def test_scores_agree_with_sets_of_tokens(
    gold: list[tuple[int, int]], retrieved: list[tuple[int, int]], elsewhere: int
) -> None:
    scores = score_spans(gold, retrieved, [(0, 80)], np.arange(80), elsewhere)
    wanted = {token for span in gold for token in range(*span)}
    seen = [token for span in retrieved for token in range(*span)]
    found = len(wanted.intersection(seen))
    total = len(seen) + elsewhere
    assert math.isclose(scores.recall, found / len(wanted))
    assert math.isclose(scores.precision, found / total if total else 0.0)
    assert math.isclose(scores.iou, found / (total + len(wanted) - found))
    assert scores.iou <= min(scores.precision or 0.0, scores.recall) + 1e-12
