"""Two homes with one database, as two machines have: what one does the other one finds."""

import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from shutil import rmtree

import pytest
from tests.served import until

from chapterhouse import Library
from chapterhouse.errors import RefusedError, UsageError
from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.ingest import jobs as ingest_jobs
from chapterhouse.interfaces.api import workers as workers_module
from chapterhouse.interfaces.api.workers import Followers, Workers
from chapterhouse.interfaces.workspaces import Workspaces
from chapterhouse.library import jobs as jobs_module
from chapterhouse.library.opening import open_access
from chapterhouse.settings_file import read_stated
from chapterhouse.store.places import workspace_names
from chapterhouse.types import JobState
from chapterhouse.types.access import AccessLevel


@pytest.fixture
def nodes(tmp_path: Path, in_postgres: str) -> Iterator[tuple[Library, Library]]:
    with Library.open(tmp_path / "one") as one, Library.open(tmp_path / "two") as two:
        yield one, two


def titles(library: Library, query: str) -> list[str]:
    return [hit.document.title for hit in library.search.hits(query).hits]


def test_what_one_node_adds_and_removes_another_finds_and_loses(
    nodes: tuple[Library, Library], folder: Path
) -> None:
    one, two = nodes
    one.documents.add(folder)
    assert titles(two, "speed in the harbour") == titles(one, "speed in the harbour") != []
    answer = two.answers.ask("How fast may a vessel be in the harbour?")
    assert "4 knots" in answer.text
    hits = two.search.hits("ramp did not lock").hits
    (document,) = {hit.document.id for hit in hits if "ramp" in hit.chunk.text}
    two.documents.remove(document)
    assert "ERR" not in " ".join(titles(one, "ERR-4012"))
    assert one.status().documents == two.status().documents == 2
    assert one.faults() == two.faults() == ()


def test_memories_settings_keys_and_decisions_are_shared(
    nodes: tuple[Library, Library], folder: Path
) -> None:
    one, two = nodes
    one.documents.add(folder)
    one.answers.ask("How fast may a vessel be?")
    assert [memory.question for memory in two.memory.memories([""], 9, 0)] == [
        "How fast may a vessel be?"
    ]
    one.configuration.change("search.limit", 3, "ada")
    assert two.settings_changed()
    here, there = open_access(one.home), open_access(two.home)
    made = here.create_key("backup", AccessLevel.READ, None, by="ada")
    assert there.authenticate(made.secret)
    there.revoke_key(made.key.id, by="ada")
    assert here.authenticate(made.secret) is None
    here.close()
    there.close()


def test_what_one_node_receives_another_reads(nodes: tuple[Library, Library]) -> None:
    one, two = nodes
    job = receive(one, b"The gate closes at 21:30.\n")
    assert [each.id for each in two.jobs.due()] == [job]
    rmtree(one.folder / "uploads")  # the machine is gone
    assert [done.state for done in two.jobs.work(idle_seconds=0)] == [JobState.DONE]
    assert one.jobs.get(job).state is JobState.DONE
    assert "gate" in one.search.hits("gate").hits[0].chunk.text
    assert not stored_uploads(one)
    again = receive(one, b"The mast is of ash.\n")
    one.jobs.cancel(again)
    assert stored_uploads(two)  # it can be tried again
    one.jobs.retry(again)
    two.jobs.work(idle_seconds=0)
    assert not stored_uploads(one)
    assert one.faults() == ()


def stored_uploads(library: Library) -> tuple[str, ...]:
    files = library._runtime.store.shared_files()
    assert files is not None
    return files.uploads(0)


