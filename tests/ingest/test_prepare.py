"""From what a reader extracted to a document that is ready to be stored."""

import hashlib
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chapterhouse import Library
from chapterhouse.chunking.sentence import chunk_by_sentence, chunk_by_size
from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.errors import RejectedError
from chapterhouse.ingest.prepare import Cutter, PreparedDocument, count_others, cut_all, prepare
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.types import (
    Body,
    ExtractedPage,
    Extraction,
    Notice,
    Progress,
    Scope,
    Span,
    Status,
)

FILE = SourceFile(Path("/docs"), ("fees.md",), "/docs/fees.md", "docs/fees.md")
TEXT = (
    "# Fees\n\nA berth costs 80 euros a metre. "
    "Guests who stay for the whole of the winter pay less than those who come in summer.\n"
)


def prepared(text: str = TEXT, **more: Any) -> PreparedDocument:
    data = text.encode("utf-8", "surrogatepass")
    content = Content(data, hashlib.sha256(data).hexdigest(), len(data), 1, 1)
    values = {"format": "markdown", "method": "test 1"} | more
    extraction = Extraction((ExtractedPage(text),), **values)
    cutter = Cutter(chunk_by_sentence, estimate_tokens)
    return prepare(extraction, FILE, content, cutter=cutter)


def test_the_parts_of_a_document_fit_each_other() -> None:
    made = prepared()
    document, text = made.document, made.body.text
    assert document.text_sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert (document.characters, document.chunks) == (len(text), len(made.chunks))
    assert all(text[one.start : one.end] == one.text for one in made.chunks)
    assert (document.title, document.language) == ("Fees", "en")
    assert document.status is Status.READY


def test_notices_and_metadata_are_as_harmless_as_the_text_whose_front_matter_goes_first() -> None:
    made = prepared(
        f"---\nauthor: Maria\n---\n{TEXT}",
        notices=(Notice("pages-missing", "Half\u202e of\nit.", 2),),
        metadata={"author": "Ada", "editor\u200b": "Ada\n\u202eLovelace", "empty": "\u200b"},
    )
    assert made.document.notices[0] == Notice("pages-missing", "Half of it.", 2)
    assert made.document.metadata == {"author": "Maria", "editor": "Ada Lovelace"}
    assert made.document.author == "Maria"


def test_without_text_there_is_no_document_and_the_reason_is_said() -> None:
    with pytest.raises(
        RejectedError, match=r"fees.md holds no text\. Page 1 is a picture\."
    ) as told:
        prepared("\u200b \n", notices=(Notice("no-text", "x"), Notice("p", "Page 1 is a picture.")))
    assert told.value.code == "no-text"


# --- a library is cut again in place: it serves meanwhile, and ends as one made from scratch ---


EVERYTHING = Scope.everything()
QUESTIONS = ("How long does slack water last?", "what costs a berth", "fog at dawn", "pilot")
TOPICS = ("harbour", "ferry", "tariff", "fog", "berth", "tide", "pilot", "rope")
OTHERWISE = '[chunking]\nstrategy = "sentence"\nmaximum = 120\n'
Ranking = list[tuple[str, int, int, float]]


def small(body: Body) -> "tuple[Span, ...]":
    return tuple(chunk_by_size(body, size=20, overlap=0))


CUTTER = Cutter(small, estimate_tokens, lambda formats: f"small-{formats[0]}")


def test_only_chunks_and_the_fingerprint_are_new(home: Any) -> None:
    home.write("a.md", "# A\n\nSlack water lasts eleven minutes at the harbour gate.\n")
    home.write("b.md", "# B\n\nThe ferry leaves at eight and at five in the evening.\n")
    home.add()
    before = {one.id: one for one in home.store.documents(EVERYTHING)}
    bodies = {name: home.store.body(name, EVERYTHING) for name in before}
    assert count_others(home.store, CUTTER) == 2
    seen: list[Progress] = []
    assert cut_all(home.store, CUTTER, seen.append) == 2
    assert [progress.done for progress in seen] == [1, 2]
    for document in home.store.documents(EVERYTHING):
        assert document.cut_by == "small-md"
        assert document.chunks > before[document.id].chunks
        assert home.store.body(document.id, EVERYTHING) == bodies[document.id]
        assert len(home.store.chunks_of(document.id, EVERYTHING)) == document.chunks
        assert not home.store.examination().row_fault(document.id)
    assert count_others(home.store, CUTTER) == 0
    assert cut_all(home.store, CUTTER, seen.append) == 0


