"""How much of what a file shows is read: our text beside that of independent readers.

    python benchmarks/recall.py [FORMAT …]

Reads every file of the formats in ``recall_readers.READERS`` below ``documents``, ``folders`` and
``hostile`` of ``$CHAPTERHOUSE_DATA``. Where formats are named only these are measured; what the
last result says of the others stays in it. A file that is ready although less than 95 % of the
words that the other reader shows were read needs a reason in ``recall_reasons.jsonl``. Formats
whose reader is not installed are left out, the result says so, and what it said of them before
stays. Takes about twenty minutes, most of it Chromium's and LibreOffice's.
"""

import gzip
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from chapterhouse.errors import RejectedError
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.markdown import count
from chapterhouse.types import BENIGN_NOTICES, ExtractedPage
from measuring import RESULTS, Bar, Machine, Row, Table, data_folder, finish
from recall_readers import READERS

FOLDERS = ("documents", "folders", "hostile")
SUFFIXES = {"htm": "html", "asciidoc": "adoc", "jsonl": "json"}
REASONS = Path(__file__).parent / "recall_reasons.jsonl"
LEAST = 0.95
_COLUMNS = ("format", "files", "ready", "median", "share with .95", "worst", "ready below .95")
_TORN = re.compile(r"(?<=[^\W\d_])[-\u00ad]\n(?=[^\W\d_])")
_NOTE = (
    "Recall is the share of the words that the other reader shows which our text holds, each as "
    "often as it stands there. PDF: poppler's pdftotext; a running header counts each time there "
    "and once with us. HTML: the sentences of Chromium's `innerText` without nav, footer, aside "
    "and their like; teasers of other stories and threads of comments that we leave out count. "
    "Office and OpenDocument: the text that LibreOffice exports, of slides by way of a PDF, where "
    "narrow boxes tear words. Messages, e-books and texts: their bytes, decoded with the standard "
    "library."
)


@dataclass(frozen=True, slots=True)
class Recall:
    """One file: what share of its visible words was read, and whether it counts as whole."""

    file: str
    format: str
    share: float
    ready: bool


def share(visible: Counter[str], pages: Sequence[ExtractedPage]) -> float:
    """Return the share of the visible words that the pages hold, 0 to 1; 1 where none are."""
    taken = count("\n".join(page.text for page in pages))
    return (visible & taken).total() / visible.total() if visible else 1.0


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


def _row(format_: str, found: Sequence[Recall]) -> Row:
    shares = [recall.share for recall in found]
    whole = sum(share >= LEAST for share in shares) / len(shares)
    ready = [recall for recall in found if recall.ready]
    below = sum(recall.share < LEAST for recall in ready)
    return (format_, len(found), len(ready), median(shares), whole, min(shares), below)


def _before(measured: Sequence[str]) -> tuple[list[Row], list[tuple[str, float]]]:
    """Return what the last result says of formats that are not measured now."""
    written = RESULTS / "recall.json"
    if not written.exists():
        return [], []
    kinds, low = json.loads(written.read_text("utf-8"))["tables"][:2]
    named = [dict(zip(kinds["columns"], row, strict=True)) for row in kinds["rows"]]
    rows: list[Row] = [
        tuple(row.get(column, "not measured") for column in _COLUMNS)
        for row in named
        if row["format"] not in measured
    ]
    return rows, [
        (file, value) for file, value, _ in low["rows"] if _format_of(file) not in measured
    ]


def _format_of(file: str) -> str:
    suffix = Path(file.removesuffix(".gz")).suffix.lower().lstrip(".")
    return SUFFIXES.get(suffix, suffix)


def main() -> int:
    formats = sys.argv[1:] or list(READERS)
    data, machine, known = data_folder(), Machine(), reasons()
    found: dict[str, list[Recall]] = {}
    absent: list[str] = []
    for format_ in formats:
        try:
            found[format_] = recalls(data, format_)
        except FileNotFoundError as error:
            absent.append(f"{format_} was left out: {error.filename} is not installed.")
    rows, low = _before(list(found))
    for format_, own in found.items():
        rows += [_row(format_, own)] if own else []
        low += [(one.file, one.share) for one in own if one.ready and one.share < LEAST]
    order = list(READERS)
    rows.sort(key=lambda row: order.index(str(row[0])))
    low.sort(key=lambda one: (order.index(_format_of(one[0])), one[1]))
    without = [file for file, _ in low if file not in known]
    bars = [Bar("ready files below .95 without a reason", len(without), most=0)]
    listed = tuple((file, value, known.get(file, "no reason yet")) for file, value in low)
    tables = [
        Table("By format", _COLUMNS, tuple(rows)),
        Table("Ready files below .95", ("file", "share", "reason"), listed),
    ]
    title = "What is read of what files show"
    return finish("recall", title, bars, tables, machine.setting(), (_NOTE, *absent))


if __name__ == "__main__":
    sys.exit(main())
