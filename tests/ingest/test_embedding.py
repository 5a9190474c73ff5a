"""Vectors that stored documents lack: made document by document, and gone on with."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chapterhouse.errors import EngineError
from chapterhouse.ingest.embedding import embed_pending, pending_texts
from chapterhouse.types import EncoderRecord, Progress, Scope

NEW = "new:4"
OLD = 1_600_000_000


class Recording:
    """Embeds nothing but English, and keeps what it was asked for; ``before`` runs each time."""

    fingerprint = NEW
    dimensions = 4

    def __init__(self, before: Callable[[], object] = lambda: None) -> None:
        self.before = before
        self.requests: list[Sequence[str]] = []

    def serves(self, language: str) -> bool:
        return language in {"en", ""}

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.before()
        self.requests.append(texts)
        return np.full((len(texts), 4), 0.5, np.float32)

    embed_question = embed_passages


def fill(home: Any, count: int) -> None:
    for number in range(count):
        home.write(f"{number:03}.md", f"The ferry number {number} leaves the harbour at noon.")
    home.add()


def embedded(home: Any) -> int:
    done: int = home.store.embeddings().progress(NEW, ("", "en")).done
    return done


def test_each_document_is_told_when_its_vectors_are_safe_and_none_made_twice(home: Any) -> None:
    fill(home, 12)
    told: list[tuple[int, int, str]] = []

    def on_progress(progress: Progress) -> None:
        assert progress.done <= embedded(home)
        told.append((progress.done, progress.total, progress.current))

    assert embed_pending(home.store, Recording(), on_progress=on_progress) == 12
    assert [row[:2] for row in told] == [(number, 12) for number in range(1, 13)]
    assert {row[2] for row in told} == set(home.sources())
    again = Recording()
    assert embed_pending(home.store, again) == 0
    assert again.requests == []


def test_what_waits_is_what_will_be_embedded_few_texts_first_and_on_after_a_stop(
    home: Any,
) -> None:
    fill(home, 200)
    embedder, stop = Recording(), threading.Event()
    waiting = pending_texts(home.store, embedder, 1_000)
    assert pending_texts(home.store, embedder, 4) == waiting[:4]
    assert embed_pending(home.store, embedder, on_batch=stop.set, stop=stop) == 8 == embedded(home)
    assert embed_pending(home.store, embedder) == 192
    assert [text for texts in embedder.requests for text in texts] == waiting
    assert [len(texts) for texts in embedder.requests] == [8, 8, 16, 32, 64, 64, 8]
    assert pending_texts(home.store, embedder, 4) == []


def test_what_is_added_meanwhile_is_embedded_and_what_is_removed_is_not_counted(home: Any) -> None:
    fill(home, 3)
    gone, *_ = home.store.documents(Scope.everything())

    def change() -> None:
        home.store.remove(gone.id)
        if not (home.folder / "late.md").exists():
            home.write("late.md", "The crane stands still in a gale, whoever is on the quay.")
            home.add(home.folder / "late.md")

    assert embed_pending(home.store, Recording(change)) == 3
    assert embedded(home) == 3


def test_a_document_that_changes_under_our_hands_is_left_to_the_next_run(home: Any) -> None:
    texts = iter(["The crane stands still.", "It stands in a gale."])

    def change() -> None:
        home.write("000.md", next(texts), time=OLD + 9)
        home.add()

    fill(home, 1)
    assert embed_pending(home.store, Recording(change)) == 0
    assert embed_pending(home.store, Recording()) == 1


def test_a_failure_is_recorded_until_it_works_again(home: Any) -> None:
    def fail() -> None:
        raise EngineError("The service is down.", hint="Start it.")

    def problem() -> str:
        found: str = home.store.embeddings().encoders()["building"].problem
        return found

    fill(home, 1)
    home.store.embeddings().build(EncoderRecord(NEW, "{}"))
    with pytest.raises(EngineError, match="down"):
        embed_pending(home.store, Recording(fail))
    assert problem() == "The service is down. Start it."
    embed_pending(home.store, Recording())
    assert problem() == ""
