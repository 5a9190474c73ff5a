"""A library is cut again beside itself: it serves meanwhile, and ends as one made from scratch."""

import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.errors import NotFoundError, RefusedError
from chapterhouse.types import Progress, RemovalState

QUESTIONS = ("How long does slack water last?", "what costs a berth", "fog at dawn", "pilot")
TOPICS = ("harbour", "ferry", "tariff", "fog", "berth", "tide", "pilot", "rope")
OTHERWISE = '[chunking]\nstrategy = "sentence"\nmaximum = 120\n'
Ranking = list[tuple[str, int, int, float]]


def write_documents(folder: Path, numbers: range = range(12)) -> Path:
    chance = random.Random(3)
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        text = " ".join(f"The {' '.join(chance.choices(TOPICS, k=9))}." for _ in range(12))
        path = folder / f"note-{number}.md"
        path.write_text(f"# Note {number}\n\n{text}\n\n## More\n\nSlack water lasts {number}.\n")
    return folder


def cut_otherwise(home: Path) -> None:
    (home / "chapterhouse.toml").write_text(OTHERWISE)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with documents and a home, whose vectors are complete."""
    folder = tmp_path_factory.mktemp("model")
    write_documents(folder / "documents")
    with Library.open(folder / "home") as library:
        library.documents.add(folder / "documents")
        library.encoders.embed_pending()
        library.answers.ask(QUESTIONS[0])
    return folder


@pytest.fixture
def home(model: Path, tmp_path: Path) -> Path:
    """A home of one's own, the settings of which cut otherwise than the documents were cut."""
    shutil.copytree(model / "home", tmp_path / "own")
    cut_otherwise(tmp_path / "own")
    return tmp_path / "own"


def ranking(library: Library) -> Ranking:
    return [
        (hit.document.id, hit.chunk.start, hit.chunk.end, hit.score)
        for question in QUESTIONS
        for hit in library.search.hits(question, limit=20).hits
    ]


def reindexed(home: Path) -> Ranking:
    with Library.open(home) as library:
        library.reindex()
        return ranking(library)


def own(home: Path) -> Path:
    return home / "workspaces" / "default"


def test_it_ends_as_a_library_made_from_scratch_and_goes_back(model: Path, home: Path) -> None:
    before = reindexed(home)
    with Library.open(home) as library:
        assert library.status().cut_otherwise == 12
        memories = library.memory.memories([""], 10, 0)
    report = Library.rebuild(home)
    assert (report.documents, report.total, report.replaced) == (12, 12, False)

    scratch = home.parent / "scratch"
    scratch.mkdir()
    cut_otherwise(scratch)
    with Library.open(scratch) as library:
        library.documents.add(model / "documents")
        library.encoders.embed_pending()
    with Library.open(home) as library:
        now = ranking(library)
        assert library.status().cut_otherwise == 0
        assert library.status().chunks == report.chunks
        assert library.memory.memories([""], 10, 0) == memories
    assert now == reindexed(home) == reindexed(scratch) != before
    assert Library.verify(home).findings == ()

    Library.rebuild_back(home)
    with Library.open(home) as library:
        assert ranking(library) == before
        assert library.status().cut_otherwise == 12
    assert Library.verify(home).findings == ()


def test_the_old_one_serves_while_the_new_one_is_built(home: Path) -> None:
    with Library.open(home) as serving:
        before, seen = ranking(serving), []

        def ask(_: Progress) -> None:
            seen.append(ranking(serving) == before)

        with pytest.raises(RefusedError, match="open"):
            Library.rebuild(home, on_progress=ask)
        assert ranking(serving) == before
    assert len(seen) > 12
    assert all(seen)
    cut: list[str] = []
    Library.rebuild(home, on_progress=lambda progress: cut.append(progress.current))
    assert not [name for name in cut if name.endswith(".md")]  # what was built was not thrown away


