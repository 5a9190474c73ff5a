"""What the commands about personas and about councils share, for both."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.interfaces.cli.registries import absolute, folder_named
from chapterhouse.interfaces.values import CouncilEntry, PersonaEntry
from chapterhouse.store.definitions import CONFIG_FILE, COUNCIL_FILE

KINDS = {"persona": CONFIG_FILE, "council": COUNCIL_FILE}
ENTRIES = {"persona": PersonaEntry, "council": CouncilEntry}


def test_what_cannot_be_done_says_so_and_makes_nothing(chapterhouse: Any, tmp_path: Path) -> None:
    assert chapterhouse("init", "--home", tmp_path).code == 0
    for arguments, code in [
        (("persona", "new", "Maria"), 2),
        (("persona", "new", "library"), 2),
        (("persona", "new", "berths", "--template", "expret"), 3),
        (("persona", "docs", "nobody"), 3),
        (("persona", "update", "nobody"), 3),
        (("council", "new", "Berths"), 2),
        (("council", "new", "council"), 2),
        (("council", "new", "berths", "--template", "debatte"), 3),
        (("council", "new", "berths", "--member", "nobody"), 3),
        (("council", "docs", "list", "nothing"), 3),
        (("source", "add", ".", "--council", "nothing"), 3),
        *(
            ((kind, *arguments), code)
            for kind in KINDS
            for arguments, code in (
                (("show", "nobody"), 3),
                (("validate", "nobody"), 3),
                (("new", "berths", "--folder", ""), 2),
                (("new", "berths", "--folder", "nowhere"), 3),
            )
        ),
    ]:
        result = chapterhouse(*arguments, "--home", tmp_path)
        assert (result.code, result.out) == (code, ""), arguments
        assert len(result.err.splitlines()) == 2
    assert not list(tmp_path.glob("*s/berths"))


@pytest.mark.parametrize("kind", KINDS)
def test_their_folders_are_enough_for_a_library_of_the_default_workspace(
    chapterhouse: Any, tmp_path: Path, kind: str
) -> None:
    folder, file = tmp_path / f"{kind}s" / "berths", KINDS[kind]
    folder.mkdir(parents=True)
    (folder / file).write_text('{"slug": "berths"}')
    assert "berths" in chapterhouse(kind, "list", "--home", tmp_path).out
    elsewhere = ("--home", tmp_path, "--workspace", "other")
    assert chapterhouse(kind, "list", *elsewhere).code == 3
    assert chapterhouse(kind, "list", "--home", tmp_path / "none").code == 3
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_one_that_cannot_be_used_is_listed_with_the_reason(
    chapterhouse: Any, tmp_path: Path, kind: str
) -> None:
    home = ("--home", tmp_path)
    assert chapterhouse("init", *home).code == 0
    none = chapterhouse(kind, "list", *home)
    assert none.out == f"No {kind}s. Make one: chapterhouse {kind} new SLUG\n"
    made = chapterhouse(kind, "new", "good", "--name", "Very Good", *home)
    assert made.out.startswith(f"Made Very Good in {tmp_path}/{kind}s/good\nNext:\n  1. ")
    assert chapterhouse(kind, "new", "torn", *home, "--json").data["slug"] == "torn"
    assert chapterhouse(kind, "validate", *home).code == 0
    (tmp_path / f"{kind}s" / "torn" / KINDS[kind]).write_text("{")
    shown = chapterhouse(kind, "list", *home).out
    assert "Very Good" in shown
    assert "(cannot be used)" in shown
    assert f"torn/{KINDS[kind]}" in shown
    good, torn = chapterhouse(kind, "list", *home, "--json").data
    assert (good["display_name"], good["problems"], good["documents"]) == ("Very Good", [], 0)
    assert (torn["display_name"], len(torn["problems"])) == ("", 1)
    assert good.keys() == torn.keys() == {one.name for one in fields(ENTRIES[kind])}  # as over HTTP
    assert (good["usable"], torn["usable"]) == (True, False)
    checked = chapterhouse(kind, "validate", *home, "--json").envelope
    assert chapterhouse(kind, "validate", *home).code == 1
    assert checked["data"]["counts"]["error"] == 1
    assert chapterhouse(kind, "validate", "good", *home).code == 0


def test_a_folder_is_kept_so_that_it_is_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "papers").mkdir()
    assert folder_named("papers") == absolute("papers") == str(tmp_path / "papers")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder_named("~/papers") == "~/papers"  # as it is written: homes differ
    with pytest.raises(NotFoundError, match="no folder ~/none"):
        folder_named("~/none")
    with pytest.raises(UsageError, match="empty"):
        absolute(" ")
