"""A real library of three documents."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from chapterhouse import Library


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "tariffs.md").write_text(
        "# Tariffs\n\nA guest berth costs **80 euros** a metre.\n\n"
        "## Reduced harbour dues\n\nMembers of the sailing club pay half of the harbour dues.\n",
        "utf-8",
    )
    (papers / "tariffs-2019.md").write_text(
        "# Tariffs of 2019\n\nA guest berth costs 60 euros a metre until the end of 2019.\n",
        "utf-8",
    )
    (papers / "glossary.md").write_text(
        "# Glossary of the harbour\n\nA slipway is a ramp on which boats are moved to the water. "
        "The gauge at the Kessel quay shows the water above chart datum in decimetres.\n",
        "utf-8",
    )
    with Library.open(tmp_path / "home") as opened:
        opened.documents.add(papers)
        yield opened


@pytest.fixture(scope="module", autouse=True)
def words_first(vectors_later: None) -> None:
    """Make no vectors while documents are added."""
