"""Merged cells and shown numbers in each format of sheets and slides."""
# ruff: noqa: E501 - XML as it is written

import io
import struct
import zipfile
from collections.abc import Callable, Mapping

import pytest

from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.office.binary import xls_sheet_extras
from chapterhouse.reading.office.cell_facts import CellFacts
from chapterhouse.reading.ole import compound_file

from .conftest import odf_parts, packaged, pptx_parts, xlsx_parts, zipped
from .xlsb_writer import record as xlsb_record
from .xlsb_writer import xlsb

# Hafen and its rows are merged; the title is, too, and its columns.
ROWS = (
    ("Flotte 2026", "", ""),
    ("Hafen", "Art", "Preis"),
    ("Aldvik", "Kran", "17"),
    ("", "Rampe", "9"),
    ("Krona", "Kran", "21"),
    ("", "Rampe", "4"),
)
MERGED = ((0, 0, 0, 2), (2, 0, 3, 0), (4, 0, 5, 0))  # top, left, bottom, right
WANTED = (
    "Flotte 2026\n\n| Hafen | Art | Preis |\n| --- | --- | --- |\n| Aldvik | Kran | 17 |\n"
    "| Aldvik | Rampe | 9 |\n| Krona | Kran | 21 |\n| Krona | Rampe | 4 |\n"
)


def xls_record(kind: int, content: bytes = b"") -> bytes:
    return struct.pack("<2H", kind, len(content)) + content


def xls(
    cells: bytes, formats: Mapping[int, str] | None = None, *, from_1904: bool = False
) -> bytes:
    """An Excel file of before 2007 whose style N has the format N."""
    start, end = xls_record(0x809, struct.pack("<2H12x", 0x600, 5)), xls_record(0x0A)
    codes = b"".join(
        xls_record(0x41E, struct.pack("<2HB", number, len(code), 1) + code.encode("utf-16-le"))
        for number, code in (formats or {}).items()
    )
    styles = b"".join(xls_record(0xE0, struct.pack("<2H16x", 0, number)) for number in range(200))
    whole = xls_record(0x809, struct.pack("<2H12x", 0x600, 5)) + xls_record(
        0x22, bytes([from_1904, 0])
    )
    whole += codes + styles
    size = len(whole) + len(xls_record(0x85, bytes(9))) + len(end)
    whole += xls_record(0x85, struct.pack("<IBBBB", size, 0, 0, 1, 0) + b"A") + end
    book = whole + start + cells + end
    return compound_file({"Workbook": book.ljust(4096, b"\0"), "small": b"x"})


def label(row: int, column: int, text: str) -> bytes:
    content = struct.pack("<4HB", row, column, 0, len(text), 1) + text.encode("utf-16-le")
    return xls_record(0x204, content)


def number(row: int, column: int, value: float, style: int = 0) -> bytes:
    return xls_record(0x203, struct.pack("<3Hd", row, column, style, value))


def merged_xls() -> bytes:
    cells = b"".join(
        number(row + 3, column + 2, float(text))
        if text.isdecimal()
        else label(row + 3, column + 2, text)
        for row, texts in enumerate(ROWS)
        for column, text in enumerate(texts)
        if text
    )  # not at the edge of the sheet
    spans = b"".join(
        struct.pack("<4H", top + 3, bottom + 3, left + 2, right + 2)
        for top, left, bottom, right in MERGED
    )
    return xls(cells + xls_record(0xE5, struct.pack("<H", len(MERGED)) + spans))


def merged_xlsx() -> dict[str, str | bytes]:
    parts = xlsx_parts(ROWS)
    name = "xl/worksheets/sheet1.xml"
    names = (
        f"{'ABC'[left]}{top + 1}:{'ABC'[right]}{bottom + 1}" for top, left, bottom, right in MERGED
    )
    spans = "".join(f'<mergeCell ref="{one}"/>' for one in names)
    empty = "<is><t></t></is>"
    sheet = str(parts[name]).replace(empty, "").replace(' t="inlineStr"></c>', "/>")
    return parts | {
        name: sheet.replace("</sheetData>", f"</sheetData><mergeCells>{spans}</mergeCells>")
    }


