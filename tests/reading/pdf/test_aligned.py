"""Tables without ruling lines: found by the white between their columns, and only there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.reading.pdf.aligned import aligned_tables
from chapterhouse.reading.pdf.layout import segments
from chapterhouse.reading.pdf.tables import Table
from chapterhouse.reading.pdf.text import Box, Word

Rows = list[tuple[str, ...]]
FLEET: Rows = [("Vessel", "Seats"), ("Heron", "180"), ("Grey teal", "90"), ("Ringed plover", "45")]


def words(rows: Rows, step: float = 20, column: float = 150) -> list[Word]:
    """Cells that begin at one place in each column; a letter is 5 points wide."""
    found: list[Word] = []
    for line, row in enumerate(rows):
        for number, cell in enumerate(row):
            left = 72 + column * number
            for text in cell.split():
                box = Box(left, step * line, left + 5 * len(text), step * line + 10)
                found.append(Word(text, box, 10.0, False, line, False, len(found)))  # noqa: FBT003
                left += 5 * len(text) + 3
    return found


def tables(rows: Rows, step: float = 20, column: float = 150) -> list[Table]:
    return aligned_tables(segments(words(rows, step, column)))


def test_rows_whose_cells_stand_below_each_other_are_a_table() -> None:
    (table,) = tables(FLEET)
    assert list(table.rows) == FLEET
    assert table.words == set(range(len(words(FLEET))))


@given(
    st.lists(
        st.lists(st.text("abcde", min_size=3, max_size=9), min_size=3, max_size=3).map(tuple),
        min_size=4,
        max_size=9,
    )
)
def test_every_full_table_is_found_whole(rows: Rows) -> None:
    (table,) = tables(rows)
    assert list(table.rows) == rows


@given(st.lists(st.lists(st.text("ab 1.", max_size=12), max_size=4).map(tuple), max_size=8))
def test_no_word_is_in_two_tables_and_none_is_made_up(rows: Rows) -> None:
    found = tables(rows)
    taken = [order for table in found for order in table.words]
    assert len(taken) == len(set(taken)) <= len(words(rows))
    texts = sorted(word.text for word in words(rows) if word.order in taken)
    cells = " ".join(cell for table in found for row in table.rows for cell in row)
    assert sorted(cells.split()) == texts


@pytest.mark.parametrize(
    "rows",
    [
        [("Chapter one . . . . . . . .", "7"), ("Chapter two . . . . . . . .", "14")]
        * 3,  # contents
        [("1.", "a thing to do"), ("2.", "another thing"), ("3.", "the last of all")],  # a list
        [("x", "="), ("y", "+"), ("z", "1")] * 4,  # a formula
        [("abc", "1"), ("def", "2"), ("ghi", "3")],  # marks of an axis
        FLEET[:2],  # chance
    ],
)
def test_what_only_looks_like_a_table(rows: Rows) -> None:
    assert tables(rows) == []


def test_a_wide_space_between_rows_ends_a_table() -> None:
    assert tables(FLEET, step=60) == []


def test_lines_of_a_cell_stand_closer_than_rows() -> None:
    lines: Rows = [
        ("Heron and", "open to all who"),
        ("grey teal", "come by boat"),
        ("", "or by train"),
        ("Plover", "closed in May"),
    ]
    tops = (0, 11, 22, 50)
    found = [
        word._replace(box=word.box._replace(top=tops[word.line], bottom=tops[word.line] + 10))
        for word in words(lines)
    ]
    more = [
        word._replace(
            line=word.line + 4,
            order=word.order + 20,
            box=word.box._replace(top=word.box.top + 78, bottom=word.box.bottom + 78),
        )
        for word in words([("Gull", "closed in June")])
    ]
    (table,) = aligned_tables(segments(found + more))
    assert table.rows[0] == ("Heron and grey teal", "open to all who come by boat or by train")
    assert len(table.rows) == 3
