"""Every error: its place in the hierarchy, its exit code, what it says."""

import inspect
import shlex
import sys

import pytest

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

EXIT_CODES = {
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
DEFINED = [
    value
    for _, value in inspect.getmembers(errors, inspect.isclass)
    if value.__module__ == errors.__name__
]


def test_every_error_is_listed_here() -> None:
    assert set(DEFINED) == set(EXIT_CODES)


@pytest.mark.parametrize("kind", DEFINED)
def test_there_is_one_root(kind: type[ChapterhouseError]) -> None:
    assert issubclass(kind, ChapterhouseError)
    assert issubclass(NewerLibraryError, RefusedError)


@pytest.mark.parametrize("kind", DEFINED)
def test_the_exit_code_is_the_documented_one(kind: type[ChapterhouseError]) -> None:
    assert kind.exit_code == EXIT_CODES[kind]


@pytest.mark.parametrize("kind", DEFINED)
def test_the_docstring_is_a_sentence(kind: type[ChapterhouseError]) -> None:
    first = (inspect.getdoc(kind) or "").splitlines()[0]
    assert first[:1].isupper()
    assert first.endswith(".")
    assert kind is ChapterhouseError or "__doc__" in vars(kind)


@pytest.mark.parametrize("kind", DEFINED)
def test_the_hierarchy_in_the_module_names_it(kind: type[ChapterhouseError]) -> None:
    assert kind.__name__ in (errors.__doc__ or "")


def test_an_error_says_what_was_wrong_and_what_to_do() -> None:
    error = UsageError("The question is empty.", hint="Ask in words.")
    assert str(error) == error.message == "The question is empty."
    assert error.hint == "Ask in words."
    assert UsageError("The question is empty.").hint == ""


def test_a_rejection_carries_its_code() -> None:
    error = RejectedError("encrypted", "a.pdf is protected.", hint="Save a copy.")
    assert (error.code, error.message, error.hint) == (
        "encrypted",
        "a.pdf is protected.",
        "Save a copy.",
    )


def test_a_missing_extra_names_the_line_that_installs_it() -> None:
    error = MissingExtraError("Reading runes", "runes")
    assert error.extra == "runes"
    assert error.message == "Reading runes needs the extra 'runes', which is not installed."
    assert error.hint == f"Install what it needs: {sys.executable} -m pip install '.[runes]'"


def test_the_line_names_what_the_extra_consists_of_and_nothing_else() -> None:
    command = install_command("telemetry")
    assert command.startswith(f"{shlex.quote(sys.executable)} -m pip install 'opentelemetry-")
    assert "chapterhouse" not in command.removeprefix(shlex.quote(sys.executable))
