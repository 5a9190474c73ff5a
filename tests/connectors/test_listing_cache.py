from pathlib import Path

import pytest

from chapterhouse.connectors.listing_cache import ListingCache
from chapterhouse.connectors.rclone_listing import Entry, Place

PLACE = Place("gdrive", "Papers")
ENTRIES = (Entry("a.md", 4, 5, digest="md5:ab"), Entry("ü", -1, 0, is_folder=True))


class Clock:
    def __init__(self) -> None:
        self.now = 4_000_000_000.0

    def __call__(self) -> float:
        return self.now


def test_a_listing_is_remembered_for_its_lifetime(tmp_path: Path) -> None:
    clock = Clock()
    cache = ListingCache(tmp_path / "cache", 300, clock)
    assert cache.load(PLACE, recursive=True) is None
    cache.store(PLACE, ENTRIES, recursive=True)
    assert cache.load(PLACE, recursive=True) == ENTRIES
    assert cache.load(PLACE, recursive=False) is None
    assert cache.load(Place("gdrive"), recursive=True) is None
    clock.now += 299
    assert cache.load(PLACE, recursive=True) == ENTRIES
    clock.now += 1
    assert cache.load(PLACE, recursive=True) is None
    clock.now -= 1_000  # a clock that was set back proves nothing
    assert cache.load(PLACE, recursive=True) is None


def test_its_files_are_the_owners_alone_and_go_when_they_are_old(tmp_path: Path) -> None:
    clock = Clock()
    cache = ListingCache(tmp_path / "cache", 300, clock)
    cache.store(PLACE, ENTRIES, recursive=True)
    (first,) = cache.folder.iterdir()
    assert first.stat().st_mode & 0o777 == 0o600
    assert cache.folder.stat().st_mode & 0o777 == 0o700
    clock.now += 10**9  # the file's own time is that of the machine
    cache.store(Place("other"), ENTRIES, recursive=True)
    assert first not in set(cache.folder.iterdir())


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"listed": 4e9, "entries": [{"x": 1}]}'])
def test_a_damaged_file_is_no_listing(tmp_path: Path, content: str) -> None:
    cache = ListingCache(tmp_path / "cache", 300, Clock())
    cache.store(PLACE, ENTRIES, recursive=True)
    (file,) = cache.folder.iterdir()
    file.write_text(content)
    assert cache.load(PLACE, recursive=True) is None


def test_without_a_lifetime_nothing_is_written(tmp_path: Path) -> None:
    cache = ListingCache(tmp_path / "cache", 0, Clock())
    cache.store(PLACE, ENTRIES, recursive=True)
    assert not cache.folder.exists()
