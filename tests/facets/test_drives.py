"""What reads cloud drives for a library, over a real server."""

from tests.clouds import Drive

from chapterhouse import Library
from chapterhouse.connectors.rclone_listing import Place
from chapterhouse.facets.drives import list_folder, open_remote, rclone_of


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


def test_a_remote_goes_by_the_settings(drive: Drive) -> None:
    drive.write("Papers/a.md", "# A")
    with Library.open() as library:
        runtime = library.documents._runtime
        remote = open_remote(Place("webdav", "Papers"), "papers", runtime)
        assert remote.transfers == library.settings.cloud.transfers
        assert [file.source for file in remote.files()] == ["papers/a.md"]
        assert rclone_of(runtime).path.name.startswith("rclone")
