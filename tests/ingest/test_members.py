"""Files in archives and messages: documents of their own, as true as files in a folder."""

import io
import os
import zipfile
from collections.abc import Mapping
from email.message import EmailMessage
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from chapterhouse.ingest.look import UNPACKED, ReadingContext
from chapterhouse.ingest.mirror import Options, mirror_folders
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.types import Extraction, Scope, Source, SourceKind, Status

EVERYTHING = Scope.everything()

OLD = 1_600_000_000
FILES = {"annex/a.md": "The annex is blue.", "b.txt": "The boat is green."}


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


def place(home: Any, name: str, data: bytes, *, time: int = OLD) -> Path:
    path: Path = home.folder / name
    path.write_bytes(data)
    os.utime(path, (time, time))
    return path


@pytest.fixture(autouse=True)
def real_reader(home: Any) -> None:
    def reader(data: bytes, name: str) -> Extraction:
        return read(data, name, Limits())

    home.reader = reader


def told(home: Any, **options: Any) -> dict[str, tuple[str, str]]:
    return {
        o.record.source: (o.record.status.value, o.record.code)
        for o in home.add(**options).outcomes
    }


def test_each_file_in_an_archive_is_a_document(home: Any) -> None:
    inner = zipped({"deep/c.txt": "The captain is Ada."})
    picture = bytes(range(256))
    junk = {".DS_Store": "x", "__MACOSX/._a": "x", "Thumbs.db": "x"}
    place(home, "report.zip", zipped({**FILES, "inner.zip": inner, "p.bin": picture, **junk}))
    assert told(home) == {
        "docs/report.zip/annex/a.md": ("ready", ""),
        "docs/report.zip/b.txt": ("ready", ""),
        "docs/report.zip/inner.zip/deep/c.txt": ("ready", ""),
        "docs/report.zip/inner.zip": ("skipped", UNPACKED),
        "docs/report.zip/p.bin": ("skipped", "unsupported-format"),
        "docs/report.zip": ("skipped", UNPACKED),
    }
    (found,) = [one for one in home.store.documents(EVERYTHING) if one.source.endswith("c.txt")]
    assert home.store.body(found.id, EVERYTHING).text == "The captain is Ada."
    assert found.metadata["container"] == "docs/report.zip/inner.zip"
    assert home.faults() == []


def test_an_empty_file_in_an_archive_is_told(home: Any) -> None:
    place(home, "report.zip", zipped(FILES | {"empty.txt": ""}))
    assert told(home)["docs/report.zip/empty.txt"][0] == "rejected"
    place(home, "report.zip", zipped(FILES | {"b.txt": ""}), time=OLD + 9)
    assert told(home)["docs/report.zip/b.txt"][0] == "rejected"
    assert home.sources() == ["docs/report.zip/annex/a.md"]
    assert home.faults() == []


