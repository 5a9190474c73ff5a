"""A library is the image of its folders after one pass, whatever was done to them."""

import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.ingest.look import ReadingContext
from chapterhouse.ingest.mirror import Options, loose_files, mirror_files, mirror_folders
from chapterhouse.types import (
    DEFAULT_SHELF,
    Scope,
    Source,
    SourceKind,
    StayingDocuments,
    StayReason,
    SyncReport,
)

EVERYTHING = Scope.everything()
PROSE = "# Badges\n\nA badge is valid for a year. It is blue and has a picture of its owner.\n"
OTHER = "# Lamps\n\nThe lamp on the pier is lit at dusk, and a keeper looks after it all night.\n"


def followed(home: Any, folder: Path | None = None, **values: Any) -> Source:
    """Save a folder as a source."""
    place = folder or home.folder
    source = Source(place.name, SourceKind.FOLDER, str(place))
    source = replace(source, **values)
    home.store.sources().save(source)
    return source


def sync(home: Any, *sources: Source, **options: Any) -> SyncReport:
    chosen = sources or home.store.sources().sources()
    home.read_names.clear()
    work = ReadingContext(home.store, home.read, home.prepare, chosen[0].shelf)
    return mirror_folders(chosen, work, Options(**options))


def texts(home: Any) -> dict[str, str]:
    """Return the text of each document by its source."""
    return {
        one.source: home.store.body(one.id, EVERYTHING).text
        for one in home.store.documents(EVERYTHING)
    }


def writes(home: Any) -> int:
    return int(home.store._connections._writer.total_changes())


def test_a_renamed_file_is_not_read_again_and_stays_the_same_document(home: Any) -> None:
    path = home.write("minutes of may.md", "Words without a heading, and enough of them.")
    followed(home)
    (outcome,) = sync(home).files.outcomes
    (home.folder / "archive").mkdir()
    path.rename(home.folder / "archive" / "of june.md")
    report = sync(home)
    assert home.read_names == []
    assert [one.record.code for one in report.files.outcomes] == ["renamed"]
    assert report.removed == report.files.missing == ()
    document = home.store.document(outcome.record.document_id, EVERYTHING)
    assert (document.source, document.title) == ("docs/archive/of june.md", "of june")
    assert home.faults() == []


def test_files_that_change_places_keep_their_documents(home: Any) -> None:
    one, two = home.write("one.md", PROSE), home.write("two.md", OTHER)
    followed(home)
    sync(home)
    ids = {source: one.id for source, one in documents(home).items()}
    three = home.folder / "three.md"
    one.rename(three)
    two.rename(one)
    three.rename(two)
    sync(home)
    assert home.read_names == []
    assert documents(home)["docs/one.md"].id == ids["docs/two.md"]
    assert documents(home)["docs/two.md"].id == ids["docs/one.md"]
    assert texts(home) == {"docs/one.md": OTHER.strip(), "docs/two.md": PROSE.strip()}


def documents(home: Any) -> dict[str, Any]:
    return {one.source: one for one in home.store.documents(EVERYTHING)}


def test_a_file_moves_from_one_folder_to_another(home: Any) -> None:
    path = home.write("a.md", PROSE)
    other = home.folder.parent / "other"
    other.mkdir()
    home.write("stays.md", OTHER)
    sources = followed(home), followed(home, other)
    (outcome, _) = sync(home, *sources).files.outcomes
    path.rename(other / "a.md")
    sync(home, *sources)
    document = home.store.document(outcome.record.document_id, EVERYTHING)
    assert document.source == "other/a.md"
    assert home.read_names == []


def test_patterns_decide_what_is_read(home: Any) -> None:
    for name in ("a.md", "drafts/b.md", "notes/c.txt", "notes/d.md"):
        home.write(name, PROSE + name)
    source = followed(home, exclude=("drafts/", "*.txt"))
    report = sync(home)
    assert home.sources() == ["docs/a.md", "docs/notes/d.md"]
    reasons = {Path(one.path).name: one.reason for one in report.files.ignored}
    assert reasons == {"drafts": "excluded", "c.txt": "excluded"}
    home.store.sources().save(replace(source, include=("notes/",), exclude=()))
    assert sync(home).removed == ("docs/a.md",)
    assert home.sources() == ["docs/notes/c.txt", "docs/notes/d.md"]


