from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Event

import pytest
from tests.models.conftest import write_model

from chapterhouse import Library
from chapterhouse.errors import NotFoundError
from chapterhouse.ingest import encoders

pytestmark = pytest.mark.usefixtures("vectors_later")
Opens = Callable[[str], AbstractContextManager[Library]]
QUESTION = "When does the gate close?"


@pytest.fixture
def opens(tmp_path: Path, folder: Path) -> Opens:
    """Open one library with the model of a folder; its documents are there."""
    home = tmp_path / "house"
    home.mkdir(mode=0o700)
    for name, hidden in (("first", 8), ("second", 16)):
        write_model(tmp_path / name, hidden=hidden)

    def opened(name: str) -> Library:
        text = f"[embedding]\nengine = 'folder'\nfolder = '{tmp_path / name}'\n"
        (home / "chapterhouse.toml").write_text(text)
        library = Library.open(home)
        library.documents.add(folder)
        return library

    return opened


def roles(library: Library) -> dict[str, tuple[str, int, int]]:
    return {each.role: (each.name, each.done, each.total) for each in library.encoders.statuses()}


def found(library: Library) -> list[tuple[str, float]]:
    hits = library.search.hits(QUESTION).hits
    return [(hit.chunk.id, hit.stages["cosine"]) for hit in hits if "cosine" in hit.stages]


def test_what_waits_is_counted_and_made_once(opens: Opens) -> None:
    with opens("first") as library:
        encoders = library.encoders
        assert encoders.is_pending()
        chunks, speed = encoders.speed()
        assert (chunks, speed > 0) == (library.status().chunks, True)
        told: list[tuple[int, int]] = []
        statuses = encoders.embed_pending(lambda one: told.append((one.done, one.total)))
        assert statuses == encoders.statuses()
        assert told == [(1, 3), (2, 3), (3, 3)]
        assert not encoders.is_pending()
        assert not encoders.is_embedding()
        assert encoders.speed()[0] == 0
        encoders.embed_pending(lambda _: pytest.fail("it was made again"))


def test_who_is_stopped_goes_on_where_it_was(opens: Opens) -> None:
    with opens("first") as library:
        stop = Event()
        stop.set()
        library.encoders.embed_pending(stop=stop)
        before = roles(library)["building"]
        assert library.encoders.is_pending()
    with opens("first") as library:
        assert roles(library)["building"] == before
        library.encoders.embed_pending()
        assert "building" not in roles(library)


def test_names_are_read_behind_the_vectors(opens: Opens) -> None:
    with opens("first") as library:
        graph = library._runtime.graph
        assert graph.pending() == 3
        library.encoders.embed_pending()
        assert graph.pending() == 0
        library.documents.add_text("Ingrid Tolle lives in Kiel.")
        assert graph.pending() == 1
        assert library.encoders.is_pending()  # its vectors were made at once
        stop = Event()
        stop.set()
        library.encoders.embed_pending(stop=stop)
        assert graph.pending() == 1
        library.encoders.embed_pending()
        assert not library.encoders.is_pending()
        assert graph.size() > 0


def test_the_encoder_in_the_box_makes_vectors_and_names_in_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Library.open(tmp_path / "home") as library:
        graph = library._runtime.graph
        monkeypatch.setattr(encoders, "_SOON", 2.0)
        library.documents.add_text("# Ferries\n\nAngela Merkel met Barack Obama in Berlin.")
        assert not library.encoders.is_pending()  # nothing is left to a process of its own
        assert library.graph.show("Angela Merkel").related
        monkeypatch.setattr(encoders, "_SOON", 0.0)
        library.documents.add_text("# Day\n\nBarack Obama met Bill Clinton in Chicago.")
        assert (library.encoders.is_pending(), graph.pending()) == (True, 1)
        monkeypatch.setattr(graph, "fill", lambda *_: None)  # its names come with its vectors
        library.encoders.embed_pending()
        assert not library.encoders.is_pending()
        assert library.graph.show("Barack Obama").entity.documents == 2
        assert not graph.differing(library._runtime.store, thorough=True)


def test_each_encoder_finds_in_its_own_way_and_the_one_before_is_kept(opens: Opens) -> None:
    with opens("first") as library:
        assert found(library) == []
        library.encoders.embed_pending()
        by_first = found(library)
        assert by_first
        assert all(check.passed for check in library.doctor())
    with opens("second") as library:
        assert found(library) == by_first
        library.encoders.embed_pending()
        by_second = found(library)
        assert by_second != by_first
        assert library.encoders.previous().folder.endswith("/first")
        library.encoders.return_to_previous()
        assert found(library) == by_first
        assert library.encoders.previous().folder.endswith("/second")


def test_what_is_forgotten_cannot_be_returned_to(opens: Opens) -> None:
    with opens("first") as library:
        library.encoders.embed_pending()
    with opens("second") as library:
        encoders = library.encoders
        encoders.embed_pending()
        assert encoders.forget() == 3
        for nothing in (encoders.previous, encoders.return_to_previous):
            with pytest.raises(NotFoundError, match="no previous encoder"):
                nothing()
