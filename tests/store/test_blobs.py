import os
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import ChapterhouseError, CorruptLibraryError
from chapterhouse.store.blobs import Blobs


@given(st.binary(max_size=200))
def test_what_is_put_comes_back(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    blobs = Blobs(tmp_path_factory.getbasetemp() / "blobs-law")
    sha256 = blobs.put(data)
    assert blobs.put(data) == sha256
    assert blobs.has(sha256)
    assert blobs.get(sha256) == data
    assert sha256 in set(blobs.hashes())
    for _ in range(2):
        blobs.delete(sha256)
        assert not blobs.has(sha256)
        assert blobs.get(sha256) is None


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "0" * 63])
def test_only_hashes_are_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="SHA-256"):
        Blobs(tmp_path).get(name)


def test_age_counts_from_the_last_put(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    sha256 = blobs.put(b"x")
    path = tmp_path / sha256[:2] / sha256
    os.utime(path, (1, 1))
    assert list(blobs.hashes(60)) == [sha256]
    blobs.put(b"x")
    assert list(blobs.hashes(60)) == []


def test_leftovers_are_swept_when_they_are_old(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    folder = tmp_path / blobs.put(b"x")[:2]
    old, young = folder / ".unfinished-old", folder / ".unfinished-young"
    old.write_bytes(b"part")
    young.write_bytes(b"part")
    long_ago = time.time() - 7200
    os.utime(old, (long_ago, long_ago))
    assert list(blobs.hashes(3600)) == []
    assert not old.exists()
    assert young.exists()


def test_many_threads_may_put_the_same(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    data = b"y" * 100_000
    threads = [threading.Thread(target=blobs.put, args=(data,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (sha256,) = blobs.hashes()
    assert blobs.get(sha256) == data
    assert len(list(tmp_path.glob("*/*"))) == 1


def test_changed_bytes_are_noticed_and_written_again_by_the_next_put(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    name = blobs.put(b"the right bytes")
    (tmp_path / name[:2] / name).write_bytes(b"the wrong bytes")
    with pytest.raises(CorruptLibraryError, match=name):
        blobs.get(name)
    assert blobs.put(b"the right bytes") == name
    assert blobs.get(name) == b"the right bytes"


def test_what_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_bytes(b"")
    with pytest.raises(ChapterhouseError, match="cannot be written: Not a directory") as caught:
        Blobs(tmp_path / "blobs").put(b"x")
    assert "space on the disk" in caught.value.hint
