"""Analytics as CSV: nothing in it is a formula, and nothing is lost."""

import csv
import io

from hypothesis import example, given
from hypothesis import strategies as st

from chapterhouse.presenting.analytics import (
    analytics_blocks,
    csv_text,
    original_cell,
    safe_cell,
    tables,
)
from chapterhouse.types import (
    Analytics,
    AskedFigures,
    ContentGap,
    DocumentFigures,
    DocumentUse,
    ModelFigures,
    OutcomeCounts,
)

FORMULA = "=+-@\t\r\n"
HOSTILE = '=HYPERLINK("http://x","y")'
TEXTS = st.text(st.sampled_from("=+-@'\t\r\n,\"; a＝é"), max_size=6)


@given(TEXTS)
@example("'=1")
def test_no_cell_is_a_formula_and_each_gives_its_text_back(text: str) -> None:
    cell = safe_cell(text)
    assert not cell.startswith(tuple(FORMULA))
    assert original_cell(cell) == text


@given(st.lists(st.lists(TEXTS, min_size=2, max_size=2), max_size=5))
def test_a_table_is_read_back_as_it_was(rows: list[list[str]]) -> None:
    text = csv_text((("a", "b"), rows))
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert [[original_cell(cell) for cell in row] for row in read] == [["a", "b"], *rows]


USE = DocumentUse("a-1", HOSTILE, "notes/-a.md", 0, 2)
COUNTS = OutcomeCounts(3, 1, 1, 1)
REPORT = Analytics(
    days=1,
    first_day="2026-01-01",
    last_day="2026-01-01",
    documents=DocumentFigures(2, {"ready": 2}, {"md": 2}, {"library": 2}, {"up to 30 days": 2}, 1),
    outcomes=COUNTS,
    by_interface={"cli": 3},
    gaps=(ContentGap(COUNTS, 0, (USE,), ("cost",), (HOSTILE,)),),
    gap_count=3,
    most_cited=(USE,),
    never_cited=(USE,),
    models=(ModelFigures("large", 3, 0, 1_500, 2_000, 10, 5, 0.5, 1),),
    asked=(AskedFigures("", "board", COUNTS, 5, None),),
)


def test_every_table_is_safe() -> None:
    for name, table in tables(REPORT).items():
        read = list(csv.reader(io.StringIO(csv_text(table), newline="")))
        assert {len(row) for row in read} == {len(table[0])}, name
        assert not any(cell.startswith(tuple(FORMULA)) for row in read for cell in row), name
    assert f"'{HOSTILE}" in csv_text(tables(REPORT)["gaps"]).replace('""', '"')


def test_people_read_what_matters() -> None:
    text = repr(list(analytics_blocks(REPORT)))
    for shown in ("3 questions", "and 2 smaller gaps", "$0.5000, 1 not known", "council board"):
        assert shown in text
    assert "Never cited: 1 of 2 documents" in text
