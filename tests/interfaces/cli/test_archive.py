import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def archive(chapterhouse: Any, home: Path, tmp_path: Path) -> Path:
    """An archive of a library with a persona, a council and a memory; ``home`` is its home."""
    path = tmp_path / "library.chapterhouse"
    assert chapterhouse("export", path, "--quiet").code == 0
    return path


def test_a_library_is_written_and_restored(
    chapterhouse: Any, home: Path, archive: Path, tmp_path: Path
) -> None:
    again = chapterhouse("export", archive)
    assert again.code == 0
    assert again.out.startswith(f"Wrote {archive}, 0.")
    assert "2 documents, " in again.out
    assert "\nSHA-256 " in again.out

    other = tmp_path / "other"
    result = chapterhouse("import", archive, "--home", other)

    assert result.code == 0
    assert result.out.splitlines()[0].startswith("Imported: 2 documents, ")
    assert f"chapterhouse doctor --home {other}" in result.out
    question = ("search", "What does a berth cost?", "--json", "--home")
    assert chapterhouse(*question, other).data == chapterhouse(*question, home).data
    assert chapterhouse("doctor", "--home", other).code == 0
    assert chapterhouse("ask", "slack water", "--persona", "maria", "--home", other).code == 0
    assert (other / "councils" / "berths" / "council.json").exists()


def test_a_file_of_something_else_is_not_overwritten(chapterhouse: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.zip").write_bytes(b"PK\x03\x04 mine")
    assert chapterhouse("export", tmp_path / "mine.zip").code == 5
    assert chapterhouse("export", tmp_path).code == 2
    assert chapterhouse("export", tmp_path / "none" / "a").code == 2
    assert (tmp_path / "mine.zip").read_bytes() == b"PK\x03\x04 mine"


def test_a_damaged_archive_is_one_clear_line(
    chapterhouse: Any, archive: Path, tmp_path: Path
) -> None:
    data = bytearray(archive.read_bytes())
    data[1000] ^= 0xFF  # what stands there differs from run to run, so no one value alters it
    archive.write_bytes(data)
    result = chapterhouse("import", archive, "--home", tmp_path / "other")
    assert (result.code, result.out) == (5, "")
    assert "is cut off, altered, or no archive" in result.err.splitlines()[0]
    assert not (tmp_path / "other").exists()
    for path, code in ((tmp_path / "none", 3), (tmp_path, 2), ("", 2)):
        assert chapterhouse("import", path).code == code


def test_ctrl_c_leaves_nothing_behind(home: Path, tmp_path: Path) -> None:
    """A process of its own, stopped while its work folder is there."""
    out = tmp_path / "out"
    out.mkdir()
    personas = home / "personas" / "maria" / "RAW-DOCS"
    personas.mkdir(parents=True, exist_ok=True)
    (personas / "long").touch()
    os.truncate(personas / "long", 8 * 2**30)  # zeros that take no room, and a minute to pack
    command = [sys.executable, "-m", "chapterhouse", "export", str(out / "a"), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    while not list(out.glob(".unfinished-*/archive")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    written, _ = process.communicate()
    assert process.returncode == 130
    assert json.loads(written)["error"]["type"] == "Interrupted"
    assert list(out.iterdir()) == []
