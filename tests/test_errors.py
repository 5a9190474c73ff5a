"""Every error: its place in the hierarchy, its exit code, what it says."""

import inspect
import shlex
import sys
from typing import Any

from chapterhouse import errors
from chapterhouse.errors import (
    BusyError,
    ChapterhouseError,
    CorruptLibraryError,
    EngineError,
    MissingExtraError,
    NewerLibraryError,
    NotFoundError,
    PromptTooLongError,
    ReadOnlyError,
    RefusedError,
    RejectedError,
    UnavailableError,
    UsageError,
    install_command,
)

EXIT_CODES: dict[type[ChapterhouseError], int] = {
    ChapterhouseError: 1,
    UsageError: 2,
    NotFoundError: 3,
    RejectedError: 1,
    RefusedError: 5,
    NewerLibraryError: 5,
    MissingExtraError: 1,
    ReadOnlyError: 1,
    UnavailableError: 1,
    EngineError: 1,
    PromptTooLongError: 1,
    CorruptLibraryError: 1,
    BusyError: 1,
}
DEFINED: list[Any] = [
    value
    for _, value in inspect.getmembers(errors, inspect.isclass)
    if value.__module__ == errors.__name__
]


def test_every_error_is_one_of_ours_with_its_exit_code() -> None:
    assert set(DEFINED) == set(EXIT_CODES)
    assert {kind: kind.exit_code for kind in EXIT_CODES} == EXIT_CODES
    assert all(issubclass(kind, ChapterhouseError) for kind in DEFINED)
    assert all("__doc__" in vars(kind) for kind in DEFINED)


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
