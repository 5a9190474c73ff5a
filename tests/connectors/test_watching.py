"""Changes below folders are noticed."""

import threading
from pathlib import Path

import pytest

from chapterhouse.connectors.watching import changes
from chapterhouse.errors import ChapterhouseError


def test_a_change_is_told_and_the_watch_ends_when_it_should(tmp_path: Path) -> None:
    stop = threading.Event()
    seen: set[Path] = set()
    for batch in changes([tmp_path], stop):
        if seen := seen | batch:
            stop.set()
        else:
            (tmp_path / "new.md").write_text("A note.")
    assert seen == {tmp_path / "new.md"}


def test_a_folder_that_is_not_there_cannot_be_watched(tmp_path: Path) -> None:
    with pytest.raises(ChapterhouseError, match="cannot be watched"):
        next(changes([tmp_path / "none"], threading.Event()))
