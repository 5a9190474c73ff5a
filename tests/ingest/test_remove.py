from typing import Any

import pytest

from chapterhouse.errors import NotFoundError
from chapterhouse.ingest.remove import remove
from chapterhouse.store.sqlite import INLINE_MAXIMUM
from chapterhouse.types import Scope

EVERYTHING = Scope.everything()

LARGE = "Many words are here. " * (INLINE_MAXIMUM // 20)


def test_nothing_of_a_removed_document_stays(home: Any) -> None:
    home.write("a.md", LARGE)
    home.write("b.md", "Small text of b.")
    report = home.add()
    gone, kept = (outcome.record for outcome in report.outcomes)
    told: list[str] = []
    (document,) = remove(
        [gone.document_id, gone.document_id],
        store=home.store,
        on_progress=lambda progress: told.append(progress.current),
    )
    assert document.source == "docs/a.md"
    assert told == ["docs/a.md"]
    assert home.sources() == ["docs/b.md"]
    assert home.store.chunks_of(gone.document_id, EVERYTHING) == ()
    assert home.store.content(gone.sha256, EVERYTHING) is None
    assert list(home.blobs.hashes()) == []
    assert home.store.content(kept.sha256, EVERYTHING) == b"Small text of b."
    assert home.faults() == []


def test_a_file_that_is_still_there_comes_back(home: Any) -> None:
    home.write("a.md", "Text of a document.")
    (outcome,) = home.add().outcomes
    remove([outcome.record.document_id], store=home.store)
    (again,) = home.add().outcomes
    assert again.changed
    assert again.record.document_id == outcome.record.document_id


def test_an_unknown_id_removes_nothing(home: Any) -> None:
    home.write("a.md", "Text of a document.")
    (outcome,) = home.add().outcomes
    with pytest.raises(NotFoundError, match="nothing-1"):
        remove([outcome.record.document_id, "nothing-1"], store=home.store)
    assert home.sources() == ["docs/a.md"]
