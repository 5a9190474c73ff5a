import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.clouds import BUCKET

from chapterhouse.errors import ChapterhouseError, CorruptLibraryError
from chapterhouse.store.blobs import Blobs, BlobStore


class Place(NamedTuple):
    """Blobs, and the file in which one of them is."""

    blobs: BlobStore
    path: Callable[[str], Path]


@pytest.fixture(scope="module", params=["folder", "bucket"])
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    if request.param == "folder":
        folder = tmp_path_factory.mktemp("blobs")
        yield Place(Blobs(folder), lambda sha256: folder / sha256[:2] / sha256)
        return
    server = request.getfixturevalue("bucket_server")
    from chapterhouse.store.objects import Bucket, ObjectBlobs  # noqa: PLC0415 - an extra

    with pytest.MonkeyPatch.context() as patched:
        for name, value in server.variables.items():
            patched.setenv(name, value)
        objects = Bucket(f"s3://{BUCKET}/blobs", "one")
    own = server.folder / "blobs" / "one" / "documents"
    yield Place(ObjectBlobs(objects), lambda sha256: own / sha256)


@given(st.binary(max_size=200))
def test_what_is_put_comes_back(place: Place, data: bytes) -> None:
    blobs = place.blobs
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
def test_only_hashes_are_names(place: Place, name: str) -> None:
    with pytest.raises(ValueError, match="SHA-256"):
        place.blobs.get(name)


def test_age_counts_from_the_last_put(place: Place) -> None:
    sha256 = place.blobs.put(b"x")
    time.sleep(0.5)
    between = time.time()
    time.sleep(0.5)
    assert sha256 in place.blobs.hashes(time.time() - between)
    place.blobs.put(b"x")
    assert sha256 not in place.blobs.hashes(time.time() - between)
    assert sha256 in place.blobs.hashes()


def test_what_is_larger_than_a_part_comes_back_whole(place: Place) -> None:
    data = os.urandom(11 * 2**20)
    sha256 = place.blobs.put(data)
    assert place.blobs.get(sha256) == data
    assert place.path(sha256).stat().st_size == len(data)
    place.blobs.delete(sha256)


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


def test_changed_bytes_are_noticed_and_written_again_by_the_next_put(place: Place) -> None:
    blobs = place.blobs
    name = blobs.put(b"the right bytes")
    place.path(name).write_bytes(b"the wrong bytes")
    with pytest.raises(CorruptLibraryError, match=name):
        blobs.get(name)
    assert blobs.put(b"the right bytes") == name
    assert blobs.get(name) == b"the right bytes"


def test_what_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_bytes(b"")
    with pytest.raises(ChapterhouseError, match="cannot be written: Not a directory") as caught:
        Blobs(tmp_path / "blobs").put(b"x")
    assert "space on the disk" in caught.value.hint
