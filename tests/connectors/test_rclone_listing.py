import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.clouds import HASTE, OLD, Drive

from chapterhouse.connectors.rclone_listing import Entry, Place, list_place, pauses
from chapterhouse.connectors.rclone_program import Patience, Rclone
from chapterhouse.errors import EngineError, UsageError


def canned(tmp_path: Path, listing: object, features: object | None = None) -> Rclone:
    """Return a program that prints what a service lists, and notes its arguments."""
    path = tmp_path / "rclone"
    answers = {"lsjson": listing, "backend": features or {"Hashes": [], "Features": {}}}
    path.write_text(
        f"#!{sys.executable}\nimport sys\nopen({str(tmp_path / 'asked')!r}, 'a').write("
        f"' '.join(sys.argv[1:]) + '\\n')\nprint({ {k: json.dumps(v) for k, v in answers.items()} }"
        "[sys.argv[1]])\n"
    )
    path.chmod(0o755)
    return Rclone(path, HASTE)


def asked(tmp_path: Path) -> list[str]:
    return (tmp_path / "asked").read_text().splitlines()


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


def test_the_best_hash_counts(tmp_path: Path) -> None:
    listing = [
        item("a", Hashes={"md5": "AB", "sha1": "cd"}),
        item("b", Hashes={"quickxor": "ef"}),
        item("c", Hashes={"md5": ""}),
    ]
    found = list_place(canned(tmp_path, listing), Place("x"), recursive=True)
    assert [entry.digest for entry in found] == ["sha1:cd", "quickxor:ef", ""]


@pytest.mark.parametrize(
    ("hashes", "slow", "wanted"),
    [(["md5"], False, True), (["md5"], True, False), ([], False, False)],
)
def test_hashes_are_listed_where_they_cost_nothing(
    tmp_path: Path, *, hashes: list[str], slow: bool, wanted: bool
) -> None:
    features = {"Hashes": hashes, "Features": {"SlowHash": slow}}
    list_place(canned(tmp_path, [], features), Place("x", "y"), recursive=True)
    first, second = asked(tmp_path)
    assert first.startswith("backend features x: ")
    assert (" --hash " in second) == wanted
    assert "--drive-export-formats=docx,xlsx,pptx" in second


def test_what_is_no_listing_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "rclone"
    path.write_text("#!/bin/sh\necho '[{'\n")
    path.chmod(0o755)
    with pytest.raises(EngineError, match="no listing"):
        list_place(Rclone(path, HASTE), Place("x"), recursive=False)


@given(attempts=st.integers(1, 6), pause=st.floats(0.01, 10))
def test_pauses_grow_with_jitter(attempts: int, pause: float) -> None:
    program = Rclone(Path("rclone"), Patience(attempts=attempts, pause_seconds=pause))
    found = list(pauses(program))
    assert len(found) == attempts - 1
    for number, seconds in enumerate(found):
        assert 0.5 <= seconds / (pause * 2**number) <= 1.5


def test_an_entry_is_a_value() -> None:
    assert Entry("a", 1, 2) == Entry("a", 1, 2, is_folder=False, digest="")
