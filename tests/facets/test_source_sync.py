"""The steps of a sync, and what each source reports."""

from pathlib import Path

import pytest
from tests.clouds import Drive

from chapterhouse import Library
from chapterhouse.errors import NotFoundError
from chapterhouse.facets.source_sync import all_sources, folders_of, sync_one, sync_sources
from chapterhouse.ingest.mirror import Options
from chapterhouse.types import Progress, Source, SourceKind


def test_every_kind_of_source_is_synced_in_one_pass(
    library: Library, drive: Drive, tmp_path: Path
) -> None:
    drive.write("Papers/a.md", "# Lamps\n\nThe lamp on the pier is lit at dusk.\n")
    library.sources.add("webdav:Papers")
    tides = tmp_path / "tides"
    tides.mkdir()
    (tides / "t.md").write_text("# Tides\n\nThe spring tide rises four metres.\n")
    library.personas.create("maria", display_name="Maria", folders=[str(tides)])
    runtime = library.documents._runtime
    seen: list[Progress] = []
    reports = sync_sources((), Options(), runtime, seen.append)
    assert [(one.source, one.changed) for one in reports] == [
        ("Papers", 1), ("documents", 0), ("persona/maria", 1),
    ]  # fmt: skip
    assert {progress.current for progress in seen} >= {"Papers/a.md", "tides/t.md"}
    assert [one.name for one in all_sources(runtime) if not one.synced] == []


def test_one_source_need_not_be_remembered(library: Library, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nA text that is read once.\n")
    runtime = library.documents._runtime
    source = Source("once", SourceKind.FOLDER, str(tmp_path / "none"))
    report = sync_one(source, Options(dry_run=True), runtime, lambda _: None)
    assert [one.folder for one in report.staying] == [str(tmp_path / "none")]
    assert [one.name for one in library.sources.list()] == ["documents"]


def test_a_name_that_fits_none_stops_it_before_it_begins(library: Library) -> None:
    runtime = library.documents._runtime
    with pytest.raises(NotFoundError):
        sync_sources(("documents", "nothing"), Options(), runtime, lambda _: None)


def test_where_a_source_is_looked_for(library: Library, tmp_path: Path) -> None:
    runtime = library.documents._runtime
    library.personas.create("maria", display_name="Maria", folders=[str(tmp_path)])
    maria = library.sources.get("maria")
    assert tmp_path in folders_of(maria, runtime)
    assert folders_of(Source("d", SourceKind.CLOUD, "drive:"), runtime) == ()
