"""Citations in their documents: marked exactly, or said not to be.

    python benchmarks/highlights.py

Sentences of stored chunks of real files, a hundred of PDFs and a hundred of sheets, Word files, web
pages and mails. In a PDF the characters whose middle lies in the rectangles are read again from the
page by PDFium; elsewhere what a page of the document marks is joined. Both must be the quotation:
its letters, digits and signs, without white space, marks and dashes, in their order. Takes about
two minutes on two cores.
"""

import ctypes
import random
import re
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pypdfium2
from pypdfium2 import raw

from chapterhouse.library import Library
from chapterhouse.presenting.document_view import view_document
from chapterhouse.reading.pdf.text import joined
from chapterhouse.text.markdown import sentence_spans
from chapterhouse.types import Document, PassagePlace
from measuring import Bar, Machine, Row, Table, data_folder, finish, percentile

KINDS = {"pdf": 100, "xlsx": 25, "docx": 25, "html": 25, "eml": 25}  # citations of each
MOST_FILES = 60  # of a kind
MOST_BYTES = 5_000_000  # of a file
LEAST_LETTERS = 4  # of a citation
SEED = 20_261_130
_ALEF_LAM = re.compile("[\u0622\u0623\u0625\u0627\u0644]{2,}")
EXACT, WRONG = "marked exactly", "marked wrong"
_NOT_COMPARED = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one citation is shown: exactly, wrong, or the reason why it is not marked."""

    kind: str
    result: str
    document: str
    quote: str


def chosen_files(folder: Path) -> Iterator[Path]:
    """Yield files of each kind, the same every time."""
    for kind in KINDS:
        found = sorted(
            path
            for part in ("documents", "folders")
            for path in (folder / part).rglob(f"*.{kind}")
            if path.stat().st_size < MOST_BYTES
        )
        yield from random.Random(SEED).sample(found, min(MOST_FILES, len(found)))


def citations(library: Library, kind: str) -> Iterator[tuple[Document, int, int]]:
    """Yield documents of a kind in turn, each with a sentence of one of its chunks."""
    chance = random.Random(SEED)
    documents = [one for one in library.documents.list() if one.format == kind and one.chunks]
    for document in islice(cycle(documents), 10 * KINDS[kind]):
        spans = [
            (chunk.start + start, chunk.start + start + len(chunk.text[start:end].rstrip()))
            for chunk in library.documents.chunks(document.id)
            for start, end in sentence_spans(chunk.text, 0, len(chunk.text))
            if sum(map(str.isalnum, chunk.text[start:end])) >= LEAST_LETTERS
        ]
        if spans:
            yield (document, *chance.choice(spans))


def compared(text: str) -> str:
    """Return what of a text is compared: lam and alef in one order, whichever PDFium gives."""
    plain = _NOT_COMPARED.sub("", unicodedata.normalize("NFKC", joined(text)))
    return _ALEF_LAM.sub(lambda run: "".join(sorted(run[0])), plain)


def shown_in_view(library: Library, document: Document, start: int, end: int) -> str:
    """Return what a page with the document's text marks."""
    view = view_document(library.documents.body(document.id), document.format, (start, end))
    return "".join(
        run.text
        for block in view.blocks
        for cell in (
            block.marker,
            block.runs,
            *block.header,
            *(cell for row in block.rows for cell in row),
        )
        for run in cell
        if run.is_marked
    )


def read_again(data: bytes, places: Sequence[PassagePlace]) -> str:
    """Return the characters of a PDF whose middle lies in rectangles, in PDFium's order."""
    document = pypdfium2.PdfDocument(data)
    try:
        return "".join(_inside(document[place.page - 1], place) for place in places)
    finally:
        document.close()


def _inside(page: Any, place: PassagePlace) -> str:
    textpage = page.get_textpage()
    left, right, low, high = (ctypes.c_double() for _ in range(4))
    x, y, whole = ctypes.c_int(), ctypes.c_int(), 100_000
    found = []
    for number in range(raw.FPDFText_CountChars(textpage.raw)):
        character = chr(raw.FPDFText_GetUnicode(textpage.raw, number))
        raw.FPDFText_GetCharBox(textpage.raw, number, left, right, low, high)
        middle = ((left.value + right.value) / 2, (low.value + high.value) / 2)
        raw.FPDF_PageToDevice(page.raw, 0, 0, whole, whole, 0, *middle, x, y)
        if not character.isspace() and any(
            first <= x.value / whole <= last and top <= y.value / whole <= bottom
            for first, top, last, bottom in place.rectangles
        ):
            found.append(character)
    return "".join(found)


def tried(library: Library, document: Document, start: int, end: int) -> Outcome:
    """Show one citation and look at what is marked."""
    quote = library.documents.body(document.id).text[start:end]
    if document.format == "pdf":
        places = library.documents.locate(document.id, start, end)
        reasons = [place.reason for place in places if place.reason]
        if reasons:
            return Outcome("pdf", reasons[0], document.source, quote)
        marked = read_again(library.documents.original(document.id), places)
    else:
        marked = shown_in_view(library, document, start, end)
    result = EXACT if compared(marked) == compared(quote) else WRONG
    return Outcome(document.format, result, document.source, quote)


def image_times(library: Library, outcomes: Sequence[Outcome]) -> tuple[list[float], list[float]]:
    """Return the milliseconds that first pages of PDFs take to be drawn, and their kilobytes."""
    times, sizes = [], []
    for source in sorted({one.document for one in outcomes if one.kind == "pdf"}):
        document = library.documents.get(source)
        began = time.perf_counter()
        image = library.documents.page_image(document.id, 1)
        times.append((time.perf_counter() - began) * 1e3)
        sizes.append(len(image) / 1e3)
    return times, sizes


def main() -> int:
    machine = Machine()
    with TemporaryDirectory() as home, Library.open(home) as library:
        library.documents.add(*chosen_files(data_folder()))
        outcomes = [
            tried(library, *one)
            for kind, count in KINDS.items()
            for one in islice(citations(library, kind), count)
        ]
        times, sizes = image_times(library, outcomes)
    counts = Counter((one.kind, one.result) for one in outcomes)
    wrong = [one for one in outcomes if one.result == WRONG]
    for one in wrong:
        print(f"wrong: {one.document}: {one.quote!r}", file=sys.stderr)
    results = [EXACT, WRONG, *sorted({one.result for one in outcomes} - {EXACT, WRONG})]
    rows: list[Row] = [(result, *(counts[kind, result] for kind in KINDS)) for result in results]
    pictures: tuple[Row, ...] = (
        ("milliseconds, median", percentile(times, 0.5)),
        ("milliseconds, 90th percentile", percentile(times, 0.9)),
        ("kilobytes, median", percentile(sizes, 0.5)),
    )
    exact = counts["pdf", EXACT] / KINDS["pdf"]
    bars = [
        Bar("citations", len(outcomes), least=sum(KINDS.values())),
        Bar("marked wrong", len(wrong), most=0),
        Bar("of PDFs marked exactly, %", 100 * exact, least=75),
        Bar("a page as a picture, ms (median)", percentile(times, 0.5), most=150),
    ]
    tables = (
        Table("Citations", ("how they are shown", *KINDS), tuple(rows)),
        Table("First pages as pictures", ("what", "value"), pictures),
    )
    return finish("highlights", "Citations in their documents", bars, tables, machine.setting())


if __name__ == "__main__":
    sys.exit(main())
