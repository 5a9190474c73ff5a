"""The whole way, over real files, through the public API."""

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.errors import CorruptLibraryError, NotFoundError, UsageError
from chapterhouse.evaluation.collection import question_task
from chapterhouse.evaluation.comparing import evaluate
from chapterhouse.evaluation.datasets import Question
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.types import Progress, Scope, Status

RULES = """# Harbour rules

## Speed

Inside the harbour no vessel may exceed 4 knots. The duty officer may grant exceptions.

## Opening

The gate closes at 21:30 from April to September.

| Berth | Length | Owner |
|---|---|---|
| B1 | 24 m | Ferry cooperative |
| B7 | 12 m | Guests |
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "rules.md").write_text(RULES)
    (documents / "weather.txt").write_text(
        "The crossing is suspended above force eight. Passengers are told by loudspeaker.\n"
    )
    (documents / "ERR.md").write_text("# Faults\n\nERR-4012 means that the ramp did not lock.\n")
    return documents


@pytest.fixture
def library(folder: Path) -> Iterator[Library]:
    with Library.open() as opened:
        opened.documents.add(folder)
        yield opened


def test_every_answer_can_be_checked_to_the_character(library: Library) -> None:
    answer = library.answers.ask("How fast may a vessel go inside the harbour?")
    assert answer.found
    assert "4 knots" in answer.text
    for citation in answer.citations:
        assert citation.verified
        body = library.documents.body(citation.document_id)
        assert body.text[citation.start : citation.end] == citation.quote
    first = answer.citations[0]
    assert first.source == "documents/rules.md"
    assert first.section_path == ("Harbour rules", "Speed")


def test_a_table_row_is_an_answer(library: Library) -> None:
    answer = library.answers.ask("Which length has berth B7?")
    assert answer.found
    assert "Length: 12 m" in answer.text


def test_what_the_documents_do_not_hold_is_not_answered(library: Library) -> None:
    answer = library.answers.ask("Which vaccines does the dentist recommend for parrots?")
    assert not answer.found
    assert not answer.sentences
    assert not answer.citations
    assert "dentist" in answer.searched.missing_terms
    assert answer.searched.documents == 3


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
        found = evaluate(question_task((wanted,), library, "own", "questions"))
        assert found.warnings == (f"{context.warnings[0]} (in 1 of 1 searches)",)


def test_nothing_to_search_is_no_answer(tmp_path: Path) -> None:
    with Library.open(tmp_path / "empty") as library:
        assert not library.answers.ask("Anything?").found
        assert library.search.hits("Anything?").hits == ()


def test_a_second_add_changes_nothing(library: Library, folder: Path) -> None:
    before = library.status().sequence
    report = library.documents.add(folder)
    assert report.changed == 0
    assert {outcome.record.code for outcome in report.outcomes} == {"unchanged"}
    assert library.status().sequence == before


def test_a_changed_file_is_read_again(library: Library, folder: Path) -> None:
    (folder / "weather.txt").write_text("The crossing is suspended above force nine, since May.\n")
    assert library.documents.add(folder).changed == 1
    assert "force nine" in library.answers.ask("When is the crossing suspended?").text
    assert not any(
        "loudspeaker" in hit.chunk.text for hit in library.search.hits("loudspeaker").hits
    )


def test_a_file_that_is_gone_is_named_and_removed_only_on_demand(
    library: Library, folder: Path
) -> None:
    (folder / "weather.txt").unlink()
    assert library.documents.add(folder).missing == ("documents/weather.txt",)
    assert library.search.hits("loudspeaker").hits
    assert [d.source for d in library.documents.remove(missing=True, dry_run=True).documents] == [
        "documents/weather.txt"
    ]
    assert library.status().documents == 3
    library.documents.remove(missing=True)
    assert library.status().documents == 2
    assert not library.search.hits("loudspeaker").hits


@pytest.mark.parametrize("text", ["ERR-4012", 'the "did not lock" fault', "what does ERR.md say"])
def test_what_is_named_to_the_letter_has_a_place(library: Library, text: str) -> None:
    hits = library.search.hits(text, limit=1).hits
    assert hits[0].document.source == "documents/ERR.md"
    assert hits[0].stages["exact"] == 1.0


def test_the_cap_per_document_holds(library: Library) -> None:
    hits = library.search.hits("harbour gate berth speed", per_document=1).hits
    names = [hit.document.id for hit in hits]
    assert len(names) == len(set(names))


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


def test_one_bad_file_does_not_stop_the_rest(library: Library, folder: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing of the kind")
    (folder / "empty.docx").write_bytes(b"")
    (folder / "new.txt").write_text("A new notice about the lighthouse.")
    seen: list[Progress] = []
    report = library.documents.add(folder, on_progress=seen.append)
    assert report.count(Status.REJECTED) == 2
    assert all(o.record.sentence for o in report.outcomes if o.record.status is Status.REJECTED)
    assert library.search.hits("lighthouse").hits
    assert [progress.done for progress in seen] == list(range(1, len(report.outcomes) + 1))


def test_names_lead_to_documents(library: Library) -> None:
    document = library.documents.get("rules.md")
    assert library.documents.get(document.id) == document
    assert library.documents.get(document.id[:-3]) == document
    assert library.documents.get("documents/rules.md") == document
    with pytest.raises(NotFoundError, match="nowhere"):
        library.documents.get("nowhere.md")
    with pytest.raises(UsageError, match="empty"):
        library.documents.get(" ")


def test_a_name_that_fits_several_documents_is_refused(library: Library, folder: Path) -> None:
    (folder / "rules-old.md").write_text("The old rules.")
    library.documents.add(folder)
    with pytest.raises(UsageError, match="fits 2"):
        library.documents.remove("rules")
    assert library.status().documents == 4


def test_a_removed_document_is_gone(library: Library) -> None:
    library.documents.remove("rules.md")
    assert not library.search.hits("knots").hits
    with pytest.raises(NotFoundError):
        library.documents.remove("rules.md")


def test_the_doctor_finds_a_healthy_library_healthy(library: Library) -> None:
    assert [check for check in library.doctor() if not check.passed] == []


def test_the_doctor_looks_into_every_index_and_reindexing_repairs_it(library: Library) -> None:
    library.search.hits("lighthouse")
    checked = {check.name for check in library.doctor()}
    assert checked >= {"names index", "lexical index", "vector index"}
    library.close()
    with (library.folder / "index" / "names" / "aliases.db").open("r+b") as stream:
        stream.write(b"this is no database at all")
    with Library.open(library.home) as opened:
        damaged = [check.name for check in opened.doctor() if not check.passed]
        assert damaged == ["names index"]
        opened.reindex()
        assert all(check.passed for check in opened.doctor())


def test_reindexing_and_reprocessing_change_no_answer(library: Library) -> None:
    question = "How fast may a vessel go inside the harbour?"
    before = library.answers.ask(question)
    library.reindex()
    assert library.answers.ask(question) == before
    assert library.documents.reprocess().changed == 3
    assert library.answers.ask(question) == before


@pytest.mark.parametrize("question", ["", "   \n"])
def test_an_empty_question_is_refused(library: Library, question: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        library.answers.ask(question)


def test_numbers_out_of_range_are_refused(library: Library) -> None:
    with pytest.raises(UsageError, match="limit"):
        library.search.hits("harbour", limit=0)
    with pytest.raises(UsageError, match="word"):
        library.answers.ask("harbour", words=0)
    with pytest.raises(UsageError, match="negative"):
        library.search.hits("harbour", per_document=-1)


def test_bad_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="workspace"):
        Library.open(tmp_path, "../escape")
    with Library.open(tmp_path) as library, pytest.raises(UsageError, match="shelf"):
        library.documents.add(tmp_path, shelf="a/b")


def test_a_library_that_is_not_there_is_not_made_unasked(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no library"):
        Library.open(tmp_path / "nowhere", create=False)
    assert not (tmp_path / "nowhere").exists()


def test_a_dry_run_writes_nothing(folder: Path, tmp_path: Path) -> None:
    with Library.open(tmp_path / "dry") as library:
        report = library.documents.add(folder, dry_run=True)
        assert {outcome.record.code for outcome in report.outcomes} == {"would-be-read"}
        assert library.status().documents == 0
        library.documents.add(folder)
        assert {o.record.code for o in library.documents.add(folder, dry_run=True).outcomes} == {
            "unchanged"
        }


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


def test_settings_choose_chunker_and_tokenizer(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "fixed"
    home.mkdir()
    (home / "chapterhouse.toml").write_text(
        "[chunking]\nstrategy = 'fixed'\nsize = 120\noverlap = 20\n"
        "[tokens]\ntokenizer = 'llama-2'\n"
    )
    with Library.open(home) as library:
        library.documents.add(folder)
        document = library.documents.get("rules.md")
        chunks = library._runtime.store.chunks_of(document.id, Scope.everything())
        assert {chunk.end - chunk.start for chunk in chunks[:-1]} == {120}
        exact = StaticEmbedder().count_tokens
        assert [chunk.tokens for chunk in chunks] == [exact(chunk.text) for chunk in chunks]


def test_without_embeddings_search_is_lexical(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "lexical"
    home.mkdir()
    (home / "chapterhouse.toml").write_text("[embedding]\nengine = 'none'\n")
    with Library.open(home) as library:
        library.documents.add(folder)
        hits = library.search.hits("How fast may a vessel go?").hits
        assert hits
        assert all("cosine" not in hit.stages for hit in hits)
        assert library.answers.ask("How fast may a vessel go inside the harbour?").found


def test_a_language_without_vectors_is_left_to_the_lexical_side(tmp_path: Path) -> None:
    folder = tmp_path / "russian"
    folder.mkdir()
    (folder / "правила.txt").write_text(
        "Начальник порта закрывает ворота, когда поднимается сильный ветер. "
        "Скорость судов в гавани не должна превышать четырёх узлов."
    )
    with Library.open(tmp_path / "home") as library:
        library.documents.add(folder)
        assert next(iter(library.documents.list())).language == "ru"
        (hit,) = library.search.hits("какая скорость судна в гавани").hits
        assert "cosine" not in hit.stages
        assert library.answers.ask("Какая скорость судов в гавани?").found


def test_notes_too_short_to_tell_their_language_are_answered(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "note.txt").write_text("Ferry: leaves at nine.")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(folder)
        assert next(iter(library.documents.list())).language == ""
        assert "nine" in library.answers.ask("When does the ferry leave?").text


def test_a_shelf_that_is_not_there_is_named(library: Library) -> None:
    with pytest.raises(NotFoundError, match="crw") as caught:
        library.answers.ask("How fast may a vessel go?", shelves=["crw"])
    assert "library" in caught.value.hint


def test_questions_that_are_no_text_or_too_long(library: Library) -> None:
    assert not library.answers.ask("\ud800?").found
    with pytest.raises(UsageError, match="characters"):
        library.search.hits("x" * 10_001)


@pytest.mark.parametrize("name", ["lexical/terms.*", "lexical/keys.*", "vectors/vectors.*"])
def test_an_index_that_lost_bytes_is_built_again(library: Library, name: str) -> None:
    question = "How fast may a vessel go inside the harbour?"
    before = library.answers.ask(question)
    library.close()
    (path,) = (library.home / "workspaces/default/index").glob(name)
    path.write_bytes(b"garbage")
    with Library.open() as again:
        assert again.answers.ask(question) == before


@pytest.mark.parametrize("name", ["lexical/tantivy.*/meta.json"])
def test_a_damaged_index_is_told_and_rebuilt(library: Library, name: str) -> None:
    question = "How fast may a vessel go inside the harbour?"
    before = library.answers.ask(question)
    library.close()
    (path,) = (library.home / "workspaces/default/index").glob(name)
    path.write_bytes(b"garbage")
    with Library.open() as again:
        with pytest.raises(CorruptLibraryError) as caught:
            again.answers.ask(question)
        assert "chapterhouse reindex" in caught.value.hint
        again.reindex()
        assert again.answers.ask(question) == before


def test_an_index_whose_files_are_gone_is_built_again(library: Library) -> None:
    question = "How fast may a vessel go inside the harbour?"
    before = library.answers.ask(question)
    library.close()
    shutil.rmtree(library.home / "workspaces/default/index")
    with Library.open() as again:
        assert again.answers.ask(question) == before
    for folder in (library.home / "workspaces/default/index/lexical").glob("tantivy.*"):
        shutil.rmtree(folder)
    with Library.open() as again:
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


def test_documents_are_indexed_while_others_are_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chapterhouse.facets.documents._INDEXED_AT_ONCE", 2)
    monkeypatch.setattr("chapterhouse.ingest.groups._FILES", 1)
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
