"""An independent count of the words that the pages and fields of a PDF file show."""

import re
from collections import Counter
from collections.abc import Iterator

import pypdfium2

from chapterhouse.reading.completeness import count
from chapterhouse.reading.pdf import fields
from chapterhouse.reading.pdf import text as pdf_text

_MOST_PAGES = 200
_MOST_CHARACTERS = 2_000_000
_REPEATED = 3  # pages with the same line, from which it counts once
_TORN = re.compile(r"(?<=[^\W\d_])[-\u00ad]\n(?=[^\W\d_])")
_NUMBER = re.compile(r"\W*\d*\W*")


def pdf_words(data: bytes) -> Counter[str]:
    """Count the words that the pages and fields of a PDF file show."""
    return count(_pdf_text(data))


def _pdf_text(data: bytes) -> str:
    """Return the text of PDF pages and fields; a line that comes on many pages comes once."""
    lines: Counter[str] = Counter()
    texts: list[str] = []
    length = 0
    for text in _pdf_pages(data):
        whole = _TORN.sub("", text)
        parts = [part.strip() for part in whole.split("\n")]
        lines.update(set(parts))
        lines_used = (p for p in parts if lines[p] < _REPEATED and not _NUMBER.fullmatch(p))
        texts.append("\n".join(lines_used))
        length += len(text)
        if length > _MOST_CHARACTERS:
            break
    return "\n".join(texts)


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
