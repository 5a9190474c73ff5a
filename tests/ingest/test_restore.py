"""A library somewhere else: the same results, or nothing that anybody could see."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import apsw
import pytest

from chapterhouse import Library
from chapterhouse.errors import ChapterhouseError, NewerLibraryError, RefusedError
from chapterhouse.ingest import archive as archives
from chapterhouse.ingest.archive import ArchiveWriter, open_archive
from chapterhouse.store.connections import APPLICATION_ID
from chapterhouse.store.statements import load_migrations
from chapterhouse.types import Manifest, Progress, Snapshot

QUESTIONS = (
    "How long does slack water last?",
    "What does a berth cost?",
    "fog at dawn",
    "who may enter the harbour",
    "ferry",
)
TOPICS = ("harbour", "ferry", "tariff", "fog", "berth", "tide", "pilot", "rope")


def write_documents(folder: Path) -> None:
    chance = random.Random(3)
    folder.mkdir(parents=True)
    for number in range(12):
        words = " ".join(chance.choices(TOPICS, k=40))
        path = folder / f"note-{number}.md"
        path.write_text(f"# Note {number}\n\nThe {words}.\n\n## More\n\nSlack water {words}.\n")
        os.utime(path, (1_600_000_000, 1_600_000_000))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a library, a persona, a memory and settings, and ARCHIVE beside it."""
    folder = tmp_path_factory.mktemp("source")
    write_documents(folder / "documents")
    home = folder / "home"
    with Library.open(home) as library:
        library.documents.add(folder / "documents")
        library.personas.create("maria")
        own = home / "personas" / "maria" / "RAG" / "tides.md"
        own.parent.mkdir(exist_ok=True)
        own.write_text("# Tides\n\nSlack water lasts eleven minutes at Osk.\n")
        os.utime(own, (1_600_000_000, 1_600_000_000))
        library.answers.ask(QUESTIONS[0], persona="maria")
        (home / "chapterhouse.toml").write_text("# mine\n[search]\nlimit = 7\n")
        library.reindex()
    with Library.open(home) as library:
        library.export(folder / "ARCHIVE")
    return folder


@pytest.fixture
def archive(source: Path) -> Path:
    return source / "ARCHIVE"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "elsewhere"


def ask(home: Path) -> list[list[tuple[str, int, float, str]]]:
    with Library.open(home, create=False) as library:
        return [
            [(hit.chunk.id, hit.rank, hit.score, hit.chunk.text) for hit in found.hits]
            for found in map(library.search.hits, QUESTIONS)
        ]


