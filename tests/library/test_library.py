import json
import shutil
import subprocess
import sys
import threading
from dataclasses import asdict
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.errors import CorruptLibraryError, NotFoundError, UsageError
from chapterhouse.evaluation.measuring import evaluate
from chapterhouse.evaluation.questions import Question


def test_whoever_asks_hears_what_did_not_work(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "served"
    with Library.open(home) as library:
        library.documents.add(folder)
    (home / "chapterhouse.toml").write_text(
        '[rerank]\nengine = "http"\nmodel = "m"\nbase_url = "http://127.0.0.1:9"\nattempts = 1\n'
    )
    with Library.open(home) as library:
        asked = "How fast may a vessel go?"
        context = library.search.context(asked)
        assert (
            library.search.hits(asked).warnings
            == library.answers.ask(asked).warnings
            == context.warnings
        )
        assert "before reranking" in context.warnings[0]
        assert library.search.repack(context, 100).warnings == context.warnings
        wanted = Question("q", asked, required=("rules.md",))
        found = evaluate((wanted,), library, "own")
        assert found.warnings == (f"{context.warnings[0]} (in 1 of 1 searches)",)


def test_shelves_are_apart(library: Library, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "secret.txt").write_text("The loudspeaker code of the crew is 7734.")
    library.documents.add(other, shelf="crew")
    assert {
        h.document.source for h in library.search.hits("loudspeaker", shelves=["crew"]).hits
    } == {"other/secret.txt"}
    found = library.search.hits("loudspeaker", shelves=["library"]).hits
    assert {hit.document.source for hit in found} == {"documents/weather.txt"}
    assert len(library.search.hits("loudspeaker").hits) == 2


def test_workspaces_are_apart(library: Library) -> None:
    with Library.open(workspace="other") as other:
        assert other.status().documents == 0
        assert other.search.hits("harbour").hits == ()


def test_the_doctor_looks_into_every_index_and_reindexing_repairs_it(library: Library) -> None:
    library.search.hits("lighthouse")
    library.close()
    with (library.folder / "index" / "names" / "aliases.db").open("r+b") as stream:
        stream.write(b"this is no database at all")
    with Library.open(library.home) as opened:
        damaged = [check.name for check in opened.doctor() if not check.passed]
        assert damaged == ["indexes"]
        opened.reindex()
        assert all(check.passed for check in opened.doctor())


def test_reindexing_and_reprocessing_change_no_answer(library: Library) -> None:
    question = "How fast may a vessel go inside the harbour?"
    before = library.answers.ask(question)
    library.reindex()
    assert library.answers.ask(question) == before
    assert library.documents.reprocess().changed == 3
    assert library.answers.ask(question) == before


def test_what_is_not_there_is_not_made_unasked_and_bad_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no library"):
        Library.open(tmp_path / "nowhere", create=False)
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(UsageError, match="workspace"):
        Library.open(tmp_path, "../escape")
    with Library.open(tmp_path) as library, pytest.raises(UsageError, match="shelf"):
        library.documents.add(tmp_path, shelf="a/b")


def test_two_fresh_homes_give_identical_answers(tmp_path: Path, folder: Path) -> None:
    questions = ["How fast may a vessel go?", "When does the gate close?", "ERR-4012"]

    def run(home: Path) -> list[str]:
        with Library.open(home) as library:
            library.documents.add(folder)
            told = [asdict(library.answers.ask(question)) for question in questions]
            found = [
                [(h.chunk.id, h.score, h.stages) for h in library.search.hits(q).hits]
                for q in questions
            ]
        return [json.dumps(told), json.dumps(found)]

    assert run(tmp_path / "one") == run(tmp_path / "two")


def test_two_processes_add_and_search_at_once(folder: Path, tmp_path: Path) -> None:
    for number in range(40):
        (folder / f"note-{number}.txt").write_text(f"Note {number} is about the lighthouse lamp.")
    home = tmp_path / "shared"
    script = (
        "import sys\n"
        "from chapterhouse import Library\n"
        "with Library.open(sys.argv[1]) as library:\n"
        "    for _ in range(3):\n"
        "        library.documents.add(sys.argv[2])\n"
        "        library.search.hits('lighthouse')\n"
        "    print(library.status().documents)\n"
    )
    command = [sys.executable, "-c", script, str(home), str(folder)]
    both = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert [output for output, _ in outputs] == ["43\n", "43\n"]
    with Library.open(home) as library:
        assert len(library.search.hits("lighthouse", limit=100).hits) == 40
        assert [check for check in library.doctor() if not check.passed] == []


def test_an_index_that_lost_bytes_or_files_is_built_again_or_told_of(library: Library) -> None:
    question = "How fast may a vessel go inside the harbour?"
    library.encoders.embed_pending()
    before = library.answers.ask(question)
    library.close()
    index = library.home / "workspaces/default/index"
    for name in ("lexical/terms.*", "lexical/keys.*", "vectors-*/vectors.*"):
        files = list(index.glob(name))
        assert files
        for path in files:
            path.write_bytes(b"garbage")
        with Library.open() as again:
            assert again.answers.ask(question) == before
    for lost in (list(index.glob("lexical/tantivy.*")), [index]):
        for folder in lost:
            shutil.rmtree(folder)
        with Library.open() as again:
            assert again.answers.ask(question) == before
    (path,) = index.glob("lexical/tantivy.*/meta.json")
    path.write_bytes(b"garbage")
    with Library.open() as again:
        with pytest.raises(CorruptLibraryError) as caught:
            again.answers.ask(question)
        assert "chapterhouse reindex" in caught.value.hint
        again.reindex()
        assert again.answers.ask(question) == before


def test_searching_goes_on_while_the_indexes_are_rebuilt(library: Library) -> None:
    done = threading.Event()

    def rebuild() -> None:
        with Library.open() as other:
            for _ in range(8):
                other.reindex()
        done.set()

    rebuilding = threading.Thread(target=rebuild)
    rebuilding.start()
    while not done.is_set():
        library.search.hits("harbour")
        with Library.open() as fresh:
            fresh.search.hits("harbour")
    rebuilding.join()
    assert library.search.hits("harbour").hits


def test_documents_are_indexed_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chapterhouse.library.long_work._INDEXED_AT_ONCE", 2)
    monkeypatch.setattr("chapterhouse.ingest.pipeline._FILES", 1)
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.md").write_text(f"Note number {number}.", "utf-8")
    with Library.open(tmp_path / "home") as library:
        indexed: list[int] = []
        library.documents.add(
            folder,
            on_progress=lambda _: indexed.append(library._runtime.indexes()["lexical"].sequence()),
        )
        assert indexed == [0, 0, 2, 2, 4]
        assert library._runtime.indexes()["lexical"].sequence() == 5
