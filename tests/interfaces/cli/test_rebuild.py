"""``rebuild`` over a real library: what is printed, asked and refused."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def changed(home: Path) -> Path:
    """A home whose settings cut otherwise than its documents were cut."""
    with (home / "chapterhouse.toml").open("a") as stream:
        stream.write('\n[chunking]\nstrategy = "sentence"\nmaximum = 60\n')
    return home


def test_it_says_what_it_would_do_and_does_it(chapterhouse: Any, changed: Path) -> None:
    assert "2 documents cut by other settings: chapterhouse rebuild" in chapterhouse("status").out
    assert "chapterhouse rebuild" in chapterhouse("doctor").out
    planned = chapterhouse("rebuild", "--dry-run")
    assert planned.code == 0
    assert planned.out == "Would cut 2 of 2 documents again, beside the library.\n"
    waits = chapterhouse("rebuild", "--quiet")
    assert (waits.code, waits.out) == (10, "")
    assert "The second library is ready." in waits.err
    done = chapterhouse("rebuild", "--yes", "--json")
    assert done.code == 0
    assert done.data["documents"] == 2
    assert done.data["chunks"] > done.data["chunks_before"]
    assert chapterhouse("status", "--json").data["cut_otherwise"] == 0
    assert "Nothing was done." in chapterhouse("rebuild").out
    back = chapterhouse("rebuild", "--back")
    assert back.out.startswith("The library before serves again.")
    assert chapterhouse("status", "--json").data["cut_otherwise"] == 2
    assert chapterhouse("rebuild", "--forget").code == 10
    assert "previous" in chapterhouse("rebuild", "--forget", "--dry-run").out
    assert chapterhouse("rebuild", "--forget", "--yes").out == "Deleted: previous\n"
    assert chapterhouse("rebuild", "--forget", "--yes").out == "There is none.\n"
    assert chapterhouse("rebuild", "--back").code == 3


def test_what_does_not_go_together_is_refused(chapterhouse: Any, home: Path) -> None:
    assert chapterhouse("rebuild", "--back", "--forget").code == 2
    assert chapterhouse("rebuild", "--back", "--dry-run").code == 2
    assert chapterhouse("rebuild", "--yes", "--home", home / "none").code == 3
