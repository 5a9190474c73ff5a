"""Tables of a page, with ruling lines and without, and what only looks like one."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.reading.pdf_writer import Page, write_pdf

from chapterhouse.reading.pdf.aligned import aligned_tables
from chapterhouse.reading.pdf.document import read_pdf
from chapterhouse.reading.pdf.layout import segments
from chapterhouse.reading.pdf.tables import Table, joined_lines
from chapterhouse.reading.pdf.text import Box, Word

ROWS = [
    ("Station", "Spring", "Autumn"),
    ("Harbour", "12", "1,911"),
    ("Upper valley", "37", "948"),
    ("Mill", "74", "985"),
    ("River gate", "111", "22"),
]
WANTED = "\n".join(
    ["| Station | Spring | Autumn |", "| --- | --- | --- |"]
    + ["| " + " | ".join(row) + " |" for row in ROWS[1:]]
)
PROSE = ["Before the table stands a line of prose that is long enough.", "And another one."]


def text_of(page: Page) -> str:
    return read_pdf(write_pdf([page]), "x.pdf").pages[0].text


def cells(page: Page, columns: list[float], top: float, step: float) -> Page:
    for number, row in enumerate(ROWS):
        for x, cell in zip(columns, row, strict=True):
            page.text(x + 4, top + step * number + 14, cell)
    return page


@pytest.mark.parametrize("ruled", [True, False])
def test_a_table_stands_in_its_place_and_its_text_nowhere_else(*, ruled: bool) -> None:
    columns: list[float] = [72, 200, 300]
    page = cells(Page().lines(72, 100, PROSE), columns, 150, 20)
    if ruled:
        page.grid([*columns, 400], [150 + 20 * number for number in range(6)])
    page.lines(72, 300, PROSE)
    assert text_of(page) == f"{' '.join(PROSE)}\n\n{WANTED}\n\n{' '.join(PROSE)}"


def test_a_table_without_outer_lines() -> None:
    page = cells(Page(), [72, 200, 300], 150, 20)
    page.rule(190, 150, 190, 250).rule(290, 150, 290, 250)
    for number in range(1, 5):
        page.rule(72, 150 + 20 * number, 400, 150 + 20 * number)
    assert text_of(page) == WANTED


def test_lines_of_a_wrapped_cell_are_joined() -> None:
    page = Page().grid([72, 200, 400], [100, 150, 200])
    page.text(76, 120, "Harbour").lines(204, 115, ["open to all who", "come by boat"])
    page.text(76, 170, "Mill").text(204, 170, "closed")
    assert text_of(page).splitlines()[0] == "| Harbour | open to all who come by boat |"


def test_a_header_that_spans_columns_is_repeated() -> None:
    page = Page().grid([72, 172, 272, 372], [120, 140, 160, 180])
    page.rule(72, 100, 372, 100).rule(72, 100, 72, 120).rule(172, 100, 172, 120).rule(
        372, 100, 372, 120
    )
    page.text(76, 114, "Place").text(230, 114, "Catch")
    for number, row in enumerate([("", "cod", "eel"), ("Quay", "3", "4"), ("Mole", "5", "6")]):
        for column, cell in enumerate(row):
            page.text(76 + 100 * column, 134 + 20 * number, cell)
    assert text_of(page).splitlines()[0] == "| Place | Catch | Catch |"


def test_a_frame_around_text_is_no_table() -> None:
    page = Page().grid([60, 500], [90, 160]).lines(72, 110, PROSE)
    assert text_of(page) == " ".join(PROSE)


def test_prose_in_two_columns_is_no_table() -> None:
    page = Page()
    for number in range(10):
        page.text(72, 120 + 14 * number, f"line {number} of the left column of prose")
        page.text(330, 120 + 14 * number, f"line {number} of the right column of prose")
    assert "|" not in text_of(page)


def test_a_drawing_is_no_table() -> None:
    page = Page().lines(72, 100, PROSE)
    page.grid([50 + 5 * number for number in range(90)], [200 + 5 * number for number in range(90)])
    assert text_of(page) == " ".join(PROSE)


def test_lines_in_a_cell() -> None:
    assert joined_lines(["one", "two"]) == "one two"
    assert joined_lines(["provi-", "sional"]) == "provisional"
    assert joined_lines(["1987-", "1988"]) == "1987- 1988"
    assert joined_lines([]) == ""


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


@example(FLEET)
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
    assert table.words == set(range(len(words(rows))))


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
    assert tables(FLEET, step=60) == []  # a wide space between rows ends a table


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
