"""Files that are written whole or not at all."""

import os
from pathlib import Path

import pytest

from chapterhouse.errors import UsageError
from chapterhouse.evaluation.runs import read_text, require_writable


def test_places_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    require_writable(tmp_path / "new")
    with pytest.raises(UsageError, match="is a folder"):
        require_writable(tmp_path)
    with pytest.raises(UsageError, match="is not there"):
        require_writable(tmp_path / "none" / "a")
    require_writable(Path(os.devnull))


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfhello")
    assert read_text(tmp_path / "a") == "hello"
