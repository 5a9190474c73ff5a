"""A library that an earlier version wrote is opened, migrated and loses nothing."""

from pathlib import Path
from typing import Any

import apsw
import apsw.shell

from chapterhouse import Library
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.connections import Connections
from chapterhouse.store.embeddings import EmbeddingStore
from chapterhouse.store.rows import load_migrations, run
from chapterhouse.store.sqlite import Store
from chapterhouse.types import EncoderRecord, JobState, Scope, SourceKind

# Written by the program of 26 November 2026: two documents of a folder, one of a persona's folder,
# two answers in memory, two jobs, a setting. Made with ``.dump`` of SQLite's shell.
DUMP = Path(__file__).parent / "data" / "schema_13.sql"
TEXTS = {
    "budget/budget.md": "dredging of the basin is budgeted at 12,000 euros",
    "shelf/harbour.md": "ferry leaves at 06:40 on weekdays and carries at most 32 vehicles",
    "shelf/ledger.txt": "treasurer Ines Varga reported a balance of 48,210 euros",
}
EVERYTHING = Scope.everything()


def test_a_library_of_schema_13_is_migrated_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "home" / "workspaces" / "default" / "library.db"
    path.parent.mkdir(parents=True)
    database = apsw.Connection(str(path))
    shell: Any = apsw.shell.Shell(db=database)  # of which apsw states no types
    shell.process_command(f".read '{DUMP}'")
    assert database.pragma("user_version") == 13
    database.close()
    with Library.open(tmp_path / "home") as library:
        store = library._runtime.store
        documents = {one.source: one for one in library.documents.list()}
        assert documents.keys() == TEXTS.keys()
        for source, passage in TEXTS.items():
            document = documents[source]
            body = store.body(document.id, EVERYTHING)
            assert body is not None
            assert passage in body.text
            chunks = store.chunks_of(document.id, EVERYTHING)
            assert [body.text[one.start : one.end] for one in chunks] == [c.text for c in chunks]
            assert store.content(document.sha256, EVERYTHING) is not None
            assert library.search.hits(passage, limit=1).hits[0].document.id == document.id
        assert all(one.author == one.metadata.get("author", "") for one in documents.values())
        assert documents["budget/budget.md"].shelves == ("treasurer",)
        answer = library.answers.ask("When does the ferry leave on weekdays?")
        (citation,) = answer.citations
        assert "06:40" in citation.quote
        remembered = [library.memory.memories((owner,), 5, 0) for owner in ("", "treasurer")]
        assert [len(one) for one in remembered] == [2, 1], remembered
        assert library.memory.search("dredging", ("treasurer",), 5, 0)
        kinds = {one.name: one.kind for one in store.sources().sources()}
        assert kinds == {"shelf": SourceKind.FOLDER, "persona/treasurer": SourceKind.PERSONA}
        assert {job.state for job in library.jobs.list()} == {JobState.DONE}
        assert library.settings.answer.words == 90
        assert library.faults() == ()
        library.encoders.embed_pending()
        (status,) = library.encoders.statuses()
        assert (status.role, status.done, status.total) == ("active", 3, 3)
        assert set(store.fingerprints()) == {status.fingerprint}  # those of the table are gone
    with apsw.Connection(str(path)) as database:
        assert database.pragma("user_version") == len(load_migrations())


WORDLLAMA = "wordllama-l2-supercat-256/lower/sqrt-idf-1"
ENGLISH = "chapterhouse-encoder-1/59686bb9f3fa6f31"


def test_encoders_of_earlier_versions_lose_their_roles_and_others_keep_theirs(
    tmp_path: Path,
) -> None:
    path = tmp_path / "library.db"
    roles = {
        "active": EncoderRecord(ENGLISH, '{"engine": "built-in"}'),
        "previous": EncoderRecord(WORDLLAMA, '{"engine": "static"}'),
        "building": EncoderRecord("folder/chapterhouse-encoder-1", '{"engine": "folder"}'),
    }
    earlier = Connections(path, load_migrations()[:19])
    with earlier.write() as connection:
        for role, record in roles.items():
            run(connection, "put_encoder", role, record.fingerprint, record.settings)
    assert EmbeddingStore(earlier).encoders() == roles
    earlier.close()
    with Store(path, blobs=Blobs(tmp_path / "blobs")) as store:
        del roles["previous"], roles["active"]
        assert store.embeddings().encoders() == roles
