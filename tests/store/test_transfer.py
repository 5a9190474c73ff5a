"""All of a library but its documents, taken from another one."""

from pathlib import Path
from typing import Any

from chapterhouse.store.blobs import FolderBlobs
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.types import Memory, Scope

EVERYTHING = Scope.everything()


def remember(store: SqliteStore, text: str) -> None:
    store.memories().remember(
        Memory("", "", 1_700_000_000, 0, text, text, found=True, method="m", sources=(), sequence=1)
    )


def questions(store: SqliteStore, word: str) -> list[str]:
    return [one.memory.question for one in store.memories().search(word, [""], 10, 0)]


def test_the_rest_is_as_it_is_there(store: SqliteStore, make_parts: Any, tmp_path: Path) -> None:
    store.put(*make_parts("note"))
    store.snapshot(tmp_path / "other.db", lambda: None, memories=True)
    with SqliteStore(tmp_path / "other.db", blobs=FolderBlobs(tmp_path / "none")) as other:
        remember(other, "stale")
        remember(store, "slack water")
        other.settings().write("search.limit", 3, "stale", 1)
        store.settings().write("search.limit", 4, "ada", 2)
        store.label_root("/home/user/notes", "notes")
        with store.together():  # nobody writes there meanwhile; it is only read
            other.take_rest(tmp_path / "library.db")
        assert questions(other, "slack") == ["slack water"]
        assert questions(other, "stale") == []
        assert other.settings().history() == store.settings().history()
        assert other.roots() == store.roots()
        assert list(other.files()) == list(store.files())
        assert list(other.documents(EVERYTHING)) == list(store.documents(EVERYTHING))
        assert other.sequence() == store.sequence()
        assert not list(other.examination().findings())
        other.drop_rest()
        assert questions(other, "slack") == []
    assert b"slack water" not in (tmp_path / "other.db").read_bytes()
