import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from tests.clouds import Drive

from chapterhouse import Library
from chapterhouse.connectors.rclone_listing import Place
from chapterhouse.errors import MissingExtraError, NotFoundError, UsageError
from chapterhouse.library.drives import list_folder
from chapterhouse.types import Document, Progress, Status

TEXT = "# Berths\n\nA berth of twelve metres costs eighty crowns a night.\n"


@pytest.fixture
def synced(drive: Drive) -> Drive:
    drive.write("Papers/berths.md", TEXT)
    drive.write("Papers/old/tides.md", "# Tides\n\nSlack water lasts eleven minutes.\n")
    drive.write("Papers/photo.jpg", b"\xff\xd8\xff")
    drive.write("Papers2/other.md", "# Other\n\nIt is in a folder with a similar name.\n")
    with Library.open() as library:
        report = library.cloud.sync("webdav:Papers").files
        assert report.count(Status.READY) == 2
    drive.proxy.forget()
    return drive


def statuses(library: Library) -> dict[str, str]:
    return {file.path: file.status for file in library.cloud.files("webdav:Papers", recursive=True)}


def documents(library: Library) -> dict[str, Document]:
    return {document.source: document for document in library.documents.list()}


def test_what_is_stored_is_what_is_in_the_drive_and_answers(synced: Drive) -> None:
    with Library.open() as library:
        found = documents(library)
        assert sorted(found) == ["Papers/berths.md", "Papers/old/tides.md"]
        berths = found["Papers/berths.md"]
        assert berths.location == "rclone:webdav:Papers/berths.md"
        assert berths.sha256 == hashlib.sha256(TEXT.encode()).hexdigest()
        assert "eighty crowns" in library.answers.ask("What does a berth cost?").text


def test_a_second_sync_fetches_nothing_and_a_third_what_changed(synced: Drive) -> None:
    with Library.open() as library:
        sequence = library.status().sequence
        assert library.cloud.sync("webdav:Papers").files.changed == 0
        assert synced.proxy.transfers == []
        assert library.status().sequence == sequence
        synced.write("Papers/berths.md", TEXT.replace("eighty", "ninety"), 1_700_000_000)
        (synced.folder / "Papers/old/tides.md").unlink()
        done = library.cloud.sync("webdav:Papers")
        assert synced.proxy.transfers == ["/Papers/berths.md"]
        assert done.removed == ("Papers/old/tides.md",)
        assert not library.search.hits("slack water", limit=1).hits or "Slack" not in str(
            library.search.hits("slack water").hits
        )


def test_files_have_a_status(synced: Drive) -> None:
    with Library.open() as library:
        assert statuses(library) == {
            "berths.md": "current",
            "old/tides.md": "current",
            "photo.jpg": "skipped",
        }
        synced.write("Papers/berths.md", TEXT * 2, 1_700_000_000)
        synced.write("Papers/new.md", TEXT)
        found = library.cloud.files("webdav:Papers", recursive=True, refresh=True)
        assert {file.path: file.status for file in found} == {
            "berths.md": "changed",
            "new.md": "not-synced",
            "old/tides.md": "current",
            "photo.jpg": "skipped",
        }


def test_browsing_again_costs_no_call(synced: Drive) -> None:
    with Library.open() as library:
        first = (library.cloud.folders("webdav:"), library.cloud.files("webdav:Papers"))
        calls = synced.proxy.calls
        assert calls > 0
        again = (library.cloud.folders("webdav:"), library.cloud.files("webdav:Papers"))
        assert again == first
        assert library.cloud.folders("webdav:Papers") == ("old",)
        assert synced.proxy.calls == calls
        assert statuses(library)["berths.md"] == "current"  # the listing of the sync
        assert synced.proxy.calls == calls
        library.cloud.folders("webdav:", refresh=True)
        assert synced.proxy.calls > calls


def test_a_folder_that_is_gone_or_empty_removes_nothing(synced: Drive) -> None:
    with Library.open() as library:
        (synced.folder / "Papers").rename(synced.folder / "Away")
        assert "webdav:Papers" in library.cloud.sync("webdav:Papers").problem
        assert library.sources.get("Papers").problem
        (synced.folder / "Papers").mkdir()
        (staying,) = library.cloud.sync("webdav:Papers").staying
        assert (staying.folder, staying.documents) == ("webdav:Papers", 2)
        assert library.status().documents == 2


