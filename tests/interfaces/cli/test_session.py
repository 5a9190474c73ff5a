import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chapterhouse import errors
from chapterhouse.errors import ChapterhouseError, UsageError
from chapterhouse.interfaces.cli import session
from chapterhouse.interfaces.cli.options import COMMON, Common, reopening, require_path
from chapterhouse.interfaces.cli.session import (
    ConfirmationNeededError,
    Outcome,
    can_redraw,
    console,
)
from chapterhouse.library.answers import Answers
from chapterhouse.library.documents import Documents
from chapterhouse.presenting.blocks import verbatim
from chapterhouse.presenting.styled import styled

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


def left_with(work: Callable[[], Outcome]) -> int:
    """Run some work as a command is run; return the exit code."""
    with pytest.raises(typer.Exit) as ended:
        session.run(work)
    return int(ended.value.exit_code)


def test_the_outcome_decides_what_is_shown_and_the_exit_code(
    capfd: pytest.CaptureFixture[str],
) -> None:
    shown = (verbatim("Two files."),)
    assert left_with(lambda: Outcome({}, shown)) == 0
    assert left_with(lambda: Outcome({}, shown, 4)) == 4
    assert left_with(lambda: Outcome({}, lambda target: target.print("Drawn."), 6)) == 6
    assert capfd.readouterr().out == "Two files.\nTwo files.\nDrawn.\n"
    assert left_with(lambda: Outcome({}, shown, 4, is_reported=True)) == 4
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


@pytest.mark.parametrize("stderr", [False, True])
def test_no_color_leaves_no_sequence_at_all(
    monkeypatch: pytest.MonkeyPatch, *, stderr: bool
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setenv("TERM", "xterm")
    for value, plain in (("", False), ("1", True)):
        monkeypatch.setenv("NO_COLOR", value)
        target = console(stderr=stderr)
        with target.capture() as captured:
            target.print(styled(("a", "bold"), ("b", "dim italic"), ("c", "red")))
        assert ("\x1b" not in captured.get()) is plain
        assert not (plain and can_redraw())


@contextmanager
def common_options(**options: str) -> Iterator[None]:
    before = COMMON.set(Common(**options))  # type: ignore[arg-type]  # texts alone
    try:
        yield
    finally:
        COMMON.reset(before)


def test_the_options_to_the_same_library_are_one_word_each_in_a_shell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CHAPTERHOUSE_HOME", raising=False)
    for home in ("/a b/c", "it's; rm -rf", "$HOME", "-x"):
        with common_options(home=home, workspace="my notes"):
            assert shlex.split(f"chapterhouse status{reopening()}") == [
                "chapterhouse", "status", "--home", home, "--workspace", "my notes",
            ]  # fmt: skip


def test_an_empty_path_is_not_the_present_folder() -> None:
    for path in ("", " ", "\t\n"):
        with pytest.raises(UsageError, match="empty") as caught:
            require_path(path)
        assert "'.'" in caught.value.hint
    assert require_path(".") == "."


def test_a_request_to_end_is_met_like_ctrl_c(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Answers, "ask", lambda *_, **__: signal.raise_signal(signal.SIGTERM))
    result = chapterhouse("ask", "x")
    assert result.code == 130
    assert result.err.startswith("chapterhouse: Stopped.")
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
