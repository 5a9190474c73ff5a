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


@pytest.mark.parametrize("kind", KINDS)
def test_one_is_removed_when_that_is_confirmed_and_its_folder_moved_aside(
    chapterhouse: Any, tmp_path: Path, kind: str
) -> None:
    home = ("--home", tmp_path)
    folder = tmp_path / f"{kind}s" / "good"
    for number in ("", "-2"):  # the second of the name goes beside the first
        assert chapterhouse(kind, "new", "good", *home).code == 0
        assert chapterhouse(kind, "remove", "good", *home, "--json").code == 10
        would = chapterhouse(kind, "remove", "good", "--dry-run", *home)
        assert would.out.startswith("Would remove Good.\n  Documents that leave the library")
        assert folder.is_dir()
        done = chapterhouse(kind, "remove", "good", "--yes", *home, "--json").data
        assert done["folder"] == str(folder.with_name(f"_good{number}"))
        assert Path(done["folder"]).is_dir()
        assert chapterhouse(kind, "list", *home, "--json").data == []
    assert chapterhouse(kind, "remove", "good", "--yes", *home).code != 0


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
