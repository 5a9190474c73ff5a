"""Extraction quality and speed, side by side with other readers in one run.

    python benchmarks/extraction.py [--write]

Reads ``$CHAPTERHOUSE_DATA`` (else ``../shared/data``). A comparator that is not installed is listed
as such, and so is LibreOffice, which prints the tables. Takes about five minutes on two cores.
"""

import argparse
import gzip
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chapterhouse.reading.ocr import ENGINES
from chapterhouse.reading.pool import ReadingPool
from extraction_measures import (
    harmonic_mean,
    heading_f1,
    headings,
    mean,
    order,
    plain_text,
    shingle_counts,
    table_row_f1,
    table_rows,
    word_f1,
)
from extraction_readers import Read, Reader, readers, versions
from extraction_tables import print_tables, printed_tables
from measuring import Bar, Machine, Row, Table, data_folder, finish, percentile

OURS, WORKER = "chapterhouse", "chapterhouse, worker"
FOLDERS = ("pdf", "docx", "pptx", "xlsx", "odf", "epub", "html", "csv", "md", "doc", "ppt", "xls")
REAL = ("pdf", "docx", "pptx", "xlsx", "eml", "txt", "md")  # timed in the worker
REPETITIONS = 2  # the best is taken
SLOW = 1.0  # seconds: a file that takes longer is read once
_NOTE = (
    "References are another converter's Markdown (docling), so its style is favoured; for the "
    "printed tables they are what was printed. Where it writes a merged label once (odp) or also "
    "in rows and columns that have nothing else (odt), and two rows of headings as two, our rows "
    "differ. `articles` is main-content F1 over runs of four words, tuned on the even half only. "
    "The printed shapes were looked at while the reader was written. A file that a reader fails "
    "on counts 0 and as an error. Times are the best of two; `real` are all files of that kind, "
    "those read by OCR left out."
)


# --- the files -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sample:
    """A file and the text it should give, as Markdown; empty where there is no reference."""

    name: str
    format: str
    data: bytes
    reference: str = ""