def test_what_is_excluded_stays_on_other_shelves(home: Any) -> None:
    home.write("a.md", PROSE)
    home.write("b.md", OTHER)
    source = followed(home)
    sync(home)
    (document, _) = home.store.documents(EVERYTHING)
    home.store.set_shelves(document.id, (DEFAULT_SHELF, "maria"))
    home.store.sources().save(replace(source, exclude=("*.md",), include=()))
    report = sync(home, replace(source, exclude=("*.md",)), confirmed=True)
    assert report.removed == ("docs/b.md",)
    assert [(move.source, move.left) for move in report.moves] == [("docs/a.md", (DEFAULT_SHELF,))]
    (left,) = home.store.documents(EVERYTHING)
    assert left.shelves == ("maria",)


def test_a_folder_that_is_away_keeps_its_documents(home: Any) -> None:
    home.write("a.md", PROSE)
    source = followed(home)
    sync(home)
    away = home.folder.rename(home.folder.with_name("elsewhere"))
    report = sync(home)
    assert report.staying == (StayingDocuments(str(home.folder), 1, StayReason.AWAY),)
    assert home.sources() == ["docs/a.md"]
    # The mount point of a disk that is away, with what a desktop leaves in it.
    home.folder.mkdir()
    (home.folder / ".DS_Store").write_bytes(b"x")
    report = sync(home)
    assert report.staying == (StayingDocuments(str(home.folder), 1, StayReason.MANY, 1),)
    assert home.sources() == ["docs/a.md"]
    assert sync(home, source, confirmed=True).removed == ("docs/a.md",)
    assert away.exists()


def test_a_folder_that_was_renamed_is_followed_and_a_few_copies_are_no_rename(home: Any) -> None:
    for name in ("a.md", "b.md", "sub/c.md"):
        home.write(name, PROSE + name)
    source = followed(home)
    ids = {one.record.document_id for one in sync(home, source).files.outcomes}
    source = replace(source, synced=1)
    home.store.sources().save(source)
    renamed = home.folder.rename(home.folder.with_name("renamed"))
    copies = home.folder.with_name("copies")
    copies.mkdir()
    (copies / "a.md").write_text(PROSE + "a.md")
    sync(home, source, followed(home, copies))
    assert len(home.sources()) == 4
    report = sync(home, source, followed(home, renamed))
    assert home.read_names == []
    assert report.staying == ()
    assert home.sources() == [
        "copies/a.md", "renamed/a.md", "renamed/b.md", "renamed/sub/c.md",
    ]  # fmt: skip
    assert {one.id for one in home.store.documents(EVERYTHING)} > ids
    assert [one.name for one in home.store.sources().sources()] == ["copies", "renamed"]
    assert home.faults() == []


def test_a_single_file_in_a_folder_that_is_away_stays(home: Any) -> None:
    other = home.folder.parent / "other"
    other.mkdir()
    (other / "one.md").write_text(PROSE)
    home.add(other / "one.md")
    other.rename(other.with_name("unplugged"))
    work = ReadingContext(home.store, home.read, home.prepare, DEFAULT_SHELF)
    files = loose_files(home.store, (), ())
    assert mirror_files(files, work, Options()).removed == ()
    assert home.sources() == ["other/one.md"]


def test_a_dry_run_says_it_all_and_does_nothing(home: Any) -> None:
    one, two = home.write("one.md", PROSE), home.write("two.md", OTHER)
    followed(home)
    sync(home)
    one.rename(home.folder / "three.md")
    two.unlink()
    home.write("four.md", PROSE + OTHER)
    before = writes(home)
    report = sync(home, dry_run=True)
    codes = {one.record.source: one.record.code for one in report.files.outcomes}
    assert codes == {"docs/three.md": "would-be-renamed", "docs/four.md": "would-be-read"}
    assert report.removed == ("docs/two.md",)
    assert writes(home) == before
    report = sync(home, delete=False)
    assert (report.removed, report.files.missing) == ((), ("docs/two.md",))
    assert "docs/two.md" in home.sources()


