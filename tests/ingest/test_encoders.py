"""The encoder of a library: none at first, taken over by, built beside another, gone back from."""

import hashlib
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chapterhouse import Library
from chapterhouse.errors import EngineError, NotFoundError, RefusedError
from chapterhouse.ingest.jobs import claim
from chapterhouse.interfaces import background
from chapterhouse.types import JobState, Progress

Use = Callable[..., Any]


class Named:
    """Unit vectors that depend on the text and on the embedder's name."""

    dimensions = 16

    def __init__(self, name: str, languages: Sequence[str] = ()) -> None:
        self.fingerprint = f"openai/{name}/16"
        self.languages = languages
        self.broken = ""
        self.embedded: list[str] = []

    def serves(self, language: str) -> bool:
        return not self.languages or language in self.languages

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.broken:
            raise EngineError(self.broken)
        self.embedded.extend(texts)
        return np.stack([self.embed_question(text) for text in texts])

    def embed_question(self, text: str) -> NDArray[np.float32]:
        digest = hashlib.sha256(f"{self.fingerprint} {text}".encode()).digest()[:16]
        vector = np.frombuffer(digest, np.uint8).astype(np.float32) + 16
        return vector / np.float32(np.linalg.norm(vector))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(5):
        text = f"# Note {number}\n\nThe ferry number {number} leaves the harbour every morning.\n"
        (folder / f"note-{number}.md").write_text(text)
    return folder


@pytest.fixture
def use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Use:
    """Open the library with an embedder instead of the one that its settings name; or with none."""
    home = tmp_path / "house"
    home.mkdir(mode=0o700)
    known: dict[str, Named] = {}
    monkeypatch.setattr(
        "chapterhouse.library.opening.open_embedder",
        lambda settings, *_: known[settings.model or Path(settings.folder).name],
    )

    @contextmanager
    def opened(embedder: Named | None = None, *, service: bool = True) -> Iterator[Library]:
        text = "engine = 'none'\n"
        if embedder:
            name = embedder.fingerprint.split("/")[1]
            known[name] = embedder
            text = f"engine = 'folder'\nfolder = '{name}'\n"
            if service:
                text = f"engine = 'openai'\nbase_url = 'http://h/v1'\nmodel = '{name}'\n"
                text += "dimensions = 16\n"
        (home / "chapterhouse.toml").write_text(f"[embedding]\n{text}")
        with Library.open(home) as library:
            yield library

    return opened


def roles(library: Library) -> dict[str, tuple[str, int, int]]:
    return {each.role: (each.name, each.done, each.total) for each in library.encoders.statuses()}


def answers(library: Library) -> list[tuple[str, float]]:
    found = library.search.hits("When does ferry number 3 leave?")
    return [(hit.chunk.id, hit.score) for hit in found.hits]


def test_the_encoder_takes_over_when_every_document_has_its_vectors(use: Use, folder: Path) -> None:
    new, stop = Named("new"), threading.Event()
    with use(new) as library, use(new) as other:
        library.encoders.embed_pending()
        assert roles(library) == {"building": ("new", 0, 0)}  # of an empty library it knows nothing
        library.documents.add(folder)
        by_words = answers(library)
        assert library.status().embedder == "none"
        assert roles(library) == {"building": ("new", 0, 5)}
        told: list[Progress] = []

        def stops(progress: Progress) -> None:
            told.append(progress)
            assert "active" not in roles(library)
            assert answers(library) == by_words

        library.encoders.embed_pending(stops, stop)
        assert [progress.done for progress in told] == [1, 2, 3, 4, 5]
        assert roles(library) == {"active": ("new", 5, 5)}
        assert answers(other) == answers(library) != by_words  # another process sees it, too
        assert other.status().embedder == new.fingerprint
        assert all(check.passed for check in library.doctor())
        sequence = library.status().sequence
        assert sequence == library.status().index_sequences["lexical"] == 5
        with pytest.raises(NotFoundError, match="no previous encoder"):
            library.encoders.return_to_previous()


@pytest.mark.usefixtures("vectors_soon")
def test_what_is_small_has_its_vectors_when_it_is_added(use: Use, folder: Path) -> None:
    new = Named("new")
    with use(new, service=False) as library:
        library.documents.add(folder)
        assert {each.role: (each.done, each.total) for each in library.encoders.statuses()} == {
            "active": (5, 5)
        }
        assert all("cosine" in hit.stages for hit in library.search.hits("ferry number 3").hits)
        number = len(new.embedded)
        library.documents.add_text("The crane stands still in a gale.", title="Late")
        late = library.search.hits("crane gale").hits[0]
        assert (late.document.title, "cosine" in late.stages) == ("Late", True)
        assert len(new.embedded) == number + 1
        assert all(each.done == each.total for each in library.encoders.statuses())
        library.documents.reprocess()
        assert len(new.embedded) == number + 1


