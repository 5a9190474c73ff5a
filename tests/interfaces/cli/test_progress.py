"""What is shown while something goes on, on a terminal alone."""

import pytest
from rich.console import Console

from chapterhouse.interfaces.cli import progress, terminal
from chapterhouse.types import AnswerSentence, Draft, Problem, ProblemKind, Support

DRAFT = Draft(
    (
        AnswerSentence("It leaves at nine.", (1,), Support.SUPPORTED),
        AnswerSentence(
            "It costs 9 euros.",
            (1,),
            Support.DISAGREES,
            (Problem(ProblemKind.NUMBER, "9", "12"),),
            before="\n",
        ),
        AnswerSentence("It is \x1b[31mred.", (), Support.NOT_FOUND),
    ),
    "And so",
)


def test_each_sentence_of_a_draft_says_what_was_found_about_it() -> None:
    assert progress.draft_text(DRAFT).plain == (
        " It leaves at nine.\nIt costs 9 euros. (the source says: 12) It is \\x1b[31mred. "
        "(not confirmed by the sources) And so"
    )


def test_off_a_terminal_no_draft_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "can_redraw", lambda: False)
    with progress.drafted() as draw:
        assert draw is None


def test_a_draft_longer_than_the_terminal_shows_its_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "can_redraw", lambda: True)
    small = Console(stderr=True, force_terminal=True, width=40, height=5, markup=False)
    monkeypatch.setattr(terminal, "console", lambda **_: small)
    many = tuple(AnswerSentence(f"Line {n}.", (), before="\n") for n in range(30))
    with progress.drafted() as draw:
        assert draw is not None
        draw(Draft(many, "And the last"))
    shown = capsys.readouterr().err
    assert "And the last" in shown
    assert "Line 29." in shown
    assert "Line 3." not in shown
