"""A library is the image of its folders after one pass, whatever was done to them."""

import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.connectors.folder import SourceFile
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


def test_what_is_gone_leaves_and_what_is_new_comes(home: Any) -> None:
    home.write("a.md", PROSE)
    gone = home.write("b.md", OTHER)
    followed(home)
    sync(home)
    gone.unlink()
    home.write("c.md", PROSE + "More.")
    report = sync(home)
    assert report.removed == ("docs/b.md",)
    assert report.changed == 2
    assert home.sources() == ["docs/a.md", "docs/c.md"]
    assert home.faults() == []


def test_a_second_pass_writes_nothing(home: Any) -> None:
    home.write("a.md", PROSE)
    young = home.write("young.md", OTHER)
    os.utime(young)
    followed(home)
    sync(home)
    before = writes(home)
    report = sync(home)
    assert report.changed == 0
    assert writes(home) == before
    assert home.read_names == []


def test_a_renamed_file_is_not_read_again_and_stays_the_same_document(home: Any) -> None:
    path = home.write("minutes of may.md", PROSE)
    followed(home)
    (outcome,) = sync(home).files.outcomes
    chunks = home.store.chunks_of(outcome.record.document_id, EVERYTHING)
    (home.folder / "archive").mkdir()
    path.rename(home.folder / "archive" / "may.md")
    report = sync(home)
    assert home.read_names == []
    assert [one.record.code for one in report.files.outcomes] == ["renamed"]
    assert report.removed == report.files.missing == ()
    document = home.store.document(outcome.record.document_id, EVERYTHING)
    assert document.source == "docs/archive/may.md"
    assert home.store.chunks_of(document.id, EVERYTHING) == chunks
    assert home.faults() == []


def test_a_title_that_was_the_files_name_follows_it(home: Any) -> None:
    path = home.write("first name.md", "Words without a heading, and enough of them to be kept.")
    followed(home)
    sync(home)
    path.rename(path.with_name("second name.md"))
    sync(home)
    (document,) = home.store.documents(EVERYTHING)
    assert document.title == "second name"


def test_files_that_change_places_keep_their_documents(home: Any) -> None:
    one, two = home.write("one.md", PROSE), home.write("two.md", OTHER)
    followed(home)
    sync(home)
    ids = {text: name for name, text in ((d.id, t) for d, t in _documents(home))}
    three = home.folder / "three.md"
    one.rename(three)
    two.rename(one)
    three.rename(two)
    sync(home)
    assert home.read_names == []
    assert {text: d.id for d, text in _documents(home)} == ids
    assert {d.source: text for d, text in _documents(home)} == {
        "docs/one.md": OTHER.strip(), "docs/two.md": PROSE.strip(),
    }  # fmt: skip


def _documents(home: Any) -> list[tuple[Any, str]]:
    found = home.store.documents(EVERYTHING)
    return [(one, home.store.body(one.id, EVERYTHING).text) for one in found]


def test_a_file_moved_over_another_takes_its_place(home: Any) -> None:
    one, two = home.write("one.md", PROSE), home.write("two.md", OTHER)
    followed(home)
    sync(home)
    one.replace(two)
    sync(home)
    assert texts(home) == {"docs/two.md": PROSE.strip()}
    assert home.faults() == []


def test_a_copy_is_a_document_of_its_own(home: Any) -> None:
    home.write("one.md", PROSE)
    followed(home)
    sync(home)
    home.write("two.md", PROSE)
    report = sync(home)
    assert report.changed == 1
    assert home.sources() == ["docs/one.md", "docs/two.md"]


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


def test_a_file_over_the_sources_limit_is_rejected(home: Any) -> None:
    home.write("a.md", PROSE)
    followed(home, maximum_bytes=10)
    (outcome,) = sync(home).files.outcomes
    assert outcome.record.code == "too-large"
    assert "of the source 'docs' at most 10" in outcome.record.sentence


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


