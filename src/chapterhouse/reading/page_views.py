"""Pages of PDFs as pictures, and where a span of a document stands on them, asked of workers."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from itertools import islice
from typing import Final

from chapterhouse.types import Body, PageView, Passage, PassagePlace

MOST_BYTES: Final = 64_000_000  # of pictures in memory
_MOST_PAGES: Final = 20  # on which a span is looked for
_AROUND: Final = 400  # characters by which one of several places is told


# Draws a page of a PDF and finds passages, as ``reading.pool.ReadingPool.show`` does.
Show = Callable[[bytes, int, Sequence[Passage]], Future[PageView]]


class PageViews:
    """Asks workers to show pages; the pictures used last stay in memory and nowhere else."""

    def __init__(self, show: Show, most_bytes: int = MOST_BYTES) -> None:
        self._show, self._most = show, most_bytes
        self._images: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._changing = threading.Lock()

    def image(self, sha256: str, page: int, load: Callable[[], bytes]) -> bytes:
        """Return a page of the PDF with this hash as a PNG; nothing where it has no such page.

        Raises:
            RejectedError: it cannot be drawn.
        """
        with self._changing:
            if (sha256, page) in self._images:
                self._images.move_to_end((sha256, page))
                return self._images[sha256, page]
        png = self._show(load(), page, ()).result().png
        with self._changing:
            if png:
                self._images[sha256, page] = png
            while sum(map(len, self._images.values())) > self._most:
                self._images.popitem(last=False)
        return png

    def places(self, data: bytes, passages: Sequence[Passage]) -> tuple[PassagePlace, ...]:
        """Return where passages stand on the pages of a PDF.

        Raises:
            RejectedError: it cannot be opened.
        """
        return self._show(data, 0, passages).result().places


def passages_of(body: Body, start: int, end: int) -> tuple[Passage, ...]:
    """Return the parts of a span by page, the first twenty; none of blank ones."""
    text = body.text
    cut = ((page, max(start, page.start), min(end, page.end)) for page in body.pages)
    found = (
        Passage(
            page.number,
            text[first:last],
            text[max(page.start, first - _AROUND) : first],
            text[last : min(page.end, last + _AROUND)],
        )
        for page, first, last in cut
        if text[first : max(first, last)].strip()
    )
    return tuple(islice(found, _MOST_PAGES))
