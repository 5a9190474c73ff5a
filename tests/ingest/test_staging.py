"""What was made ready goes into place, all of it or nothing."""

from pathlib import Path

import pytest

from chapterhouse.ingest.staging import Target, install, stage_settings


def target_of(tmp_path: Path, workspace: str = "default") -> Target:
    home = tmp_path / "home"
    folder = home / "workspaces" / workspace
    above = home if workspace == "default" else folder
    places = {name: above / name for name in ("personas", "councils")}
    return Target(home, workspace, folder, places)


def write(folder: Path, text: str) -> None:
    folder.mkdir(parents=True)
    (folder / "file").write_text(text)


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    for name in ("workspace", "personas", "councils"):
        write(folder / name, f"new {name}")
    (folder / "chapterhouse.toml").write_text("new settings")
    return folder


def test_old_and_new_change_places(tmp_path: Path, work: Path) -> None:
    target = target_of(tmp_path)
    write(target.folder, "old workspace")
    write(target.definitions["personas"], "old personas")

    install(work, target)

    assert contents(target.home) == {
        "chapterhouse.toml": "new settings",
        "councils/file": "new councils",
        "personas/file": "new personas",
        "workspaces/default/file": "new workspace",
    }
    assert contents(work) == {"personas/file": "old personas", "workspace/file": "old workspace"}


def test_after_a_failure_all_is_as_it_was(tmp_path: Path, work: Path) -> None:
    target = target_of(tmp_path)
    write(target.definitions["personas"], "old personas")  # and the folder of workspaces is absent
    before = contents(work)

    with pytest.raises(OSError, match="workspace"):
        install(work, target)

    assert contents(target.home) == {"personas/file": "old personas"}
    assert contents(work) == before


def test_those_of_another_workspace_go_with_its_folder(tmp_path: Path) -> None:
    target, work = target_of(tmp_path, "second"), tmp_path / "work"
    write(work / "workspace" / "personas", "new")
    target.folder.parent.mkdir(parents=True)
    install(work, target)
    assert contents(target.home) == {"workspaces/second/personas/file": "new"}


def test_an_archive_decides_nothing_for_this_machine(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    (work / "workspace").mkdir(parents=True)
    home.mkdir()
    (home / "chapterhouse.toml").write_text("# here")
    hostile = "[search]\nlimit = 7\n[models.x]\nextra_body = {a = 1}\n"
    (work / "workspace" / "workspace.toml").write_text(hostile)

    stage_settings(hostile.encode(), home, work)

    assert (work / "chapterhouse.toml").read_text().startswith("# here\n[search]\nlimit = 7\n")
    for text in contents(work).values():
        assert "limit" in text
        assert "extra_body" not in text
