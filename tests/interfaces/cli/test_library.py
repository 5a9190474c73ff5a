"""Filling a library and keeping it well: init, add, status, doctor, reindex."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.facets.documents import Documents
from chapterhouse.types import Progress


def test_files_that_are_rejected_end_with_4(chapterhouse: Any, home: Path, tmp_path: Path) -> None:
    (tmp_path / "torn.pdf").write_bytes(b"%PDF-1.7 torn")
    torn = chapterhouse("add", tmp_path / "torn.pdf")
    assert (torn.code, "/torn.pdf\n" in torn.out) == (4, True)
    assert chapterhouse("add", tmp_path / "torn.pdf", "--json").code == 4  # and again


def interrupted_at_the_first_file(
    add: Callable[..., object],
) -> Callable[..., object]:
    def interrupted(
        self: Documents, *paths: Path, on_progress: Callable[[Progress], None], **options: Any
    ) -> object:
        def follow(progress: Progress) -> None:
            on_progress(progress)
            raise KeyboardInterrupt

        return add(self, *paths, on_progress=follow, **options)

    return interrupted


def test_an_interrupted_add_says_what_is_safe(
    chapterhouse: Any, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(f"# {name}\n\nA note.\n")
    files = (tmp_path / "a.md", tmp_path / "b.md")
    with monkeypatch.context() as patched:
        patched.setattr(Documents, "add", interrupted_at_the_first_file(Documents.add))
        result = chapterhouse("add", *files)
        assert (result.code, result.out) == (130, "")
        assert "1 of 2 files are done and safe on disk" in result.err
        assert "same command again" in result.err
    assert chapterhouse("add", *files, "--json").data["changed"] <= 1


def test_the_index_that_lags_is_shown(chapterhouse: Any, home: Path) -> None:
    assert "behind" not in chapterhouse("status").out
    shutil.rmtree(home / "workspaces" / "default" / "index" / "lexical")
    assert "changes behind" in chapterhouse("status").out


def test_a_plan_counts_only_what_would_be_read(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    (home / "chapterhouse.toml").write_text("[reading]\nmaximum_megabytes = 1\n")
    (folder / "new.md").write_text("A note.")
    (folder / "huge.md").write_bytes(b"x" * (2**20 + 1))
    result = chapterhouse("add", folder, "--dry-run")
    assert result.code == 4
    assert result.out.startswith("1 of 2 files would be read\n  new/new.md\nrejected  new/huge.md")


@pytest.mark.parametrize(
    "arguments", [("add", ""), ("add", "papers", " "), ("status", "--home", "")]
)
def test_an_empty_path_is_not_the_present_folder(
    chapterhouse: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    result = chapterhouse(*arguments)
    assert result.code == 2
    assert "empty" in result.err


def test_text_is_added_from_standard_input(say: Any, chapterhouse: Any, tmp_path: Path) -> None:
    home = ("--home", tmp_path / "home")
    text = "The mill grinds 4 tonnes of rye a day.\n"
    first = say(text, "add", "-", "--title", "The mill", "--json", *home).data
    assert first["changed"] == 1
    again = say(text, "add", "-", "--title", "The mill", "--json", *home).data
    assert (again["changed"], again["counts"]["skipped"]) == (0, 1)
    (document,) = chapterhouse("docs", "list", "--json", *home).data
    assert document["title"] == "The mill"
    assert "4 tonnes" in chapterhouse("ask", "How much rye does the mill grind?", *home).out
    assert chapterhouse("docs", "reprocess", "--json", *home).data["counts"]["ready"] == 1
    removed = chapterhouse("docs", "remove", "--missing", "--yes", "--json", *home).data
    assert removed["documents"] == []
    assert chapterhouse("doctor", *home).code == 0
    assert say(text, "add", "-", "--shelf", "notes", "--json", *home).data["changed"] == 1
    assert say("", "add", "-", *home).code == 2
    assert say(text, "add", "-", "--dry-run", *home).code == 2
    assert say(text, "add", tmp_path, "--title", "T", *home).code == 2


def test_a_library_that_is_there_already_is_left_as_it_is(chapterhouse: Any, home: Path) -> None:
    before = chapterhouse("docs", "list", "--json").data
    assert chapterhouse("init").code == 0
    assert chapterhouse("docs", "list", "--json").data == before
    (home / "workspaces" / "other").mkdir()
    assert chapterhouse("status", "--workspace", "new").code == 3  # only init and add make one
    assert chapterhouse("init", "--workspace", "new", "--json").data["documents"] == 0
    assert chapterhouse("status", "--workspace", "new").code == 0


def test_a_dry_run_of_indexing_says_what_is_there_and_builds_nothing(
    chapterhouse: Any, home: Path
) -> None:
    index = home / "workspaces" / "default" / "index" / "lexical"
    shutil.rmtree(index)
    planned = chapterhouse("reindex", "--dry-run")
    assert (planned.code, "behind" in chapterhouse("status").out) == (0, True)
    assert chapterhouse("reindex").code == 0
    assert "behind" not in chapterhouse("status").out
    assert planned.out != chapterhouse("reindex").out
