"""Delimited text as Markdown tables, and the one function that writes such a table."""

import csv
import io
from collections.abc import Iterable, Sequence

from chapterhouse.errors import RejectedError
from chapterhouse.reading.encodings import decode
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.plain import METHOD
from chapterhouse.types import ExtractedPage, Extraction

_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 50
_SAMPLE_CHARACTERS = 65_536


def read_delimited(data: bytes, format_: str, limits: Limits) -> Extraction:
    """Read ``csv`` or ``tsv`` as one table whose first row is its heading."""
    text, notices = decode(data)
    rows = parse(text, "\t" if format_ == "tsv" else sniff_delimiter(text), limits)
    page = ExtractedPage(markdown_table(rows))
    return Extraction((page,), format_, METHOD, notices=notices)


def parse(text: str, delimiter: str, limits: Limits) -> list[list[str]]:
    """Return the rows of a delimited text, empty lines left out."""
    rows: list[list[str]] = []
    cells = 0
    csv.field_size_limit(limits.line_bytes)
    try:
        # newline="" keeps line breaks inside quotes; strict=False reads what others wrote.
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            cells += len(row)
            if cells > limits.sheet_cells:
                raise RejectedError(
                    "too-many-cells",
                    f"The table has more than {limits.sheet_cells:,} cells.",
                    hint="Split the file.",
                )
            if any(cell.strip() for cell in row):
                rows.append([cell[: limits.cell_characters] for cell in row])
    except csv.Error as error:
        raise RejectedError("unreadable", f"The table cannot be read ({error}).") from error
    return rows


def sniff_delimiter(text: str) -> str:
    """Return the delimiter that cuts the first lines into the same, largest number of fields.

    `csv.Sniffer` takes letters for delimiters and is slow on long lines.
    """
    sample = text[:_SAMPLE_CHARACTERS]
    return max(_DELIMITERS, key=lambda delimiter: _regularity(sample, delimiter))


def _regularity(sample: str, delimiter: str) -> tuple[float, int]:
    """Return the share of rows that have the commonest width above one, and that width."""
    widths: list[int] = []
    for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter):
        widths.append(len(row))
        if len(widths) == _SAMPLE_LINES:
            break
    wide = [width for width in widths if width > 1]
    if not wide:
        return 0.0, 0
    common = max(set(wide), key=lambda width: (wide.count(width), width))
    return wide.count(common) / len(widths), common


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a Markdown table: as wide as the widest row, the first row on top."""
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    lines = [_line(rows[0], width), "|" + " --- |" * width]
    lines.extend(_line(row, width) for row in rows[1:])
    return "\n".join(lines) + "\n"


def escape_cell(cell: str) -> str:
    """Return text that stays inside one cell."""
    if "\n" in cell or "\r" in cell:
        cell = " ".join(cell.split())
    return cell.replace("|", "\\|") if "|" in cell else cell


def _line(row: Iterable[str], width: int) -> str:
    cells = [escape_cell(cell) for cell in row]
    cells.extend("" for _ in range(width - len(cells)))
    return "| " + " | ".join(cells) + " |"