def everything(home: Path) -> dict[str, bytes]:
    """Return every file of a home but what a library's opening changes."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and not path.name.endswith(("-wal", "-shm"))
    }


def test_the_same_questions_find_the_same_with_the_same_scores(
    source: Path, archive: Path, home: Path
) -> None:
    report = Library.restore(archive, home)

    assert ask(home) == ask(source / "home")
    assert report.snapshot == Snapshot(len(load_migrations()), 13, 25, 1)
    assert (report.replaced, report.upgraded, report.settings_ignored) == ((), False, False)
    with Library.open(home) as library, Library.open(source / "home") as original:
        assert list(library.documents.list())[:12] == list(original.documents.list())[:12]
        assert library.settings.search.limit == 7
        assert all(check.passed for check in library.doctor())
        memories = library.memory.memories(["maria"], 5, 1_700_000_000)
        assert memories == original.memory.memories(["maria"], 5, 1_700_000_000) != ()
    assert sorted(path.name for path in home.iterdir()) == [
        "chapterhouse.toml",
        "personas",
        "workspaces",
    ]
    assert [path.name for path in (home / "workspaces").iterdir()] == ["default"]


def test_a_personas_own_documents_move_with_the_home_and_are_not_read_again(
    source: Path, archive: Path, home: Path
) -> None:
    Library.restore(archive, home)
    with Library.open(source / "home") as library:
        before = library.documents.get("tides.md")
    with Library.open(home) as library:
        after = library.documents.get("tides.md")
        assert after.id == before.id
        assert after.location == str(home / "personas" / "maria" / "RAG" / "tides.md")
        sequence = library.status().sequence
        assert "eleven minutes" in library.answers.ask(QUESTIONS[0], persona="maria").text
        assert library.status().sequence == sequence
        assert library.documents.get("note-1.md").location == str(
            source / "documents" / "note-1.md"
        )


def test_into_a_workspace_its_personas_are_the_workspaces(archive: Path, home: Path) -> None:
    Library.restore(archive, home, "second")
    with Library.open(home, "second") as library:
        assert list(library.personas.names()) == ["maria"]
        assert library.documents.get("tides.md").location.startswith(
            str(home / "workspaces" / "second" / "personas")
        )
    assert not (home / "personas").exists()


def test_a_dry_run_checks_and_writes_nothing(archive: Path, home: Path) -> None:
    report = Library.restore(archive, home, dry_run=True)
    assert report.snapshot.documents == 13
    assert not home.exists()


# --- what is there is safe ---


@pytest.fixture
def inhabited(home: Path, tmp_path: Path) -> Path:
    write_documents(tmp_path / "own")
    with Library.open(home) as library:
        library.documents.add(tmp_path / "own" / "note-1.md")
        library.personas.create("tom")
    return home


def test_a_workspace_that_holds_something_is_refused(archive: Path, inhabited: Path) -> None:
    before = everything(inhabited)
    with pytest.raises(RefusedError, match="holds 1 document, 1 persona"):
        Library.restore(archive, inhabited)
    assert everything(inhabited) == before


@pytest.mark.parametrize("name", ["personas/tom/persona.md", "workspaces/default/workspace.toml"])
def test_personas_and_settings_alone_are_something(archive: Path, home: Path, name: str) -> None:
    Library.open(home).close()
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).write_text("")
    with pytest.raises(RefusedError, match="holds"):
        Library.restore(archive, home)


def test_an_empty_workspace_is_filled(archive: Path, home: Path, source: Path) -> None:
    Library.open(home).close()
    Library.restore(archive, home)
    assert ask(home) == ask(source / "home")


def test_replacing_replaces_all_of_it(archive: Path, inhabited: Path, source: Path) -> None:
    report = Library.restore(archive, inhabited, replaces=True)
    assert report.replaced == ("1 document", "1 persona")
    assert ask(inhabited) == ask(source / "home")
    with Library.open(inhabited) as library:
        assert list(library.personas.names()) == ["maria"]
    assert [path.name for path in (inhabited / "workspaces").iterdir()] == ["default"]


def test_a_damaged_library_can_be_replaced(archive: Path, inhabited: Path, source: Path) -> None:
    (inhabited / "workspaces" / "default" / "library.db").write_bytes(os.urandom(20_000))
    with pytest.raises(RefusedError, match="cannot be opened"):
        Library.restore(archive, inhabited)
    Library.restore(archive, inhabited, replaces=True)
    assert ask(inhabited) == ask(source / "home")


def test_a_library_that_is_open_is_not_replaced(archive: Path, inhabited: Path) -> None:
    with Library.open(inhabited) as library:
        with pytest.raises(RefusedError, match="open"):
            Library.restore(archive, inhabited, replaces=True)
        assert library.status().documents == 1


def test_documents_that_come_meanwhile_are_not_lost(
    archive: Path, home: Path, tmp_path: Path
) -> None:
    write_documents(tmp_path / "own")

    def add(progress: Progress) -> None:
        if progress.done == progress.total:
            with Library.open(home) as library:
                library.documents.add(tmp_path / "own" / "note-1.md")

    with pytest.raises(RefusedError, match="holds 1 document"):
        Library.restore(archive, home, on_progress=add)
    with Library.open(home) as library:
        assert library.status().documents == 1


def test_an_archive_inside_what_would_go_is_not_lost(archive: Path, inhabited: Path) -> None:
    inside = shutil.copy(archive, inhabited / "workspaces" / "default" / "backup")
    with pytest.raises(RefusedError, match="would be replaced"):
        Library.restore(inside, inhabited, replaces=True)
    assert Path(inside).exists()


def test_the_settings_of_a_home_stay(archive: Path, home: Path) -> None:
    home.mkdir()
    (home / "chapterhouse.toml").write_text("# here\n[search]\nlimit = 3\n")
    assert Library.restore(archive, home).settings_ignored
    assert (home / "chapterhouse.toml").read_text() == "# here\n[search]\nlimit = 3\n"


# --- nothing is visible before all of it is ---


def test_a_stop_at_any_file_leaves_nothing(archive: Path, home: Path) -> None:
    with open_archive(archive) as opened:
        number = len(opened.manifest.members)
    for stop in range(1, number + 1):

        def interrupt(progress: Progress, at: int = stop) -> None:
            if progress.done == at:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            Library.restore(archive, home, on_progress=interrupt)
        assert not home.exists()


KILL = """
import os, sys
from chapterhouse import Library
def kill(progress):
    if progress.done == progress.total:
        os.kill(os.getpid(), 9)
