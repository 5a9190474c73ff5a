"""What stands beside the text of Word and Excel files of 1997 to 2003."""

import struct
from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading.conftest import codes, relations, zipped
from tests.reading.xlsb_writer import Cell, xlsb

from chapterhouse.errors import RejectedError
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.office import binary
from chapterhouse.reading.office.binary_headings import with_own_headings
from chapterhouse.reading.office.excel import SheetExtras, xlsb_sheet_extras
from chapterhouse.reading.office.parts import Parts
from chapterhouse.reading.ole import CompoundFile, compound_file

PAGE = "\x13 PAGE \x1417\x15"


def word_97(
    parts: dict[str, str],
    stories: list[str],
    *,
    compressed: bool,
    deleted: str = "",
    small: bool = False,
    styles: Sequence[int] = (),
) -> bytes:
    """A Word 97 file of one piece; ``stories`` are the texts of the part for headers.

    A tracked change deleted the text ``deleted``; ``small`` keeps it in small sectors;
    ``styles`` are those of the paragraphs.
    """
    names = ("text", "footnotes", "headers", "macros", "comments", "endnotes", "boxes", "more")
    parts = {**parts, "headers": "".join(stories)}
    texts = [parts.get(name, "") for name in names]
    whole = "".join(texts)
    stored = whole.encode("cp1252" if compressed else "utf-16-le")
    ends = [0]
    for story in stories:
        ends.append(ends[-1] + len(story))
    headers = struct.pack(f"<{len(ends)}I", *ends)
    start = 0x400
    place = (2 * start) | 0x40000000 if compressed else start
    pieces = b"\x01\x02\0ab" + b"\x02" + struct.pack("<3IHIH", 16, 0, len(whole), 0, place, 0)
    width = 1 if compressed else 2
    gone = start + width * whole.index(deleted)
    bounds = (start, gone, gone + width * len(deleted), start + len(stored))
    properties = struct.pack("<BHHHB", 7, 0x4A43, 24, 0x0800, 1)  # a size, and deleted
    page = struct.pack("<4I3B", *bounds, 0, 240, 0).ljust(480, b"\0") + properties
    runs = struct.pack("<3I", start, start + len(stored), 1)
    main = bytearray(0x200) + page.ljust(511, b"\0") + (b"\3" if deleted else b"\0")
    struct.pack_into("<2H", main, 0, 0xA5EC, 0xC1)
    struct.pack_into("<H", main, 10, 0x0200)
    struct.pack_into("<8I", main, 0x4C, *map(len, texts))
    struct.pack_into("<2I", main, 0xF2, 0, len(headers))
    struct.pack_into("<2I", main, 0x1A2, len(headers), len(pieces))
    struct.pack_into("<2I", main, 0xFA, len(headers + pieces), len(runs))
    streams = {"WordDocument": bytes(main) + stored, "1Table": headers + pieces + runs}
    if styles:
        streams = with_styles(streams, texts[0], start, width, styles)
    return compound_file(
        {name: one.ljust(0 if small else 4096, b"\0") for name, one in streams.items()}
    )