def test_a_folder_is_read_by_a_machine_that_has_it(
    nodes: tuple[Library, Library], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = nodes
    one.sources.add(str(folder))
    one.sources.sync_later()
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(ingest_jobs, "is_visible", lambda _: False)
        assert two.jobs.due() == ()
        assert two.jobs.work(idle_seconds=0) == ()
        elsewhere.setattr(ingest_jobs, "_OTHERS_SECONDS", 0)  # nobody has it
        assert len(two.jobs.due()) == 1
    assert [done.state for done in one.jobs.work(idle_seconds=0)] == [JobState.DONE]


def receive(library: Library, content: bytes) -> str:
    with library.documents.receive() as upload:
        upload.write(content)
        return library.documents.upload_later(upload.finish(), "note.txt").id


def test_personas_councils_and_their_files_are_on_every_node(
    nodes: tuple[Library, Library],
) -> None:
    one, two = nodes
    made = one.personas.create("ada", display_name="Ada")
    assert two.personas.names() == ("ada",)
    assert two.personas.prose("ada") == one.personas.prose("ada")
    two.personas.describe("ada", "She knows the harbour and its gate.\n")
    assert "its gate" in one.personas.prose("ada")
    (made.raw / "gate.txt").write_text("The gate closes at 21:30.\n")
    one.personas.refresh("ada")
    there = two.personas.folder("ada")
    assert (there / "RAW-DOCS" / "gate.txt").read_text() == "The gate closes at 21:30.\n"
    assert files_of(one.personas.folder("ada")) == files_of(there)
    assert two.personas.remove_agent("ada").documents == 1
    assert one.personas.names() == ()
    assert not made.path.exists()


def files_of(folder: Path) -> dict[str, tuple[int, int]]:
    """Return names, sizes and times of files, and times of folders."""
    found = {str(one.relative_to(folder)): one.stat() for one in folder.rglob("*")}
    return {
        name: (0 if (folder / name).is_dir() else state.st_size, state.st_mtime_ns)
        for name, state in found.items()
    }


def test_a_new_machine_in_the_place_of_one_that_is_gone_knows_all_it_knew(
    tmp_path: Path, in_postgres: str
) -> None:
    home = tmp_path / "home"
    with Library.open(home) as library:
        made = library.personas.create("ada", display_name="Ada")
        (made.raw / "gate.txt").write_text("The gate closes at 21:30.\n")
        library.personas.refresh("ada")
        sequence = library.status().sequence
        answer = library.answers.ask("When does the gate close?", persona="ada")
    rmtree(home)
    with Library.open(home) as library:
        again = library.answers.ask("When does the gate close?", persona="ada")
        assert (again.text, again.warnings) == (answer.text, answer.warnings)
        assert not library.personas.refresh("ada")  # nothing is read again
        assert library.status().sequence == sequence
        assert library.faults() == ()


def test_of_two_changes_at_once_one_is_kept_aside_and_nothing_lost(
    nodes: tuple[Library, Library], caplog: pytest.LogCaptureFixture
) -> None:
    one, two = nodes
    one.personas.create("ada", display_name="Ada")
    assert two.personas.names() == ("ada",)
    prose = two.personas.folder("ada") / "persona.md"
    prose.write_text("By hand.\n")
    one.personas.describe("ada", "Over the network.\n")
    assert two.personas.prose("ada").strip() == "Over the network."
    aside = two.personas.folder("ada").parent / "_replaced" / "ada" / "persona.md"
    assert aside.read_text() == "By hand.\n"
    assert "changed on two machines" in caplog.text
    prose.write_text("By hand again.\n")
    two.personas.describe("ada", "Over the network again.\n")
    assert one.personas.prose("ada").strip() == "Over the network again."


def test_a_home_whose_folder_is_lost_takes_nothing_from_others(
    nodes: tuple[Library, Library],
) -> None:
    one, two = nodes
    one.personas.create("ada", display_name="Ada")
    assert two.personas.names() == ("ada",)
    rmtree(two.home / "personas")
    with Library.open(two.home) as again:
        assert again.personas.names() == one.personas.names() == ("ada",)


def test_another_store_in_the_same_home_has_other_indexes(
    tmp_path: Path, in_postgres: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.delenv("CHAPTERHOUSE_STORE")
    with Library.open(home) as library:
        library.documents.add(folder)
        wanted = titles(library, "harbour")
    assert wanted
    monkeypatch.setenv("CHAPTERHOUSE_STORE", in_postgres)
    with Library.open(home) as library:
        assert titles(library, "harbour") == []
        library.documents.add_bytes(b"Nothing of that kind.\n", "note.txt")
        assert library.faults() == ()
    monkeypatch.delenv("CHAPTERHOUSE_STORE")
    with Library.open(home) as library:
        assert titles(library, "harbour") == wanted
        assert library.faults() == ()


def test_no_new_library_takes_the_place_of_one_whose_address_is_forgotten(
    tmp_path: Path, in_postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Library.open(tmp_path / "home").close()
    monkeypatch.delenv("CHAPTERHOUSE_STORE")
    with pytest.raises(RefusedError, match="is in PostgreSQL, and no address"):
        Library.open(tmp_path / "home")


def ranked(library: Library) -> list[tuple[str, int, float]]:
    found = library.search.hits("harbour gate").hits
    return [(hit.document.id, hit.chunk.ordinal, hit.score) for hit in found]


def test_a_library_moves_to_files_and_back(
    tmp_path: Path, in_postgres: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Library.open(tmp_path / "one") as library:
        (folder / "large.txt").write_text("Many words are here. " * 5_000)
        library.documents.add(folder)
        library.answers.ask("How fast may a vessel be?")
        wanted = ranked(library)
        library.export(tmp_path / "whole.zip")
        with pytest.raises(RefusedError, match="holds 4 documents"):
            Library.restore(tmp_path / "whole.zip", tmp_path / "two")
    monkeypatch.delenv("CHAPTERHOUSE_STORE")
    Library.restore(tmp_path / "whole.zip", tmp_path / "files")
    with Library.open(tmp_path / "files") as library:
        assert ranked(library) == wanted
        assert library.faults() == ()
        library.documents.add(folder)
        library.export(tmp_path / "again.zip")
    monkeypatch.setenv("CHAPTERHOUSE_STORE", in_postgres)
    Library.restore(tmp_path / "again.zip", tmp_path / "three", "moved")
    assert workspace_names(tmp_path / "three") == ("default", "moved")
    with Library.open(tmp_path / "three", "moved", create=False) as library:
        assert ranked(library) == wanted
        assert library.faults() == ()
        assert library.memory.count([""]) == 1
        library.documents.add_bytes(b"One more note on knots.\n", "note.txt")  # under new keys
        assert library.faults() == ()
        assert not list((tmp_path / "three").rglob("library.db"))


def test_a_password_is_shown_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_postgres: str
) -> None:
    secret = in_postgres.replace("owner@", "owner:geheim@")
    monkeypatch.setenv("CHAPTERHOUSE_STORE", secret)
    with Library.open(tmp_path / "home") as library:
        (value,) = [one for one in library.configuration.all() if one.name == "store.address"]
        assert value.value == "(set)"
        shown = f"{library.configuration.all()} {library.settings} {library.doctor()}"
        assert "geheim" not in shown
    monkeypatch.delenv("CHAPTERHOUSE_STORE")
    home = tmp_path / "home"
    (home / "chapterhouse.toml").write_text(f'[store]\naddress = "{secret}"\n')
    with Library.open(home) as library:
        library.export(tmp_path / "copy.zip")
    assert b"geheim" not in (tmp_path / "copy.zip").read_bytes()


def test_addresses_of_other_kinds_and_stores_of_single_workspaces_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAPTERHOUSE_STORE", "mysql://root:geheim@db/x")
    with pytest.raises(UsageError, match="looks like postgresql://") as found:
        Library.open(tmp_path / "home")
    assert "geheim" not in str(found.value)
    monkeypatch.delenv("CHAPTERHOUSE_STORE")
    own = tmp_path / "home" / "workspaces" / "default"
    own.mkdir(parents=True)
    (own / "workspace.toml").write_text('[store]\naddress = "postgresql://h/d"\n')
    with pytest.raises(UsageError, match="which all workspaces of a home share"):
        read_stated(tmp_path / "home", own)


def test_what_one_node_commits_wakes_the_other_and_its_workers_at_once(
    nodes: tuple[Library, Library], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_module, "_NOTIFIED_SECONDS", 30.0)  # nobody has looked before
    monkeypatch.setattr(workers_module, "_LOOK_SECONDS", 30.0)
    one, two = nodes
    workspaces = Workspaces(two.home)
    followers = Followers(workspaces, Workers(two.home, starts=False))
    following = threading.Thread(target=followers.run)
    working = threading.Thread(target=partial(two.jobs.work, once=True))
    try:
        following.start()
        working.start()
        time.sleep(1.0)  # both wait
        began = time.monotonic()
        one.documents.add_bytes(b"The gate closes at 21:30.\n", "gate.txt")
        until(lambda: index_sequence(workspaces) == one.status().sequence)
        job = receive(one, b"The mast is of ash.\n")
        until(lambda: two.jobs.get(job).state is JobState.DONE)
        assert time.monotonic() - began < 15  # on whatever busy machine
    finally:
        followers.stop()
        following.join()
        working.join()
        workspaces.close()


def index_sequence(workspaces: Workspaces) -> int:
    """Return how far the words' index of the other node's server has come, without a search."""
    with workspaces.borrow("default") as library:
        return LexicalIndex(library.folder / "index" / "lexical").sequence()
