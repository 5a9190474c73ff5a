"""A library that follows a folder elsewhere: a connector of the tests, the real store."""

import hashlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.errors import RejectedError
from chapterhouse.ingest.look import ReadingContext, has_stamp
from chapterhouse.ingest.mirror import Options, mirror
from chapterhouse.ingest.plan import plan_remote
from chapterhouse.types import (
    DEFAULT_SHELF,
    FileRecord,
    Notice,
    Scope,
    Source,
    SourceKind,
    Status,
    StayReason,
    SyncReport,
)

PREFIX = "rclone:drive:"
DRIVE = Source("drive", SourceKind.CLOUD, "drive:")


@dataclass
class Remote:
    """Files in memory: a text, or an error in its place; a time for each."""

    texts: dict[str, str | RejectedError | Notice] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    fetched: list[str] = field(default_factory=list)

    def write(self, name: str, text: str | RejectedError | Notice) -> None:
        self.texts[name] = text
        self.times[name] = self.times.get(name, 0) + 1

    def files(self) -> Iterator[SourceFile]:
        for name in sorted(self.texts):
            text = self.texts[name]
            yield SourceFile(
                Path(),
                tuple(name.split("/")),
                f"{PREFIX}{name}",
                f"drive/{name}",
                len(text.encode()) if isinstance(text, str) else -1,
                self.times[name],
                problem=text if isinstance(text, Notice) else None,
            )

    def contents(
        self, files: Sequence[SourceFile], maximum_bytes: int
    ) -> Generator[Content | RejectedError]:
        for file in files:
            name = "/".join(file.parts)
            self.fetched.append(name)
            text = self.texts[name]
            assert not isinstance(text, Notice)
            if isinstance(text, RejectedError):
                yield text
                continue
            data = text.encode()
            assert len(data) <= maximum_bytes
            digest = hashlib.sha256(data).hexdigest()
            yield Content(data, digest, len(data), self.times[name], 0)


@pytest.fixture
def remote() -> Remote:
    made = Remote()
    made.write("a.md", "# A\n\nThe first text of all of them.\n")
    made.write("b/c.md", "# C\n\nThe second text, in a folder.\n")
    return made


def sync(home: Any, remote: Remote, source: Source = DRIVE, **options: Any) -> SyncReport:
    remote.fetched.clear()
    work = ReadingContext(home.store, home.read, home.prepare, DEFAULT_SHELF)
    plan = plan_remote(remote.files(), source, home.store)
    return mirror(plan, remote.contents, [source], work, Options(**options))


def texts(home: Any) -> dict[str, str]:
    everything = Scope.everything()
    return {
        document.source: home.store.body(document.id, everything).text
        for document in home.store.documents(everything)
    }


def test_the_library_becomes_what_is_there(home: Any, remote: Remote) -> None:
    assert sync(home, remote).files.changed == 2
    assert sorted(texts(home)) == ["drive/a.md", "drive/b/c.md"]
    remote.write("a.md", "# A\n\nAnother text than before.\n")
    del remote.texts["b/c.md"]
    remote.write("d.md", "# D\n\nA new one.\n")
    done = sync(home, remote)
    assert remote.fetched == ["a.md", "d.md"]
    assert done.removed == ("drive/b/c.md",)
    assert sorted(texts(home)) == ["drive/a.md", "drive/d.md"]
    assert "Another" in texts(home)["drive/a.md"]
    assert home.faults() == []


@pytest.mark.parametrize("code", ["truncated", "changed-while-reading", "cannot-open", "vanished"])
def test_bytes_that_cannot_be_had_leave_the_document_and_are_fetched_the_next_time(
    home: Any, remote: Remote, code: str
) -> None:
    sync(home, remote)
    before = texts(home)
    remote.write("a.md", RejectedError(code, "It did not arrive."))
    report = sync(home, remote).files
    assert report.outcomes[0].record.code == code
    assert texts(home) == before
    remote.write("a.md", "# A\n\nNow it is there.\n")
    sync(home, remote)
    assert remote.fetched == ["a.md"]
    assert "Now" in texts(home)["drive/a.md"]


def test_an_empty_folder_removes_nothing(home: Any, remote: Remote) -> None:
    sync(home, remote)
    remote.texts.clear()
    report = sync(home, remote)
    assert [(one.documents, one.reason) for one in report.staying] == [(2, StayReason.MANY)]
    assert len(texts(home)) == 2
    assert sync(home, remote, delete=False).removed == ()


def test_a_second_pass_fetches_nothing_and_records_without_a_document_go_with_their_files(
    home: Any, remote: Remote
) -> None:
    remote.write("n.exe", Notice("unsupported-format", "It is not read."))
    sync(home, remote)
    changes = home.store._connections._writer.total_changes()
    report = sync(home, remote).files
    codes = [outcome.record.code for outcome in report.outcomes]
    assert codes == ["unchanged", "unchanged", "unsupported-format"]
    assert remote.fetched == []
    assert home.store._connections._writer.total_changes() == changes
    assert home.store.file(f"{PREFIX}n.exe") is not None
    del remote.texts["n.exe"]
    sync(home, remote)
    assert home.store.file(f"{PREFIX}n.exe") is None


def test_other_places_are_left_alone(home: Any, remote: Remote) -> None:
    home.write("local.md", "# Local\n\nA file on this machine.\n")
    home.add()
    sync(home, remote)
    del remote.texts["a.md"]
    sync(home, remote)
    assert sorted(texts(home)) == ["docs/local.md", "drive/b/c.md"]


def test_the_same_bytes_with_a_new_time_are_not_read(home: Any, remote: Remote) -> None:
    sync(home, remote)
    home.read_names.clear()
    remote.times["a.md"] += 1
    assert sync(home, remote).files.changed == 0
    assert (remote.fetched, home.read_names) == (["a.md"], [])
    sync(home, remote)
    assert remote.fetched == []


def test_an_exported_document_counts_by_its_time_alone() -> None:
    file = SourceFile(Path(), ("a.docx",), f"{PREFIX}a.docx", "drive/a.docx", -1, 5)
    known = FileRecord(file.location, file.source, 4_000, 5, "ab", Status.READY)
    assert has_stamp(known, file)
    assert not has_stamp(FileRecord(file.location, "", 4_000, 6, "ab", Status.READY), file)


def test_patterns_and_limits_hold_for_drives_too(home: Any, remote: Remote) -> None:
    remote.write("drafts/d.md", "# D\n\nA draft of a text.\n")
    remote.write("long.md", "# L\n\n" + "A long text. " * 20)
    source = replace(DRIVE, exclude=("drafts/", "b/"), maximum_bytes=100)
    report = sync(home, remote, source)
    assert sorted(texts(home)) == ["drive/a.md"]
    assert [one.path for one in report.files.ignored] == [f"{PREFIX}b/c.md", f"{PREFIX}drafts/d.md"]
    assert report.files.outcomes[-1].record.code == "too-large"
