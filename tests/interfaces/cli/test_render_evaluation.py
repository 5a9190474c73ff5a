"""What people and programs are shown of an evaluation."""

from collections.abc import Iterable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from chapterhouse.evaluation.feedback import Feedback, FeedbackChange
from chapterhouse.evaluation.gates import Gate
from chapterhouse.evaluation.measures import Estimate
from chapterhouse.evaluation.measuring import Case, Evaluation, Scored
from chapterhouse.evaluation.questions import Question
from chapterhouse.interfaces.cli import render_evaluation
from chapterhouse.interfaces.cli.render_evaluation import evaluation_data
from chapterhouse.presenting.blocks import Block
from chapterhouse.presenting.terminal import draw

HOSTILE = "Ferry\x1b[2J\u202e\nnotes"


def printed(blocks: Iterable[Block]) -> str:
    out = StringIO()
    draw(Console(file=out, width=160, markup=False, highlight=False, emoji=False), blocks)
    return out.getvalue()


def rendered(*scored: Scored, held: tuple[Gate, ...] = (), name: str = "harbour") -> str:
    return printed(render_evaluation.evaluation(evaluated(*scored, name=name), held))


def evaluated(*scored: Scored, name: str = "harbour") -> Evaluation:
    """Return an evaluation of these questions."""
    measures = {"nDCG@10": Estimate(0.5, 0.25, 0.75, len(scored))}
    return Evaluation(name, 1_200, 3_400, measures, scored, ("It is\nslow.",))


def scored(
    name: str, figure: float, *failures: str, relevant: tuple[str, ...] = ("a.md",)
) -> Scored:
    """Return a question that wants some documents; "a.md" comes second."""
    case = Case(Question(name, f"What of {name}?"), dict.fromkeys(relevant, 1))
    return Scored(case, ("b.md", "a.md"), {"nDCG@10": figure}, failures, ("b.md",))


def test_figures_come_with_intervals() -> None:
    shown = rendered(scored("q1", 1.0), scored("q2", 1.0))
    assert shown.startswith("2 questions of harbour, asked of 1,200 documents, 3,400 chunks\n")
    assert "nDCG@10  0.500  0.250–0.750" in shown
    assert "Every question got all it wants." in shown
    assert "warning  It is slow." in shown
    assert "not known" in rendered(scored("q1", 1.0))  # of one question there is no interval


def test_the_worst_five_come_first_with_what_was_wanted_and_found() -> None:
    many = [scored(f"q{n}", n / 10) for n in range(7)]
    failed = scored(
        "q9", 1.0, "It quotes no “80 euros”.", relevant=("a.md", "c.md", "d.md", "e.md")
    )
    shown = rendered(*many, failed, scored("good", 1.0))
    assert "Worst 5 of 8 not perfect" in shown
    named = [line.split()[1] for line in shown.splitlines() if "What of" in line]
    assert named == ["q9", "q0", "q1", "q2", "q3"]
    assert "wanted: a.md (place 2); c.md (not found); d.md (not found), and 1 more" in shown
    assert "found: b.md" in shown
    assert "It quotes no “80 euros”." in shown


def test_gates_are_shown_with_their_verdicts() -> None:
    gates = (Gate("R@5", 0.5, 0.5, passed=True), Gate("MAP", 0.9, 0.25, passed=False))
    shown = rendered(scored("q1", 1.0), held=gates)
    assert "passed   R@5 0.5000 ≥ 0.5\nFAILED   MAP 0.2500 < 0.9\n" in shown


@pytest.mark.parametrize("part", ["name", "question"])
def test_nothing_in_a_name_steers_the_terminal(part: str) -> None:
    name = HOSTILE if part == "name" else "harbour"
    question = scored(HOSTILE if part == "question" else "q1", 0.0, relevant=(HOSTILE,))
    shown = rendered(question, name=name)
    assert not set(shown) & set("\x1b\u202e")
    assert "Ferry" in shown


def test_figures_are_rounded_in_data() -> None:
    data: dict[str, Any] = evaluation_data(evaluated(scored("q1", 1 / 3)), ())
    (question,) = data["questions"]
    assert question["scores"] == {"nDCG@10": 0.333333}
    assert question["required"] == ["a.md"]


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
