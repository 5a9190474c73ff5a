"""How much of what a file shows is read: our text beside that of independent readers.

    python benchmarks/recall.py [FORMAT …]

Reads every file of the formats in ``recall_readers.READERS`` below ``documents``, ``folders`` and
``hostile`` of ``$CHAPTERHOUSE_DATA``. A file that is ready although less than 95 % of the words
that the other reader shows were read needs a reason in ``recall_reasons.jsonl``. Batches of
invoices printed by LibreOffice must keep every number and amount. Formats whose reader is not
installed are left out, and the result says so. Takes about ten minutes, most of it Chromium's.
"""

import gzip
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import recall_invoices
from chapterhouse.errors import RejectedError
from chapterhouse.reading.completeness import share
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.words import count
from chapterhouse.types import BENIGN_NOTICES, ExtractedPage
from data_folder import data_folder
from measuring import Bar, Machine, Table, finish
from recall_readers import READERS

FOLDERS = ("documents", "folders", "hostile")
SUFFIXES = {"htm": "html"}
REASONS = Path(__file__).parent / "recall_reasons.jsonl"
LEAST = 0.95
_TORN = re.compile(r"(?<=[^\W\d_])[-\u00ad]\n(?=[^\W\d_])")
_NOTE = (
    "Recall is the share of the words that the other reader shows which our text holds, each as "
    "often as it stands there. PDF: poppler's pdftotext; a running header counts each time there "
    "and once with us. HTML: the sentences of Chromium's `innerText` without nav, footer, aside "
    "and their like; teasers of other stories and threads of comments that we leave out count."
)


@dataclass(frozen=True, slots=True)
class Recall:
    """One file: what share of its visible words was read, and whether it counts as whole."""

    file: str
    format: str
    share: float
    ready: bool


def measure(path: Path, name: str, format_: str, shown: Callable[[Path], str]) -> Recall | None:
    """Compare our text of a file with another reader's; None where either cannot read it."""
    try:
        extraction = read(path.read_bytes(), path.name, Limits())
        visible = count(_TORN.sub("", shown(path)))
    except (RejectedError, subprocess.SubprocessError):
        return None
    if extraction.format != format_ or not visible:
        return None
    ready = all(notice.code in BENIGN_NOTICES for notice in extraction.notices)
    return Recall(name, format_, share(visible, extraction.pages), ready)


def files(data: Path, format_: str, unpacked: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files of a format and their names below the data folder."""
    for folder in FOLDERS:
        for path in sorted((data / folder).rglob("*")):
            plain = path.with_suffix("") if path.suffix == ".gz" else path
            suffix = plain.suffix.lower().lstrip(".")
            if SUFFIXES.get(suffix, suffix) != format_ or not path.is_file():
                continue
            name = str(path.relative_to(data))
            if path.suffix == ".gz":
                path = unpacked / plain.name  # noqa: PLW2901 - the same file, unpacked
                path.write_bytes(gzip.decompress((data / name).read_bytes()))
            yield path, name


def recalls(data: Path, format_: str) -> list[Recall]:
    """Measure every file of a format.

    Raises:
        FileNotFoundError: the other reader is not installed.
    """
    with tempfile.TemporaryDirectory() as folder:
        found = (
            measure(path, name, format_, READERS[format_])
            for path, name in files(data, format_, Path(folder))
        )
        return [recall for recall in found if recall is not None]


def reasons() -> dict[str, str]:
    """Return by file why it is ready although some of its words were not read."""
    lines = REASONS.read_text("utf-8").splitlines() if REASONS.exists() else []
    return {row["file"]: row["reason"] for row in map(json.loads, lines)}


def invoices() -> tuple[list[Bar], list[Table]]:
    """Print batches of invoices and read them; nothing where LibreOffice is not installed."""
    try:
        rows = recall_invoices.measure(_pages)
    except FileNotFoundError:
        return [], []
    whole = min(found for _, _, found in rows)
    columns = ("layout", "pages", "whole")
    bar = Bar("invoices of a batch with number and amount", whole, least=recall_invoices.INVOICES)
    return [bar], [Table("Batches of twelve invoices", columns, tuple(rows))]


def _pages(path: Path) -> list[str]:
    pages: Sequence[ExtractedPage] = read(path.read_bytes(), path.name, Limits()).pages
    return [page.text for page in pages]


def main() -> int:
    formats = sys.argv[1:] or list(READERS)
    data, machine, known = data_folder(), Machine(), reasons()
    absent, rows, low = [], [], []
    for format_ in formats:
        try:
            found = recalls(data, format_)
        except FileNotFoundError as error:
            absent.append(f"{format_} was left out: {error.filename} is not installed.")
            continue
        shares = [recall.share for recall in found]
        below = [recall for recall in found if recall.ready and recall.share < LEAST]
        ready = sum(recall.ready for recall in found)
        rows.append((format_, len(found), ready, median(shares), min(shares), len(below)))
        low += sorted(below, key=lambda recall: recall.share)
    bars, tables = invoices()
    without = [recall.file for recall in low if recall.file not in known]
    bars.append(Bar("ready files below .95 without a reason", len(without), most=0))
    columns = ("format", "files", "ready", "median", "worst", "ready below .95")
    listed = tuple((r.file, r.share, known.get(r.file, "no reason yet")) for r in low)
    tables = [
        Table("By format", columns, tuple(rows)),
        Table("Ready files below .95", ("file", "share", "reason"), listed),
        *tables,
    ]
    title = "What is read of what files show"
    return finish("recall", title, bars, tables, machine.setting(), (_NOTE, *absent))


if __name__ == "__main__":
    sys.exit(main())
