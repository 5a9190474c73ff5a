import zipfile
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from tests.reading.conftest import png

from chapterhouse.types import Status

TEXT = "# Ferry\n\nThe ferry leaves at nine o'clock.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    (made / "ferry.md").write_text(TEXT, "utf-8")
    (made / "empty.txt").write_bytes(b"")
    (made / ".hidden.md").write_text(TEXT, "utf-8")
    with zipfile.ZipFile(made / "old.zip", "w") as archive:
        archive.writestr("inside.md", TEXT.replace("nine", "ten"))
    return made


@pytest.fixture
def home(tmp_path: Path) -> tuple[str, str]:
    return ("--home", str(tmp_path / "home"))


def test_a_second_add_tells_again_what_was_rejected(
    chapterhouse: Any, folder: Path, home: tuple[str, str]
) -> None:
    first = chapterhouse("add", str(folder), *home)
    assert first.out.startswith(
        "3 files and 1 in them: 2 ready, 1 unpacked, 1 rejected; 2 chunks\n"
    )
    again = chapterhouse("add", str(folder), *home)
    assert (first.code, again.code) == (4, 4)
    assert again.out.startswith("3 files and 1 in them: 3 unchanged, 1 rejected earlier\n")
    assert "rejected  papers/empty.txt: empty.txt has no bytes. (empty)\n" in again.out
    assert again.out.endswith("Ignored: 1 hidden. To add a hidden file, name it.\n")
    data = chapterhouse("add", str(folder), "--json", *home).data
    assert (data["earlier"], len(data["ignored"])) == (
        {"ready": 2, "partial": 0, "skipped": 1, "rejected": 1, "failed": 0, "quarantined": 0},
        1,
    )
    (told,) = [entry["earlier"] for entry in data["outcomes"] if entry["earlier"]]
    assert told[0]["code"] == "empty"


def test_files_are_listed_and_explained_with_their_reasons(
    chapterhouse: Any, folder: Path, home: tuple[str, str]
) -> None:
    chapterhouse("add", str(folder), *home)
    every = chapterhouse("docs", "list", "--files", *home).out
    assert "    empty.txt has no bytes. (empty)\n" in every
    assert "    It holds 1 file: 1 ready. (unpacked)\n" in every
    only = chapterhouse("docs", "list", "--problems", *home).out.splitlines()
    assert [line.split()[0] for line in only] == ["status", "rejected", "empty.txt"]
    assert chapterhouse("docs", "list", "--problems", "--shelf", "x", *home).code == 2
    for command in ("show", "remove"):
        result = chapterhouse("docs", command, "empty.txt", *home)
        assert result.code == 3
        assert "gave no document (rejected, empty). empty.txt has no bytes." in result.err


def test_what_is_in_an_archive_or_a_message_is_shown(
    chapterhouse: Any, folder: Path, home: tuple[str, str]
) -> None:
    message = EmailMessage()
    message["Subject"] = "Papers"
    message.set_content("The papers are attached.")
    message.add_attachment(TEXT.replace("nine", "six"), filename="six.md")
    (folder / "note.eml").write_bytes(bytes(message))
    chapterhouse("add", str(folder), *home)
    archive = chapterhouse("docs", "show", "old.zip", *home)
    assert archive.code == 0
    assert "It holds 1 file: 1 ready." in archive.out
    assert "papers/old.zip/inside.md" in archive.out
    told = chapterhouse("docs", "show", "old.zip", "--json", *home).data
    assert [entry["status"] for entry in told["files"]] == [Status.READY]
    assert "papers/note.eml/six.md" in chapterhouse("docs", "show", "note.eml", *home).out
    assert chapterhouse("docs", "show", "old.zip", "--text", *home).code == 3


def test_pictures_without_text_are_one_line(
    chapterhouse: Any, tmp_path: Path, home: tuple[str, str]
) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    for number in range(4):
        (papers / f"p{number:02}.png").write_bytes(png())
    for _ in range(2):  # the second time they are unchanged
        told = chapterhouse("add", str(papers), *home).out.splitlines()
        lines = [line for line in told if "4 pictures" in line or "p00" in line]
        named = "papers/p00.png, papers/p01.png, papers/p02.png"
        assert len(lines) == 1
        if "were not read" not in lines[0]:
            assert lines[0].startswith(f"rejected  4 pictures without text: {named}, and 1 more. ")
    data = chapterhouse("add", str(papers), *home, "--json").data
    assert len(data["outcomes"]) == 4