def test_its_documents_are_no_missing_files(synced: Drive, folder: Path) -> None:
    with Library.open() as library:
        assert library.documents.remove(missing=True, dry_run=True).documents == ()
        report = library.documents.reprocess()
        assert report.count(Status.READY) == 2
        assert library.documents.add(folder).missing == ()
        assert library.documents.add("/" + str(folder).lstrip("/")).missing == ()
        assert [check.sentence for check in library.doctor() if not check.passed] == []
        assert sorted(documents(library))[:2] == ["Papers/berths.md", "Papers/old/tides.md"]
        assert synced.proxy.transfers == []


def test_a_folder_of_the_same_name_has_another_label(synced: Drive) -> None:
    synced.write("more/Papers/berths.md", TEXT)
    with Library.open() as library:
        with pytest.raises(NotFoundError):
            library.cloud.sync("webdav:mroe/Papers")
        library.cloud.sync("webdav:more/Papers")
        assert "Papers-2/berths.md" in documents(library)
        library.cloud.sync("webdav:Papers")
        assert library.status().documents == 3


def test_a_dry_run_writes_nothing(synced: Drive) -> None:
    with Library.open(workspace="other") as library:
        done = library.cloud.sync("webdav:Papers", dry_run=True)
        assert [outcome.record.code for outcome in done.files.outcomes] == [
            "would-be-read",
            "would-be-read",
            "unsupported-format",
        ]
        assert library.status().documents == 0
        assert synced.proxy.transfers == []


def test_what_is_no_place_no_remote_or_no_program_is_an_error(
    drive: Drive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Library.open() as library:
        with pytest.raises(UsageError):
            library.cloud.files("no place")
        with pytest.raises(NotFoundError, match="no remote 'nothing'"):
            library.cloud.folders("nothing:")
    monkeypatch.setenv("CHAPTERHOUSE_CLOUD__RCLONE", "/not/there")
    with Library.open() as library, pytest.raises(NotFoundError, match=r"cloud\.rclone"):
        library.cloud.providers()
    monkeypatch.delenv("CHAPTERHOUSE_CLOUD__RCLONE")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    with Library.open() as library, pytest.raises(MissingExtraError):
        library.cloud.remotes()


def test_a_sync_can_be_left_to_a_worker(synced: Drive) -> None:
    synced.write("Papers/new.md", "# New\n\nA berth is let by the week.\n")
    with Library.open() as library:
        before = library.cloud.jobs()
        assert [job.kind for job in before] == ["sync"]
        job = library.cloud.sync_later("webdav:Papers", shelf="berths")
        assert library.cloud.jobs() == (job, *before)
        library.jobs.work(idle_seconds=0)
        assert len(list(library.documents.list(["berths"]))) == 3
        with pytest.raises(UsageError):
            library.cloud.sync_later("Papers")


def test_remotes_are_listed_and_the_command_to_connect_is_known(drive: Drive) -> None:
    with Library.open() as library:
        assert [(one.name, one.provider) for one in library.cloud.remotes()] == [
            ("webdav", "webdav")
        ]
        assert library.cloud.connect_command("Google Drive", "papers")[3:] == (
            *("papers", "drive", "scope=drive.readonly"),
        )
        with pytest.raises(UsageError, match="already"):
            library.cloud.connect_command("webdav")
        with pytest.raises(UsageError, match="already"):
            library.cloud.connect("webdav")


def test_a_listing_is_its_owners_alone_and_forgotten_after_its_time(drive: Drive) -> None:
    drive.write("Papers/a.md", "# A")
    place, now = Place("webdav", "Papers"), 1_000
    with Library.open() as library:
        runtime = replace(library.documents._runtime, now=lambda: now)
        list_folder(place, runtime)
        (file,) = (runtime.folder / "cache").glob("listings*")
        assert file.stat().st_mode & 0o777 == 0o600
        for damage in ("", "[]", "7", '{"webdav:Papers False": {"entries": []}}'):
            file.write_text(damage)
            assert [entry.path for entry in list_folder(place, runtime)] == ["a.md"]
        drive.write("Papers/b.md", "# B")
        now += 299
        assert len(list_folder(place, runtime)) == 1
        now += 1
        assert len(list_folder(place, runtime)) == 2


def test_a_stopped_sync_goes_on_where_it_was(drive: Drive) -> None:
    for number in range(60):
        drive.write(f"{number:02}.md", f"# Paper {number}\n\nIt is the one with number {number}.\n")

    def stop(progress: Progress) -> None:
        if progress.done == 20:
            raise KeyboardInterrupt

    with Library.open() as library:
        first = library.cloud.sync("webdav:", on_progress=stop)
        assert first.files.interrupted
        stored = library.status().documents
        assert stored >= 20
        drive.proxy.forget()
        second = library.cloud.sync("webdav:")
        assert second.files.changed == 60 - stored
        assert len(drive.proxy.transfers) == 60 - stored
        assert library.status().documents == 60
