"""Rows of tables: in merged cells, between the lines of groups, over pages, and lists of pairs."""

import ctypes
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from pypdfium2 import raw
from tests.reading.pdf_writer import HEIGHT, Page, write_pdf

from chapterhouse.reading.pdf import text
from chapterhouse.reading.pdf.document import read_pdf
from chapterhouse.reading.pdf.text import Place

Rows = list[tuple[str, ...]]
COLUMNS = [72.0, 192, 292, 392]
HEAD = ("Buoy", "Colour", "Depth m")
BUOYS: Rows = [(f"B-{200 + n}", ("red", "green")[n % 2], f"{3 + n / 2}") for n in range(12)]
BOATS: Rows = [("Skarv", "Ulf", "Quay"), ("Terne", "Nora", "Mole"), ("Lom", "Ole", "Slip")]


def texts(*pages: Page) -> list[str]:
    return [page.text for page in read_pdf(write_pdf(list(pages)), "x.pdf").pages]


def table(head: tuple[str, ...], rows: Rows) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines)


def drawn(page: Page, rows: Rows, top: float, *, bold: int = 0, ruled: bool = True) -> Page:
    """Draw a table whose rows are 20 points high, the first ``bold`` ones in bold type."""
    for number, row in enumerate(rows):
        for x, cell in zip(COLUMNS, row, strict=False):
            page.text(x + 4, top + 20 * number + 14, cell, bold=number < bold)
    edges = COLUMNS[: len(rows[0]) + 1]
    return page.grid(edges, [top + 20 * n for n in range(len(rows) + 1)]) if ruled else page


def merged(label_rows: list[int], rows: Rows, top: float = 100) -> Page:
    """Draw a table whose first column has cells that span the given numbers of rows."""
    page = Page().rule(72, top, 392, top)
    bottom = top + 20 * len(rows)
    for x in COLUMNS:
        page.rule(x, top, x, bottom)
    edges = {0}
    for count in label_rows:
        edges.add(max(edges) + count)
    for number, row in enumerate(rows):
        y = top + 20 * number
        page.rule(72 if number in edges else 192, y, 392, y)
        for x, cell in zip(COLUMNS, row, strict=False):
            page.text(x + 4, y + 14, cell)
    return page.rule(72, bottom, 392, bottom)


@pytest.mark.parametrize(
    ("spans", "rows", "wanted"),
    [
        (
            [1, 2, 2],
            [("Zone", "Age", "Fare"), ("Nord", "Adult", "17.40"), ("", "Child", "8.10"),
             ("S\xfcd", "Adult", "21.90"), ("", "Child", "9.60")],
            [("Nord", "Adult", "17.40"), ("Nord", "Child", "8.10"),
             ("S\xfcd", "Adult", "21.90"), ("S\xfcd", "Child", "9.60")],
        ),
        # What has its own lines and is empty stays empty.
        (
            [1, 1, 1, 2],
            [("Zone", "Age", "Fare"), ("Nord", "Adult", "17.40"), ("", "Child", "8.10"),
             ("S\xfcd", "Adult", "21.90"), ("", "Child", "9.60")],
            [("Nord", "Adult", "17.40"), ("", "Child", "8.10"),
             ("S\xfcd", "Adult", "21.90"), ("S\xfcd", "Child", "9.60")],
        ),
        # Numbers in each row of a high cell: a line is missing.
        (
            [1, 2],
            [("No.", "Age", "Fare"), ("1", "Adult", "17.40"), ("2", "Child", "8.10")],
            [("1", "Adult", "17.40"), ("2", "Child", "8.10")],
        ),
    ],
)  # fmt: skip
def test_the_label_of_a_merged_cell_belongs_to_each_of_its_rows(
    spans: list[int], rows: Rows, wanted: Rows
) -> None:
    assert texts(merged(spans, rows)) == [table(rows[0], wanted)]


@pytest.mark.parametrize(
    ("spans", "rows", "labels"),
    [
        ([2, 2], ("|Child|40", "|Senior|41", "West|Adult|42", "|Child|43"), "Sund Sund West West"),
        ([1, 2], ("|Child|40", "West|Adult|42", "|Child|43"), "Sund West West"),
        ([1, 1], ("Kai|Child|40", "West|Adult|42"), "Kai West"),
    ],
)
def test_a_label_that_the_end_of_the_page_cuts_off_belongs_to_the_rows_behind_it(
    spans: list[int], rows: tuple[str, ...], labels: str
) -> None:
    head: Rows = [("Zone", "Age", "Fare")]
    above: Rows = [("Nord", "Adult", "10"), ("", "Child", "11"), ("Sund", "Adult", "14")]
    below: Rows = [tuple(row.split("|")) for row in rows]
    _, second = texts(merged([1, 2, 1], head + above), merged(spans, below))
    wanted: Rows = [(one, *row[1:]) for one, row in zip(labels.split(), below, strict=True)]
    assert second == table(head[0], wanted)
    # Where no label belongs to several rows, one that is missing is missing.
    alone: Rows = [("Nord", "Adult", "10"), ("Ost", "Child", "11"), ("Sund", "Adult", "14")]
    one: Rows = [("", "Child", "40"), ("West", "Adult", "42")]
    _, second = texts(merged([1, 1, 1, 1], head + alone), merged([1, 1], one))
    assert second == table(head[0], one)


