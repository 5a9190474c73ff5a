"""What the benchmark compares: our readers and others', each as bytes to Markdown."""

# ruff: noqa: PLC0415 - each candidate is imported when it is asked for, if it is installed

import importlib.metadata
import io
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Read = Callable[[bytes, str], str]


@dataclass(frozen=True, slots=True)
class Reader:
    """A candidate: what it reads, and how to load it (which may raise ImportError)."""

    name: str
    packages: tuple[str, ...]
    formats: frozenset[str]
    load: Callable[[], Read]


def readers() -> list[Reader]:
    """Return all candidates, ours first."""
    office = frozenset(["pdf", "docx", "pptx", "xlsx", "html", "epub", "csv", "xls"])
    return [
        Reader(
            "chapterhouse",
            ("pypdfium2", "xberg", "selectolax", "html-to-markdown"),
            frozenset(),
            _ours,
        ),
        Reader("markitdown", ("markitdown",), office, _markitdown),
        Reader("pypdf", ("pypdf",), frozenset({"pdf"}), _pypdf),
        Reader("python-docx", ("python-docx",), frozenset({"docx"}), _docx),
        Reader("openpyxl", ("openpyxl",), frozenset({"xlsx"}), _openpyxl),
        Reader("python-pptx", ("python-pptx",), frozenset({"pptx"}), _pptx),
        Reader("html-to-markdown", ("html-to-markdown",), frozenset({"html"}), _html_to_markdown),
    ]


def versions(reader: Reader) -> str:
    """Return the versions of a candidate's packages.

    Raises:
        ImportError: one is not installed.
    """
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in reader.packages)


def _ours() -> Read:
    from chapterhouse.reading.dispatch import read
    from chapterhouse.reading.limits import Limits

    limits = Limits()
    return lambda data, name: "\n\n".join(page.text for page in read(data, name, limits).pages)


def _markitdown() -> Read:
    from markitdown import MarkItDown, StreamInfo

    logging.getLogger("pdfminer").setLevel(logging.ERROR)
    converter = MarkItDown(enable_plugins=False)

    def read(data: bytes, name: str) -> str:
        kind = StreamInfo(extension="." + name.rsplit(".", 1)[-1], filename=name)
        return str(converter.convert_stream(io.BytesIO(data), stream_info=kind).markdown)

    return read


def _pypdf() -> Read:
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.ERROR)
    return lambda data, _name: "\n\n".join(
        page.extract_text() for page in PdfReader(io.BytesIO(data)).pages
    )


def _docx() -> Read:
    from docx import Document
    from docx.table import Table

    def read(data: bytes, _name: str) -> str:
        parts = []
        for item in Document(io.BytesIO(data)).iter_inner_content():
            if isinstance(item, Table):
                parts.append(_table([[cell.text for cell in row.cells] for row in item.rows]))
            else:
                style = (item.style.name or "") if item.style is not None else ""
                level = style.removeprefix("Heading ")
                heading = style.startswith("Heading ") and level.isdecimal()
                parts.append(("#" * int(level) + " " if heading else "") + item.text)
        return "\n\n".join(parts)

    return read


def _openpyxl() -> Read:
    from openpyxl import load_workbook

    def read(data: bytes, _name: str) -> str:
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheets = (
            [
                ["" if value is None else str(value) for value in row]
                for row in sheet.iter_rows(values_only=True)
            ]
            for sheet in book.worksheets
        )
        return "\n\n".join(_table(rows) for rows in sheets)

    return read


def _pptx() -> Read:
    from pptx import Presentation

    def shapes(slide: object) -> Iterator[str]:
        for shape in slide.shapes:  # type: ignore[attr-defined]  # python-pptx has no types
            if shape.has_table:
                yield _table([[cell.text for cell in row.cells] for row in shape.table.rows])
            elif shape.has_text_frame:
                mark = "# " if shape == slide.shapes.title else ""  # type: ignore[attr-defined]  # likewise
                yield mark + shape.text_frame.text

    return lambda data, _name: "\n\n".join(
        text for slide in Presentation(io.BytesIO(data)).slides for text in shapes(slide)
    )


def _html_to_markdown() -> Read:
    from html_to_markdown import convert

    return lambda data, _name: convert(data.decode("utf-8", "replace")).content or ""


def _table(rows: list[list[str]]) -> str:
    kept = [row for row in rows if any(row)]
    if not kept:
        return ""
    cells = [[" ".join(cell.replace("|", "\\|").split()) for cell in row] for row in kept]
    lines = ["| " + " | ".join(row) + " |" for row in cells]
    return "\n".join([lines[0], "|" + " --- |" * len(cells[0]), *lines[1:]])
