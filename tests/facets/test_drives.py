"""What reads cloud drives for a library, over a real server."""

from dataclasses import replace

import pytest
from tests.clouds import Drive

from chapterhouse import Library
from chapterhouse.connectors.rclone_listing import Place
from chapterhouse.facets.drives import copies_of, list_folder


def test_a_folder_is_listed_once_for_a_while(drive: Drive) -> None:
    drive.write("Papers/a.md", "# A")
    place = Place("webdav", "Papers")
    with Library.open() as library:
        runtime = library.documents._runtime
        assert [entry.path for entry in list_folder(place, runtime)] == ["a.md"]
        drive.write("Papers/b.md", "# B")
        drive.proxy.forget()
        assert [entry.path for entry in list_folder(place, runtime)] == ["a.md"]
        assert drive.proxy.calls == 0
        again = list_folder(place, runtime, refresh=True)
        assert [entry.path for entry in again] == ["a.md", "b.md"]


def test_copies_have_a_folder_of_their_own(drive: Drive) -> None:
    with Library.open() as library:
        runtime = library.documents._runtime
        copies = copies_of(Place("webdav", "Papers"), runtime)
        assert copies.folder.is_relative_to(runtime.folder)
        assert copies.folder != copies_of(Place("webdav", "Papers2"), runtime).folder


@pytest.mark.parametrize("content", ["", "[]", "7", '{"webdav:Papers False": {"entries": []}}'])
def test_listings_are_the_owners_alone_and_a_damaged_file_is_none(
    drive: Drive, content: str
) -> None:
    drive.write("Papers/a.md", "# A")
    with Library.open() as library:
        runtime, place = library.documents._runtime, Place("webdav", "Papers")
        list_folder(place, runtime)
        (file,) = (runtime.folder / "cache").glob("listings*")
        assert file.stat().st_mode & 0o777 == 0o600
        file.write_text(content)
        assert [entry.path for entry in list_folder(place, runtime)] == ["a.md"]


def test_a_listing_is_forgotten_after_its_time(drive: Drive) -> None:
    drive.write("Papers/a.md", "# A")
    place, now = Place("webdav", "Papers"), 1_000
    with Library.open() as library:
        runtime = replace(library.documents._runtime, now=lambda: now)
        list_folder(place, runtime)
        drive.write("Papers/b.md", "# B")
        now += 299
        assert len(list_folder(place, runtime)) == 1
        now += 1
        assert len(list_folder(place, runtime)) == 2