def test_a_folder_that_was_renamed_is_followed(home: Any) -> None:
    for name in ("a.md", "b.md", "sub/c.md"):
        home.write(name, PROSE + name)
    source = followed(home)
    ids = {one.record.document_id for one in sync(home, source).files.outcomes}
    source = replace(source, synced=1)
    home.store.sources().save(source)
    renamed = home.folder.rename(home.folder.with_name("renamed"))
    other = followed(home, renamed)
    report = sync(home, source, other)
    assert home.read_names == []
    assert report.staying == ()
    assert home.sources() == ["renamed/a.md", "renamed/b.md", "renamed/sub/c.md"]
    assert {one.id for one in home.store.documents(EVERYTHING)} == ids
    assert [one.name for one in home.store.sources().sources()] == ["renamed"]
    assert home.faults() == []


def test_copies_of_a_few_files_take_nothing_from_a_disk_that_is_away(home: Any) -> None:
    for name in ("a.md", "b.md", "c.md", "d.md"):
        home.write(name, PROSE + name)
    source = followed(home)
    sync(home, source)
    other = home.folder.parent / "other"
    other.mkdir()
    (other / "a.md").write_text(PROSE + "a.md")
    home.folder.rename(home.folder.with_name("unplugged"))
    sync(home, source, followed(home, other))
    assert len(home.sources()) == 5


def test_patterns_that_leave_nothing_are_not_believed(home: Any) -> None:
    home.write("a.md", PROSE)
    source = followed(home)
    sync(home, source)
    home.store.sources().save(replace(source, include=("*.pdf",)))
    report = sync(home)
    assert report.staying == (StayingDocuments(str(home.folder), 1, StayReason.MANY, 1),)
    assert home.sources() == ["docs/a.md"]


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


def test_without_deleting_documents_stay(home: Any) -> None:
    path = home.write("a.md", PROSE)
    home.write("b.md", OTHER)
    followed(home)
    sync(home)
    path.unlink()
    report = sync(home, delete=False)
    assert (report.removed, report.files.missing) == ((), ("docs/a.md",))
    assert home.sources() == ["docs/a.md", "docs/b.md"]


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


def test_a_pipe_in_the_place_of_a_file_is_written_down_once(home: Any) -> None:
    path = home.write("a.md", PROSE)
    home.write("b.md", OTHER)
    followed(home)
    sync(home)
    path.unlink()
    os.mkfifo(path)
    sync(home)
    record = home.store.file(str(path))
    assert "was removed from the library" in record.sentence
    before = writes(home)
    sync(home)
    assert writes(home) == before
    assert home.store.file(str(path)) == record


def test_a_file_takes_the_place_of_a_folder(home: Any) -> None:
    home.write("a.md/inside.md", PROSE)
    home.write("b.md", OTHER)
    followed(home)
    sync(home)
    (home.folder / "a.md" / "inside.md").unlink()
    (home.folder / "a.md").rmdir()
    home.write("a.md", OTHER + "More.")
    assert sync(home).removed == ("docs/a.md/inside.md",)
    assert home.sources() == ["docs/a.md", "docs/b.md"]


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


def test_a_link_in_the_place_of_a_single_file_is_not_followed(home: Any) -> None:
    other, outside = home.folder.parent / "other", home.folder.parent / "outside"
    other.mkdir()
    outside.mkdir()
    (outside / "secret.md").write_text(OTHER)
    path = other / "one.md"
    path.write_text(PROSE)
    home.add(path)
    path.unlink()
    path.symlink_to(outside / "secret.md")
    work = ReadingContext(home.store, home.read, home.prepare, DEFAULT_SHELF)
    mirror_files((path,), work, Options())
    assert texts(home) == {}


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


def test_the_law_would_notice_a_rename_that_is_not_followed(
    home: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home.write("a.md", PROSE)
    source = followed(home)
    sync(home)

    def never(file: SourceFile, known: Any) -> bool:
        return False

    monkeypatch.setattr("chapterhouse.ingest.renames._is_new", never)
    path.rename(path.with_name("b.md"))
    sync(home, source, confirmed=True)
    assert home.read_names == ["b.md"]