def merged_xlsb() -> bytes:
    rows = [[float(t) if t.isdecimal() else t or None for t in row] for row in ROWS]
    out: dict[str, bytes | str] = {}
    with zipfile.ZipFile(io.BytesIO(xlsb({"A": rows}))) as archive:
        out.update({name: archive.read(name) for name in archive.namelist()})
    spans = b"".join(
        xlsb_record(176, struct.pack("<4I", top, bottom, left, right))
        for top, left, bottom, right in MERGED
    )
    part = "xl/worksheets/sheet1.bin"
    out[part] = bytes(out[part]).replace(xlsb_record(146), xlsb_record(146) + spans)  # type: ignore[arg-type]
    return zipped(out)


def merged_ods() -> dict[str, str | bytes]:
    table = opendocument_table(ROWS, MERGED)
    return odf_parts("spreadsheet", f"<office:spreadsheet>{table}</office:spreadsheet>")


Rows = tuple[tuple[str, ...], ...]
Spans = tuple[tuple[int, int, int, int], ...]


def sizes(merged: Spans) -> dict[tuple[int, int], tuple[int, int]]:
    return {
        (top, left): (bottom - top + 1, right - left + 1) for top, left, bottom, right in merged
    }


def opendocument_table(texts: Rows, merged: Spans) -> str:
    spans = sizes(merged)
    rows = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell table:number-rows-spanned="{spans[place][0]}" '
            f'table:number-columns-spanned="{spans[place][1]}"><text:p>{text}</text:p></table:table-cell>'
            if (place := (row, column)) in spans
            else f"<table:table-cell><text:p>{text}</text:p></table:table-cell>"
            if text
            else "<table:covered-table-cell/>"
            for column, text in enumerate(cells)
        )
        + "</table:table-row>"
        for row, cells in enumerate(texts)
    )
    return f'<table:table table:name="A">{rows}</table:table>'


def text_document(texts: Rows, merged: Spans) -> str:
    body = f"<office:text>{opendocument_table(texts, merged)}</office:text>"
    return packaged(odf_parts("text", body), "odt").pages[0].text


def slide(texts: Rows, merged: Spans, marks_of_table: str = "") -> str:
    spans = sizes(merged)
    cell = "<a:tc{}><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"
    marks = {place: f' rowSpan="{one[0]}" gridSpan="{one[1]}"' for place, one in spans.items()}
    rows = "".join(
        f"<a:tr>{''.join(cell.format(marks.get((row, place), ''), text) for place, text in enumerate(cells))}</a:tr>"
        for row, cells in enumerate(texts)
    )
    parts = pptx_parts()
    frame = f"<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tblPr{marks_of_table}/>{rows}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    part = "ppt/slides/slide1.xml"
    parts[part] = str(parts[part]).replace("</p:spTree>", f"{frame}</p:spTree>")
    return packaged(parts, "pptx").pages[0].text


FILES: dict[str, Callable[[], str]] = {
    "xls": lambda: read(merged_xls(), "a.xls", Limits()).pages[0].text,
    "xlsx": lambda: packaged(merged_xlsx(), "xlsx").pages[0].text,
    "xlsb": lambda: read(merged_xlsb(), "a.xlsb", Limits()).pages[0].text,
    "ods": lambda: packaged(merged_ods(), "ods").pages[0].text,
}


@pytest.mark.parametrize("format_", FILES)
def test_a_merged_cell_of_a_sheet_belongs_to_each_of_its_rows(format_: str) -> None:
    assert FILES[format_]().partition("\n\n")[2] == WANTED


@pytest.mark.parametrize("written", [slide, text_document])
def test_tables_of_slides_and_texts_are_read_as_those_of_sheets(
    written: Callable[[Rows, Spans], str],
) -> None:
    assert written(ROWS, MERGED).endswith(WANTED)
    rows = (
        ("Hafen", "Umsatz", "", "Stege", ""),
        ("", "2023", "2024", "2023", "2024"),
        ("Aldvik", "17", "19", "3", "4"),
        ("Krona", "21", "22", "5", "6"),
    )
    merged = ((0, 0, 1, 0), (0, 1, 0, 2), (0, 3, 0, 4))
    assert written(rows, merged).endswith(
        "| Hafen | Umsatz, 2023 | Umsatz, 2024 | Stege, 2023 | Stege, 2024 |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| Aldvik | 17 | 19 | 3 | 4 |\n| Krona | 21 | 22 | 5 | 6 |\n"
    )