def with_references(data: Path) -> list[Sample]:
    """Return the files of docling's ground truth that have a Markdown reference."""
    root = data / "documents" / "docling-groundtruth"
    return [
        Sample(source.name, _format(source), source.read_bytes(), reference.read_text("utf-8"))
        for folder in FOLDERS
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
    return "xlsx" if suffix == "xlsm" else suffix


def real_files(data: Path, suffix: str) -> list[Sample]:
    """Return every file of a kind among the documents, without references."""
    paths = sorted((data / "documents").rglob(f"*.{suffix}"))
    return [Sample(path.name, suffix, path.read_bytes()) for path in paths if path.is_file()]


def web_pages(data: Path) -> Iterator[Sample]:
    """Yield the pages of article-extraction-benchmark with the plain text of their articles."""
    root = data / "documents" / "article-extraction-benchmark"
    truth = json.loads((root / "ground-truth.json").read_text("utf-8"))
    for name in sorted(truth):
        page = gzip.decompress((root / "html" / f"{name}.html.gz").read_bytes())
        yield Sample(f"{name}.html", "html", page, truth[name]["articleBody"])


# --- reading them --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one candidate made of one file: None where it failed."""

    text: str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Quality:
    """One candidate on the files of one format. None: not applicable."""

    format: str
    reader: str
    outcomes: Sequence[Outcome]
    word_f1: float | None = None
    order: float | None = None
    heading_f1: float | None = None
    table_row_f1: float | None = None

    def milliseconds(self, share: float) -> float:
        """Return a percentile of the times."""
        return percentile([outcome.seconds * 1e3 for outcome in self.outcomes], share)

    @property
    def row(self) -> Row:
        """Return the cells of the table."""
        scores = (self.word_f1, self.order, self.heading_f1, self.table_row_f1)
        errors = sum(outcome.text is None for outcome in self.outcomes)
        shown = ("-" if one is None else f"{one:.3f}" for one in scores)
        times = (f"{self.milliseconds(share):.1f}" for share in (0.5, 0.95))
        return (self.format, self.reader, len(self.outcomes), errors, *shown, *times)


def attempt(read: Read, sample: Sample) -> Outcome:
    """Read a file, the best time of some; any error of a candidate is an outcome."""
    best, text = float("inf"), None
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        try:
            text = read(sample.data, sample.name)
        except Exception:  # noqa: BLE001 - whatever a candidate raises counts as its error
            return Outcome(None, time.perf_counter() - start)
        best = min(best, time.perf_counter() - start)
        if best > SLOW:
            break
    return Outcome(text, best)


def measure(reader: str, read: Read, kind: str, samples: Sequence[Sample]) -> Quality:
    """Score one candidate on the files of a format; a file it fails on counts 0."""
    outcomes = [attempt(read, sample) for sample in samples]
    pairs = [(o.text or "", s.reference) for o, s in zip(outcomes, samples, strict=True)]

    def score(
        measure: Callable[[str, str], float], pairs: Iterable[tuple[str, str]]
    ) -> float | None:
        return mean(measure(found, wanted) for found, wanted in pairs)

    return Quality(
        kind,
        reader,
        outcomes,
        score(word_f1, pairs),
        score(order, pairs),
        score(heading_f1, (p for p in pairs if headings(p[1]))),
        score(table_row_f1, (p for p in pairs if table_rows(p[1]))),
    )


def articles(reader: str, read: Read, pages: Sequence[Sample]) -> Iterator[Quality]:
    """Score main content: all pages, and the two halves by sorted name."""
    outcomes = [attempt(read, page) for page in pages]
    for kind, start, step in (("articles", 0, 1), ("articles even", 0, 2), ("articles odd", 1, 2)):
        part = list(zip(outcomes, pages, strict=True))[start::step]
        counts = [shingle_counts(plain_text(o.text or ""), page.reference) for o, page in part]
        precision, recall = (
            mean(getattr(count, measure) for count in counts) or 0.0
            for measure in ("precision", "recall")
        )
        yield Quality(kind, reader, [o for o, _ in part], harmonic_mean(precision, recall))


def printed(loaded: Mapping[str, Read]) -> Iterator[Quality]:
    """Score tables that LibreOffice prints to PDF.

    Raises:
        FileNotFoundError: LibreOffice is not installed.
    """
    tables = printed_tables()
    with tempfile.TemporaryDirectory() as folder:
        pdfs = print_tables(tables, Path(folder))
    for ruled, kind in ((True, "tables ruled"), (False, "tables borderless")):
        samples = [
            Sample(f"{table.name}.pdf", "pdf", pdfs[table.name], table.markdown)
            for table in tables
            if table.ruled is ruled
        ]
        yield from (measure(name, read, kind, samples) for name, read in loaded.items())


def in_worker(samples: Sequence[Sample], kind: str) -> Quality:
    """Time our reader in its worker process, files read by OCR left out."""
    scanned: list[bool] = []
    outcomes = []
    with ReadingPool(1) as pool:

        def read(data: bytes, name: str) -> str:
            extraction = pool.read(data, name)
            scanned.append(any(engine in extraction.method for engine in ENGINES))
            return "\n\n".join(page.text for page in extraction.pages)

        pool.read(b"warm up", "warm.txt")
        for sample in samples:
            scanned.clear()
            outcome = attempt(read, sample)
            if not any(scanned):
                outcomes.append(outcome)
    return Quality(kind, WORKER, outcomes)


def load_all() -> tuple[dict[str, tuple[Reader, Read]], dict[str, str]]:
    """Load the candidates; return them and, by name, their versions or 'not installed'."""
    loaded: dict[str, tuple[Reader, Read]] = {}
    stated: dict[str, str] = {}
    for reader in readers():
        try:
            stated[reader.name] = versions(reader)
            loaded[reader.name] = (reader, reader.load())
        except ImportError:
            stated[reader.name] = "not installed"
    return loaded, stated


def run(data: Path) -> tuple[list[Quality], dict[str, str]]:
    """Measure everything."""
    loaded, stated = load_all()

    def those_of(kind: str) -> dict[str, Read]:
        return {n: read for n, (r, read) in loaded.items() if n == OURS or kind in r.formats}

    rows: list[Quality] = []
    samples = with_references(data)
    for kind in dict.fromkeys(sample.format for sample in samples):
        part = [sample for sample in samples if sample.format == kind]
        for name, read in those_of(kind).items():
            rows.append(measure(name, read, kind, part))
            print(*rows[-1].row, flush=True)
    pages = list(web_pages(data))
    rows += articles(OURS, loaded[OURS][1], pages)
    try:
        rows += printed(those_of("pdf"))
    except FileNotFoundError:
        stated["LibreOffice"] = "not installed: no printed tables"
    messages = [attempt(loaded[OURS][1], sample) for sample in real_files(data, "eml")]
    rows.append(Quality("eml real", OURS, messages))
    rows += (in_worker(real_files(data, kind), f"{kind} real") for kind in REAL)
    rows.append(in_worker([s for s in samples if s.format == "html"], "html"))
    return rows, stated


def bars(rows: Sequence[Quality]) -> Iterator[Bar]:
    """Yield our figures beside their bars."""
    found = {(row.format, row.reader): row for row in rows}
    pdf, html, pages = (found[kind, OURS] for kind in ("pdf", "html", "articles"))
    worker = found["pdf real", WORKER]
    yield Bar("PDF: order of the text", pdf.order or 0.0, least=0.96)
    yield Bar("PDF: median ms in the worker, real files", worker.milliseconds(0.5), most=50)
    yield Bar("PDF: p95 ms in the worker, real files", worker.milliseconds(0.95), most=200)
    yield Bar("HTML: main content F1", pages.word_f1 or 0.0, least=0.90)
    yield Bar("HTML: word F1", html.word_f1 or 0.0, least=0.95)
    yield Bar("HTML: heading F1", html.heading_f1 or 0.0, least=0.95)
    yield Bar("HTML: table row F1", html.table_row_f1 or 0.0, least=0.80)
    yield Bar("HTML: median ms", html.milliseconds(0.5), most=5)
    yield Bar("HTML: median ms, real web pages", pages.milliseconds(0.5), most=5)
    for kind, least in (("docx", 0.95), ("pptx", 0.92), ("xlsx", 0.86), ("odt", 0.88)):
        yield Bar(f"{kind.upper()}: word F1", found[kind, OURS].word_f1 or 0.0, least=least)
    limits = {"txt real": 2, "md real": 2, "html": 5}
    limits |= dict.fromkeys(("docx real", "xlsx real", "pptx real"), 10)
    for kind, most in limits.items():
        median = found[kind, WORKER].milliseconds(0.5)
        yield Bar(f"{kind.split()[0].upper()}: median ms in the worker", median, most=most)
    for kind, least in (("tables ruled", 0.95), ("tables borderless", 0.80)):
        if (kind, OURS) in found:
            yield Bar(f"PDF: row F1, {kind}", found[kind, OURS].table_row_f1 or 0.0, least=least)


def main() -> int:
    """Run, print and maybe write; return 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help="keep the result")
    write, machine = parser.parse_args().write, Machine()
    warnings.simplefilter("ignore")  # comparators warn about their own dependencies
    rows, stated = run(data_folder())
    columns = ("format", "reader", "files", "errors", "word F1", "order", "heading F1", "row F1",
               "median ms", "p95 ms")  # fmt: skip
    tables = [
        Table("Readers", ("reader", "versions"), tuple(stated.items())),
        Table("By format", columns, tuple(row.row for row in rows), _NOTE),
    ]
    checked = list(bars(rows))
    return finish("extraction", "Extraction", checked, tables, machine.setting(), write=write)


if __name__ == "__main__":
    sys.exit(main())
