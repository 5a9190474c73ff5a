"""The files that extraction is measured on, each with its reference."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FOLDERS = ("pdf", "docx", "pptx", "xlsx", "odf", "epub", "html", "csv", "md", "doc", "ppt", "xls")
_SAME = {"xlsm": "xlsx"}


@dataclass(frozen=True, slots=True)
class Sample:
    """A file and the text it should give, as Markdown; None where there is no reference."""

    name: str
    format: str
    data: bytes
    reference: str | None


def with_references(data: Path) -> list[Sample]:
    """Return the files of docling's ground truth that have a Markdown reference."""
    root = data / "documents" / "docling-groundtruth"
    return [
        Sample(source.name, _format(source), source.read_bytes(), reference.read_text("utf-8"))
        for folder in _FOLDERS
        for source in sorted((root / folder / "sources").iterdir())
        if (reference := _reference(root / folder / "groundtruth", source)) is not None
    ]


def _reference(folder: Path, source: Path) -> Path | None:
    name = f"{source.stem if source.suffix == '.pdf' else source.name}.md"
    # A PDF printed from an OpenDocument file has that file's reference, which is no PDF's.
    printed = source.suffix == ".pdf" and folder.parent.name != "pdf"
    return folder / name if not printed and (folder / name).exists() else None


def _format(path: Path) -> str:
    suffix = path.suffix.lower().lstrip(".")
    return _SAME.get(suffix, suffix)


def real_files(data: Path, suffix: str) -> list[Sample]:
    """Return every file of a kind among the documents, without references."""
    paths = sorted((data / "documents").rglob(f"*.{suffix}"))
    return [Sample(path.name, suffix, path.read_bytes(), None) for path in paths if path.is_file()]


def web_pages(data: Path) -> Iterator[Sample]:
    """Yield the pages of article-extraction-benchmark with the plain text of their articles."""
    root = data / "documents" / "article-extraction-benchmark"
    truth = json.loads((root / "ground-truth.json").read_text("utf-8"))
    for name in sorted(truth):
        page = gzip.decompress((root / "html" / f"{name}.html.gz").read_bytes())
        yield Sample(f"{name}.html", "html", page, truth[name]["articleBody"])
