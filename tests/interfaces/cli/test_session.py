"""One command: its library, its errors, its questions to the user, its exit code."""

import signal
import sys
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chapterhouse import errors
from chapterhouse.errors import ChapterhouseError
from chapterhouse.facets.answers import Answers
from chapterhouse.facets.documents import Documents
from chapterhouse.interfaces.cli import session
from chapterhouse.interfaces.cli.session import ConfirmationNeededError, Outcome
from chapterhouse.presenting.blocks import verbatim

Fails = Callable[[type, str, BaseException], None]


def test_debug_shows_the_traceback(chapterhouse: Any, home: Path, fails: Fails) -> None:
    fails(Answers, "ask", ZeroDivisionError("by zero"))
    result = chapterhouse("ask", "x", "--debug")
    assert result.code == 1
    assert "Traceback" in result.err
    assert "chapterhouse: Unexpected ZeroDivisionError: by zero" in result.err


def test_ctrl_c_ends_with_130(chapterhouse: Any, home: Path, fails: Fails) -> None:
    fails(Documents, "add", KeyboardInterrupt())
    as_json = chapterhouse("add", "more", "--json")
    assert as_json.code == 130
    assert as_json.envelope["error"]["type"] == "InterruptedWorkError"
    fails(Answers, "ask", KeyboardInterrupt())
    assert chapterhouse("ask", "x").code == 130


def test_removing_needs_a_yes_off_a_terminal(chapterhouse: Any, home: Path) -> None:
    def documents() -> int:
        return len(chapterhouse("docs", "list", "--json").data)

    result = chapterhouse("docs", "remove", "tariffs")
    assert result.code == 10
    assert "--yes" in result.err
    assert chapterhouse("docs", "remove", "tariffs", "--dry-run").out.startswith("Would remove 1")
    assert documents() == 2
    assert chapterhouse("docs", "remove", "tariffs", "--yes").out.startswith("Removed 1 document.")
    assert documents() == 1


def test_ctrl_c_at_the_question_removes_nothing(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> bool:
        raise typer.Abort

    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(typer, "confirm", interrupted)
    result = chapterhouse("docs", "remove", "tariffs")
    assert result.code == 10
    assert "Nothing was removed." in result.err
    assert len(chapterhouse("docs", "list", "--json").data) == 2


def test_a_request_to_end_is_met_like_ctrl_c(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Answers, "ask", lambda *_, **__: signal.raise_signal(signal.SIGTERM))
    result = chapterhouse("ask", "x")
    assert result.code == 130
    assert result.err.startswith("chapterhouse: Stopped.")
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_what_is_tried_without_a_library_leaves_none(
    chapterhouse: Any, harbour: Path, tmp_path: Path
) -> None:
    home = ("--home", tmp_path / "nowhere")
    assert chapterhouse("status", *home).code == 3
    planned = chapterhouse("add", harbour / "more", "--dry-run", *home)
    assert (planned.code, "would be read" in planned.out) == (0, True)
    assert not (tmp_path / "nowhere").exists()


def left_with(work: Callable[[], Outcome | None]) -> int | None:
    """Run some work as a command is run; return the exit code, None where there is none."""
    try:
        session.run(work)
    except typer.Exit as ended:
        return int(ended.exit_code)
    return None


def test_the_outcome_decides_what_is_shown_and_the_exit_code(
    capfd: pytest.CaptureFixture[str],
) -> None:
    shown = (verbatim("Two files."),)
    assert left_with(lambda: Outcome({}, shown)) == 0
    assert left_with(lambda: Outcome({}, shown, 4)) == 4
    assert left_with(lambda: Outcome({}, lambda target: target.print("Drawn."), 6)) == 6
    assert capfd.readouterr().out == "Two files.\nTwo files.\nDrawn.\n"
    assert left_with(lambda: Outcome({}, shown, 4, is_reported=True)) == 4
    assert left_with(lambda: None) is None
    assert capfd.readouterr().out == ""


ERRORS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type)
    and issubclass(kind, ChapterhouseError)
    and tuple(signature(kind).parameters)[:2] == ("message", "hint")
]


@given(st.sampled_from(ERRORS), st.text(max_size=20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_error_ends_with_its_own_code_and_its_message_on_one_line(
    capfd: pytest.CaptureFixture[str], kind: type[ChapterhouseError], message: str
) -> None:
    def fail() -> Outcome:
        raise kind(message)

    assert left_with(fail) == kind.exit_code != 0
    told = capfd.readouterr()
    assert told.out == ""
    assert told.err.startswith("chapterhouse: ")
    assert len(told.err.splitlines()) == 1
    assert not set(told.err[:-1]) & {chr(number) for number in range(32)}


@pytest.mark.parametrize("yes", [True, False])
def test_on_a_terminal_somebody_is_asked_and_sees_what_it_is_about(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *, yes: bool
) -> None:
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    asked: list[str] = []

    def confirm(question: str, **_: object) -> bool:
        asked.append(question)
        return yes

    monkeypatch.setattr(typer, "confirm", confirm)

    def consent() -> None:
        session.require_yes("Remove\nit", refused="It stays.", listed=("a.md\x1b[2J",))

    if yes:
        consent()
    else:
        with pytest.raises(ConfirmationNeededError, match=r"It stays\."):
            consent()
    assert asked == ["Remove it?"]
    assert capfd.readouterr().err == "  a.md\\x1b[2J\n"
