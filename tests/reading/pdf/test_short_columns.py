"""Columns of a few lines are read one after the other; cells of a row are not taken for them."""

import pytest
from tests.reading.pdf_writer import Page, write_pdf

from chapterhouse.reading.pdf.document import read_pdf

PLACES = (60, 240, 420)
KEYS = [
    ["The harbour office keeps", "all spare keys and"],
    ["lends them to skippers", "for one day only."],
]
SCHIFF = [
    ["Der Hafenmeister verwahrt", "alle Schl\xfcssel und gibt", "sie nur an Schiffer"],
    ["mit Ausweis heraus, f\xfcr", "einen Tag oder zwei."],
]
CLEFS = [
    ["Le bureau du port garde", "toutes les cl\xe9s et"],
    ["les pr\xeate aux capitaines", "pour un jour au plus"],
    ["sauf en \xe9t\xe9, o\xf9 il est", "ferm\xe9 le dimanche."],
]
SENTENCES = [
    ["We open at nine in May.", "Boats are let by the", "hour, for which the"],
    ["keys are at the office of", "the harbour, which is", "closed on Mondays."],
]
LABELS = [
    ["Opening hours in winter", "Name of the keeper"],
    ["from nine to five", "Ragna Lindqvist"],
]
SMALL = [
    ["net weight of the rope", "length of the rope"],
    ["twelve kilograms each", "forty metres each"],
]
NUMBERS = [
    ["Rope of the large winch", "Rope of the small one"],
    ["12 kilograms in all", "40 kilograms in all"],
]


def text(columns: list[list[str]], *, by_rows: bool = False, title: str = "") -> str:
    page = Page().text(60, 100, title, 18) if title else Page()
    lines = [
        (number, column, line)
        for column, lines in enumerate(columns)
        for number, line in enumerate(lines)
    ]
    for number, column, line in sorted(lines) if by_rows else lines:
        page.text(PLACES[column], 140 + 14 * number, line)
    return read_pdf(write_pdf([page]), "x.pdf").pages[0].text


def joined(columns: list[list[str]]) -> str:
    return " ".join(line for column in columns for line in column)


@pytest.mark.parametrize("columns", [KEYS, SCHIFF, CLEFS, SENTENCES])
@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("title", ["", "Office news"])
def test_short_columns_are_read_one_after_the_other(
    columns: list[list[str]], title: str, *, by_rows: bool
) -> None:
    heading = f"# {title}\n\n" if title else ""
    assert text(columns, by_rows=by_rows, title=title) == heading + joined(columns)


@pytest.mark.parametrize("columns", [LABELS, SMALL, NUMBERS])
def test_names_beside_their_values_are_read_row_by_row(columns: list[list[str]]) -> None:
    rows = [" ".join(row) for row in zip(*columns, strict=True)]

    assert text(columns, by_rows=True).split() == " ".join(rows).split()


def test_short_columns_below_a_paragraph_and_above_another() -> None:
    wide = "This line of prose goes from the left margin of the page to the right one, over all."
    page = Page().lines(60, 100, [wide, wide], 9).lines(60, 300, [wide, wide], 9)
    for x, lines in zip(PLACES, KEYS, strict=False):
        page.lines(x, 180, lines)

    assert read_pdf(write_pdf([page]), "x.pdf").pages[0].text.split("\n\n") == [
        f"{wide} {wide}", joined(KEYS), f"{wide} {wide}",
    ]  # fmt: skip
