"""What people and programs are shown of an evaluation."""

from collections.abc import Iterable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from chapterhouse.evaluation.collection import Case
from chapterhouse.evaluation.comparing import Comparison, Evaluation, Latency
from chapterhouse.evaluation.datasets import Question
from chapterhouse.evaluation.feedback import Feedback, FeedbackChange
from chapterhouse.evaluation.gates import Gate
from chapterhouse.evaluation.measures import Difference, Estimate
from chapterhouse.evaluation.measuring import Scored
from chapterhouse.evaluation.runs import Ranked
from chapterhouse.interfaces.cli import render_evaluation
from chapterhouse.interfaces.cli.render_evaluation import Result, evaluation_data
from chapterhouse.presenting.blocks import Block
from chapterhouse.presenting.terminal import draw

HOSTILE = "Ferry\x1b[2J\u202e\nnotes"


def printed(blocks: Iterable[Block]) -> str:
    out = StringIO()
    draw(Console(file=out, width=160, markup=False, highlight=False, emoji=False), blocks)
    return out.getvalue()


def told(*scored: Scored, **more: Any) -> str:
    return printed(render_evaluation.evaluation(result(*scored, **more)))


def result(
    *scored: Scored,
    gates: tuple[Gate, ...] = (),
    comparison: Comparison | None = None,
    ablation: tuple[Comparison, ...] = (),
    name: str = "harbour",
    kind: str = "collection",
) -> Result:
    """Return an evaluation of these questions."""
    measures = {"nDCG@10": Estimate(0.5, 0.25, 0.75, len(scored))}
    times = Latency(0.0125, 0.2, 1.0)
    found = Evaluation(name, kind, 1_200, 3_400, measures, scored, times, ("It is\nslow.",))
    return Result(found, gates, comparison, ablation)


def scored(
    name: str, figure: float, *failures: str, relevant: tuple[str, ...] = ("a.md",)
) -> Scored:
    """Return a question that wants some documents; "a.md" comes second."""
    case = Case(Question(name, f"What of {name}?"), dict.fromkeys(relevant, 1))
    ranking = (Ranked("b.md", 2.0), Ranked("a.md", 1.0))
    return Scored(case, ranking, {"nDCG@10": figure}, failures, ("b.md",), 0.01)


def compared(
    name: str, *changes: tuple[str, float], p: float = 0.01, gain: float = 0.1
) -> Comparison:
    difference = Difference(Estimate(gain, gain - 0.05, gain + 0.05, 9), p, 5, 1, 3)
    there = {"nDCG@10": Estimate(0.4, 0.3, 0.5, 9)}
    return Comparison(name, there, {"nDCG@10": difference}, 1, changes)


def test_figures_come_with_intervals_and_times_with_their_unit() -> None:
    shown = told(scored("q1", 1.0), scored("q2", 1.0))
    assert shown.startswith("2 questions of harbour, asked of 1,200 documents, 3,400 chunks\n")
    assert "nDCG@10  0.500  0.250–0.750" in shown
    assert "one search took 12.5 ms (median), 200.0 ms (p95), 1000.0 ms (p99)" in shown
    assert "Every question got all it wants." in shown
    assert "warning  It is slow." in shown
    assert "not known" in told(scored("q1", 1.0))  # of one question there is no interval


def test_the_worst_five_come_first_with_what_was_wanted_and_found() -> None:
    many = [scored(f"q{n}", n / 10) for n in range(7)]
    failed = scored(
        "q9", 1.0, "It quotes no “80 euros”.", relevant=("a.md", "c.md", "d.md", "e.md")
    )
    shown = told(*many, failed, scored("good", 1.0))
    assert "Worst 5 of 8 not perfect" in shown
    named = [line.split()[1] for line in shown.splitlines() if "What of" in line]
    assert named == ["q9", "q0", "q1", "q2", "q3"]
    assert "wanted: a.md (place 2); c.md (not found); d.md (not found), and 1 more" in shown
    assert "found: b.md" in shown
    assert "It quotes no “80 euros”." in shown


