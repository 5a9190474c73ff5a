"""Files that are written: only what nobody else made or edited is written over."""

from pathlib import Path

import pytest

from chapterhouse.errors import RefusedError, UsageError
from chapterhouse.interfaces.cli.output_files import destination, is_marked, marked


def test_a_mark_holds_for_the_whole_file_alone() -> None:
    text = marked("# Minutes\n")
    assert is_marked(text.encode())
    for other in ("", "# Minutes\n", f" {text}", f"{text}\n", text.replace("M", "m", 1)):
        assert not is_marked(other.encode())
    twice = marked(text)
    assert is_marked(twice.encode())


def test_a_file_is_named_in_a_folder_that_is_there(tmp_path: Path) -> None:
    for name in ("-", str(tmp_path), str(tmp_path / "missing" / "a.md"), " "):
        with pytest.raises(UsageError):
            destination(name, "The minutes", "--out m.md", is_marked)
    path = tmp_path / "a.md"
    assert destination(str(path), "The minutes", "--out m.md", is_marked) == path
    assert not path.exists()


def test_only_what_is_ours_may_be_written_over(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(marked("# Minutes\n"))
    assert destination(str(path), "The minutes", "--out m.md", is_marked) == path
    path.write_text("# Mine\n")
    with pytest.raises(RefusedError, match="would be lost"):
        destination(str(path), "The minutes", "--out m.md", is_marked)
