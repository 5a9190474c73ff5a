import json
import sys
from pathlib import Path

import pytest
from tests.clouds import HASTE, OLD, Drive

from chapterhouse.connectors.rclone_listing import Place, list_place
from chapterhouse.connectors.rclone_program import Rclone
from chapterhouse.errors import EngineError, UsageError


def canned(tmp_path: Path, listing: object) -> Rclone:
    """Return a program that prints what a service lists."""
    path = tmp_path / "rclone"
    path.write_text(f"#!{sys.executable}\nprint({json.dumps(listing)!r})\n")
    path.chmod(0o755)
    return Rclone(path, HASTE)


def item(path: str, size: int = 1, when: str = "2020-09-13T12:26:40Z", **more: object) -> object:
    return {"Path": path, "Size": size, "ModTime": when, "IsDir": False, **more}


@pytest.mark.parametrize(
    ("text", "remote", "path"),
    [
        ("gdrive:", "gdrive", ""),
        ("gdrive:Papers/2026/", "gdrive", "Papers/2026"),
        ("my drive:/a//b", "my drive", "a/b"),
        ("s3:bucket/key: with colon", "s3", "bucket/key: with colon"),
    ],
)
def test_a_place_is_a_remote_and_a_path(text: str, remote: str, path: str) -> None:
    assert Place.parse(text) == Place(remote, path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gdrive",
        ":s3,secret=x:b",
        "s3,secret=x:b",
        "-v:",
        " a:",
        "a:b/../c",
        "a:./b",
        "a:\0",
        "/x",
    ],
)
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="REMOTE:PATH") as raised:
        Place.parse(text)
    assert "secret" not in raised.value.message


def test_locations_begin_with_the_prefix_of_their_place() -> None:
    assert Place("a", "b").location("c/d") == "rclone:a:b/c/d"
    assert Place("a").location("c/d") == "rclone:a:c/d"
    assert (Place("a", "b").prefix, Place("a").prefix) == ("rclone:a:b/", "rclone:a:")
    assert (Place("a", "b/c").name, Place("a").name) == ("c", "a")


def test_one_level_is_listed_with_its_folders(drive: Drive) -> None:
    drive.write("b/c.md", "# C\n")
    drive.write("a.md", "# A\n")
    found = list_place(drive.rclone, drive.place, recursive=False)
    assert [(entry.path, entry.is_folder, entry.size) for entry in found] == [
        ("a.md", False, 4),
        ("b", True, -1),
    ]
    assert found[0].mtime_ns == OLD * 10**9


def test_times_are_read_to_the_nanosecond(tmp_path: Path) -> None:
    listing = [
        item("a", when="2020-09-13T14:26:40.123456789+02:00"),
        item("b", when="2020-09-13T12:26:40.5Z"),
        item("c", when=""),
    ]
    found = list_place(canned(tmp_path, listing), Place("x"), recursive=True)
    assert [entry.mtime_ns - OLD * 10**9 for entry in found] == [
        123_456_789,
        5 * 10**8,
        -OLD * 10**9,
    ]


def test_of_two_files_of_one_name_the_newer_counts(tmp_path: Path) -> None:
    newer = item("a", 2, "2021-01-01T00:00:00Z")
    for listing in ([item("a"), newer], [newer, item("a")]):
        (found,) = list_place(canned(tmp_path, listing), Place("x"), recursive=True)
        assert found.size == 2


def test_what_is_no_listing_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "rclone"
    path.write_text("#!/bin/sh\necho '[{'\n")
    path.chmod(0o755)
    with pytest.raises(EngineError, match="no listing"):
        list_place(Rclone(path, HASTE), Place("x"), recursive=False)