def test_a_comparison_names_who_lost_and_gained_and_says_what_is_sure() -> None:
    changes = (("q1", -0.5), ("q2", -0.1), ("q3", 0.2), ("q4", 0.4))
    shown = told(scored("q1", 1.0), comparison=compared("old run", *changes))
    assert "Against old run\n" in shown
    assert "1 question is not ranked there; each scores 0." in shown
    assert "lost most in nDCG@10: q1 -0.500, q2 -0.100\n" in shown
    assert "gained most in nDCG@10: q4 +0.400, q3 +0.200\n" in shown
    assert "At p < 0.05: better: nDCG@10." in shown
    worse = told(scored("q1", 1.0), comparison=compared("old", gain=-0.1))
    assert "At p < 0.05: worse: nDCG@10." in worse
    unsure = told(scored("q1", 1.0), comparison=compared("old", p=0.05))
    assert "At p < 0.05: no difference beyond chance." in unsure


def test_stages_and_gates_are_shown_with_their_verdicts() -> None:
    gates = (Gate("R@5", 0.5, 0.5, passed=True), Gate("MAP", 0.9, 0.25, passed=False))
    shown = told(scored("q1", 1.0), gates=gates, ablation=(compared("rerank"),))
    assert "What the stages are worth, in nDCG@10" in shown
    assert "rerank    0.400    +0.100" in shown
    assert "passed   R@5 0.5000 ≥ 0.5\nFAILED   MAP 0.2500 < 0.9\n" in shown


def test_what_is_made_from_the_documents_says_how_little_that_shows() -> None:
    shown = told(scored("q1", 1.0), kind="synthetic")
    assert shown.startswith("1 question made from the documents, asked of ")
    assert "To judge real answers: chapterhouse feedback good|bad …" in " ".join(shown.split())


@pytest.mark.parametrize("part", ["name", "question", "run"])
def test_nothing_in_a_name_steers_the_terminal(part: str) -> None:
    name = HOSTILE if part == "name" else "harbour"
    question = scored(HOSTILE if part == "question" else "q1", 0.0, relevant=(HOSTILE,))
    other = compared(HOSTILE if part == "run" else "old", (HOSTILE, -0.5))
    shown = told(question, comparison=other, ablation=(other,), name=name)
    assert not set(shown) & set("\x1b\u202e")
    assert "Ferry" in shown


def test_times_differ_every_time_and_are_data_only_where_they_are_asked_for() -> None:
    value = result(scored("q1", 1 / 3), comparison=compared("old", ("q1", -0.5)))
    data: dict[str, Any] = evaluation_data(value, latency=False)
    assert "latency" not in data
    assert evaluation_data(value, latency=True) == {**data, "latency": value.found.latency}
    (question,) = data["questions"]
    assert question["scores"] == {"nDCG@10": 0.333333}
    assert question["required"] == ["a.md"]
    assert data["comparison"]["changes"] == {"q1": -0.5}
    assert data["comparison"]["measures"]["nDCG@10"]["wins"] == 5


@given(
    st.builds(
        Question,
        id=st.just("q1"),
        text=st.just("What?"),
        required=st.lists(st.just("a.md"), max_size=2).map(tuple),
        forbidden=st.lists(st.just("b.md"), max_size=2).map(tuple),
        answers=st.lists(st.just("80 euros"), max_size=2).map(tuple),
        wrong=st.lists(st.just("90 euros"), max_size=2).map(tuple),
        answerable=st.booleans(),
    ),
    st.sampled_from(FeedbackChange),
)
def test_a_verdict_says_all_that_it_asks_for(question: Question, change: FeedbackChange) -> None:
    value = Feedback(question, change, Path("questions.jsonl"))
    first, second, *lines, last = printed(render_evaluation.feedback(value)).splitlines()
    word = {"added": "Added to", "replaced": "Replaced in", "unchanged": "Already in"}
    assert first == f"{word[change.value]} questions.jsonl"
    assert second == "  q1  What?"
    wanted = (question.required, question.forbidden, question.answers, question.wrong)
    assert len(lines) == sum(map(len, wanted)) + (not question.answerable)
    assert all(line.startswith("  must ") for line in lines)
    assert ("one of: " in "".join(lines)) == (len(question.answers) > 1)
    assert last == "Evaluate with: chapterhouse eval"
