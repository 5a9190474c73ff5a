"""The file of a transcript: one process writes to it, and no line is lost once it is there."""

import fcntl
import os
import stat
from pathlib import Path

import pytest

from chapterhouse.council.meeting import transcript_file
from chapterhouse.council.meeting.transcript_file import TranscriptFile, open_transcript
from chapterhouse.errors import ChapterhouseError, RefusedError, UsageError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "m.ndjson"


def opened(path: Path) -> TranscriptFile:
    return open_transcript(path, lambda _: False)


def test_what_was_added_is_held_the_next_time_and_is_for_its_owner_alone(path: Path) -> None:
    file = opened(path)
    assert (file.held, file.aside) == (b"", None)
    file.append(b"one\n")
    file.append(b"two\n")
    file.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = opened(path)
    assert again.held == b"one\ntwo\n"
    again.cut(4)
    again.append(b"2\n")
    again.close()
    assert path.read_bytes() == b"one\n2\n"


def test_what_has_to_make_room_takes_the_first_name_that_is_free(path: Path) -> None:
    for content in (b"one\n", b"two\n"):
        file = open_transcript(path, bool)
        file.append(content)
        file.close()
    last = open_transcript(path, bool)
    assert last.held == b""
    assert last.aside == path.with_name("m.2.ndjson")
    assert last.aside.read_bytes() == b"two\n"
    assert path.with_name("m.1.ndjson").read_bytes() == b"one\n"
    last.close()


def test_where_a_file_may_not_be_touched_it_is_let_go_of(path: Path) -> None:
    opened(path).close()

    def refuse(_: bytes) -> bool:
        raise RefusedError("Mine.")

    with pytest.raises(RefusedError, match="Mine"):
        open_transcript(path, refuse)
    opened(path).close()


def test_where_half_a_line_stays_nothing_is_written_behind_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = opened(path)

    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fail)
        broken.setattr(os, "ftruncate", fail)
        with pytest.raises(ChapterhouseError, match="Input/output"):
            file.append(b"one\n")
    with pytest.raises(ChapterhouseError, match="not written to any more"):
        file.append(b"two\n")
    file.close()
    assert path.read_bytes() == b"one\n"


def test_nothing_is_added_to_a_closed_file(path: Path) -> None:
    file = opened(path)
    file.close()
    file.close()
    with pytest.raises(ChapterhouseError, match="not written to any more"):
        file.append(b"one\n")


def test_what_is_too_large_for_a_transcript_is_not_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_file, "LARGEST", 3)
    file = opened(path)
    file.append(b"123")
    file.close()
    opened(path).close()
    path.write_bytes(b"1234")
    with pytest.raises(RefusedError, match="more than 3 bytes"):
        opened(path)


@pytest.mark.parametrize("kind", ["folder", "link", "pipe", "below"])
def test_what_cannot_be_written_to_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "m.ndjson"
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(b"")
        path /= "m.ndjson"
    with pytest.raises((RefusedError, UsageError)):
        opened(path)
    assert not (tmp_path / "elsewhere").exists()


def test_the_lock_is_the_systems(path: Path) -> None:
    """So that it ends with its process, however that ends."""
    file = opened(path)
    with pytest.raises(RefusedError, match="Another meeting"):
        opened(path)
    descriptor = os.open(path, os.O_RDONLY)
    with pytest.raises(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(descriptor)
    file.close()
    opened(path).close()