Library.restore(sys.argv[1], sys.argv[2], replaces=True, on_progress=kill)
"""


def test_a_kill_leaves_what_was_there(archive: Path, inhabited: Path) -> None:
    before = everything(inhabited)
    command = [sys.executable, "-c", KILL, str(archive), str(inhabited)]
    assert subprocess.run(command, check=False).returncode == -9
    folders = sorted(path.name for path in (inhabited / "workspaces").iterdir())
    assert folders[1:] == ["default"]
    assert folders[0].startswith(".unfinished-")
    after = everything(inhabited)
    assert {name: after[name] for name in before} == before
    left = inhabited / "workspaces" / folders[0]
    os.utime(left, (1_600_000_000, 1_600_000_000))
    Library.restore(archive, inhabited, replaces=True)
    assert [path.name for path in (inhabited / "workspaces").iterdir()] == ["default"]


def test_too_little_space_is_said_before_anything_is_written(
    archive: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1, 1, 100))
    with pytest.raises(ChapterhouseError, match="100 are free"):
        Library.restore(archive, home)
    assert not home.exists()


def test_damage_anywhere_is_refused_and_leaves_nothing(
    archive: Path, home: Path, tmp_path: Path
) -> None:
    data, chance = archive.read_bytes(), random.Random(1)
    for _ in range(100):
        damaged = bytearray(data)
        damaged[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(RefusedError):
            Library.restore(tmp_path / "damaged", home)
    for _ in range(20):
        (tmp_path / "damaged").write_bytes(data[: chance.randrange(len(data))])
        with pytest.raises(RefusedError):
            Library.restore(tmp_path / "damaged", home)
    assert not home.exists()


# --- other schemas, other databases ---


def with_database(archive: Path, path: Path, database: Path, schema: int) -> Path:
    """Write an archive that has another database."""
    with open_archive(archive) as opened, path.open("w+b") as stream:
        writer = ArchiveWriter(stream)
        writer.add(archives.DATABASE, [database.read_bytes()])
        manifest = opened.manifest
        counts = Snapshot(schema, 0, 0, 0)
        writer.finish(
            Manifest(manifest.format, "9.9.9", 1, "default", counts, {}, tuple(writer.members))
        )
    return path


def database_of(path: Path, schema: int, *more: str) -> Path:
    connection = apsw.Connection(str(path))
    connection.pragma("synchronous", "off")
    for statement in (*load_migrations()[:schema], *more):
        connection.execute(statement)
    connection.pragma("user_version", schema)
    connection.pragma("application_id", APPLICATION_ID)
    connection.close()
    return path


UNCOUNTED = (
    "INSERT INTO document VALUES (1, 'a', 'a', '/a', 'a', 'md', 'm', "
    f"'{'0' * 64}', '', 0, 0, 'ready', '', 'en', '[]', '{{}}', 0, 0, 1, 0, '')"
)


@pytest.mark.parametrize("schema", sorted({1, 3, len(load_migrations()) - 1}))
def test_an_older_schema_is_upgraded(
    archive: Path, home: Path, tmp_path: Path, schema: int
) -> None:
    database = database_of(tmp_path / "old.db", schema)
    path = with_database(archive, tmp_path / "archive", database, schema)
    report = Library.restore(path, home)
    assert report.upgraded
    assert report.snapshot.schema == len(load_migrations())
    with Library.open(home) as library:
        assert all(check.passed for check in library.doctor())


def test_a_newer_schema_is_refused_as_newer(archive: Path, home: Path, tmp_path: Path) -> None:
    latest = len(load_migrations())
    database = database_of(tmp_path / "new.db", latest)
    path = with_database(archive, tmp_path / "archive", database, latest + 1)
    with pytest.raises(NewerLibraryError, match=f"schemas up to {latest}") as error:
        Library.restore(path, home)
    assert "9.9.9" in error.value.hint
    assert not home.exists()


@pytest.mark.parametrize(
    "more",
    [
        ("CREATE TRIGGER t AFTER INSERT ON memory BEGIN DELETE FROM document; END",),
        (UNCOUNTED,),
    ],
    ids=["a trigger", "a document that the manifest does not count"],
)
def test_a_database_that_is_not_ours_is_refused(
    archive: Path, home: Path, tmp_path: Path, more: Sequence[str]
) -> None:
    latest = len(load_migrations())
    database = database_of(tmp_path / "other.db", latest, *more)
    path = with_database(archive, tmp_path / "archive", database, latest)
    with pytest.raises(RefusedError):
        Library.restore(path, home)
    assert not home.exists()


@pytest.fixture(autouse=True)
def no_leftovers(tmp_path: Path) -> Iterator[None]:
    yield
    left = [path for path in tmp_path.rglob(".unfinished-*") if "index" not in path.parts]
    assert left == []
