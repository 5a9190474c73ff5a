"""A file that is uploaded again under the same name to the same shelf replaces the older one."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.library import Library
from chapterhouse.store.jobs import JobStore
from chapterhouse.types import Job

OLD = b"# Tariff\n\nThe night tariff is 30 cents.\n"
NEW = OLD.replace(b"30", b"44")


def sent(
    library: Library, data: bytes, name: str = "tariff.md", *, work: bool = True, **options: Any
) -> Job:
    with library.documents.receive() as upload:
        upload.write(data)
        job = library.documents.upload_later(upload.finish(), name, **options)
    if work:
        library.jobs.work(idle_seconds=0)
    return library.jobs.get(job.id)


def texts(library: Library) -> list[str]:
    bodies = (library.documents.body(one.id).text for one in library.documents.list())
    return sorted(text.split("is ")[1].strip() for text in bodies)


def replaced(job: Job) -> list[Any]:
    assert job.state == "done"
    found = job.result["replaced"]
    assert isinstance(found, list)
    return found


@pytest.fixture
def library(tmp_path: Path) -> Any:
    with Library.open(tmp_path / "home") as opened:
        yield opened


def test_the_newer_version_is_there_and_the_job_names_the_older_one(library: Library) -> None:
    assert replaced(sent(library, OLD)) == []
    (old,) = library.documents.list()
    assert "30 cents" in library.answers.ask("What is the night tariff?").text
    assert replaced(sent(library, NEW)) == [{"id": old.id, "source": old.source}]
    assert texts(library) == ["44 cents."]
    answer = library.answers.ask("What is the night tariff?")
    assert "44 cents" in answer.text
    assert "30 cents" not in answer.text
    assert not any("30" in one.chunk.text for one in library.search.hits("30 cents").hits)
    assert replaced(sent(library, NEW)) == []  # the same again
    assert [one["source"][-9:] for one in replaced(sent(library, OLD))] == ["tariff.md"]
    assert texts(library) == ["30 cents."]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("tariff.md", {"retain_both": True}),
        ("Tariff.md", {}),
        ("tariff.md.txt", {}),
        ("tariff.md", {"shelf": "harbour"}),
    ],
)
def test_both_stay_where_that_is_wanted_or_name_or_shelf_differ(
    library: Library, name: str, options: dict[str, Any]
) -> None:
    sent(library, OLD)
    assert replaced(sent(library, NEW, name, **options)) == []
    assert texts(library) == ["30 cents.", "44 cents."]


def test_both_leave_when_a_third_comes(library: Library) -> None:
    sent(library, OLD)
    sent(library, NEW, retain_both=True)
    assert len(replaced(sent(library, NEW.replace(b"44", b"51")))) == 2
    assert texts(library) == ["51 cents."]


def test_what_others_added_or_texts_are_called_stays(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "tariff"
    folder.mkdir()
    (folder / "tariff.md").write_bytes(OLD)
    library.documents.add(folder)
    library.documents.add_text(OLD.decode() + "It is low.", title="tariff")
    assert replaced(sent(library, NEW)) == []
    assert len(tuple(library.documents.list())) == 3


def test_a_document_on_another_shelf_only_leaves_the_shelf(library: Library) -> None:
    sent(library, OLD, shelf="harbour")
    (old,) = library.documents.list()
    library.documents.set_shelves(old.id, ["harbour", "pilots"])
    assert [one["id"] for one in replaced(sent(library, NEW, shelf="harbour"))] == [old.id]
    shelves = {one.id: one.shelves for one in library.documents.list()}
    assert shelves.pop(old.id) == ("pilots",)
    assert list(shelves.values()) == [("harbour",)]


def test_a_version_that_cannot_be_read_replaces_nothing(library: Library) -> None:
    sent(library, OLD)
    failed = sent(library, bytes(range(256)) * 40)
    assert failed.state == "failed"
    assert texts(library) == ["30 cents."]


def packed(**files: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"{name}.md", content)
    return data.getvalue()


def test_an_archive_replaces_all_that_the_older_one_held(library: Library) -> None:
    sent(library, packed(a=OLD, b=OLD.replace(b"30", b"31")), "tariffs.zip")
    assert len(replaced(sent(library, packed(a=NEW), "tariffs.zip"))) == 2
    assert texts(library) == ["44 cents."]


def test_the_version_that_came_last_stays_whichever_is_read_first(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = sent(library, OLD, work=False)
    second = sent(library, NEW, work=False)
    claim = JobStore.claim

    def claim_second(self: JobStore, *arguments: Any, **options: Any) -> Job | None:
        return claim(self, arguments[0], arguments[1], arguments[2], second.id, **options)

    with monkeypatch.context() as patch:
        patch.setattr(JobStore, "claim", claim_second)
        assert library.jobs.work(idle_seconds=0) is not None
    assert texts(library) == ["44 cents."]
    (new,) = library.documents.list()
    library.jobs.work(idle_seconds=0)
    assert texts(library) == ["44 cents."]
    result = library.jobs.get(first.id).result
    assert (result["documents"], result["replaced_by"]) == ([], new.id)


def test_a_cancelled_version_replaces_nothing(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent(library, OLD)
    monkeypatch.setattr(JobStore, "stored", lambda *_: False)
    sent(library, NEW)
    assert texts(library) == ["30 cents."]


def test_nothing_of_both_is_left_after_a_removal(library: Library) -> None:
    sent(library, OLD)
    sent(library, NEW)
    (document,) = library.documents.list()
    search = library.documents.remove(document.id).search
    assert search is not None
    assert search.found == 0
    files = [one for one in library.folder.rglob("*") if one.is_file()]
    assert not any(b"tariff is 30 cents" in one.read_bytes() for one in files)
