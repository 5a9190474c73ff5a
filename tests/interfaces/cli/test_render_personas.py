"""Files of a persona: each with its standing, and why one is not indexed."""

import pytest

from chapterhouse.agents.listing import IndexState, Listed
from chapterhouse.interfaces.cli.render_personas import STANDINGS, documents, moved
from chapterhouse.presenting.blocks import Verbatim


def test_every_standing_of_a_file_has_a_colour() -> None:
    assert tuple(STANDINGS) == tuple(standing.value for standing in IndexState)


def told(*listed: Listed) -> list[str]:
    return [
        "".join(words.text for words in block.line)
        for block in documents(listed, "papers/")
        if isinstance(block, Verbatim)
    ]


def test_an_empty_folder_says_what_to_do() -> None:
    assert told() == ["No documents. Drop some into papers/"]


def test_a_file_that_is_not_indexed_says_why_below_and_all_are_counted_in_one_order() -> None:
    lines = told(
        Listed("a.pdf", "/a.pdf", status=IndexState.REJECTED, reason="No\ntext.", code="no-text"),
        Listed("b.md", "/b.md", "b-1", status=IndexState.INDEXED, chunks=1, shared_with=("mia",)),
        Listed("c.md", "/c.md", "c-1", status=IndexState.INDEXED, chunks=2),
    )
    assert lines[0].split() == ["rejected", "a.pdf"]
    assert lines[1].endswith("No text. (no-text)")
    assert lines[2].split() == ["indexed", "b.md", *["b-1", "1", "chunk", "shared", "with", "mia"]]
    assert lines[-1] == "3 files: 2 indexed, 1 rejected"


@pytest.mark.parametrize("dry_run", [True, False])
def test_how_to_undo_is_told_only_of_what_was_done(*, dry_run: bool) -> None:
    entry = Listed("a.pdf", "/a.pdf")
    said = list(moved(entry, "chapterhouse persona documents", out=True, dry_run=dry_run))
    assert len(said) == (1 if dry_run else 3)
    assert len(list(moved(entry, "x", out=False, dry_run=dry_run))) == 1
