"""What the benchmark compares: our readers and others', each as bytes to Markdown."""

# ruff: noqa: PLC0415 - each candidate is imported when it is asked for, if it is installed

import importlib.metadata
import io
import logging
from collections.abc import Callable
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
