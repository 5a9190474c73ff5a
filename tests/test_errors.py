import shlex
import sys

from chapterhouse.errors import MissingExtraError, RejectedError, UsageError, install_command


def test_an_error_says_what_was_wrong_and_what_to_do() -> None:
    error = RejectedError("encrypted", "a.pdf is protected.", hint="Save a copy.")
    assert str(error) == error.message == "a.pdf is protected."
    assert (error.code, error.hint) == ("encrypted", "Save a copy.")
    assert UsageError("The question is empty.").hint == ""


def test_a_missing_extra_names_the_line_that_installs_it_and_nothing_else() -> None:
    error = MissingExtraError("Reading runes", "runes")
    assert error.extra == "runes"
    assert error.message == "Reading runes needs the extra 'runes', which is not installed."
    assert error.hint == f"Install what it needs: {sys.executable} -m pip install '.[runes]'"
    command = install_command("telemetry")
    assert command.startswith(f"{shlex.quote(sys.executable)} -m pip install 'opentelemetry-")
    assert "chapterhouse" not in command.removeprefix(shlex.quote(sys.executable))
