"""Two homes with one database, as two machines have: what one does the other one finds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.errors import RefusedError, UsageError
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


def test_an_upload_is_read_where_it_lies(nodes: tuple[Library, Library]) -> None:
    one, two = nodes
    job = receive(one, b"The gate closes at 21:30.\n")
    assert two.jobs.due() == ()
    assert two.jobs.work(idle_seconds=0) == ()
    assert [done.state for done in one.jobs.work(idle_seconds=0)] == [JobState.DONE]
    assert two.jobs.get(job).state is JobState.DONE
    assert "gate" in two.search.hits("gate").hits[0].chunk.text


def receive(library: Library, content: bytes) -> str:
    with library.documents.receive() as upload:
        upload.write(content)
        return library.documents.upload_later(upload.finish(), "note.txt").id


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