def test_prose_in_a_high_cell_is_no_label_of_its_rows() -> None:
    page = merged([1, 2], [("Zone", "Age", "Fare"), ("", "Adult", "17.40"), ("", "Child", "8.10")])
    for number in range(5):
        page.text(76, 126 + 7 * number, "a rather long remark", 6)

    remark = " ".join(["a rather long remark"] * 5)
    rows: Rows = [(remark, "Adult", "17.40"), ("", "Child", "8.10")]
    assert texts(page) == [table(("Zone", "Age", "Fare"), rows)]


def test_a_cell_that_spans_columns_belongs_to_each_but_a_title_of_rows_does_not() -> None:
    page = drawn(Page(), [("Day", "Skarv", "Terne"), ("Mon", "9:00", "9:30")], 100)
    for top in (140, 160, 180, 200):
        page.rule(72, top + 20, 392, top + 20).rule(72, top, 72, top + 20)
        page.rule(392, top, 392, top + 20)
    page.rule(192, 140, 192, 160).text(76, 154, "Tue").text(270, 154, "none").text(
        76, 174, "Winter"
    )
    for top, cells in ((180, ("Wed", "8:00", "8:30")), (200, ("Thu", "7:00", "7:30"))):
        page.rule(192, top, 192, top + 20).rule(292, top, 292, top + 20)
        for x, cell in zip(COLUMNS, cells, strict=False):
            page.text(x + 4, top + 14, cell)

    assert texts(page)[0].splitlines()[3:6] == [
        "| Tue | none | none |",
        "| Winter |  |  |",
        "| Wed | 8:00 | 8:30 |",
    ]


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        (BUOYS[:6], BUOYS[:6]),
        ([("Alnes", "rot", "3"), ("Dyrnes", "", "4"), ("Hareid", "gr\xfcn", "5")] * 2, None),
        (BOATS * 2, None),
    ],
)
def test_lines_between_groups_of_rows_part_no_cells(rows: Rows, wanted: Rows | None) -> None:
    page = drawn(Page(), [HEAD], 100)
    half = len(rows) // 2
    for number, group in enumerate((rows[:half], rows[half:])):
        top = 120 + 20 * half * number
        drawn(page, group, top, ruled=False)
        page.grid(COLUMNS, [top, top + 20 * half])

    assert texts(page) == [table(HEAD, wanted or rows)]


@pytest.mark.parametrize("bands", [[0], [1], [0, 2], [1, 3]])
@pytest.mark.parametrize("by_cells", [True, False])
def test_bands_behind_groups_of_rows_part_no_table(bands: list[int], *, by_cells: bool) -> None:
    rows = [HEAD, *BUOYS]
    page = Page()
    for band in bands:
        for left, right in pairwise(COLUMNS) if by_cells else [(72, 392)]:
            bottom = HEIGHT - 120 - 20 * 3 * (band + 1)
            page.operators.append(f"0.9 g {left} {bottom} {right - left} 60 re f 0 g")
    drawn(page, rows, 100, ruled=False)

    assert texts(page) == [table(HEAD, BUOYS)]


def test_a_wrapped_cell_in_a_group_of_rows_stays_whole() -> None:
    page = drawn(Page(), [HEAD], 100)
    page.grid(COLUMNS, [120, 180]).grid(COLUMNS, [180, 220])
    for y, row in ((120, ("The buoy off the", "red", "3.0")), (140, ("outer islands in", "", "")),
                   (160, ("Alnes", "green", "3.5")), (180, BUOYS[4]), (200, BUOYS[5])):  # fmt: skip
        for x, cell in zip(COLUMNS, row, strict=False):
            page.text(x + 4, y + 14, cell, 13)

    rows = [("The buoy off the outer islands in", "red", "3.0"), ("Alnes", "green", "3.5")]
    assert texts(page) == [table(HEAD, [*rows, *BUOYS[4:6]])]