def test_single_files_are_followed_too(home: Any) -> None:
    other = home.folder.parent / "other"
    other.mkdir()
    one, two = other / "one.md", other / "two.md"
    one.write_text(PROSE)
    two.write_text(OTHER)
    home.add(one, two)
    followed(home)
    work = ReadingContext(home.store, home.read, home.prepare, DEFAULT_SHELF)
    files = loose_files(home.store, home.store.sources().sources(), ())
    assert files == (one, two)
    assert loose_files(home.store, (), (str(other),)) == ()
    two.unlink()
    one.write_text(PROSE + "More than before.")
    report = mirror_files(files, work, Options())
    assert report.removed == ("other/two.md",)
    assert texts(home) == {"other/one.md": (PROSE + "More than before.").strip()}


def test_a_link_in_the_place_of_a_young_file_is_not_followed(home: Any) -> None:
    outside = home.folder.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text(OTHER)
    path = home.write("a.md", PROSE)
    os.utime(path)
    followed(home)

    def swap(data: bytes, name: str) -> Any:
        path.unlink()
        path.symlink_to(outside / "secret.md")
        return read_whole(data, name)

    read_whole, home.reader = home.reader, swap
    sync(home)
    assert list(texts(home).values()) in ([], [PROSE.strip()])
    assert all(OTHER.strip() not in text for text in texts(home).values())


# --- the law ---------------------------------------------------------------------------------


class Model:
    """Folders as a dictionary, and what people do to them."""

    def __init__(self, home: Any, chance: random.Random) -> None:
        self.root, self.chance, self.home = home.folder, chance, home
        self.files: dict[str, str] = {}
        self.count = 0

    def step(self) -> None:
        some = sorted(self.files)
        kind = self.chance.choice(
            ["new", "new", "copy", "edit", "delete", "rename", "swap", "case", "folder", "over"]
        )
        if kind == "new" or len(some) < 2:
            self.place(self.name(), self.text())
            return
        one, two = self.chance.sample(some, 2)
        match kind:
            case "copy":
                self.place(self.name(), self.files[one])
            case "edit":
                self.place(one, self.text())
            case "delete":
                (self.root / one).unlink()
                del self.files[one]
            case "rename":
                self.rename(one, self.name())
            case "over":
                self.rename(one, two)
            case "case":
                self.rename(one, one.upper().replace(".MD", ".md"))
            case "folder":
                self.rename(one, f"in-{self.chance.randint(0, 2)}/{one.rpartition('/')[2]}")
            case "swap":
                self.rename(one, "between.md")
                self.rename(two, one)
                self.rename("between.md", two)

    def name(self) -> str:
        folder = self.chance.choice(["", "", "sub/", "sub/deep/"])
        return f"{folder}n{self.chance.randint(0, 9)}.md"

    def text(self) -> str:
        self.count += 1
        return f"Text number {self.count} of the lighthouse, which has {self.count} windows."

    def place(self, name: str, text: str) -> None:
        time = self.chance.choice([1_600_000_000, 1_600_000_000 + self.count, 4_000_000_000])
        self.home.write(name, text, time=time)
        self.files[name] = text

    def rename(self, one: str, two: str) -> None:
        if one == two:
            return
        target = self.root / two
        target.parent.mkdir(parents=True, exist_ok=True)
        (self.root / one).rename(target)
        self.files[two] = self.files.pop(one)


@pytest.mark.parametrize("seed", range(4))
def test_after_any_changes_one_pass_is_enough(home: Any, seed: int) -> None:
    model = Model(home, random.Random(seed))
    source = followed(home)
    for _ in range(12):
        for _ in range(model.chance.randint(1, 6)):
            model.step()
        sync(home, source, confirmed=True)
        assert texts(home) == {f"docs/{name}": text for name, text in model.files.items()}
        before = writes(home)
        assert sync(home, source, confirmed=True).changed == 0
        assert writes(home) == before
    assert home.faults() == []
