"""The common options: how another command is led to the same library."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from chapterhouse.errors import UsageError
from chapterhouse.interfaces.cli.options import COMMON, Common, readable, reopening, require_path


@contextmanager
def given(**options: str) -> Iterator[None]:
    before = COMMON.set(Common(**options))  # type: ignore[arg-type]  # texts alone
    try:
        yield
    finally:
        COMMON.reset(before)


@pytest.mark.parametrize("home", ["/a b/c", "it's; rm -rf", "$HOME", "-x"])
def test_the_options_to_the_same_library_are_one_word_each_in_a_shell(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CHAPTERHOUSE_HOME", raising=False)
    with given(home=home, workspace="my notes"):
        assert shlex.split(f"chapterhouse status{reopening()}") == [
            "chapterhouse", "status", "--home", home, "--workspace", "my notes",
        ]  # fmt: skip


def test_what_the_next_command_knows_anyway_is_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAPTERHOUSE_HOME", "/home")
    with given(home="/home"):
        assert reopening() == ""
    with given(home="/other"):
        assert reopening() == " --home /other"
    with given():
        assert reopening() == ""


@pytest.mark.parametrize("path", ["", " ", "\t\n"])
def test_an_empty_path_is_not_the_present_folder(path: str) -> None:
    with pytest.raises(UsageError, match="empty") as caught:
        require_path(path)
    assert "'.'" in caught.value.hint
    assert require_path(".") == "."


def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    pasted = b"caf\xe9 \xc3\xa9".decode("utf-8", "surrogateescape")
    assert readable("At", pasted) == "At caf\ufffd é"