def test_wrapped_cells_are_not_taken_for_rows() -> None:
    page = Page().grid([72, 152, 232], [100, 120, 160, 200, 240])
    page.text(76, 114, "Place").text(156, 114, "Open")
    wrapped = [("The old har-", "bour of Alnes", "to everybody", "all the year 9")] * 3
    for number, (a, b, c, d) in enumerate(wrapped):
        page.lines(76, 134 + 40 * number, [a, b], 11).lines(156, 134 + 40 * number, [c, d], 11)

    rows: Rows = [("The old harbour of Alnes", "to everybody all the year 9")] * 3
    assert texts(page)[0].splitlines()[2] == "| " + " | ".join(rows[0]) + " |"


@pytest.mark.parametrize("ruled", [True, False])
@pytest.mark.parametrize("note", ["", "Register (Fortsetzung)", "Page 2 of 2"])
@pytest.mark.parametrize("repeated", [True, False])
def test_a_table_goes_on_over_the_page(*, ruled: bool, note: str, repeated: bool) -> None:
    first = drawn(Page().text(72, 60, "Register"), [HEAD, *BUOYS[:8]], 500, ruled=ruled)
    second, third = Page().text(72, 30, note), Page()
    drawn(second, [*([HEAD] if repeated else []), *BUOYS[8:10]], 60, ruled=ruled)
    drawn(third, BUOYS[10:], 60, ruled=ruled)
    found = texts(first, second, third)

    above = f"{note}\n\n" if note else ""
    assert found[0].endswith(table(HEAD, BUOYS[:8]))
    assert found[1] == above + table(HEAD, BUOYS[8:10])
    assert found[2] == table(HEAD, BUOYS[10:])


def test_a_single_row_goes_on_and_one_of_another_table_does_not() -> None:
    first = drawn(Page(), [HEAD, *BUOYS[:8]], 500)
    boxes = Page().text(76, 74, "left").text(196, 74, "right").grid([72, 192, 292], [60, 80])

    assert texts(first, drawn(Page(), BUOYS[8:9], 60))[1] == table(HEAD, BUOYS[8:9])
    assert texts(first, boxes)[1] == "left right"


@pytest.mark.parametrize(
    ("rows", "bold", "wanted"),
    [
        # Other headings, over numbers or in bold type: another table.
        ([("Ship", "Captain", "Berth"), *BOATS], 0, ("Ship", "Captain", "Berth")),
        ([("Schiff", "Heimat", "L\xe4nge"), ("Lom", "Alnes", "12"), ("Ulk", "Herd", "9")], 0, None),
        # Numbers where the others have words.
        ([("2024", "12", "90"), ("2025", "14", "80")], 0, ("", "", "")),
        # Text where the others have numbers as well as numbers: it cannot be told.
        (BOATS, 1, BOATS[0]),
    ],
)
def test_another_table_on_the_next_page_has_its_own_headings(
    rows: Rows, bold: int, wanted: tuple[str, ...] | None
) -> None:
    first = drawn(Page(), [HEAD, *BUOYS[:8]], 500)
    found = texts(first, drawn(Page(), rows, 60, bold=bold))

    assert found[1] == table(wanted or rows[0], rows[1:] if not wanted or any(wanted) else rows)


@pytest.mark.parametrize(
    ("bold", "top", "wanted"),
    [(1, 100, ("Ship", "Captain", "Berth")), (0, 100, ("", "", "")), (0, 610, None)],
)
def test_rows_of_words_are_told_by_type_or_by_the_end_of_the_page(
    bold: int, top: float, wanted: tuple[str, ...] | None
) -> None:
    head = ("Ship", "Captain", "Berth")
    first = drawn(Page(), [head, *BOATS], top, bold=bold)
    further: Rows = [("Havn", "Ida", "Pier"), ("Sild", "Per", "Dock")]

    assert texts(first, drawn(Page(), further, 60))[1] == table(wanted or head, further)


