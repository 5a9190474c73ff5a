"""Minimal binary Excel files for tests, from [MS-XLSB]: cells, hidden sheets, comments, headers."""

import struct
from collections.abc import Mapping, Sequence

from .conftest import relations, zipped

Cell = str | float | bool | None
Comments = Mapping[tuple[int, int], str]

MAIN = "application/vnd.ms-excel.sheet.binary.macroEnabled.main"
PART = '<Override PartName="/{}" ContentType="application/vnd.ms-excel.{}"/>'
TYPES = (
    '<?xml version="1.0" encoding="UTF-8"?>'
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Default Extension="bin" ContentType="{MAIN}"/>'
    "{}</Types>"
)


def record(kind: int, content: bytes = b"") -> bytes:
    number = bytes([kind]) if kind < 0x80 else bytes([kind & 0x7F | 0x80, kind >> 7])
    length, size = len(content), bytearray()
    while length >= 0x80:
        size.append(length & 0x7F | 0x80)
        length >>= 7
    return number + bytes(size) + bytes([length]) + content


def string(text: str) -> bytes:
    encoded = text.encode("utf-16-le")
    return struct.pack("<I", len(encoded) // 2) + encoded


def _cell(column: int, value: Cell, shared: list[str]) -> bytes:
    place = struct.pack("<II", column, 0)
    if isinstance(value, str):
        shared.append(value)
        return record(7, place + struct.pack("<I", len(shared) - 1))
    if isinstance(value, bool):
        return record(4, place + bytes([value]))
    if value is None:
        return record(1, place)
    if value % 1:
        return record(5, place + struct.pack("<d", value))
    return record(2, place + struct.pack("<i", int(value) << 2 | 2))


def _sheet(rows: Sequence[Sequence[Cell]], shared: list[str], header: str) -> bytes:
    widest = max(map(len, rows), default=1)
    body = [record(129), record(148, struct.pack("<4I", 0, len(rows) - 1, 0, widest - 1))]
    body.append(record(145))
    for number, row in enumerate(rows):
        body.append(record(0, struct.pack("<IIH3xI", number, 0, 300, 0)))
        body += [_cell(column, value, shared) for column, value in enumerate(row)]
    body.append(record(146))
    if header:
        no_text = b"\xff\xff\xff\xff"
        body += [record(479, b"\0\0" + string(header) + no_text * 5), record(480)]
    return b"".join([*body, record(130)])


def _comments(comments: Comments) -> bytes:
    body = [record(628), record(630), record(632, string("Ada")), record(631), record(633)]
    for (row, column), text in comments.items():
        body.append(record(635, struct.pack("<5I16x", 0, row, row, column, column)))
        body += [record(637, b"\0" + string(text)), record(636)]
    return b"".join([*body, record(634), record(629)])


def xlsb(
    sheets: Mapping[str, Sequence[Sequence[Cell]]],
    *,
    hidden: Sequence[str] = (),
    header: str = "",
    comments: Comments | None = None,
    far: bool = False,
) -> bytes:
    """A workbook; the header and the comments are the first sheet's, which may claim to be huge."""
    shared: list[str] = []
    parts: dict[str, str | bytes] = {}
    bundle = []
    types = PART.format("xl/sharedStrings.bin", "sharedStrings")
    types += PART.format("xl/styles.bin", "styles")
    for number, (name, rows) in enumerate(sheets.items(), 1):
        state = struct.pack("<II", name in hidden, number)
        bundle.append(record(156, state + string(f"r{number}") + string(name)))
        part = f"xl/worksheets/sheet{number}.bin"
        sheet = _sheet(rows, shared, header if number == 1 else "")
        if far and number == 1:
            sheet = sheet.replace(
                record(148, struct.pack("<4I", 0, len(rows) - 1, 0, max(map(len, rows)) - 1)),
                record(148, struct.pack("<4I", 0, 2**20 - 1, 0, 2**14 - 1)),
            )
        parts[part] = sheet
        types += PART.format(part, "worksheet")
    if comments:
        parts["xl/comments1.bin"] = _comments(comments)
        parts["xl/worksheets/_rels/sheet1.bin.rels"] = relations(
            ("r1", "comments", "../comments1.bin")
        )
        types += PART.format("xl/comments1.bin", "comments")
    items = [record(19, b"\0" + string(text)) for text in shared]
    count = struct.pack("<II", len(shared), len(shared))
    targets = [
        (f"r{n}", "worksheet", f"worksheets/sheet{n}.bin") for n in range(1, len(sheets) + 1)
    ]
    return zipped(
        {
            "[Content_Types].xml": TYPES.format(types),
            "_rels/.rels": relations(("r1", "officeDocument", "xl/workbook.bin")),
            "xl/_rels/workbook.bin.rels": relations(
                *targets,
                ("s1", "sharedStrings", "sharedStrings.bin"),
                ("s2", "styles", "styles.bin"),
            ),
            "xl/workbook.bin": b"".join(
                [record(131), record(143), *bundle, record(144), record(132)]
            ),
            "xl/sharedStrings.bin": b"".join([record(159, count), *items, record(160)]),
            "xl/styles.bin": b"".join(
                map(record, (278, 617, 47, 618, 279), (b"", b"\1\0\0\0", bytes(16), b"", b""))
            ),
            **parts,
        }
    )
