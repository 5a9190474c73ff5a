from pathlib import Path

import convergence
import killed
import kills
import migrations
import uploads


def test_a_library_converges_to_its_folders(tmp_path: Path) -> None:
    done, faults = convergence.run(tmp_path, 1, 15)
    assert faults == []
    assert done.total() - done["passes"] >= 15


def test_a_sync_that_deletes_nothing_would_be_noticed(tmp_path: Path) -> None:
    _, faults = convergence.run(tmp_path, 1, 60, deleting=False)
    assert "too many" in faults[0]


def test_a_document_that_is_lost_or_doubled_would_be_noticed() -> None:
    before, disk = {"/a": "1", "/b": "2"}, {"/a": "1", "/b": "3"}
    told = ["/b\t3\n"]
    assert list(kills.faults_of(before, disk, {"/a": "1", "/b": "3"}, told, [])) == []
    lost = list(kills.faults_of(before, disk, {"/b": "3"}, told, []))
    assert lost == ["1 is lost", "/a is lost"]
    early = list(kills.faults_of(before, disk, {"/a": "1", "/b": "2"}, told, []))
    assert early == ["/b was acknowledged and is not there"]
    doubled = list(kills.faults_of(before, disk, {"/a": "1", "/b": "1"}, [], []))
    assert doubled == ["1 is there 2 times", "/b holds what it never held"]


def test_every_named_point_has_work_that_comes_by_it() -> None:
    assert kills.WORK_OF.keys() | {point for _, point, _ in uploads.STEPS} == killed.POINTS.keys()


def test_an_old_library_is_upgraded_wholly_or_not_at_all(tmp_path: Path) -> None:
    home = migrations.make_old(tmp_path / "old", 10)
    count, between = migrations.stopped(home / "workspaces" / "default" / "library.db", 10)
    assert count > 15
    assert between == []
    assert migrations.upgraded(home) == []
    assert "Upgrade Chapterhouse" in migrations.refused(home)
