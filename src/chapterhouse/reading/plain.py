"""Plain text, Markdown and program code as they stand, delimited text as a table, and data.

JSON, YAML and XML are meant for programs: they are kept as code blocks in their own syntax.
"""

import csv
import io
import json
import re

from chapterhouse.errors import RejectedError
from chapterhouse.reading.encodings import decode, decode_stated
from chapterhouse.reading.formats import METHOD
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.markdown import code_block, first_heading, markdown_table, marked_pages
from chapterhouse.reading.preflight import declaration, entities, expand_entities
from chapterhouse.types import ExtractedPage, Extraction

_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 50
_SAMPLE_CHARACTERS = 65_536
_MINIFIED_LINE = 500  # characters; a person's JSON has shorter lines
_XML_DECLARED = re.compile(rb"<\?xml[^>]*encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_XML_TITLE = re.compile(r"<title[^>]*>([^<]{1,300})</title>")
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def read_text(data: bytes) -> Extraction:
    """Read plain text; nothing in it is taken for a heading."""
    text, notices = decode(data)
    return Extraction((ExtractedPage(text),), "txt", METHOD, markdown=False, notices=notices)


def read_markdown(data: bytes) -> Extraction:
    """Read Markdown; its title is its first heading, its pages are those that it marks."""
    text, notices = decode(data)
    pages, kind = marked_pages(text)
    title = first_heading(text)
    return Extraction(pages, "md", METHOD, page_kind=kind, title=title, notices=notices)


def read_code(data: bytes, language: str) -> Extraction:
    """Read a program as one fenced block."""
    text, notices = decode(data)
    return Extraction((ExtractedPage(code_block(text, language)),), "code", METHOD, notices=notices)


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


def read_json(data: bytes) -> Extraction:
    """Read JSON or JSON lines; what was minified is indented.

    Text that is no valid JSON is kept as it stands: its words are as good.
    """
    text, notices = decode(data)
    return Extraction(
        (ExtractedPage(code_block(_pretty(text), "json")),), "json", METHOD, notices=notices
    )


def read_yaml(data: bytes) -> Extraction:
    """Read YAML as it stands; nothing in it is evaluated."""
    text, notices = decode(data)
    return Extraction((ExtractedPage(code_block(text, "yaml")),), "yaml", METHOD, notices=notices)


def read_xml(data: bytes) -> Extraction:
    """Read XML as it stands, with the characters for which it declares names."""
    declared = _XML_DECLARED.match(data[:200])
    text, notices = decode(data)
    if declared and notices:
        text, notices = decode_stated(data, declared[1].decode("ascii"))
    text = _with_entities(text)
    title = found[1].strip() if (found := _XML_TITLE.search(text[:10_000])) else ""
    body = code_block(_one_element_a_line(text), "xml")
    return Extraction((ExtractedPage(body),), "xml", METHOD, title=title, notices=notices)


def _with_entities(text: str) -> str:
    stated = declaration(text)
    found = entities(stated)
    if not found.values:
        return text
    behind = text.index(stated) + found.length
    return text[:behind] + expand_entities(text[behind:], found.values)


def _pretty(text: str) -> str:
    """Indent minified JSON; numbers, order and repeated keys stay as they were written."""
    if max(map(len, text.split("\n"))) < _MINIFIED_LINE:
        return text
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text
    return _indented(text)


def _indented(text: str) -> str:
    """Lay out valid JSON by its own tokens: `json.dumps` would round numbers and merge keys."""
    parts: list[str] = []
    depth, opened = 0, False
    for piece in _JSON_TOKEN.findall(text):
        if piece in "}]":
            depth -= 1
            parts.append(piece if opened else f"\n{'  ' * depth}{piece}")
            opened = False
            continue
        if opened:
            parts.append("\n" + "  " * depth)
            opened = False
        if piece in "{[":
            depth += 1
            opened = True
            parts.append(piece)
        elif piece == ",":
            parts.append(",\n" + "  " * depth)
        else:
            parts.append(": " if piece == ":" else piece)
    return "".join(parts) + "\n"


def _one_element_a_line(text: str) -> str:
    """Break XML without line ends between its tags."""
    if max(map(len, text.split("\n"))) < _MINIFIED_LINE:
        return text
    return re.sub(r">[ \t]*<", ">\n<", text)
