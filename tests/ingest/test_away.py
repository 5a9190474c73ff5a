"""What is on a disk that is away stays; what was deleted goes, much of it once it is confirmed."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.ingest.test_mirror import followed, sync

from chapterhouse.ingest.look import ReadingContext
from chapterhouse.ingest.mirror import Options, mirror_files
from chapterhouse.types import DEFAULT_SHELF, Scope, StayingDocuments, StayReason

PROCESS = Path(__file__).with_name("mount_process.py")
NAMESPACE = ("unshare", "-Urm")


def may_mount() -> bool:
    try:
        return (
            subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode == 0
        )
    except OSError:
        return False


needs_mounts = pytest.mark.skipif(not may_mount(), reason="mounting is not permitted here")


def scene(name: str, place: Path) -> Any:
    command = [*NAMESPACE, sys.executable, str(PROCESS), name, str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@needs_mounts
def test_a_disk_that_is_away_below_a_source_loses_nothing(tmp_path: Path) -> None:
    before, away, during, back, after = scene("below_a_source", tmp_path)
    assert (before, during) == ([31, 1], [31, 1])
    assert away == [[["docs/share", 30, "away"]]] * 2  # confirmed or not
    assert (back, after) == ([], [30, 1])  # one was deleted


@needs_mounts
def test_single_files_of_a_disk_that_is_away_stay(tmp_path: Path) -> None:
    away, during, back, after = scene("single_files", tmp_path)
    assert (away, during) == ([["docs", 5, "away"]], 5)
    assert (back, after) == ([], 4)


@needs_mounts
def test_another_disk_in_its_place_is_no_deletion_until_that_is_confirmed(tmp_path: Path) -> None:
    other, between, confirmed, after = scene("another_disk", tmp_path)
    assert (other, between) == ([["docs", 2, "other-disk"]], 4)
    assert (confirmed, after) == ([], 2)


@needs_mounts
def test_files_under_a_disk_that_was_mounted_over_them_stay(tmp_path: Path) -> None:
    over, during, back, after = scene("over_files", tmp_path)
    assert (over, during) == ([["docs", 3, "other-disk"]], 5)
    assert (back, after) == ([["docs", 2, "away"]], 5)


@needs_mounts
def test_the_folder_of_a_persona_may_be_away(tmp_path: Path) -> None:
    away, during, back, after = scene("of_a_persona", tmp_path)
    assert (away, during) == ([["docs", 3, "away"]], 3)
    assert (back, after) == ([], 2)


# --- much at once ------------------------------------------------------------------------------


def fill(home: Any, folder: str, count: int) -> None:
    for number in range(count):
        home.write(
            f"{folder}/{number}.md", f"# {folder} {number}\n\nThe {folder} of {number} is blue."
        )


def empty(home: Any, folder: str, count: int) -> None:
    for path in sorted((home.folder / folder).iterdir())[:count]:
        path.unlink()


@pytest.mark.parametrize(
    ("gone", "total", "others", "stays"),
    [(21, 30, 0, True), (21, 30, 100, True), (20, 30, 0, False), (21, 42, 0, False)],
)
def test_more_than_half_and_more_than_twenty_of_a_folder_stay_until_confirmed(
    home: Any, gone: int, total: int, others: int, *, stays: bool
) -> None:
    fill(home, "mail", total)
    fill(home, "else", others + 1)
    followed(home)
    sync(home)
    empty(home, "mail", gone)
    empty(home, "else", 1 if others else 0)
    report = sync(home, dry_run=True)
    assert (len(report.removed) < gone) is stays
    report = sync(home)
    # What is as usual in the other folder goes all the same.
    assert len(report.removed) == (0 if stays else gone) + (1 if others else 0)
    if stays:
        place = home.folder / "mail" if others else home.folder
        whole = total if others else total + 1
        assert report.staying == (StayingDocuments(str(place), gone, StayReason.MANY, whole),)
        assert len(sync(home, confirmed=True).removed) == gone
    assert len(home.sources()) == total - gone + others + 1 - (1 if others else 0)
    assert sync(home).staying == ()


def test_files_that_were_moved_are_not_counted(home: Any) -> None:
    fill(home, "mail", 30)
    home.write("readme.md", "# Read me\n\nThis is to be read.")
    followed(home)
    sync(home)
    (home.folder / "mail").rename(home.folder / "letters")
    assert (sync(home).staying, home.read_names) == ((), [])
    assert len(home.sources()) == 31


def test_single_files_of_a_folder_that_was_emptied_stay_until_confirmed(home: Any) -> None:
    fill(home, "mail", 22)
    files = tuple((home.folder / "mail").iterdir())
    home.add(*files)
    empty(home, "mail", 22)
    work = ReadingContext(home.store, home.read, home.prepare, DEFAULT_SHELF)
    report = mirror_files(files, work, Options())
    (staying,) = report.staying
    assert (staying.documents, staying.reason, report.removed) == (22, StayReason.MANY, ())
    assert len(mirror_files(files, work, Options(confirmed=True)).removed) == 22
    assert home.sources() == []


def test_files_of_which_no_volume_is_known_stay_until_confirmed(home: Any) -> None:
    """As in a library of an earlier version, while a disk is away."""
    path = home.write("a.md", "# A\n\nThe first of all notes.")
    home.write("b.md", "# B\n\nThe second of all notes.")
    followed(home)
    sync(home)
    for record in tuple(home.store.files()):
        home.store.record_file(replace(record, volume=""))
    path.unlink()
    (staying,) = sync(home).staying
    assert (staying.documents, staying.reason) == (1, StayReason.OTHER_DISK)
    assert home.store.file(str(home.folder / "b.md")).volume  # by now it is known of this one
    assert sync(home, confirmed=True).removed == ("docs/a.md",)


def test_what_another_process_has_removed_meanwhile_is_passed_over(home: Any) -> None:
    gone = [home.write(f"{name}.md", f"# {name}\n\nThe note of {name}.") for name in "abd"]
    home.write("c.md", "# C\n\nThe note that stays.")
    followed(home)
    sync(home)
    ids = {one.source: one.id for one in home.store.documents(Scope.everything())}
    for path in gone:
        path.unlink()
    see_all, see = home.store.documents_among, home.store.document

    def remove_after(wanted: Any, scope: Scope) -> Any:
        """Remove a document just after it was seen, before the removal begins."""
        found = see_all(wanted, scope)
        home.store.remove(ids["docs/a.md"])
        return found

    def remove_before(identifier: str, scope: Scope) -> Any:
        """Remove a document when the removal has begun and looks it up."""
        home.store.remove(ids["docs/b.md"])
        return see(identifier, scope)

    home.store.documents_among, home.store.document = remove_after, remove_before
    sync(home)
    assert home.sources() == ["docs/c.md"]
