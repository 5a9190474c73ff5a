"""Binary Excel files: cells as of any sheet, and what stands beside them."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading.conftest import relations, zipped
from tests.reading.xlsb_writer import Cell, xlsb

from chapterhouse.errors import RejectedError
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.office.excel import xlsb_sheet_extras
from chapterhouse.reading.office.parts import Parts

FLEET: dict[str, list[list[Cell]]] = {
    "Fleet": [["Vessel", "Seats", "Open"], ["Heron", 180, True], ["Teal", 90.5, None]]
}


def test_sheets_are_tables_with_what_stands_beside_them() -> None:
    data = xlsb(
        FLEET | {"Old": [["Wherry"]]},
        hidden=["Old"],
        header="&LTimetable &P",
        comments={(1, 1): "Counted in May", (0, 27): "Far out"},
    )
    first, second = read(data, "fleet.xlsb", Limits()).pages
    assert first.text.startswith("## Fleet\n\n| Vessel | Seats | Open |\n")
    assert "| Heron | 180 | true |\n| Teal | 90.5 |  |\n" in first.text
    assert "Comment on B2: Counted in May\n\nComment on AB1: Far out\n" in first.text
    assert first.text.endswith("Header: Timetable\n")
    assert (second.number, second.label) == (2, "Old (hidden)")
    assert "| Wherry |" in second.text


def test_its_content_says_what_it_is() -> None:
    found = read(xlsb(FLEET), "fleet.xlsx", Limits())
    assert found.format == "xlsb"
    assert [notice.code for notice in found.notices] == ["extension-mismatch"]


def test_a_sheet_that_spans_too_much_is_refused() -> None:
    with pytest.raises(RejectedError) as caught:
        read(xlsb(FLEET, far=True), "fleet.xlsb", Limits())
    assert caught.value.code == "too-many-cells"


def test_a_cut_off_workbook_is_refused() -> None:
    with pytest.raises(RejectedError):
        read(xlsb(FLEET)[:-40], "fleet.xlsb", Limits())


@given(st.binary(max_size=80), st.binary(max_size=80), st.binary(max_size=80))
def test_any_bytes_in_its_parts_are_survived(book: bytes, sheet: bytes, comments: bytes) -> None:
    name = "r1".encode("utf-16-le")
    entry = b"\x9c\x01\x18" + bytes(8) + (b"\2\0\0\0" + name) * 2
    parts: dict[str, str | bytes] = {
        "xl/workbook.bin": entry + book,
        "xl/_rels/workbook.bin.rels": relations(("r1", "worksheet", "sheet.bin")),
        "xl/sheet.bin": sheet,
        "xl/_rels/sheet.bin.rels": relations(("r1", "comments", "comments.bin")),
        "xl/comments.bin": comments,
    }
    with suppress(RejectedError):
        assert "r1" in xlsb_sheet_extras(Parts(zipped(parts), Limits()))
