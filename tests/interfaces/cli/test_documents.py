"""Commands about documents, and settings that are gone, over a real library."""

from pathlib import Path
from typing import Any

import pytest

from chapterhouse.library import Library


def test_documents_are_listed_by_the_code_of_a_notice(chapterhouse: Any, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "plain.md").write_text("# Plain\n\nThe crane lifts four tonnes.\n")
    (tmp_path / "notes" / "odd.md").write_text("# Odd\n\nThe crane\u200b\u202e logs in at night.\n")
    home = ("--home", tmp_path / "own")
    assert chapterhouse("add", tmp_path / "notes", *home).code == 0
    wanted = ("docs", "list", "--notice", "invisible-characters", *home)
    (listed,) = chapterhouse(*wanted, "--json").data
    assert (listed["source"], listed["status"]) == ("notes/odd.md", "ready")
    assert chapterhouse(*wanted, "--files").code == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [("reading.credentials", "stored as they are"), ("removal.grace_days", "does not come back")],
)
def test_a_setting_that_is_gone_says_what_holds_now(
    chapterhouse: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    home = tmp_path / "own"
    monkeypatch.setenv("CHAPTERHOUSE_HOME", str(home))
    with Library.open(home):
        pass
    section, _, setting = name.partition(".")
    changed = chapterhouse("settings", "set", name, "9")
    assert (changed.code, said in changed.err) == (2, True)
    with monkeypatch.context() as environment:
        environment.setenv(f"CHAPTERHOUSE_{section}__{setting}".upper(), "9")
        assert said in chapterhouse("docs", "list").err
    (home / "chapterhouse.toml").write_text(f'[{section}]\n{setting} = "9"\n')
    refused = chapterhouse("docs", "list")
    assert (refused.code, said in refused.err) == (2, True)