def test_text_between_ends_a_table() -> None:
    first = drawn(Page(), [HEAD, *BUOYS[:4]], 100).text(72, 300, "All buoys were counted in May.")

    assert texts(first, drawn(Page(), BUOYS[4:6], 60))[1] == table(("", "", ""), BUOYS[4:6])


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ([("Name:", "Ragna"), ("Lampe:", "LED 40 W"), ("Shift: early", "late")],
         "Name: Ragna\n\nLampe: LED 40 W\n\nShift: early late"),
        ([("Vessel :", "Skarv"), ("Port :", "Alnes"), ("Longueur :", "24,5 m")],
         "Vessel : Skarv\n\nPort : Alnes\n\nLongueur : 24,5 m"),
        ([("Length", "24.5 m"), ("Port", "Alnes"), ("Built", "1987")],
         "Length: 24.5 m\n\nPort: Alnes\n\nBuilt: 1987"),
        ([("(i)", "the keeper"), ("(ii)", "the pilot"), ("(iii)", "buoys 3 to 9")],
         "(i) the keeper\n\n(ii) the pilot\n\n(iii) buoys 3 to 9"),
        ([("\u2022 Nets", "\u2022 Ropes"), ("\u2022 Lamps", "\u2022 9 oars")],
         table(("", ""), [("\u2022 Nets", "\u2022 Ropes"), ("\u2022 Lamps", "\u2022 9 oars")])),
        ([("Founded", "1987"), ("Boats", "12"), ("Berths", "40")],
         "Founded: 1987\n\nBoats: 12\n\nBerths: 40"),
        ([("Schiff", "Skarv"), ("Hafen", "Alnes"), ("L\xe4nge", "24 m"), ("Eigner", "Rask")],
         "Schiff: Skarv\n\nHafen: Alnes\n\nL\xe4nge: 24 m\n\nEigner: Rask"),
    ],
)  # fmt: skip
def test_a_list_of_pairs_has_no_headings(rows: Rows, wanted: str) -> None:
    assert texts(drawn(Page(), rows, 100)) == [wanted]


@pytest.mark.parametrize(
    ("rows", "bold"),
    [
        ([("Item", "Price"), ("Rope", "12"), ("Lamp", "40")], 0),
        ([("Term", "Meaning"), ("Aft", "behind"), ("Lee", "away from wind")], 0),
        ([("Buoy", "Depth"), ("Alnes", "12"), ("Herd", "n/a"), ("Lom", "n/a")], 0),
        ([("Total:", "Sum:"), ("Alnes", "12"), ("Herd", "40")], 1),
    ],
)
def test_a_table_of_two_columns_with_headings_stays_one(rows: Rows, bold: int) -> None:
    assert texts(drawn(Page(), rows, 100, bold=bold)) == [table(rows[0], rows[1:])]


def test_a_first_row_of_numbers_like_the_others_heads_nothing() -> None:
    years: Rows = [("Place", "2023", "2024"), ("Alnes", "120", "157"), ("Herd", "83", "91")]

    assert texts(drawn(Page(), BUOYS[:3], 100)) == [table(("", "", ""), BUOYS[:3])]
    assert texts(drawn(Page(), years, 100)) == [table(years[0], years[1:])]


@pytest.mark.parametrize("step", [14, 20])
@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ([("Zone", "Age", "Fare"), ("Nord", "Adult", "17.40"), ("", "Child", "8.10"),
          ("S\xfcd", "Adult", "21.90"), ("", "Child", "9.60")],
         [("Nord", "Adult", "17.40"), ("Nord", "Child", "8.10"),
          ("S\xfcd", "Adult", "21.90"), ("S\xfcd", "Child", "9.60")]),
        # A sum below the others has no label, and the end of a cell is no row.
        ([("Item", "Count", "Price"), ("Rope", "4", "12"), ("Lamp", "5", "40"), ("", "9", "52")],
         [("Rope", "4", "12"), ("Lamp", "5", "40"), ("", "9", "52")]),
        ([("Item", "Note", "Price"), ("Rope", "strong and", "12"), ("", "long", ""),
          ("Lamp", "for oil", "40")],
         [("Rope", "strong and long", "12"), ("Lamp", "for oil", "40")]),
    ],
)  # fmt: skip
def test_a_label_above_rows_without_lines_belongs_to_each(
    rows: Rows, wanted: Rows, step: float
) -> None:
    page = Page()
    for number, row in enumerate(rows):
        for x, cell in zip(COLUMNS, row, strict=False):
            if cell:
                page.text(x, 100 + step * number, cell)

    assert texts(page) == [table(rows[0], wanted)]


def test_what_stands_beside_the_middle_of_a_wrapped_cell_is_in_its_row() -> None:
    page = Page().text(72, 100, "Day").text(104, 100, "Wind").text(150, 100, "Remarks of the watch")
    wanted: Rows = []
    for number, (day, wind) in enumerate([("3", "NW"), ("4", "SE"), ("5", "S")]):
        top = 134 + 48 * number
        page.text(150, top, "Light was out; relit at dawn by the second watch,")
        page.text(72, top, day).text(72, top + 12, "June").text(104, top + 6, wind)
        page.text(150, top + 12, "which counted the buoys")
        note = "Light was out; relit at dawn by the second watch, which counted the buoys"
        wanted.append((f"{day} June", wind, note))
    assert texts(page) == [table(("Day", "Wind", "Remarks of the watch"), wanted)]


