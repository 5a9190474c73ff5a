"""The cache of vectors."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chapterhouse.errors import EngineError
from chapterhouse.models.embedding_cache import CachedEmbedder, VectorCache, passage_key
from chapterhouse.models.static import StaticEmbedder

MEGABYTE = 2**20


TABLE = StaticEmbedder()


class Counted:
    """The built-in embedder, which remembers what it was asked."""

    dimensions = TABLE.dimensions
    serves = TABLE.serves

    def __init__(self, fingerprint: str = "counted/1", fails_after: int | None = None) -> None:
        self.passages: list[str] = []
        self.questions: list[str] = []
        self._name = fingerprint
        self._fails_after = fails_after

    @property
    def fingerprint(self) -> str:
        return self._name

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._fails_after is not None and len(self.passages) >= self._fails_after:
            raise EngineError("The service is gone.")
        self.passages += texts
        return TABLE.embed_passages(texts)

    def embed_question(self, text: str) -> NDArray[np.float32]:
        self.questions.append(text)
        return TABLE.embed_question(text)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "embeddings.db"


@pytest.fixture
def cache(path: Path) -> Iterator[VectorCache]:
    opened = VectorCache(path, MEGABYTE)
    yield opened
    opened.close()


def test_nothing_is_embedded_twice(path: Path) -> None:
    first = VectorCache(path, MEGABYTE)
    counted = Counted()
    made = CachedEmbedder(counted, first).embed_passages(["wind", "ferry", "wind", ""])
    assert counted.passages == ["wind", "ferry", ""]
    first.close()

    second = VectorCache(path, MEGABYTE)
    again = Counted()
    found = CachedEmbedder(again, second).embed_passages(["ferry", "wind", "harbour", ""])
    second.close()
    assert again.passages == ["harbour"]
    assert np.array_equal(found[[1, 0, 1, 3]], made)


@given(st.lists(st.text(max_size=5), max_size=8))
def test_it_changes_nothing_but_the_cost(texts: list[str]) -> None:
    opened = VectorCache(Path(":memory:"), MEGABYTE)
    embedder = CachedEmbedder(Counted(), opened)
    plain = TABLE.embed_passages(texts)
    for _ in range(2):
        assert np.array_equal(embedder.embed_passages(texts), plain)
    opened.close()


def test_a_lone_surrogate_is_a_key_too(cache: VectorCache) -> None:
    embedder = CachedEmbedder(Counted(), cache)
    assert embedder.embed_passages([]).shape == (0, 256)
    assert embedder._key("a\ud800") != embedder._key("a?")


def test_another_model_finds_nothing(cache: VectorCache) -> None:
    CachedEmbedder(Counted("one"), cache).embed_passages(["wind"])
    other = Counted("other")
    CachedEmbedder(other, cache).embed_passages(["wind"])
    assert other.passages == ["wind"]


def test_what_is_forgotten_is_in_no_file(path: Path, cache: VectorCache) -> None:
    embedder = CachedEmbedder(Counted(), cache)
    gone, other = embedder.embed_passages(["what goes", "what stays"])
    keys = [passage_key(embedder.fingerprint, text) for text in ("what goes", "never seen")]
    embedder.forget(keys)
    data = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert gone.tobytes()[:64] not in data
    assert other.tobytes()[:64] in data


def test_what_was_made_before_a_failure_is_kept(cache: VectorCache) -> None:
    texts = [f"text {number}" for number in range(600)]
    with pytest.raises(EngineError, match="gone"):
        CachedEmbedder(Counted(fails_after=500), cache).embed_passages(texts)
    rest = Counted()
    CachedEmbedder(rest, cache).embed_passages(texts)
    assert rest.passages == texts[512:]


def test_questions_are_remembered(cache: VectorCache) -> None:
    counted = Counted()
    embedder = CachedEmbedder(counted, cache)
    vector = embedder.embed_question("where?")
    vector[:] = 0  # what a caller does with its vector is its own affair
    assert embedder.embed_question("where?").any()
    assert counted.questions == ["where?"]
    for number in range(1_024):
        embedder.embed_question(f"question {number}")
    embedder.embed_question("question 1023")
    assert len(counted.questions) == 1_025
    embedder.embed_question("where?")
    assert len(counted.questions) == 1_026


def test_the_file_stays_within_its_bounds(path: Path) -> None:
    maximum = 200_000
    opened = VectorCache(path, maximum)
    embedder = CachedEmbedder(Counted(), opened)
    for start in range(0, 2_000, 100):
        embedder.embed_passages([f"text {start + number}" for number in range(100)])
    latest = Counted()
    CachedEmbedder(latest, opened).embed_passages(["text 1999", "text 0"])
    opened.close()
    assert latest.passages == ["text 0"]  # the oldest went first
    assert path.stat().st_size < maximum + 200 * 1_200


@pytest.mark.parametrize("damage", [b"", b"no database" * 1_000])
def test_a_damaged_file_begins_anew(path: Path, damage: bytes) -> None:
    opened = VectorCache(path, MEGABYTE)
    CachedEmbedder(Counted(), opened).embed_passages(["wind"])
    opened.close()
    path.write_bytes(damage)
    opened = VectorCache(path, MEGABYTE)
    counted = Counted()
    embedder = CachedEmbedder(counted, opened)
    embedder.embed_passages(["wind"])
    embedder.embed_passages(["wind"])
    opened.close()
    assert counted.passages == ["wind"]


def test_a_file_damaged_meanwhile_begins_anew(path: Path, cache: VectorCache) -> None:
    counted = Counted()
    embedder = CachedEmbedder(counted, cache)
    texts = [f"text {number}" for number in range(200)]
    embedder.embed_passages(texts)
    other = apsw.Connection(str(path))
    other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other.close()
    with path.open("r+b") as stream:
        stream.seek(4_096)
        stream.write(os.urandom(path.stat().st_size - 4_096))
    found = embedder.embed_passages(texts)
    assert np.array_equal(found, TABLE.embed_passages(texts))
    embedder.embed_passages(texts)
    assert len(counted.passages) <= 3 * len(texts)


def test_a_cache_that_cannot_be_had_is_told(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(EngineError, match=r"embeddings\.db cannot be used") as caught:
        VectorCache(path, MEGABYTE)
    assert "embedding.cache_megabytes" in caught.value.hint


@pytest.mark.parametrize("numbers", [b"", b"abc", b"\0\0\xc0\x7f" * 256, b"\0\0\x80\x3f" * 256])
def test_numbers_that_cannot_be_a_vector_are_not_used(
    path: Path, cache: VectorCache, numbers: bytes
) -> None:
    embedder = CachedEmbedder(Counted(), cache)
    embedder.embed_passages(["wind"])
    other = apsw.Connection(str(path))
    other.execute("UPDATE vector SET numbers = ?", (numbers,))
    other.close()
    assert np.array_equal(embedder.embed_passages(["wind"]), TABLE.embed_passages(["wind"]))


def test_a_writer_elsewhere_does_not_stop_it(
    path: Path, cache: VectorCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache._connection.set_busy_timeout(10)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    counted = Counted()
    embedder = CachedEmbedder(counted, cache)
    assert embedder.embed_passages(["wind"]).any()
    other.execute("ROLLBACK")
    other.close()
    embedder.embed_passages(["wind"])
    embedder.embed_passages(["wind"])
    assert counted.passages == ["wind", "wind"]


def test_threads_may_share_it(cache: VectorCache) -> None:
    embedder = CachedEmbedder(Counted(), cache)
    texts = [f"text {number}" for number in range(50)]
    wanted = TABLE.embed_passages(texts)
    same: list[bool] = []

    def work() -> None:
        same.append(bool(np.array_equal(embedder.embed_passages(texts), wanted)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same == [True] * 4


def test_a_number_is_remembered(path: Path, cache: VectorCache) -> None:
    assert cache.number("model") == 0
    cache.remember("model", 768)
    other = VectorCache(path, MEGABYTE)
    assert other.number("model") == 768
    other.close()


KILLED = """
import sys
from pathlib import Path
import numpy as np
from chapterhouse.models.embedding_cache import VectorCache
cache = VectorCache(Path(sys.argv[1]), 2**26)
unit = np.eye(1, 256, dtype=np.float32)[0]
number = 0
while True:
    cache.put({f"{number}-{place}".encode(): unit for place in range(50)})
    print(number, flush=True)
    number += 1
"""


def test_a_killed_process_loses_nothing_it_wrote(path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    last = 0
    for _ in range(20):
        last = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.communicate()
    opened = VectorCache(path, 2**26)
    keys = [f"{number}-{place}".encode() for number in range(last + 1) for place in range(50)]
    assert len(opened.get(keys, 256)) == len(keys)
    opened.close()


def test_many_may_make_the_same_new_file_at_once(tmp_path: Path) -> None:
    failures: list[BaseException] = []

    def open_new(path: Path) -> None:
        try:
            VectorCache(path, 1_000_000).close()
        except EngineError as error:
            failures.append(error)

    for number in range(25):
        path = tmp_path / str(number) / "embeddings.db"
        threads = [threading.Thread(target=open_new, args=(path,)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures
