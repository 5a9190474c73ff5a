import os
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.agents.sync import Places, is_current, mirror_shelf
from chapterhouse.chunking.sentence import chunk_by_sentence
from chapterhouse.ingest.ingest import add
from chapterhouse.ingest.look import ReadingContext
from chapterhouse.ingest.mirror import Options
from chapterhouse.ingest.prepare import Cutter, prepare
from chapterhouse.reading.plain import read_markdown, read_text
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.sqlite import Store
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.types import (
    DEFAULT_SHELF,
    Extraction,
    Scope,
    Source,
    SourceKind,
    StayingDocuments,
    StayReason,
    SyncReport,
)

EVERYTHING = Scope.everything()

OLD = 1_600_000_000
PREPARE = partial(prepare, cutter=Cutter(chunk_by_sentence, estimate_tokens))


@dataclass
class House:
    """Personas in folders, and a library of their documents."""

    root: Path
    store: Store
    slugs: tuple[str, ...] = ("mia", "ben")
    folders: dict[str, tuple[Path, ...]] = field(default_factory=dict)
    excluded: dict[str, frozenset[Path]] = field(default_factory=dict)
    read_names: list[str] = field(default_factory=list)
    clock: int = OLD

    def rag(self, slug: str) -> Path:
        return self.root / "personas" / slug / "RAG"

    def places(self, slug: str) -> Places:
        folders = {name: self.folders.get(name, ()) for name in self.slugs}
        everyone = {name: (self.rag(name), *paths) for name, paths in folders.items()}
        excluded = self.excluded.get(slug, frozenset())
        return Places(slug, self.rag(slug), folders[slug], everyone, excluded)

    def write(self, path: Path, body: str, personas: Sequence[str] = ()) -> Path:
        front = f"---\npersonas: [{', '.join(personas)}]\n---\n" if personas else ""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{front}# {path.stem}\n\n{body}\n")
        self.clock += 1
        os.utime(path, (self.clock, self.clock))
        return path

    def read(self, data: bytes, name: str) -> Future[Extraction]:
        self.read_names.append(name)
        future: Future[Extraction] = Future()
        future.set_result((read_markdown if name.endswith("md") else read_text)(data))
        return future

    def update(self, slug: str, **options: Any) -> SyncReport:
        self.read_names.clear()
        work = ReadingContext(self.store, self.read, PREPARE)
        return mirror_shelf(self.places(slug), work, Options(**options))

    def add_by_hand(self, path: Path, shelf: str = DEFAULT_SHELF) -> None:
        add([path], ReadingContext(self.store, self.read, PREPARE, shelf))

    def shelf(self, slug: str) -> list[str]:
        return sorted(
            str(Path(document.location).relative_to(self.root.resolve()))
            for document in self.store.documents(Scope.of((slug,)))
        )

    def is_current(self, slug: str) -> bool:
        return is_current(self.places(slug), self.store)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with Store(tmp_path / "library.db", blobs=Blobs(tmp_path / "blobs")) as store:
        yield House(tmp_path / "house", store)


def test_the_first_look_reads_and_the_next_does_nothing(house: House) -> None:
    house.write(house.rag("mia") / "tides.md", "The tide rises.")
    assert not house.is_current("mia")
    report = house.update("mia")
    assert (report.changed, house.read_names) == (1, ["tides.md"])
    assert house.shelf("mia") == ["personas/mia/RAG/tides.md"]
    assert house.shelf(DEFAULT_SHELF) == []
    assert house.is_current("mia")
    again = house.update("mia")
    assert (again.changed, house.read_names) == (0, [])


def test_what_curation_keeps_for_itself_is_never_indexed(house: House) -> None:
    house.write(house.rag("mia") / ".curated" / "tides.md", "base")
    house.write(house.rag("mia") / ".part.md", "unfinished")
    house.write(house.rag("mia") / "tides.md", "x")
    house.update("mia")
    assert house.shelf("mia") == ["personas/mia/RAG/tides.md"]


def test_without_its_rag_a_persona_has_no_documents(house: House) -> None:
    path = house.write(house.rag("mia") / "tides.md", "x")
    house.update("mia")
    path.unlink()
    path.parent.rmdir()
    assert house.update("mia").removed == ("mia/tides.md",)
    assert house.is_current("mia")


def test_a_folder_on_a_disk_that_is_away_keeps_its_documents(house: House) -> None:
    disk = house.root / "disk"
    house.folders["mia"] = (disk,)
    house.write(disk / "tides.md", "x")
    house.update("mia")
    disk.rename(house.root / "away")
    assert house.is_current("mia")
    (away,) = house.update("mia").staying
    assert away == StayingDocuments(str(disk), 1, StayReason.AWAY)
    assert house.shelf("mia") == ["disk/tides.md"]


def test_sharing_follows_the_front_matter(house: House) -> None:
    path = house.rag("mia") / "tides.md"
    house.write(path, "x", ["mia", "ben", "nobody"])
    house.update("mia")
    assert house.shelf("ben") == ["personas/mia/RAG/tides.md"]
    assert house.shelf("nobody") == []
    assert house.is_current("ben")
    assert house.update("ben").changed == 0
    house.write(path, "x", ["mia"])
    report = house.update("mia")
    assert [move.left for move in report.moves] == [("ben",)]
    assert (house.shelf("ben"), house.shelf("mia")) == ([], ["personas/mia/RAG/tides.md"])


def test_a_persona_that_is_new_finds_what_was_shared_with_it(house: House) -> None:
    house.slugs = ("mia",)
    house.write(house.rag("mia") / "tides.md", "x", ["mia", "ben"])
    house.update("mia")
    house.slugs = ("mia", "ben")
    assert not house.is_current("ben")
    house.update("ben")
    assert house.shelf("ben") == ["personas/mia/RAG/tides.md"]


def test_what_a_hand_put_on_another_shelf_stays_there(house: House) -> None:
    path = house.write(house.rag("mia") / "tides.md", "x")
    house.add_by_hand(house.rag("mia"))
    assert not house.is_current("mia")
    house.update("mia")
    (document,) = house.store.documents(EVERYTHING)
    assert document.shelves == (DEFAULT_SHELF, "mia")
    path.unlink()
    house.update("mia")
    assert house.shelf(DEFAULT_SHELF) == ["personas/mia/RAG/tides.md"]
    assert house.shelf("mia") == []
    assert house.is_current("mia")


def test_a_document_of_the_library_cannot_put_itself_on_a_shelf(house: House) -> None:
    house.write(house.root / "x" / "a.md", "a", ["mia"])
    house.add_by_hand(house.root / "x")
    assert house.is_current("mia")
    house.update("mia")
    assert house.shelf("mia") == []


def test_only_markdown_says_whose_it_is(house: House) -> None:
    house.write(house.rag("mia") / "a.txt", "a", ["ben"])
    house.update("mia")
    (document,) = house.store.documents(EVERYTHING)
    assert document.metadata["personas"] == "ben"
    assert document.shelves == ("mia",)


def test_an_excluded_file_is_neither_read_nor_kept(house: House) -> None:
    path = house.write(house.rag("mia") / "a.md", "a")
    house.write(house.rag("mia") / "b.md", "b")
    house.excluded["mia"] = frozenset({path})
    house.update("mia")
    assert house.read_names == ["b.md"]
    assert house.shelf("mia") == ["personas/mia/RAG/b.md"]
    assert house.is_current("mia")
    house.write(path, "changed")
    house.update("mia")
    assert house.read_names == []
    house.excluded.clear()
    assert not house.is_current("mia")
    house.update("mia")
    assert house.read_names == ["a.md"]
    house.excluded["mia"] = frozenset({path})
    assert not house.is_current("mia")
    assert house.update("mia").removed == ("mia/a.md",)
    assert house.is_current("mia")
    assert house.shelf("mia") == ["personas/mia/RAG/b.md"]