def test_what_is_removed_or_read_anew_meanwhile_is_left(home: Any) -> None:
    gone = home.write("a.md", "# A\n\nSlack water lasts eleven minutes at the harbour gate.\n")
    changed = home.write("b.md", "# B\n\nThe ferry leaves at eight and at five in the evening.\n")
    home.write("c.md", "# C\n\nA berth costs nine crowns for a night, and ten with power.\n")
    home.add()
    names = {one.source.rpartition("/")[2]: one.id for one in home.store.documents(EVERYTHING)}

    def remove_or_change(body: Body) -> "tuple[Span, ...]":
        if "Slack" in body.text:
            gone.unlink()
            home.store.remove(names["a.md"])
        if "ferry" in body.text:
            changed.write_text("# B\n\nThe ferry leaves at noon.\n")
            home.add()
        return small(body)

    cutter = Cutter(remove_or_change, CUTTER.count_tokens, CUTTER.cut_by)
    assert cut_all(home.store, cutter, lambda _: None) == 1
    left = {one.source.rpartition("/")[2]: one for one in home.store.documents(EVERYTHING)}
    assert sorted(left) == ["b.md", "c.md"]
    body = home.store.body(left["b.md"].id, EVERYTHING)
    chunks = home.store.chunks_of(left["b.md"].id, EVERYTHING)
    assert all(body.text[one.start : one.end] == one.text for one in chunks)
    assert left["b.md"].cut_by != "small-md"


# --- whole libraries ---


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with documents and a home, whose vectors are complete."""
    chance = random.Random(3)
    folder = tmp_path_factory.mktemp("model")
    (folder / "documents").mkdir()
    for number in range(12):
        text = " ".join(f"The {' '.join(chance.choices(TOPICS, k=9))}." for _ in range(12))
        path = folder / "documents" / f"note-{number}.md"
        path.write_text(f"# Note {number}\n\n{text}\n\n## More\n\nSlack water lasts {number}.\n")
    with Library.open(folder / "home") as library:
        library.documents.add(folder / "documents")
        library.encoders.embed_pending()
        library.answers.ask(QUESTIONS[0])
    return folder


@pytest.fixture
def own(model: Path, tmp_path: Path) -> Iterator[Library]:
    """A library of one's own, the settings of which cut otherwise than the documents were cut."""
    home = shutil.copytree(model / "home", tmp_path / "own")
    (home / "chapterhouse.toml").write_text(OTHERWISE)
    with Library.open(home) as library:
        yield library


def ranking(library: Library) -> Ranking:
    return [
        (hit.document.id, hit.chunk.start, hit.chunk.end, hit.score)
        for question in QUESTIONS
        for hit in library.search.hits(question, limit=20).hits
    ]


def test_it_ends_as_a_library_made_from_scratch(model: Path, own: Library, tmp_path: Path) -> None:
    before = ranking(own)
    memories = own.memory.memories([""], 10, 0)
    assert own.status().cut_otherwise == 12
    own.reindex()
    own.encoders.embed_pending()
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch" / "chapterhouse.toml").write_text(OTHERWISE)
    with Library.open(tmp_path / "scratch") as scratch:
        scratch.documents.add(model / "documents")
        scratch.encoders.embed_pending()
        scratch.reindex()
        assert ranking(own) == ranking(scratch) != before
    assert own.status().cut_otherwise == 0
    assert own.memory.memories([""], 10, 0) == memories
    assert own.faults() == ()


def test_it_serves_meanwhile_and_goes_on_after_an_interrupt(own: Library) -> None:
    def stop(progress: Progress) -> None:
        found = {hit.document.id for hit in own.search.hits("slack water", limit=20).hits}
        assert len(found) == 12  # a mixture, and none is missing
        if progress.done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        own.reindex(on_progress=stop)
    assert own.status().cut_otherwise == 7
    assert own.faults() == ()
    own.reindex()
    assert own.status().cut_otherwise == 0