def with_styles(
    streams: dict[str, bytes], text: str, start: int, width: int, styles: Sequence[int]
) -> dict[str, bytes]:
    """Add the styles of paragraphs: 1 is Heading 1, 2 is of that, 3 has a level; 0 has none."""
    main, table = streams["WordDocument"], streams["1Table"]
    sheet = struct.pack("<3H", 4, 4, 10)
    for name, base, outline in ((0, 0xFFF, b""), (1, 0, b""), (0xFFE, 1, b""), (0xFFE, 0, b"\x01")):
        own = struct.pack("<2H", 0, 0) + (b"\x40\x26" + outline if outline else b"")
        level = struct.pack("<H", len(own) - 2) + own[2:]
        stated = struct.pack("<5H", name, base << 4 | 1, 0, 0, 0) + struct.pack("<3H", 1, 65, 0)
        sheet += struct.pack("<H", len(stated + level)) + stated + level
        sheet += b"\0" * (len(level) % 2)
    ends = [start]
    for paragraph in text.split("\r")[:-1]:
        ends.append(ends[-1] + width * (len(paragraph) + 1))
    page = struct.pack(f"<{len(ends)}I", *ends)
    page += b"".join(bytes([200 + 2 * style]) + bytes(12) for style in styles)
    page = page.ljust(400, b"\0") + b"".join(struct.pack("<BBH", 0, 1, style) for style in range(4))
    page = page.ljust(511, b"\0") + bytes([len(styles)])
    main = main.ljust(-(-len(main) // 512) * 512, b"\0")
    pages = struct.pack("<3I", ends[0], ends[-1], len(main) // 512)
    header = bytearray(main + page)
    struct.pack_into("<2I", header, 0xA2, len(table), len(sheet))
    struct.pack_into("<2I", header, 0x102, len(table + sheet), len(pages))
    return {"WordDocument": bytes(header), "1Table": table + sheet + pages}


@pytest.mark.parametrize("compressed", [True, False])
def test_headings_of_old_word_files_are_those_of_their_styles(*, compressed: bool) -> None:
    paragraphs = ("Tariff", "Ferry", "# note", "data = load()", "Terms", "Ferry", "Rules")
    text = {"text": "".join(f"{one}\r" for one in paragraphs)}
    data = word_97(text, [], compressed=compressed, styles=(1, 2, 0, 0, 3, 0, 2))
    shown = "Tariff\n\n1. 1. Ferry\n\n\\# note\n\n## data = load()\n\nTerms\n\n"
    shown += "## Ferry\n\n- **Rules**\n"
    assert with_own_headings(shown, data).split("\n\n") == [
        "# Tariff", "# Ferry", "\\# note", "data = load()", "## Terms", "Ferry", "# **Rules**\n",
    ]  # fmt: skip
    earlier = data.replace(struct.pack("<2H", 0xA5EC, 0xC1), struct.pack("<2H", 0xA5EC, 0x65))
    assert with_own_headings(shown, earlier) == shown


@given(noise=st.binary(max_size=80), place=st.integers(0, 0x1A0))
def test_any_styles_of_a_word_file_are_survived(noise: bytes, place: int) -> None:
    data = word_97({"text": "Tariff\rFerry\r"}, [], compressed=True, styles=(1, 0))
    main = bytearray(CompoundFile(data).read("WordDocument"))
    main[0xA2 + place : 0xA2 + place + len(noise)] = noise
    table = CompoundFile(data).read("1Table")
    changed = compound_file({"WordDocument": bytes(main), "1Table": noise + table[len(noise) :]})
    assert "Ferry" in with_own_headings("# Tariff\n\nFerry", changed)


@pytest.mark.parametrize("small", [True, False])
def test_deleted_text_of_old_word_files_is_not_read(*, small: bool) -> None:
    text = {"text": "The fares fall slowlyrise in May.\r"}
    data = word_97(text, [], compressed=True, deleted="fall slowly", small=small)
    assert read(data, "a.doc", Limits()).pages[0].text == "The fares rise in May.\n"


def test_deleted_text_of_two_bytes_a_character_is_not_read() -> None:
    text = {"text": "Body\r", "endnotes": "\x02 See aboverhead\r"}
    data = binary.without_deleted(word_97(text, [], compressed=False, deleted="above"))
    assert binary.headers_and_endnotes(data) == ["Endnote: See rhead"]


def test_runs_that_a_damaged_word_file_lacks_delete_nothing() -> None:
    data = word_97({"text": "Fares rise\r"}, [], compressed=True)
    assert binary.without_deleted(data) == data
    beyond = data.replace(struct.pack("<3I", 0x400, 0x40B, 1), struct.pack("<3I", 0, 9, 999))
    assert binary.without_deleted(beyond) == beyond


def test_deleted_text_of_rtf_files_is_not_read() -> None:
    body = (
        rb"The fares {\deleted\revauthdel1 f\u228\'e4ll\par slowly}{\revised rise} in \deleted May"
        rb"\deleted0 June.\par {\deleted Gone {\b too}\bin3 {{{.}\plain Stays \{open\}."
    )
    text = read(b"{\\rtf1\\ansi " + body + b"}", "a.rtf", Limits()).pages[0].text
    assert " ".join(text.split()) == "The fares rise in June. Stays {open}."


@pytest.mark.parametrize("compressed", [True, False])
def test_headers_footers_and_endnotes_of_old_word_files(*, compressed: bool) -> None:
    data = word_97(
        {"text": "Body\r", "endnotes": "\x02 See below\r\x02 And above\r", "more": "In a box\r"},
        [
            *("\x03\r", "", "", "", "", ""),
            *("", "Harbour Board\r", "", f"Page {PAGE} of the fleet\r", "First\r", f"{PAGE}\r"),
            *("", "Harbour Board\r", "", "", "", ""),
        ],
        compressed=compressed,
    )
    assert binary.headers_and_endnotes(data) == [
        "Header: Harbour Board", "Footer: Page of the fleet", "Header: First",
        "Endnote: See below", "Endnote: And above", "Header: In a box",
    ]  # fmt: skip


def test_tables_in_headers_of_old_word_files_keep_their_cells_apart() -> None:
    header = "Brandt\rOrder\aQX-55013\a\aCarrier\aHalvorsen\a\aCopy\r"
    data = word_97({"text": "Body\r"}, [*[""] * 7, header, *[""] * 4], compressed=True)
    assert binary.headers_and_endnotes(data) == [
        "Header: Brandt Order | QX-55013 | Carrier | Halvorsen | Copy"
    ]


def test_earlier_and_damaged_word_files_have_none() -> None:
    earlier = bytearray(0x400)
    struct.pack_into("<2H", earlier, 0, 0xA5EC, 104)
    assert binary.headers_and_endnotes(compound_file({"WordDocument": bytes(earlier)})) is None
    assert binary.headers_and_endnotes(compound_file({"WordDocument": b"\xec\xa5\xc1\0"})) is None


def record(kind: int, content: bytes = b"") -> bytes:
    return struct.pack("<2H", kind, len(content)) + content


def excel_97() -> bytes:
    """A workbook of a shown and a hidden sheet."""
    start, end = record(0x809, struct.pack("<2H", 0x600, 5)), record(0x0A)
    footer = "&LHarbour && Board".encode("utf-16-le")
    first = (
        start
        + record(0x14, struct.pack("<HB", 7, 0) + b"Page &P")
        + record(0x15, struct.pack("<HB", len(footer) // 2, 1) + footer)
        + start  # a chart inside the sheet
        + end
        + record(0x1B6, bytes(10) + struct.pack("<H", 5) + bytes(6))
        + record(0x3C, b"\0Quay\n")
        + record(0x3C, bytes(16))
        + end
    )
    names = (("Shown", 0), ("Gone", 2))

    def bounds(places: tuple[int, int]) -> bytes:
        return b"".join(
            record(0x85, struct.pack("<IBBBB", place, state, 0, len(name), 0) + name.encode())
            for (name, state), place in zip(names, places, strict=True)
        )

    size = len(start + bounds((0, 0)) + end)
    book = start + bounds((size, size + len(first))) + end + first + start + end
    return compound_file({"Workbook": book})


def test_sheets_of_old_workbooks_have_shapes_and_headers_and_may_be_hidden() -> None:
    assert binary.xls_sheet_extras(excel_97()) == {
        "Shown": SheetExtras(hidden=False, blocks=("Quay", "Footer: Harbour & Board")),
        "Gone": SheetExtras(hidden=True, blocks=()),
    }


# --- Binary Excel files: cells as of any sheet, and what stands beside them ----------------------

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
    assert second.text == "## Old (hidden)\n\nWherry\n"


def test_its_content_says_what_it_is_and_what_is_too_much_or_cut_off_is_refused() -> None:
    found = read(xlsb(FLEET), "fleet.xlsx", Limits())
    assert (found.format, codes(found)) == ("xlsb", ["extension-mismatch"])
    with pytest.raises(RejectedError) as caught:
        read(xlsb(FLEET, far=True), "fleet.xlsb", Limits())
    assert caught.value.code == "too-many-cells"
    with pytest.raises(RejectedError):
        read(xlsb(FLEET)[:-40], "fleet.xlsb", Limits())
    for name, content in (("Book", record(0x809, b"\0\x05\x05\0")), ("Workbook", b"")):
        assert binary.xls_sheet_extras(compound_file({name: content})) == {}


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