def test_what_changes_meanwhile_is_in_the_new_one(model: Path, home: Path) -> None:
    documents = home.parent / "more"

    def look(old: Library, _: Library) -> None:
        old.documents.add(write_documents(documents, range(20, 23)), shelf="new")
        old.answers.ask("what costs a berth")

    Library.rebuild(home, look=look)
    with Library.open(home) as library:
        assert library.status().documents == 15
        assert library.status().by_shelf["new"] == 3
        assert library.memory.count([""]) == 2
        assert len(library.sources.list()) == 2
        library.documents.add(write_documents(documents, range(30, 31)))
    assert Library.verify(home).findings == ()
    Library.rebuild_back(home)
    with Library.open(home) as library:
        assert library.status().documents == 16
        assert library.status().cut_otherwise == 12
        assert library.search.hits("Slack water", shelves=["new"]).hits
    assert Library.verify(home).findings == ()


@pytest.mark.parametrize("back", [False, True])
def test_removed_text_is_in_no_other_library(home: Path, *, back: bool) -> None:
    Library.rebuild(home)
    if back:
        Library.rebuild_back(home)
    with Library.open(home) as library:
        first = next(iter(library.documents.list()))
        removal = library.documents.remove(first.id)
        assert removal.state is RemovalState.REMOVED
    assert not (own(home) / "previous").exists()
    with pytest.raises(NotFoundError):
        Library.rebuild_back(home)


def test_a_removal_ends_what_is_being_built(home: Path) -> None:
    def look(old: Library, _: Library) -> None:
        old.documents.remove(next(iter(old.documents.list())).id)

    with pytest.raises(RefusedError, match="deleted meanwhile"):
        Library.rebuild(home, look=look)
    assert Library.rebuild(home).documents == 11
    assert Library.verify(home).findings == ()


def test_an_interrupt_leaves_the_old_one_and_the_next_run_goes_on(home: Path) -> None:
    def stop(progress: Progress) -> None:
        if progress.current.endswith(".md"):
            raise KeyboardInterrupt

    with Library.open(home) as library:
        before = ranking(library)
    with pytest.raises(KeyboardInterrupt):
        Library.rebuild(home, on_progress=stop)
    with Library.open(home) as library:
        assert ranking(library) == before
        assert library.jobs.list()[0].state.value == "cancelled"
    assert Library.verify(home).findings == ()
    assert Library.rebuild(home).documents == 12


def test_kill_9_leaves_the_old_one_whole(home: Path) -> None:
    with Library.open(home) as library:
        before = ranking(library)
    process = [sys.executable, str(Path(__file__).with_name("rebuild_process.py")), str(home)]
    chance = random.Random(7)
    for lines in (0, 14):
        running = subprocess.Popen(process, stdout=subprocess.PIPE, text=True)
        assert running.stdout is not None
        for _ in range(lines + 1):
            running.stdout.readline()
        time.sleep(chance.random() / 20)
        running.kill()
        running.wait()
        running.stdout.close()
        if (own(home) / "previous").exists():
            break
        with Library.open(home) as library:
            assert ranking(library) == before
        assert Library.verify(home).findings == ()
    Library.rebuild(home)
    with Library.open(home) as library:
        assert library.status().cut_otherwise == 0
    assert Library.verify(home).findings == ()


def test_nothing_is_built_where_all_is_as_it_should_be(home: Path) -> None:
    Library.rebuild(home)
    assert Library.rebuild(home).documents == 0
    assert Library.rebuild_forget(home, dry_run=True) == ("previous",)
    assert Library.rebuild_forget(home) == ("previous",)
    left = sorted(path.name for path in own(home).iterdir())
    assert left == [
        "background",
        "index",
        "library.db",
    ]


def test_where_nothing_is_there_is_nothing_to_return_to(home: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="to return to"):
        Library.rebuild_back(home)
    for call in (Library.rebuild_back, Library.rebuild, Library.rebuild_forget):
        with pytest.raises(NotFoundError, match="no library"):
            call(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_what_was_asked_is_in_one_library_only(home: Path) -> None:
    with Library.open(home) as library:
        library.answers.ask("Is the quokka moored at the harbour?")
    Library.rebuild(home)
    files = [path for path in (own(home) / "previous").rglob("*") if path.is_file()]
    assert not [path for path in files if b"quokka" in path.read_bytes()]
    Library.rebuild_back(home)
    with Library.open(home) as library:
        assert library.memory.count([""]) == 2
    assert Library.verify(home).findings == ()