@pytest.mark.parametrize("tight", [True, False])
def test_rows_with_much_space_between_are_rows(
    monkeypatch: pytest.MonkeyPatch, *, tight: bool
) -> None:
    """Also where a font does not say how high it is, and places are those of its characters."""
    if tight:
        monkeypatch.setattr(text, "_place_reader", place_of_ink)
    duties: Rows = [(f"keeps log {n} and winds the clock at noon", "Quay") for n in range(5)]
    rows: Rows = [("Name", "Duties on board", "Joined at")]
    rows += [(f"Harbour {n}, mate", *duty) for n, duty in enumerate(duties)]
    page = Page()
    for number, row in enumerate(rows):
        for x, cell in zip((72, 180, 430), row, strict=True):
            page.text(x, 100 + 36 * number, cell)
    assert texts(page) == [table(rows[0], rows[1:])]


def place_of_ink(textpage: Any) -> Callable[[int], Place]:
    left, right, low, high = (ctypes.c_double() for _ in range(4))

    def read(index: int) -> Place:
        raw.FPDFText_GetCharBox(textpage, index, left, right, low, high)
        return Place(left.value, low.value, right.value, high.value)

    return read


def test_a_second_table_has_its_own_headings_and_pairs_stand_beside_their_names() -> None:
    form: Rows = [("Order:", "B-12", "Pier:", "North"), ("Keeper:", "Ragna", "Zone:", "3"),
                  ("Dates:", "1 to 9 May")]  # fmt: skip
    first: Rows = [("Start", "End", "Trips"), ("1/5/24", "9/5/24", "48")]
    second: Rows = [("Month", "Boats", "Gross"), ("May", "4", "125"), ("June", "5", "140")]
    page = Page().text(72, 60, "BOOKING").text(320, 60, "Printed 1 May")
    for number, row in enumerate([("Orders",), *form, ("Summary of all the trips of a year",)]):
        for x, cell in zip((72, 192, 320, 420), row, strict=False):
            page.text(x, 80 + 16 * number, cell)
    for number, row in enumerate([*first, ("Totals",), *second]):
        for x, cell in zip((72, 192, 320), row, strict=False):
            page.text(x, 300 + 16 * number, cell)
    pairs = ["Order: B-12", "Pier: North", "Keeper: Ragna", "Zone: 3", "Dates: 1 to 9 May"]
    wanted = [table(first[0], first[1:]), "Totals", table(second[0], second[1:])]
    found = texts(page)[0].split("\n\n")
    assert [one for one in found if one in pairs] == pairs
    assert found[-3:] == wanted


def test_headings_with_a_narrow_space_between_stand_above_their_columns() -> None:
    rows: Rows = [("A0", "River in sight"), ("B1", "Gate in sight"), ("C2", "Mill in sight")]
    page = Page().lines(72, 60, ["The signals of the watch were agreed upon in spring."])
    page.text(72, 100, "Code").text(103, 100, "Signal")
    for number, row in enumerate(rows):
        page.text(72, 120 + 20 * number, row[0]).text(103, 120 + 20 * number, row[1])
    assert texts(page)[0].endswith(table(("Code", "Signal"), rows))


@pytest.mark.parametrize("place", [0, 1])
def test_a_wrapped_label_beside_a_value_is_one(place: int) -> None:
    """The value stands on the first line of its label, or on the last."""
    rows = (
        ("Largest load of the|outer pier crane", "12 t"),
        ("Name of the|harbour mayor", "Ingrid Tolle"),
        ("Berths", "14"),
        ("Depth of the|inner basin", "7.5 m"),
    )
    page = Page().text(72, 100, "Item", bold=True).text(320, 100, "Value", bold=True)
    top = 124
    for label, value in rows:
        lines = label.split("|")
        page.lines(72, top, lines, step=13)
        page.text(320, top + 13 * place * (len(lines) - 1), value)
        top += 13 * len(lines) + 8
    wanted: Rows = [(label.replace("|", " "), value) for label, value in rows]
    assert texts(page) == [table(("Item", "Value"), wanted)]


def test_groups_of_rows_with_space_between_stay_rows() -> None:
    page, top = Page(), 100.0
    rows: Rows = [(f"Boat {letter}", f"{n}{n} t") for n, letter in enumerate("abcdef", 3)]
    for number, row in enumerate(rows):
        page.text(72, top, row[0]).text(320, top, row[1])
        top += 28 if number % 2 else 14
    (text,) = texts(page.text(72, 80, "Boat").text(320, 80, "Load"))
    assert text == table(("Boat", "Load"), rows)
