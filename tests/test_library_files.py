"""A library as files: where an archive goes, and what is in it."""

from pathlib import Path

from chapterhouse import Library
from chapterhouse.library_files import export_library, restore_library, target_of


def test_an_archive_is_written_and_restored_elsewhere(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "library.archive"
    seen: list[object] = []
    report = export_library(
        library.documents._runtime, path, memories=False, on_progress=seen.append
    )
    assert path.exists()
    target = target_of(tmp_path / "elsewhere", "other")
    assert target.folder == tmp_path / "elsewhere" / "workspaces" / "other"
    restore_library(path, target, replaces=False, dry_run=False, on_progress=seen.append)
    with Library.open(tmp_path / "elsewhere", "other") as restored:
        assert [one.id for one in restored.documents.list()] == [
            one.id for one in library.documents.list()
        ]
    assert seen
    assert report
