"""One archive of a library that others may be changing: whole, private, or not there."""

import hashlib
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.errors import ChapterhouseError, CorruptLibraryError
from chapterhouse.ingest.archive import open_archive
from chapterhouse.store.sqlite import INLINE_MAXIMUM
from chapterhouse.types import ExportReport, Progress, Scope

LARGE = "Many words are here. " * (INLINE_MAXIMUM // 20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    documents = tmp_path_factory.mktemp("documents")
    for name, text in (("small", "Slack water is short."), ("large", LARGE)):
        path = documents / f"{name}.md"
        path.write_text(f"# {name}\n\n{text}\n")
        os.utime(path, (1_600_000_000, 1_600_000_000))
    return documents


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Path:
    home = tmp_path_factory.mktemp("prepared")
    with Library.open(home) as library:
        library.documents.add(folder)
    return home


@pytest.fixture
def library(tmp_path: Path, prepared: Path) -> Iterator[Library]:
    with Library.open(shutil.copytree(prepared, tmp_path / "home")) as opened:
        yield opened


def names(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as file:
        return file.namelist()


def test_the_bytes_of_large_files_are_in_it_and_its_report_is_true(
    library: Library, tmp_path: Path
) -> None:
    path = tmp_path / "archive"

    report = library.export(path)

    large = hashlib.sha256(f"# large\n\n{LARGE}\n".encode()).hexdigest()
    assert names(path) == ["chapterhouse-archive", f"blobs/{large}", "library.db", "manifest.json"]
    assert report == ExportReport(
        str(path),
        path.stat().st_size,
        hashlib.sha256(path.read_bytes()).hexdigest(),
        report.snapshot,
        3,
    )
    assert report.snapshot.documents == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(tmp_path.iterdir()) == [path, tmp_path / "home"]


def test_a_blob_that_goes_while_others_are_copied_is_not_missed(
    library: Library, folder: Path, tmp_path: Path
) -> None:
    """The document is replaced after its first blob was copied: the archive has the second."""
    changed = f"# large\n\n{LARGE} Amended.\n"

    def change(progress: Progress) -> None:
        if progress.current == "files" and "Amended" not in (folder / "large.md").read_text():
            (folder / "large.md").write_text(changed)
            library.documents.add(folder)

    library.export(tmp_path / "archive", on_progress=change)

    (tmp_path / "elsewhere").mkdir()
    Library.restore(tmp_path / "archive", tmp_path / "elsewhere")
    with Library.open(tmp_path / "elsewhere") as restored:
        assert all(check.passed for check in restored.doctor())
        document = restored.documents.get("large.md")
        store = restored._runtime.store
        assert store.content(document.sha256, Scope.everything()) == changed.encode()
        # What was copied in vain is not restored.
        assert list(restored._runtime.blobs.hashes()) == [document.sha256]


def test_bytes_that_are_missing_are_no_backup(library: Library, tmp_path: Path) -> None:
    (sha256,) = library._runtime.blobs.hashes()
    library._runtime.blobs.delete(sha256)
    with pytest.raises(CorruptLibraryError, match=sha256):
        library.export(tmp_path / "archive")
    assert not (tmp_path / "archive").exists()
    assert not list(tmp_path.glob(".*"))


def test_personas_and_councils_are_in_it_without_links_and_hidden_files(
    library: Library, tmp_path: Path
) -> None:
    maria = library.home / "personas" / "maria"
    for name in ("raw/.fetched/page.json", "rag/.curated/base.md", "raw/été.md", ".git/config"):
        (maria / name).parent.mkdir(parents=True, exist_ok=True)
        (maria / name).write_text(name)
    (maria / ".env").write_text("KEY=secret")
    (maria / "raw" / "linked.md").symlink_to("/etc/passwd")
    (maria / "raw" / "folder").symlink_to("/etc")
    os.mkfifo(maria / "raw" / "pipe")
    (library.home / "councils" / "berths").mkdir(parents=True)
    (library.home / "councils" / "berths" / "council.json").write_text("{}")

    report = library.export(tmp_path / "archive")

    inside = [name for name in names(tmp_path / "archive") if name.startswith(("pers", "coun"))]
    assert inside == [
        "personas/maria/rag/.curated/base.md",
        "personas/maria/raw/été.md",
        "personas/maria/raw/.fetched/page.json",
        "councils/berths/council.json",
    ]
    assert b"secret" not in (tmp_path / "archive").read_bytes()
    reasons = {Path(line.partition(": ")[0]).name: line for line in report.left_out}
    assert reasons.keys() == {"linked.md", "folder", "pipe"}
    assert "links are not followed" in reasons["folder"]


def test_settings_leave_without_what_may_be_secret(library: Library, tmp_path: Path) -> None:
    (library.home / "chapterhouse.toml").write_text(
        "# my-secret-comment\n[search]\nlimit = 7\n"
        '[language_model]\nengine = "openai"\nmodel = "m"\nbase_url = "http://localhost:1"\n'
        'key_variable = "MY_KEY"\nextra_body = { key = "body-secret" }\n'
    )
    library.export(tmp_path / "archive")
    with zipfile.ZipFile(tmp_path / "archive") as file:
        text = file.read("settings/home.toml").decode()
    assert "limit" in text
    assert "MY_KEY" in text
    assert "secret" not in text
    assert "settings/workspace.toml" not in names(tmp_path / "archive")


def test_questions_and_memories_can_stay_here(library: Library, tmp_path: Path) -> None:
    library.answers.ask("How long is slack water?")
    (library.folder / "questions.jsonl").write_text("{}\n")
    (library.folder / "chat_history").write_text("what I asked\n")
    whole = library.export(tmp_path / "whole")
    less = library.export(tmp_path / "less", memories=False)
    assert (whole.snapshot.memories, less.snapshot.memories) == (1, 0)
    assert "questions.jsonl" in names(tmp_path / "whole")
    assert "questions.jsonl" not in names(tmp_path / "less")
    assert "chat_history" not in names(tmp_path / "whole")


def test_an_interrupt_leaves_the_archive_that_was_there(library: Library, tmp_path: Path) -> None:
    library.export(tmp_path / "archive")
    before = (tmp_path / "archive").read_bytes()

    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.export(tmp_path / "archive", on_progress=stop)

    assert (tmp_path / "archive").read_bytes() == before
    assert not list(tmp_path.glob(".*"))


@contextmanager
def smallest_disk(room: int) -> Iterator[None]:
    """Let no file of this process grow beyond some bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("room", [500, 5_000, 40_000, 150_000])
def test_a_full_disk_is_one_clear_error_and_leaves_nothing(
    library: Library, tmp_path: Path, room: int
) -> None:
    with smallest_disk(room), pytest.raises(ChapterhouseError) as error:
        library.export(tmp_path / "archive")
    assert error.value.hint
    assert not (tmp_path / "archive").exists()
    assert not list(tmp_path.glob(".*"))
    assert library.export(tmp_path / "archive").snapshot.documents == 2  # once there is room


def test_a_link_stays_a_link(library: Library, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "latest").symlink_to(tmp_path / "elsewhere" / "archive")
    library.export(tmp_path / "latest")
    assert (tmp_path / "latest").is_symlink()
    with open_archive(tmp_path / "elsewhere" / "archive") as archive:
        assert archive.manifest.workspace == "default"


def test_what_is_exported_while_another_process_adds_is_whole(tmp_path: Path) -> None:
    folder, home = tmp_path / "many", tmp_path / "home"
    folder.mkdir()
    for number in range(40):
        text = LARGE if number % 8 == 0 else "Slack water is short."
        (folder / f"{number:02}.md").write_text(f"# Note {number}\n\n{text}\n")
    with Library.open(home) as library:
        program = Path(__file__).with_name("adding_process.py")
        command = [sys.executable, str(program), str(folder), str(library.folder)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        counts: list[int] = []
        for number, _ in enumerate(process.stdout):  # one for each document that is safe
            if number % 5 == 0:
                counts.append(library.export(tmp_path / f"{len(counts)}").snapshot.documents)
        process.communicate()
        assert process.returncode == 0
        counts.append(library.export(tmp_path / f"{len(counts)}").snapshot.documents)
    assert counts == sorted(counts)
    assert counts[-1] == 40
    among = next(number for number, count in enumerate(counts) if count == counts[len(counts) // 2])
    Library.restore(tmp_path / f"{among}", tmp_path / "elsewhere")
    with Library.open(tmp_path / "elsewhere") as restored:
        assert [check for check in restored.doctor() if not check.passed] == []
        documents = list(restored.documents.list())
        assert len(documents) == counts[among]
        for one in documents:
            assert len(restored.documents.chunks(one.id)) == one.chunks > 0


def test_a_killed_export_leaves_nothing_that_the_next_does_not_clear(
    library: Library, tmp_path: Path
) -> None:
    code = (
        "import os, signal, sys\nfrom chapterhouse import Library\n"
        "with Library.open(sys.argv[1]) as library:\n"
        "    library.export(sys.argv[2], on_progress=lambda _: os.kill(os.getpid(), 9))\n"
    )
    path = tmp_path / "out" / "archive"
    path.parent.mkdir()
    done = subprocess.run([sys.executable, "-c", code, str(library.home), str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = path.parent.iterdir()
    os.utime(left, (1_600_000_000, 1_600_000_000))
    library.export(path)
    assert list(path.parent.iterdir()) == [path]
