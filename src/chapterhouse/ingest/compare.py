"""A document beside the bytes that it was read from, so that people see what was taken."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import repeat
from typing import Final

from chapterhouse.connectors.content import open_source
from chapterhouse.errors import NotFoundError, RejectedError, UsageError
from chapterhouse.ingest.plan import find_file
from chapterhouse.ports.store import Store
from chapterhouse.reading.completeness import count, share
from chapterhouse.reading.coverage import missing_words
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pdf.images import MOST_PAGES, WORDS
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.reading.signatures import image_format, image_size
from chapterhouse.text.counting import counted
from chapterhouse.text.sanitise import sanitise
from chapterhouse.types import (
    Body,
    ComparedPage,
    Comparison,
    Document,
    ExtractedPage,
    Extraction,
    OriginalLine,
    Scope,
)
from chapterhouse.types.comparison import Box

_DRAW: Final = "chapterhouse.reading.pdf.images:draw_pages"
_SHOW: Final = "chapterhouse.reading.originals:show"
_RANGE: Final = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")
_IN_BROWSERS: Final = {"png", "jpeg", "gif", "webp"}
_MOST_IMAGE_BYTES: Final = 30_000_000
_MOST_CHARACTERS: Final = 1_000_000  # of the text that is shown
_CUT = f"Only the first {_MOST_CHARACTERS:,} characters of the text are shown."
_NO_IMAGE = "Browsers do not show this image, or it is too large: open it beside this page."
_NOT_SHOWN = "Nothing of a file of this format can be shown here: open it beside this page."


def compare(
    document: Document, body: Body, store: Store, limits: Limits, pages: str = ""
) -> Comparison:
    """Compare a document with the file that it was read from.

    Args:
        document: A document of the store.
        body: Its text.
        store: Where the bytes are kept.
        limits: Of the worker that opens them.
        pages: Pages of a PDF, as ``3-9`` or ``3``; the first ones when empty.

    Raises:
        NotFoundError: the bytes are neither kept nor in the folder any more.
        RejectedError: they cannot be opened.
        UsageError: there are no such pages.
    """
    wanted = _wanted(pages, document)
    data = _original(document, store, limits)
    if document.format == "pdf":
        return _compare_pages(document, body, _read(_DRAW, data, wanted, limits), wanted)
    if image := image_format(data):
        return _compare_image(document, body, data, image)
    try:
        shown = _read(_SHOW, data, document.source.rpartition("/")[2], limits)
    except RejectedError as error:
        page = ComparedPage(None, (), body.text[:_MOST_CHARACTERS])
        return Comparison(document, (page,), remarks=(f"The file is not shown: {error.message}",))
    return _compare_text(document, body, shown)


def _wanted(pages: str, document: Document) -> str:
    """Return the first and the last page.

    Raises:
        UsageError: they are no pages, or too many.
    """
    if not pages:
        return f"1-{MOST_PAGES}"
    if document.format != "pdf":
        raise UsageError(f"Pages can be chosen of PDF files; this is {document.format}.")
    found = _RANGE.fullmatch(pages)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last:
        raise UsageError(f"--pages wants two numbers as 3-9, or one, not {pages!r}.")
    if last - first >= MOST_PAGES:
        raise UsageError(f"At most {MOST_PAGES} pages are shown at once, not {last - first + 1}.")
    return f"{first}-{last}"


def _original(document: Document, store: Store, limits: Limits) -> bytes:
    """Return the bytes that a document was read from: those kept, else those of its file."""
    data = store.content(document.sha256, Scope.everything())
    if data is not None:
        return data
    file = find_file(document, store)
    if file is not None and file.problem is None:
        content = open_source(file, maximum_bytes=limits.file_bytes)
        if content.sha256 == document.sha256:
            return content.data
    raise NotFoundError(
        f"The bytes that {document.source} was read from are neither in its folder nor kept.",
        hint="Add the file again: chapterhouse add PATH",
    )


def _read(reader: str, data: bytes, name: str, limits: Limits) -> Extraction:
    with ReadingPool(1, limits, reader=reader) as pool:
        return pool.read(data, name)


def _compare_pages(document: Document, body: Body, drawn: Extraction, wanted: str) -> Comparison:
    first, last = map(int, wanted.split("-"))
    total = int(drawn.metadata["pages"])
    if first > total:
        raise UsageError(
            f"There is no page {first}: {document.source} has {counted(total, 'page')}."
        )
    images = {member.path: member.data for member in drawn.members}
    visible = Counter(images.pop(WORDS, b"").decode().split())
    texts = {page.number: body.text[page.start : page.end] for page in body.pages}
    shown = [int(number) for number in images]
    lines = {number: [p for p in drawn.pages if p.number == number] for number in shown}
    pages = tuple(
        _page(number, lines[number], texts.get(number, "").strip("\n"), images[str(number)])
        for number in shown
    )
    remarks = [notice.sentence for notice in drawn.notices]
    if first > 1 or last < total:
        last = min(last, total)
        pages_text = f"Pages {first} to {last}" if last > first else f"Page {first}"
        remarks.append(f"{pages_text} of {total:,} shown; choose others with --pages.")
    return Comparison(document, pages, _share(visible, body), tuple(remarks))


def _page(number: int, found: Sequence[ExtractedPage], text: str, image: bytes) -> ComparedPage:
    boxes = [_box(page.label) for page in found]
    lines = _lines([page.text for page in found], text, boxes)
    return ComparedPage(number, lines, text, image, "image/png", image_size(image) or (1, 1))


def _box(label: str) -> Box:
    left, top, right, bottom = (min(1.0, max(0.0, float(part))) for part in label.split())
    return left, top, right, bottom


def _lines(
    texts: Sequence[str], text: str, boxes: Sequence[Box] | None = None
) -> tuple[OriginalLine, ...]:
    texts = [sanitise(line).text.replace("\n", " ") for line in texts]  # as the library's text is
    marked = zip(texts, missing_words(texts, text), boxes or repeat(None), strict=False)
    return tuple(
        OriginalLine(line, missing, _is_all(line, missing), box) for line, missing, box in marked
    )


def _is_all(line: str, missing: tuple[tuple[int, int], ...]) -> bool:
    lacking = sum((count(line[start:end]) for start, end in missing), Counter[str]())
    return bool(missing) and lacking == count(line)


def _compare_image(document: Document, body: Body, data: bytes, format_: str) -> Comparison:
    remarks: tuple[str, ...] = ()
    if format_ not in _IN_BROWSERS or len(data) > _MOST_IMAGE_BYTES:
        remarks = (_NO_IMAGE,)
        data = b""
    size = image_size(data) or (0, 0)
    page = ComparedPage(None, (), body.text[:_MOST_CHARACTERS], data, f"image/{format_}", size)
    return Comparison(document, (page,), remarks=remarks)


def _compare_text(document: Document, body: Body, shown: Extraction) -> Comparison:
    texts, headings = list[str](), set[int]()
    for part in shown.pages:
        if part.label:
            headings.add(len(texts))
            texts.append("")
        texts += [line for line in part.text.splitlines() if line.strip()]
    lines = list(_lines(texts, body.text))
    for place, part in zip(sorted(headings), (p for p in shown.pages if p.label), strict=True):
        lines[place] = OriginalLine(part.label, heading=True)
    page = ComparedPage(None, tuple(lines), body.text[:_MOST_CHARACTERS])
    remarks = [notice.sentence for notice in shown.notices]
    remarks += [] if shown.pages or remarks else [_NOT_SHOWN]
    remarks += [_CUT] if len(body.text) > _MOST_CHARACTERS else []
    visible = count("\n".join(texts))
    return Comparison(document, (page,), _share(visible, body), tuple(remarks))


def _share(visible: Counter[str], body: Body) -> float | None:
    return share(visible, (ExtractedPage(body.text),)) if visible else None