def test_what_a_source_of_the_same_folder_excludes_is_read_all_the_same(house: House) -> None:
    folder = house.root / "x"
    house.write(folder / "a.md", "a")
    place = str(folder.resolve())
    house.store.sources().save(Source("x", SourceKind.FOLDER, place, exclude=("*.md",)))
    house.folders["mia"] = (folder,)
    house.update("mia")
    assert house.shelf("mia") == ["x/a.md"]
    assert house.is_current("mia")


def test_a_folder_that_becomes_a_link_is_left(house: House) -> None:
    folder = house.rag("mia") / "x"
    house.write(folder / "a.md", "a")
    house.update("mia")
    folder.rename(house.root / "outside")
    folder.symlink_to(house.root / "outside")
    house.update("mia")
    assert house.shelf("mia") == []
    assert house.is_current("mia")


def test_a_dry_run_changes_nothing(house: House) -> None:
    path = house.write(house.rag("mia") / "a.md", "a")
    house.update("mia")
    path.unlink()
    house.write(house.rag("mia") / "b.md", "b")
    before = house.store.sequence()
    report = house.update("mia", dry_run=True)
    assert report.removed == ("mia/a.md",)
    assert [outcome.record.source for outcome in report.files.outcomes] != []
    assert house.store.sequence() == before
    assert house.shelf("mia") == ["personas/mia/RAG/a.md"]


def expected(house: House, folder: Path) -> dict[str, list[str]]:
    """What the shelves of a new library would hold."""
    blobs = Blobs(folder / "blobs")
    with Store(folder / "fresh.db", blobs=blobs) as store:
        fresh = House(house.root, store, house.slugs, house.folders, house.excluded)
        for slug in house.slugs:
            fresh.update(slug)
        return {slug: fresh.shelf(slug) for slug in house.slugs}


def change(house: House, chance: random.Random, step: int) -> None:
    """Do one thing that a person does to folders."""
    outside = [house.root / "x", house.root / "y"]
    files = sorted(house.root.rglob("*.md"))
    path = chance.choice(files) if files else None
    shared = chance.sample(["mia", "ben", "nobody"], chance.randint(0, 3))
    match chance.choice(["new", "new", "edit", "delete", "rename", "share", "folders"]):
        case "folders":
            for slug in house.slugs:
                house.folders[slug] = tuple(chance.sample(outside, chance.randint(0, 2)))
        case "delete" if path:
            path.unlink()
        case "rename" if path:
            path.rename(path.with_name(f"{chance.randint(0, 9)}.md"))
        case "edit" if path:
            house.write(path, f"Edit {step}.")
        case "share" if path:
            house.write(path, f"Edit {step}.", shared)
        case _:
            place = chance.choice([house.rag("mia"), house.rag("ben"), *outside])
            name = f"{chance.choice(['', 'in/'])}{chance.randint(0, 9)}.md"
            house.write(place / name, f"Text {step}.", shared)


@pytest.mark.parametrize("seed", range(6))
def test_shelves_are_those_of_a_new_library(house: House, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    by_hand: set[str] = set()
    for step in range(12):
        for _ in range(chance.randint(1, 4)):
            change(house, chance, step)
        if step == 5 and (house.root / "x").is_dir():
            house.add_by_hand(house.root / "x")
            by_hand = set(house.store.document_ids(Scope.of([DEFAULT_SHELF])))
        for slug in chance.sample(house.slugs, 2):
            house.update(slug)
        shelves = {slug: house.shelf(slug) for slug in house.slugs}
        assert shelves == expected(house, tmp_path / f"fresh-{step}")
        assert all(house.is_current(slug) for slug in house.slugs)
        # What was renamed is the same document.
        assert house.store.document_ids(Scope.of([DEFAULT_SHELF])) <= by_hand
        # Whatever left the last shelf left the library.
        documents = house.store.documents(EVERYTHING)
        assert all(set(document.shelves) - {DEFAULT_SHELF} or by_hand for document in documents)