@pytest.mark.usefixtures("vectors_soon")
def test_what_is_large_or_asked_of_a_service_is_left_to_the_background(
    use: Use, folder: Path
) -> None:
    new = Named("new")
    with use(new) as library:  # a service
        library.documents.add(folder)
        assert roles(library) == {"building": ("new", 0, 5)}
    lines = (f"The pilot of ship {number} waits for the tide at noon." for number in range(4_000))
    (folder / "large.md").write_text("\n\n".join(lines))
    with use(new, service=False) as library:
        library.documents.reprocess()
        assert library.documents.add(folder).changed == 1
        large = next(one for one in library.documents.list() if one.source == "notes/large.md")
        assert large.chunks > 64
        assert len(new.embedded) == 5
        (active,) = library.encoders.statuses()
        assert (active.role, active.done, active.total) == ("active", 5, 6)
        assert library.encoders.is_pending()


class Clocked(Named):
    """Takes a second and a half for whatever is embedded at once."""

    now = 0.0

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.now += 1.5
        return super().embed_passages(texts)


def test_nobody_waits_longer_than_two_seconds(
    use: Use, folder: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5, 60):
        (folder / f"note-{number}.md").write_text(f"The ferry number {number} leaves at noon.\n")
    slow = Clocked("slow")
    with use(slow, service=False) as library:
        library.documents.add(folder)
        names = [one.id for one in library.documents.list()]
    request.getfixturevalue("vectors_soon")
    monkeypatch.setenv("CHAPTERHOUSE_EMBEDDING__BACKGROUND", "false")
    with use(slow, service=False) as library:
        library._runtime.encoders.embed_soon(names, lambda: slow.now)
        assert not slow.embedded  # the settings want none unasked
    monkeypatch.delenv("CHAPTERHOUSE_EMBEDDING__BACKGROUND")
    with use(slow, service=False) as library:
        library._runtime.encoders.embed_soon(names, lambda: slow.now)
        assert slow.now == 3.0  # what was begun is finished, and no more is begun
        (building,) = library.encoders.statuses()
        assert building.role == "building"
        assert 0 < building.done == len(slow.embedded) < building.total == 60
        slow.broken = "It is out of memory."
        library._runtime.encoders.embed_soon(names[-1:], lambda: slow.now)  # fails, and adds go on
        slow.broken = ""
        library.encoders.embed_pending()
        assert sorted(set(slow.embedded)) == sorted(slow.embedded)  # none twice
        assert library.status().embedder == slow.fingerprint


def test_an_encoder_whose_vectors_are_all_there_takes_over_at_once(use: Use, folder: Path) -> None:
    new = Named("new")
    with use(new) as library:
        library.documents.add(folder)
        library.encoders.embed_pending()
        by_new, number = answers(library), len(new.embedded)
        with library._runtime.store._connections.write() as connection:
            connection.execute("DELETE FROM encoder")  # as an upgrade does
        assert answers(library) != by_new
        shutil.rmtree(next((library.folder / "index").glob("vectors-*")))
    with use(new) as library:
        assert roles(library) == {"active": ("new", 5, 5)}
        assert answers(library) == by_new
        assert len(new.embedded) == number
        assert not library.encoders.is_pending()


def test_what_is_added_later_is_found_by_its_words_until_its_vectors_are_there(
    use: Use, folder: Path
) -> None:
    with use(Named("new")) as library:
        library.documents.add(folder)
        library.encoders.embed_pending()
        (folder / "late.md").write_text("# Late\n\nThe crane stands still in a gale.\n")
        library.documents.add(folder)
        assert roles(library)["active"] == ("new", 5, 6)
        late = library.search.hits("crane gale").hits[0]
        assert late.document.source == "notes/late.md"
        assert "cosine" not in late.stages
        assert library.encoders.is_pending()
        library.encoders.embed_pending()
        assert not library.encoders.is_pending()
        assert "cosine" in library.search.hits("crane gale").hits[0].stages


def test_a_change_is_built_beside_the_encoder_in_use(use: Use, folder: Path) -> None:
    first, second = Named("first"), Named("second")
    with use(first) as library:
        library.documents.add(folder)
        library.encoders.embed_pending()
        by_first = answers(library)
    with use(second) as library:
        assert roles(library) == {
            "active": ("first", 5, 5),
            "building": ("second", 0, 5),
        }
        assert answers(library) == by_first
        library.encoders.embed_pending()
        assert roles(library) == {"active": ("second", 5, 5), "previous": ("first", 5, 5)}
        assert answers(library) != by_first
        library.encoders.return_to_previous()
        assert answers(library) == by_first
    number = len(first.embedded)
    with use(first) as library:  # the settings say so, too
        assert roles(library) == {"active": ("first", 5, 5), "previous": ("second", 5, 5)}
        library.encoders.embed_pending()
        assert answers(library) == by_first
        assert library.encoders.forget() == 5
        assert roles(library) == {"active": ("first", 5, 5)}
        with pytest.raises(NotFoundError, match="no previous encoder"):
            library.encoders.return_to_previous()
    assert len(first.embedded) == number  # nothing was embedded twice


