"""The line that names a citation's place."""

import pytest

from chapterhouse.presenting.citing import citation_line
from chapterhouse.types import Citation

LONG = "You are going to see a number of things that are not possible on other platforms"
CITED = Citation(1, "d", "Guide", "guide.md", ("Guide", LONG), 3, "", "", 0, 4, "text", "0" * 64)


@pytest.mark.parametrize(
    ("longest", "line"),
    [
        (None, f"Guide, §{LONG}, page 3"),
        (30, "Guide, §You are going to see a number…, page 3"),
        (200, f"Guide, §{LONG}, page 3"),
    ],
)
def test_long_headings_are_cut_where_there_is_one_line(longest: int | None, line: str) -> None:
    assert citation_line(CITED, longest) == line
