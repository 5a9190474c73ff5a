"""An independent count of the words that a PDF file shows, to compare with what was read from it.

It goes another and much simpler way than the reader, so that what that drops by mistake is noticed:
the bare text of the pages and the values of their fields. It is bounded; what lies beyond the
bounds is not counted, which is never an alarm.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import pypdfium2

from chapterhouse.reading.markdown import count
from chapterhouse.reading.pdf import fields
from chapterhouse.reading.pdf import text as pdf_text
from chapterhouse.types import ExtractedPage, Notice

_MOST_PAGES = 200
_MOST_CHARACTERS = 2_000_000
_REPEATED = 3  # pages with the same line, from which it counts once
_TORN = re.compile(r"(?<=[^\W\d_])[-\u00ad]\n(?=[^\W\d_])")
_NUMBER = re.compile(r"\W*\d*\W*")
_LEAST_SHARE = 0.9  # all real PDFs at hand have .96 and more
_LEAST_WORDS = 30  # of fewer no share is worth a notice


def missing_words(data: bytes, pages: Sequence[ExtractedPage]) -> tuple[Notice, ...]:
    """Return a notice where pages lack more of the visible words than a reader tears apart."""
    visible = pdf_words(data)
    taken = (visible & count("\n".join(page.text for page in pages))).total()
    if visible.total() < _LEAST_WORDS or taken >= _LEAST_SHARE * visible.total():
        return ()
    share = f"{taken / visible.total():.0%} of the words that the file shows"
    return (Notice("incomplete", f"{share} were taken; open the file for the others."),)


def pdf_words(data: bytes) -> Counter[str]:
    """Count the words of the pages and fields; a line that comes on many pages comes once."""
    lines: Counter[str] = Counter()
    texts: list[str] = []
    length = 0
    for text in _pdf_pages(data):
        parts = [part.strip() for part in _TORN.sub("", text).split("\n")]
        lines.update(set(parts))
        lines_used = (p for p in parts if lines[p] < _REPEATED and not _NUMBER.fullmatch(p))
        texts.append("\n".join(lines_used))
        length += len(text)
        if length > _MOST_CHARACTERS:
            break
    return count("\n".join(texts))


def _pdf_pages(data: bytes) -> Iterator[str]:
    document = pypdfium2.PdfDocument(data)
    try:
        document.init_forms()
        form = document.formenv.raw if document.formenv is not None else None
        for number in range(min(len(document), _MOST_PAGES)):
            try:
                page = document[number]
                textpage = page.get_textpage()
            except pypdfium2.PdfiumError:  # the reader has said so
                continue
            marks = fields.page_marks(form, page.raw).marks
            yield "\n".join((pdf_text.page_text(textpage.raw), *(mark.text for mark in marks)))
            textpage.close()
            page.close()
    finally:
        document.close()
