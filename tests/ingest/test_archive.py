"""Export and import: the same library elsewhere, or nothing that anybody could see."""

import hashlib
import json
import os
import random
import resource
import signal
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from chapterhouse import Library
from chapterhouse.errors import (
    ChapterhouseError,
    CorruptLibraryError,
    NewerLibraryError,
    RefusedError,
)
from chapterhouse.ingest.archive import DATABASE, FIRST, MANIFEST, is_archive
from chapterhouse.store.connections import APPLICATION_ID, INLINE_MAXIMUM
from chapterhouse.store.rows import load_migrations
from chapterhouse.types import ExportReport, Progress, Scope, Snapshot

QUESTIONS = (
    "How long does slack water last?",
    "What does a berth cost?",
    "fog at dawn",
    "who may enter the harbour",
    "ferry",
)
TOPICS = ("harbour", "ferry", "tariff", "fog", "berth", "tide", "pilot", "rope")
LARGE = "Many words are here. " * (INLINE_MAXIMUM // 20)


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


def test_the_same_questions_find_the_same_with_the_same_scores(
    source: Path, archive: Path, home: Path
) -> None:
    report = Library.restore(archive, home)
    assert ask(home) == ask(source / "home")
    assert report.snapshot == Snapshot(len(load_migrations()), 13, 25, 1)
    assert not report.settings_ignored
    with Library.open(home) as library, Library.open(source / "home") as original:
        assert list(library.documents.list())[:12] == list(original.documents.list())[:12]
        assert library.settings.search.limit == 7
        assert all(check.passed for check in library.doctor())
        memories = library.memory.memories(["maria"], 5, 1_700_000_000)
        assert memories == original.memory.memories(["maria"], 5, 1_700_000_000) != ()
    names = sorted(path.name for path in home.iterdir())
    assert names == ["chapterhouse.toml", "personas", "workspaces"]
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


# --- export ---


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """A library with a document whose bytes are in the database and one whose are a blob."""
    documents = tmp_path / "documents"
    documents.mkdir()
    for name, text in (("small", "Slack water is short."), ("large", LARGE)):
        (documents / f"{name}.md").write_text(f"# {name}\n\n{text}\n")
    with Library.open(tmp_path / "home") as opened:
        opened.documents.add(documents)
        yield opened


def names(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        return file.namelist()


def test_the_bytes_of_large_files_are_in_it_and_its_report_is_true(
    library: Library, tmp_path: Path
) -> None:
    path = tmp_path / "archive"
    report = library.export(path)
    large = hashlib.sha256(f"# large\n\n{LARGE}\n".encode()).hexdigest()
    assert names(path) == [FIRST, f"blobs/{large}", DATABASE, MANIFEST]
    assert report == ExportReport(
        str(path),
        path.stat().st_size,
        hashlib.sha256(path.read_bytes()).hexdigest(),
        report.snapshot,
        3,
    )
    assert report.snapshot.documents == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert is_archive(path.read_bytes()[:100])
    assert not list(tmp_path.glob(".*"))


def test_a_blob_that_goes_while_others_are_copied_is_not_missed(
    library: Library, tmp_path: Path
) -> None:
    """The document is replaced after its first blob was copied: the archive has the second."""
    folder = tmp_path / "documents"
    changed = f"# large\n\n{LARGE} Amended.\n"

    def change(progress: Progress) -> None:
        if (
            progress.current.startswith("blobs/")
            and "Amended" not in (folder / "large.md").read_text()
        ):
            (folder / "large.md").write_text(changed)
            library.documents.add(folder)

    library.export(tmp_path / "archive", on_progress=change)
    Library.restore(tmp_path / "archive", tmp_path / "elsewhere")
    with Library.open(tmp_path / "elsewhere") as restored:
        assert restored.faults() == ()
        document = restored.documents.get("large.md")
        store = restored._runtime.store
        assert store.content(document.sha256, Scope.everything()) == changed.encode()
        # What was copied in vain is not restored.
        assert list(restored._runtime.blobs.hashes()) == [document.sha256]


def test_bytes_that_are_missing_are_no_backup(library: Library, tmp_path: Path) -> None:
    (sha256,) = library._runtime.blobs.hashes()
    library._runtime.blobs.delete(sha256)
    with pytest.raises(CorruptLibraryError, match=sha256):
        library.export(tmp_path / "archive")
    assert not (tmp_path / "archive").exists()
    assert not list(tmp_path.glob(".*"))


def test_personas_and_councils_are_in_it_without_links_and_hidden_files(
    library: Library, tmp_path: Path
) -> None:
    maria = library.home / "personas" / "maria"
    for name in ("raw/.fetched/page.json", "rag/.curated/base.md", "raw/été.md", ".git/config"):
        (maria / name).parent.mkdir(parents=True, exist_ok=True)
        (maria / name).write_text(name)
    (maria / ".env").write_text("KEY=secret")
    (maria / "raw" / "linked.md").symlink_to("/etc/passwd")
    (maria / "raw" / "folder").symlink_to("/etc")
    os.mkfifo(maria / "raw" / "pipe")
    (library.home / "councils" / "berths").mkdir(parents=True)
    (library.home / "councils" / "berths" / "council.json").write_text("{}")
    report = library.export(tmp_path / "archive")
    inside = [name for name in names(tmp_path / "archive") if name.startswith(("pers", "coun"))]
    assert inside == [
        "personas/maria/rag/.curated/base.md",
        "personas/maria/raw/été.md",
        "personas/maria/raw/.fetched/page.json",
        "councils/berths/council.json",
    ]
    assert b"secret" not in (tmp_path / "archive").read_bytes()
    reasons = {Path(line.partition(": ")[0]).name: line for line in report.left_out}
    assert reasons.keys() == {"linked.md", "folder", "pipe"}
    assert "links are not followed" in reasons["folder"]


def test_settings_leave_without_what_may_be_secret(library: Library, tmp_path: Path) -> None:
    (library.home / "chapterhouse.toml").write_text(
        "# my-secret-comment\n[search]\nlimit = 7\n"
        '[language_model]\nengine = "openai"\nmodel = "m"\nbase_url = "http://localhost:1"\n'
        'key_variable = "MY_KEY"\nextra_body = { key = "body-secret" }\n'
    )
    library.export(tmp_path / "archive")
    with zipfile.ZipFile(tmp_path / "archive") as file:
        text = file.read("settings/home.toml").decode()
    assert "limit" in text
    assert "MY_KEY" in text
    assert "secret" not in text
    assert "settings/workspace.toml" not in names(tmp_path / "archive")


def test_questions_and_memories_can_stay_here(library: Library, tmp_path: Path) -> None:
    library.answers.ask("How long is slack water?")
    (library.folder / "questions.jsonl").write_text("{}\n")
    (library.folder / "chat_history").write_text("what I asked\n")
    whole = library.export(tmp_path / "whole")
    less = library.export(tmp_path / "less", memories=False)
    assert (whole.snapshot.memories, less.snapshot.memories) == (1, 0)
    assert "questions.jsonl" in names(tmp_path / "whole")
    assert "questions.jsonl" not in names(tmp_path / "less")
    assert "chat_history" not in names(tmp_path / "whole")


def test_an_interrupt_leaves_the_archive_that_was_there(library: Library, tmp_path: Path) -> None:
    library.export(tmp_path / "archive")
    before = (tmp_path / "archive").read_bytes()

    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.export(tmp_path / "archive", on_progress=stop)
    assert (tmp_path / "archive").read_bytes() == before
    assert not list(tmp_path.glob(".*"))


@contextmanager
def smallest_disk(room: int) -> Iterator[None]:
    """Let no file of this process grow beyond some bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("room", [500, 5_000, 40_000, 150_000])
def test_a_full_disk_is_one_clear_error_and_leaves_nothing(
    library: Library, tmp_path: Path, room: int
) -> None:
    with smallest_disk(room), pytest.raises(ChapterhouseError) as error:
        library.export(tmp_path / "archive")
    assert error.value.hint
    assert not (tmp_path / "archive").exists()
    assert not list(tmp_path.glob(".*"))
    assert library.export(tmp_path / "archive").snapshot.documents == 2  # once there is room


def test_a_killed_export_leaves_nothing_that_the_next_does_not_clear(
    library: Library, tmp_path: Path
) -> None:
    code = (
        "import os, signal, sys\nfrom chapterhouse import Library\n"
        "with Library.open(sys.argv[1]) as library:\n"
        "    library.export(sys.argv[2], on_progress=lambda _: os.kill(os.getpid(), 9))\n"
    )
    path = tmp_path / "out" / "archive"
    path.parent.mkdir()
    done = subprocess.run([sys.executable, "-c", code, str(library.home), str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = path.parent.iterdir()
    os.utime(left, (1_600_000_000, 1_600_000_000))
    library.export(path)
    assert list(path.parent.iterdir()) == [path]


# --- what is there is safe ---


@pytest.fixture
def inhabited(home: Path, tmp_path: Path) -> Path:
    write_documents(tmp_path / "own")
    with Library.open(home) as library:
        library.documents.add(tmp_path / "own" / "note-1.md")
        library.personas.create("tom")
    return home


def everything(home: Path) -> dict[str, bytes]:
    """Return every file of a home but what a library's opening changes."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and not path.name.endswith(("-wal", "-shm"))
    }


def test_a_workspace_that_holds_something_is_refused(
    archive: Path, inhabited: Path, tmp_path: Path
) -> None:
    before = everything(inhabited)
    with pytest.raises(RefusedError, match="holds 1 document, 1 persona") as error:
        Library.restore(archive, inhabited)
    assert "move away" in error.value.hint
    assert everything(inhabited) == before
    for name in ("personas/tom/persona.md", "workspaces/default/workspace.toml"):
        other = tmp_path / name.partition("/")[0]
        (other / name).parent.mkdir(parents=True)
        (other / name).write_text("")
        with pytest.raises(RefusedError, match="holds"):
            Library.restore(archive, other)


def test_a_library_that_cannot_be_opened_is_not_taken_for_an_empty_one(
    archive: Path, inhabited: Path, source: Path
) -> None:
    own = inhabited / "workspaces" / "default"
    (own / "library.db").write_bytes(os.urandom(20_000))
    with pytest.raises(RefusedError, match="cannot be opened"):
        Library.restore(archive, inhabited)
    for place in (own, inhabited / "personas"):
        place.rename(place.with_name("aside"))
    Library.restore(archive, inhabited)
    assert ask(inhabited) == ask(source / "home")


def test_a_library_that_is_open_is_not_replaced_and_an_empty_one_is_filled(
    archive: Path, home: Path, source: Path
) -> None:
    home.mkdir()
    (home / "chapterhouse.toml").write_text("# here\n[search]\nlimit = 10\n")
    with Library.open(home) as library:
        with pytest.raises(RefusedError, match="open"):
            Library.restore(archive, home)
        assert library.status().documents == 0
    assert Library.restore(archive, home).settings_ignored
    assert (home / "chapterhouse.toml").read_text() == "# here\n[search]\nlimit = 10\n"
    with Library.open(home) as library, Library.open(source / "home") as original:
        assert list(library.documents.list())[:12] == list(original.documents.list())[:12]


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


# --- nothing is visible before all of it is ---


def test_a_stop_at_any_file_leaves_nothing(archive: Path, home: Path, source: Path) -> None:
    for stop in range(1, len(names(archive))):

        def interrupt(progress: Progress, at: int = stop) -> None:
            if progress.done == at:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            Library.restore(archive, home, on_progress=interrupt)
        assert not [path for path in home.rglob("*") if path.is_file()]
    Library.restore(archive, home)
    assert ask(home) == ask(source / "home")


KILL = """
import os, sys
from chapterhouse import Library
def kill(progress):
    if progress.done == progress.total:
        os.kill(os.getpid(), 9)
Library.restore(sys.argv[1], sys.argv[2], on_progress=kill)
"""


def test_a_kill_leaves_nothing_that_the_next_import_does_not_clear(
    archive: Path, home: Path, source: Path
) -> None:
    command = [sys.executable, "-c", KILL, str(archive), str(home)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    (left,) = (home / "workspaces").iterdir()
    assert left.name.startswith(".unfinished-")
    os.utime(left, (1_600_000_000, 1_600_000_000))
    Library.restore(archive, home)
    assert [path.name for path in (home / "workspaces").iterdir()] == ["default"]
    assert ask(home) == ask(source / "home")


def test_a_full_disk_changes_nothing(archive: Path, home: Path) -> None:
    with smallest_disk(40_000), pytest.raises(ChapterhouseError, match="no space left"):
        Library.restore(archive, home)
    assert not [path for path in home.rglob("*") if path.is_file()]


def test_a_byte_that_differs_is_refused_or_changes_nothing(
    archive: Path, home: Path, source: Path, tmp_path: Path
) -> None:
    """What differs and is not refused is a byte of a header that says nothing of the library."""
    data, chance, refused = archive.read_bytes(), random.Random(1), 0
    for number in range(100):
        damaged = bytearray(data)
        damaged[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        (tmp_path / "damaged").write_bytes(damaged)
        place = tmp_path / f"home-{number}"
        try:
            Library.restore(tmp_path / "damaged", place)
        except RefusedError:
            refused += 1
            assert not place.exists()
        else:
            assert ask(place) == ask(source / "home")
    assert refused >= 90
    for _ in range(20):
        (tmp_path / "damaged").write_bytes(data[: chance.randrange(len(data))])
        with pytest.raises(RefusedError):
            Library.restore(tmp_path / "damaged", home)
    assert not home.exists()


# --- archives that no export wrote ---

Members = dict[str, bytes]


def forged(
    archive: Path,
    path: Path,
    change: Callable[[Members], object] = lambda _: None,
    edit: Callable[[dict[str, Any]], object] = lambda _: None,
) -> Path:
    """Write an archive with other members, which its manifest names, and another manifest."""
    with zipfile.ZipFile(archive) as file:
        members = {name: file.read(name) for name in file.namelist()}
    manifest = json.loads(members.pop(MANIFEST))
    change(members)
    manifest["members"] = [
        {"name": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in members.items()
    ]
    edit(manifest)
    with zipfile.ZipFile(path, "w") as file:
        for name, data in {**members, MANIFEST: json.dumps(manifest).encode()}.items():
            file.writestr(name, data)
    return path


NAMES = "../escaped|/etc/passwd|personas/../../escaped|personas//a|personas/./a|personas|personas/"
NAMES += "|personas/a\nb|personas/a\x1bb|blobs/abc|index/lexical|workspaces/default/library.db"
NAMES += f"|blobs/{'A' * 64}|blobs/{'1' * 64}|library.db-wal|settings/other.toml"  # not the hash


@pytest.mark.parametrize("name", NAMES.split("|"))
def test_a_name_that_we_do_not_write_is_refused(
    archive: Path, home: Path, tmp_path: Path, name: str
) -> None:
    path = forged(archive, tmp_path / "forged", lambda members: members.update({name: b"x"}))
    with pytest.raises(RefusedError):
        Library.restore(path, home)
    assert not home.exists()


@pytest.mark.parametrize(
    ("change", "edit"),
    [
        (lambda members: members.pop(DATABASE), lambda _: None),
        (lambda members: members.update({"personas/a": b"", "personas/a/b": b""}), lambda _: None),
        (lambda members: members.update({DATABASE: b"no database"}), lambda _: None),
        (lambda _: None, lambda value: value.pop("snapshot")),
        (lambda _: None, lambda value: value.update(members=[])),
        (lambda _: None, lambda value: value["members"].append(value["members"][1])),
        (lambda _: None, lambda value: value["members"][1].update(sha256="0" * 64)),
        (lambda _: None, lambda value: value["members"][1].update(modified_ns=2**70)),
        (lambda _: None, lambda value: value.update(folders={"index": "/"})),
        (lambda _: None, lambda value: value["snapshot"].update(documents=99)),
    ],
)
def test_an_archive_that_contradicts_itself_is_refused(
    archive: Path,
    home: Path,
    tmp_path: Path,
    change: Callable[[Members], object],
    edit: Callable[[dict[str, Any]], object],
) -> None:
    with pytest.raises((RefusedError, CorruptLibraryError)):
        Library.restore(forged(archive, tmp_path / "forged", change, edit), home)
    assert not [path for path in home.rglob("*") if path.is_file()]


def test_a_newer_format_is_refused_as_newer(archive: Path, home: Path, tmp_path: Path) -> None:
    path = forged(archive, tmp_path / "forged", edit=lambda value: value.update(format=2))
    with pytest.raises(NewerLibraryError, match="knows formats up to"):
        Library.restore(path, home)


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
    f"'{'0' * 64}', '', 0, 0, 'ready', '', 'en', '[]', '{{}}', 0, 0, 1, 0, '', '')"
)


def with_database(archive: Path, path: Path, database: Path, schema: int) -> Path:
    """Write an archive that has another database and no files."""

    def change(members: Members) -> None:
        for name in set(members) - {FIRST}:
            del members[name]
        members[DATABASE] = database.read_bytes()

    counts = {"schema": schema, "documents": 0, "chunks": 0, "memories": 0}
    return forged(archive, path, change, lambda value: value.update(snapshot=counts))


@pytest.mark.parametrize("schema", sorted({1, 3, len(load_migrations()) - 1}))
def test_an_older_schema_is_upgraded(
    archive: Path, home: Path, tmp_path: Path, schema: int
) -> None:
    database = database_of(tmp_path / "old.db", schema)
    path = with_database(archive, tmp_path / "archive", database, schema)
    Library.restore(path, home)
    with Library.open(home) as library:
        assert library.faults() == ()


def test_a_database_that_is_not_ours_is_refused(archive: Path, home: Path, tmp_path: Path) -> None:
    trigger = "CREATE TRIGGER t AFTER INSERT ON memory BEGIN DELETE FROM document; END"
    for number, statement in enumerate((trigger, UNCOUNTED)):
        latest = len(load_migrations())
        database = database_of(tmp_path / f"{number}.db", latest, statement)
        path = with_database(archive, tmp_path / "archive", database, latest)
        with pytest.raises(RefusedError):
            Library.restore(path, home)
        assert not (home / "workspaces" / "default").exists()


@pytest.fixture(autouse=True)
def no_leftovers(tmp_path: Path) -> Iterator[None]:
    yield
    left = [path for path in tmp_path.rglob(".unfinished-*") if "index" not in path.parts]
    assert left == []
