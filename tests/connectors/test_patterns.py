"""Patterns as git reads them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from chapterhouse.connectors.patterns import left_out
from chapterhouse.errors import UsageError

PATHS = [
    "a.md", "a.log", "drafts/b.md", "sub/drafts/c.md", "sub/a.log", "notes/old/d.md", "notes/d.md",
]  # fmt: skip
PATTERNS = [
    ["*.log"], ["drafts/"], ["/a.md"], ["notes/**/d.md"], ["*.md", "!notes/d.md"], ["sub/*"],
]  # fmt: skip


@pytest.mark.parametrize("patterns", PATTERNS, ids=" ".join)
def test_exclude_means_what_git_means(patterns: list[str], tmp_path: Path) -> None:
    git = shutil.which("git")
    assert git, "the tests need git"
    subprocess.run([git, "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("\n".join(patterns))
    for path in PATHS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    listed = subprocess.run(
        [git, "-C", tmp_path, "ls-files", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    leaves = left_out((), patterns)
    read = [path for path in PATHS if not leaves(path, is_folder=False)]
    assert sorted(read) == sorted(path for path in listed if path != ".gitignore")


def test_include_reads_nothing_else_but_looks_into_every_folder() -> None:
    leaves = left_out(["notes/"], ["*.log"])
    assert [path for path in PATHS if not leaves(path, is_folder=False)] == [
        "notes/old/d.md",
        "notes/d.md",
    ]
    assert not leaves("sub", is_folder=True)
    assert left_out([], ["sub/"])("sub", is_folder=True)


def test_without_patterns_nothing_is_left_out() -> None:
    leaves = left_out((), ())
    assert not any(leaves(path, is_folder=False) for path in PATHS)


@pytest.mark.parametrize("pattern", ["", " ", "a\nb", "[bad"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(UsageError, match="no pattern"):
        left_out((), [pattern])
