"""An independent count of the words that a file shows, to compare with what was read from it.

Web pages are counted by their reader, on the tree that it has; packages by `package_words`.
The count goes another and much simpler way than the readers, so that what a reader drops by
mistake is noticed: the bare text of PDF pages, and the sentences of a web page before its content
is looked for. It is bounded; what lies beyond the bounds is not counted, which is never an alarm.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

from chapterhouse.text.sanitise import sanitise
from chapterhouse.types import ExtractedPage, Notice

_SINGLE = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # scripts without spaces: each character
WORD = re.compile(rf"[{_SINGLE}]|[^\W_{_SINGLE}]+")
# Shares below which text is missing. All real PDFs at hand have .96 and more; of real web pages
# 3 % have less than .8, all of which show the beginnings of other articles.
_LEAST_SHARE = {"html": 0.8}
_DEFAULT_SHARE = 0.9
_COUNTED = {"html": "words in its sentences, menus not counted,"}
_LEAST_WORDS = 30  # of fewer no share is worth a notice
_MOST_PAGES = 200
_MOST_CHARACTERS = 2_000_000
_REPEATED = 3  # pages with the same line, from which it counts once
_TORN = re.compile(r"(?<=[^\W\d_])[-\u00ad]\n(?=[^\W\d_])")
_NUMBER = re.compile(r"\W*\d*\W*")


def count(text: str) -> Counter[str]:
    """Count the words of a text."""
    return Counter(words(text))


def words(text: str) -> list[str]:
    """Return the words of a text: runs of letters and digits, case folded, compatibly composed.

    What cannot be seen parts no words, as it is not in the library's text.
    """
    return WORD.findall(unicodedata.normalize("NFKC", sanitise(text).text).casefold())


def pdf_words(data: bytes) -> Counter[str]:
    """Count the words that the pages and fields of a PDF file show."""
    return count(_pdf_text(data))


def missing(
    visible: Counter[str], format_: str, pages: Sequence[ExtractedPage]
) -> tuple[Notice, ...]:
    """Return a notice where the pages lack more of the visible words than readers tear apart."""
    found = share(visible, pages)
    if visible.total() < _LEAST_WORDS or found >= _LEAST_SHARE.get(format_, _DEFAULT_SHARE):
        return ()
    what = _COUNTED.get(format_, "words that the file shows")
    sentence = f"{found:.0%} of the {what} were taken; open the file for the others."
    return (Notice("incomplete", sentence),)


def share(visible: Counter[str], pages: Sequence[ExtractedPage]) -> float:
    """Return the share of the visible words that the pages hold, 0 to 1; 1 where none are."""
    total = visible.total()
    if not total:
        return 1.0
    taken = count("\n".join(page.text for page in pages))
    return (visible & taken).total() / total


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
    import pypdfium2  # noqa: PLC0415 - a worker for text stays small

    from chapterhouse.reading.pdf.fields import page_marks  # noqa: PLC0415
    from chapterhouse.reading.pdf.text import page_text  # noqa: PLC0415

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
            marks = page_marks(form, page.raw).marks
            yield "\n".join((page_text(textpage.raw), *(mark.text for mark in marks)))
            textpage.close()
            page.close()
    finally:
        document.close()