def test_an_unchanged_archive_is_not_opened(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    place(home, "report.zip", zipped(FILES))
    home.add()
    sequence = home.store.sequence()
    monkeypatch.setattr("chapterhouse.connectors.content.open_source", None)
    assert told(home) == {"docs/report.zip": ("skipped", "unchanged")}
    assert home.store.sequence() == sequence


def test_of_a_changed_archive_only_what_changed_is_read(home: Any) -> None:
    place(home, "report.zip", zipped(FILES))
    home.add()
    changed = {"b.txt": FILES["b.txt"], "annex/a.md": "The annex is red.", "new.txt": "New."}
    place(home, "report.zip", zipped(changed), time=OLD + 9)
    assert told(home)["docs/report.zip/b.txt"] == ("skipped", "unchanged")
    assert sorted(home.read_names) == ["a.md", "new.txt", "report.zip"]
    texts = [home.store.body(one.id, EVERYTHING).text for one in home.store.documents(EVERYTHING)]
    assert sorted(texts) == ["New.", "The annex is red.", "The boat is green."]


def test_what_left_an_archive_leaves_the_library(home: Any) -> None:
    inner = zipped({"c.txt": "Inner."})
    place(home, "report.zip", zipped({**FILES, "inner.zip": inner}))
    home.add()
    place(home, "report.zip", zipped({"b.txt": FILES["b.txt"]}), time=OLD + 9)
    home.add()
    assert home.sources() == ["docs/report.zip/b.txt"]
    assert [r.source for r in home.store.files()] == ["docs/report.zip", "docs/report.zip/b.txt"]
    place(home, "report.zip", b"PK\x03\x04 no archive any more", time=OLD + 18)
    assert told(home) == {"docs/report.zip": ("rejected", "archive-damaged")}
    assert home.sources() == []


def test_an_archive_on_another_shelf_is_there_with_all_that_is_in_it(home: Any) -> None:
    place(home, "report.zip", zipped(FILES))
    home.add()
    home.add(shelf="maria")
    assert {one.shelves for one in home.store.documents(EVERYTHING)} == {("library", "maria")}


def test_attachments_are_documents_tied_to_their_message(home: Any) -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "ada@x.org", "Invoice"
    message.set_content("Please find it attached.")
    message.add_attachment("The sum is 450 euros.", filename="invoice.txt")
    inside = EmailMessage()
    inside["Subject"] = "Before"
    inside.set_content("An older message.")
    message.add_attachment(inside)
    place(home, "mail.eml", message.as_bytes())
    found = told(home, limits=Limits(archive_depth=0))  # which is too much: it is read itself
    assert found == {"docs/mail.eml": ("partial", "attachments-not-read")}
    message["Date"] = "Mon, 04 May 2026 10:00:00 +0000"
    place(home, "mail.eml", message.as_bytes(), time=OLD + 9)
    assert set(told(home).values()) == {("ready", "")}
    documents = {one.source: one for one in home.store.documents(EVERYTHING)}
    assert len(documents) == 3
    assert documents["docs/mail.eml/invoice.txt"].metadata["container"] == "docs/mail.eml"
    body = home.store.body(documents["docs/mail.eml"].id, EVERYTHING).text
    assert "Please find it" in body
    assert "Attachments: invoice.txt" in body


def test_a_message_names_what_it_carries_without_text(home: Any) -> None:
    message = EmailMessage()
    message["Subject"] = "Papers"
    message.set_content("The papers are attached.")
    message.add_attachment(b"\x00\x01", "application", "octet-stream", filename="a.bin")
    message.add_attachment("Whole.", filename="whole.txt")
    message.add_attachment(b"%PDF-1.7\ncut", "application", "pdf", filename="cut.pdf")
    place(home, "note.eml", bytes(message))
    outcome = home.add().outcomes[-1]
    assert (outcome.record.status, outcome.record.code) == (Status.READY, "")
    assert [(notice.code, notice.sentence) for notice in outcome.notices] == [
        ("attachments-rejected", "2 files in it gave no text: a.bin, cut.pdf.")
    ]


def test_archives_in_archives_end_somewhere(home: Any) -> None:
    data = zipped({"e.txt": "The end."})
    for depth in range(6):
        data = zipped({f"{depth}.zip": data})
    place(home, "deep.zip", data)
    found = told(home)
    assert ("rejected", "too-deep") in found.values()
    assert home.sources() == []
    assert found["docs/deep.zip"] == ("skipped", UNPACKED)


def test_archives_in_archives_share_one_room(home: Any) -> None:
    inner = zipped({f"{n}.txt": f"Text {n}." for n in range(6)})
    place(home, "wide.zip", zipped({"a.zip": inner, "b.zip": inner}))
    found = told(home, limits=Limits(archive_files=10))
    assert found["docs/wide.zip/a.zip"] == ("skipped", UNPACKED)
    assert found["docs/wide.zip/b.zip"] == ("rejected", "archive-too-many-entries")


def test_a_stop_in_an_archive_leaves_it_to_the_next_run(home: Any) -> None:
    place(home, "report.zip", zipped({f"{n}.txt": f"Text {n}." for n in range(20)}))
    stop = Event()
    report = home.add(stop=stop, on_progress=lambda _: stop.set())
    assert report.interrupted
    assert home.store.file(str(home.folder / "report.zip")) is None
    found = home.add()
    assert not found.interrupted
    assert len(home.sources()) == 20
    assert found.outcomes[0].record.code == "unchanged"
    assert found.count(Status.READY) == 20 - len(report.outcomes)


def mirrored(home: Any, *, dry_run: bool = False) -> Any:
    source = Source("docs", SourceKind.FOLDER, str(home.folder))
    work = ReadingContext(home.store, home.read, home.prepare, source.shelf)
    return mirror_folders([source], work, Options(dry_run=dry_run))


def test_the_documents_of_an_archive_follow_it_to_another_name(home: Any) -> None:
    path = place(home, "a.zip", zipped(FILES))
    place(home, "c.md", b"The pier is long.")
    mirrored(home)
    before = {one.source: one.id for one in home.store.documents(EVERYTHING)}
    path.rename(home.folder / "b.zip")
    assert (mirrored(home, dry_run=True).removed, mirrored(home).removed) == ((), ())
    after = {
        one.source.replace("b.zip", "a.zip"): one.id for one in home.store.documents(EVERYTHING)
    }
    assert after == before
    assert home.faults() == []


def test_an_archive_moved_over_another_takes_its_place_wholly(home: Any) -> None:
    path = place(home, "a.zip", zipped({"one.md": "The lamp is lit."}))
    place(home, "b.zip", zipped({"one.md": "The door is red.", "two.md": "The boat is green."}))
    mirrored(home)
    path.replace(home.folder / "b.zip")
    mirrored(home)
    assert home.sources() == ["docs/b.zip/one.md"]
    assert [one.location for one in home.store.files()] == [
        str(home.folder / "b.zip"),
        str(home.folder / "b.zip" / "one.md"),
    ]
