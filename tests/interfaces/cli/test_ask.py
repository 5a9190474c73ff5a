"""How a question of a conversation was understood, as readers are told."""

from chapterhouse.interfaces.cli.ask import explain_follow_up
from chapterhouse.types import FollowUp, Memory

MEMORY = Memory(
    "m1", "maria", 1_700_000_000, 0, "How deep?", "Nine metres.", found=True, method="extractive"
)


def test_how_a_question_was_taken_is_told_line_by_line() -> None:
    full = "and in winter? (a ticket to Osk)"
    taken = FollowUp("and in winter?", full, method="rules", recalled=(MEMORY,))
    assert explain_follow_up(taken) == [
        f"Taken as: {full}",
        "Reminded of m1, 2023-11-14: How deep?",
    ]
    failed = FollowUp("and in winter?", "and in winter?", warning="It is busy.")
    assert explain_follow_up(failed) == [
        "The model did not say how the question is meant: It is busy."
    ]
    assert explain_follow_up(FollowUp("How deep?", "How deep?")) == []
