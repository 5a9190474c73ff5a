"""Whole evaluations, over real libraries: of a collection, and of one's own questions."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.evaluation.collection import (
    collection_task,
    limited,
    open_collection,
    question_task,
)
from chapterhouse.evaluation.comparing import Evaluation, ablate, compare_with_run, evaluate
from chapterhouse.evaluation.datasets import Question, load_dataset
from chapterhouse.evaluation.gates import gates, measures_for, parse_floor
from chapterhouse.evaluation.measuring import as_run
from chapterhouse.evaluation.runs import Ranked, read_run, write_run


def of_collection(folder: Path, limit: int | None = None) -> Evaluation:
    dataset = load_dataset(folder)
    with open_collection(dataset.documents) as collection:
        return evaluate(limited(collection_task(dataset, collection), limit))


def of_questions(library: Library, *questions: Question) -> Evaluation:
    return evaluate(question_task(questions, library, "questions"))


def test_a_collection_is_measured(beir: Path) -> None:
    found = of_collection(beir)
    assert (found.documents, len(found.scored)) == (5, 3)
    assert list(found.measures) == ["nDCG@10", "R@5", "R@10", "R@100", "RR@10", "MAP"]
    assert found.measures["R@5"].mean == 1.0
    assert found.measures["RR@10"].mean == 1.0
    assert 0 < found.latency.p50 <= found.latency.p95 <= found.latency.p99
    first = found.scored[0]
    assert {entry.document for entry in first.ranking[:2]} == {"d1", "d4"}
    assert first.case.labels["d1"] == "d1 Tariffs"
    assert set(first.instead[:2]) == {"d1 Tariffs", "d4 Old tariffs"}


def test_an_evaluation_is_the_same_twice_but_for_its_times(beir: Path) -> None:
    one, two = of_collection(beir), of_collection(beir)
    assert one.measures == two.measures
    assert [entry.ranking for entry in one.scored] == [entry.ranking for entry in two.scored]


def test_some_questions_of_many_are_drawn_alike(beir: Path) -> None:
    two = [entry.case.question.id for entry in of_collection(beir, 2).scored]
    assert two == [entry.case.question.id for entry in of_collection(beir, 2).scored]
    assert len(two) == 2


def test_a_run_says_the_order_of_the_library(beir: Path, tmp_path: Path) -> None:
    found = of_collection(beir)
    write_run(tmp_path / "a.trec", as_run(found.scored))
    assert read_run(tmp_path / "a.trec") == as_run(found.scored)
    same = compare_with_run(found, read_run(tmp_path / "a.trec"), "a.trec")
    for name, difference in same.differences.items():
        assert same.others[name] == found.measures[name]
        assert (difference.p, difference.ties) == (1.0, 3)


def test_a_question_that_a_run_lacks_scores_zero_there(beir: Path) -> None:
    found = of_collection(beir)
    other = {"q1": (Ranked("d4", 1.0),), "unknown": (Ranked("d1", 1.0),)}
    comparison = compare_with_run(found, other, "other")
    assert comparison.unranked == 2
    assert comparison.others["RR@10"].mean == pytest.approx(1 / 3, abs=1e-6)
    assert comparison.differences["RR@10"].wins == 2
    assert [name for name, gain in comparison.changes if gain > 0] == ["q1", "q2", "q3"]
    with pytest.raises(UsageError, match="ranks none of the 3 questions"):
        compare_with_run(found, {"unknown": ()}, "other")


def test_stages_are_left_out_one_at_a_time(beir: Path) -> None:
    dataset = load_dataset(beir)
    with open_collection(dataset.documents) as collection:
        task = collection_task(dataset, collection)
        stages = ablate(task, evaluate(task))
    assert len(stages) == len({stage.name for stage in stages}) >= 2
    for stage in stages:
        assert 0 <= stage.others["nDCG@10"].mean <= 1


def question(
    text: str = "What does a guest berth cost?",
    *,
    required: Sequence[str] = (),
    forbidden: Sequence[str] = (),
    answers: Sequence[str] = (),
    answerable: bool = True,
) -> Question:
    return Question(
        "q",
        text,
        tuple(required),
        tuple(forbidden),
        tuple(answers),
        answerable=answerable,
        place="questions.jsonl, line 1",
    )


def test_a_good_library_passes_every_check(library: Library) -> None:
    found = of_questions(
        library,
        question(required=["tariffs.md"], answers=["costs 80  EUROS a metre"]),
        question("Who won the world cup?", answerable=False),
    )
    first, second = found.scored
    assert not first.failures + second.failures
    for check in ("required@10", "passage@10", "context", "answer"):
        assert first.scores[check] == 1.0
    assert second.scores == {"refusal": 1.0}
    assert found.measures["answer"].count == 1


def test_every_check_can_fail(library: Library) -> None:
    found = of_questions(
        library,
        question(forbidden=["tariffs.md"]),
        question(required=["glossary.md"], answers=["80 euros"]),
        question(answerable=False),
    )
    failures = [" ".join(entry.failures) for entry in found.scored]
    assert failures[0].startswith("forbidden, yet first or cited: papers/tariffs.md")
    assert "no passage" in failures[1]  # the words are there, but in another document
    assert "the context does not hold" in failures[1]
    assert "does not quote" in failures[1]
    assert failures[2] == "an answer was given where there is none"


def test_a_forbidden_document_below_the_required_one_does_no_harm(library: Library) -> None:
    found = of_questions(
        library,
        question(
            "What do members of the sailing club pay?",
            required=["tariffs.md"],
            forbidden=["tariffs-2019.md"],
        ),
    )
    assert found.measures["absent"].mean == 1.0


def test_a_required_document_that_is_not_there_counts_as_not_found(library: Library) -> None:
    found = of_questions(library, question(required=["gone.md"]), question(required=["tariffs.md"]))
    assert found.warnings == ("questions.jsonl, line 1: no document is called 'gone.md'.",)
    assert [entry.scores["R@100"] for entry in found.scored] == [0.0, 1.0]
    with pytest.raises(NotFoundError, match="None of the 1 documents"):
        of_questions(library, question(required=["gone.md"]))


def test_names_and_shelves_that_do_not_fit_say_where(library: Library) -> None:
    with pytest.raises(UsageError, match=r"line 1: 'tariffs' fits 2 documents"):
        of_questions(library, question(required=["tariffs"]))
    lost = Question("q", "What?", answers=("x",), shelves=("attic",), place="file, line 7")
    with pytest.raises(NotFoundError, match=r"file, line 7: There is no shelf 'attic'"):
        of_questions(library, lost)
    source = next(entry for entry in library.documents.list() if "2019" in entry.source)
    with pytest.raises(UsageError, match="both required and forbidden"):
        of_questions(library, question(required=[source.id], forbidden=[source.source]))


def test_gates(library: Library) -> None:
    floors = [parse_floor("answer = 1"), parse_floor("p@3=.9")]
    measures = measures_for(floors)
    task = question_task([question(required=["tariffs.md"], answers=["80 euros"])], library, "x")
    found = evaluate(task, measures)
    held, missed = gates(floors, found)
    assert (held.passed, held.figure) == (True, 1.0)
    assert (missed.passed, missed.measure) == (False, "P@3")
    with pytest.raises(UsageError, match="it judges no question"):
        gates([parse_floor("refusal=.5")], found)


@pytest.mark.parametrize("text", ["nDCG@10", "nDCG@10=", "nDCG@10=2", "nDCG@10=x", "F1=.5", "=1"])
def test_a_gate_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_floor(text)


@pytest.mark.data
@pytest.mark.large
@pytest.mark.skipif("CHAPTERHOUSE_LARGE" not in os.environ, reason="make soak measures it")
def test_the_figure_of_a_known_collection(data_folder: Path) -> None:
    """The lexical and vector sides alone give what the benchmark has always given."""
    found = of_collection(data_folder / "retrieval" / "cranfield", limit=40)
    assert found.measures["nDCG@10"].mean > 0.35