def test_only_what_has_a_role_is_kept(use: Use, folder: Path, tmp_path: Path) -> None:
    for name in ("first", "second", "third"):
        with use(Named(name)) as library:
            library.documents.add(folder)
            library.encoders.embed_pending()
    index = tmp_path / "house/workspaces/default/index"
    assert len(list(index.glob("vectors-*"))) == 2
    with use(Named("third")) as library:
        assert roles(library) == {"active": ("third", 5, 5), "previous": ("second", 5, 5)}
        library.encoders.forget()
        assert len(list(index.glob("vectors-*"))) == 1


def test_who_wants_no_vectors_has_words_and_may_change_their_mind(use: Use, folder: Path) -> None:
    new = Named("new")
    with use() as library:
        library.documents.add(folder)
        by_words = answers(library)
        assert (roles(library), library.status().embedder) == ({}, "none")
        assert not library.encoders.is_pending()
        with pytest.raises(RefusedError):
            library.encoders.embed(["ferry"])
    with use(new) as library:
        assert answers(library) == by_words
        library.encoders.embed_pending()
        by_new, number = answers(library), len(new.embedded)
        assert by_new != by_words
    with use() as library:
        assert answers(library) == by_words
        assert "vectors" not in library.status().index_sequences
    with use(new) as library:
        assert answers(library) == by_new
        assert len(new.embedded) == number


def test_a_build_can_be_given_up(use: Use, folder: Path) -> None:
    with use(Named("first")) as library:
        library.documents.add(folder)
        library.encoders.embed_pending()
    with use(Named("second")) as library:
        assert library.encoders.previous().model == "first"
        library.encoders.return_to_previous()
        assert roles(library)["active"][0] == "first"
        assert "building" not in roles(library)


def test_languages_that_it_does_not_serve_are_not_waited_for(use: Use, folder: Path) -> None:
    (folder / "deutsch.md").write_text(
        "# Notiz\n\nDie Fähre verlässt den Hafen jeden Morgen um neun Uhr, auch im Winter. "
        "Wer mitfahren will, muss seine Karte vorher am Schalter gekauft haben.\n"
    )
    with use(Named("new", languages=("en", ""))) as library:
        library.documents.add(folder)
        library.encoders.embed_pending()
        assert roles(library) == {"active": ("new", 5, 5)}
        found = library.search.hits("Wann verlässt die Fähre den Hafen, auch im Winter?").hits[0]
        assert found.document.source == "notes/deutsch.md"
        assert "cosine" not in found.stages


def test_a_failure_leaves_the_work_and_its_reason(use: Use, folder: Path) -> None:
    new = Named("new")
    new.broken = "The service is down."
    with use(new) as library:
        library.documents.add(folder)
        with pytest.raises(EngineError, match="down"):
            library.encoders.embed_pending()
        *_, building = library.encoders.statuses()
        assert building.problem == "The service is down."
        assert library.encoders.is_pending()
        new.broken = ""
        assert not any(each.problem for each in library.encoders.embed_pending())


@contextmanager
def embedding(library: Library) -> Iterator[None]:
    """Let a worker have the job of making vectors."""
    runner = library._runtime.runner
    job = claim(runner, library.encoders.embed_later().id)
    assert job is not None
    yield
    runner.jobs.cancel(job.id, runner.clock())
    runner.jobs.finish(replace(job, state=JobState.CANCELLED), runner.clock())


def test_one_process_works_at_a_time(use: Use, folder: Path) -> None:
    with use(Named("new")) as library:
        library.documents.add(folder)
        with embedding(library):
            assert library.encoders.is_embedding()
            told: list[Progress] = []
            stop = threading.Event()
            threading.Timer(1.2, stop.set).start()
            library.encoders.embed_pending(told.append, stop)
            assert told, "who waits is told how far it is"
            assert library.encoders.is_pending()
        assert not library.encoders.is_embedding()
        library.encoders.embed_pending()
        assert not library.encoders.is_pending()


def test_an_encoder_in_use_that_is_gone_leaves_words(
    use: Use, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with use(Named("first")) as library:
        library.documents.add(folder)
        by_words = answers(library)
        library.encoders.embed_pending()
    second = Named("second")

    def open_embedder(settings: Any, *_: object) -> Named:
        if settings.model == "second":
            return second
        raise EngineError("The folder is gone.")

    with use(second) as library:
        pass
    monkeypatch.setattr("chapterhouse.library.opening.open_embedder", open_embedder)
    with Library.open(library.home) as library:
        assert answers(library) == by_words
        assert library.status().embedder == "none"
        (warning,) = library.search.hits("ferry").warnings
        assert "The folder is gone." in warning


def test_a_process_is_started_until_every_vector_is_there(
    use: Use, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []

    class Process:
        def __init__(self, command: Sequence[str], **options: Any) -> None:
            started.append((command, options))

        def poll(self) -> int:
            return 0

    monkeypatch.setattr(background, "subprocess", SimpleNamespace(Popen=Process, DEVNULL=-3))
    with use(Named("new")) as library:
        library.documents.add(folder)
        monkeypatch.delenv("CHAPTERHOUSE_BACKGROUND")
        with embedding(library):
            assert not background.start_background(library)
        assert not started
        assert background.start_background(library)
        library.encoders.embed_pending()
        assert not background.start_background(library)
        assert len(started) == 1