@pytest.mark.parametrize("written", [slide, text_document])
def test_the_shape_of_a_table_in_slides_and_texts_is_what_the_file_states(
    written: Callable[[Rows, Spans], str],
) -> None:
    last = "Der Kran auf der Nordseite wird erst wieder im Mai gebraucht"
    rows = (("Hafen", "Preis"), ("Flotte 2026", ""), ("Aldvik", "17"), ("Krona", "21"), (last, ""))
    assert written(rows, ()).endswith(
        "| Hafen | Preis |\n| --- | --- |\n| Flotte 2026 |  |\n| Aldvik | 17 |\n| Krona | 21 |\n"
        f"| {last} |  |\n"
    )
    assert written((("Aldvik",), ("Krona",), ("17",)), ()).endswith("Aldvik\n\nKrona\n\n17\n")


def test_a_row_that_a_slide_marks_heads_its_table() -> None:
    readings = (("4", "17"), ("5", "20"))
    assert "|  |  |\n| --- | --- |\n| 4 | 17 |" in slide(readings, ())
    assert "\n| 4 | 17 |\n| --- | --- |\n| 5 | 20 |\n" in slide(readings, (), ' firstRow="1"')
    groups = (("Hafen", "Preis", ""), ("", "Kran", "Rampe"), ("Aldvik", "17", "9"))
    told = slide(groups, ((0, 0, 1, 0), (0, 1, 0, 2)), ' firstRow="1"')
    assert "| Hafen | Preis, Kran | Preis, Rampe |\n| --- |" in told


def test_a_cell_that_is_a_list_of_one_item_is_its_text() -> None:
    def listed(text: str) -> str:
        items = (f"<text:list-item><text:p>{one}</text:p></text:list-item>" for one in text.split())
        return f"<text:list>{''.join(items)}</text:list>"

    table = opendocument_table(ROWS[1:4], ()).replace("<text:p>Kran</text:p>", listed("Kran Boot"))
    body = table.replace("<text:p>Aldvik</text:p>", listed("Aldvik"))
    parts = odf_parts("text", f"<office:text>{body}</office:text>")
    assert "| Aldvik | - Kran - Boot | 17 |" in packaged(parts, "odt").pages[0].text


def test_numbers_of_old_workbooks_are_read_as_they_are_shown() -> None:
    formats = {164: "00000", 165: '#,##0.00 "kr"', 166: "0.0%"}
    rk = struct.pack("<3HI", 1, 3, 14, 39000 << 2 | 2)
    row = struct.pack("<2H", 2, 0) + b"".join(
        struct.pack("<HI", style, stored)
        for style, stored in ((164, 7 << 2 | 2), (9, 5000 << 2 | 3))
    )
    cells = (
        b"".join(label(0, column, text) for column, text in enumerate(("Code", "Anteil", "Preis", "Tag")))
        + number(1, 0, 42, 164) + number(1, 1, 0.125, 166) + number(1, 2, 1234.5, 165)
        + xls_record(0x27E, rk) + xls_record(0xBD, row + struct.pack("<H", 1))
        + number(2, 2, 3.25) + number(2, 3, 39000.5, 22)
    )  # fmt: skip
    rows = read(xls(cells, formats), "a.xls", Limits()).pages[0].text.splitlines()[2:]
    assert rows == [
        "| Code | Anteil | Preis | Tag |",
        "| --- | --- | --- | --- |",
        "| 00042 | 12.5% | 1234.50 kr | 2006-10-10 |",
        "| 00007 | 5000% | 3.25 | 2006-10-10 12:00 |",
    ]
    later = read(xls(label(0, 0, "a") + number(1, 0, 39000, 14), from_1904=True), "a.xls", Limits())
    assert "| 2010-10-11 |" in later.pages[0].text
    cut_off = xls(cells + xls_record(0xE5, b"\x09"), formats)
    assert xls_sheet_extras(cut_off)["A"].cells == CellFacts()
