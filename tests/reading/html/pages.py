"""Pages for tests of what is read of the web."""

from chapterhouse.reading.html.page import read_html
from chapterhouse.types import Extraction


def read(html: str) -> Extraction:
    return read_html(html.encode())


def text_of(body: str) -> str:
    return read(f"<html><body>{body}</body></html>").pages[0].text


SENTENCES = "The harbour master reads out what is written on the board. " * 6


def page_with(*parts: str) -> str:
    menu = "<nav><a href=/>Home</a> <a href=/b>About the port</a></nav><footer>The port</footer>"
    html = f"<html><body>{menu}<h1>Report</h1>{''.join(parts)}</body></html>"
    return read(html).pages[0].text


BODY = "".join(f"<p>Part {number}: {SENTENCES}</p>" for number in range(4))


LEAD = (
    "The port wants to build a second quay, although nobody has asked for one "
    "and there is no money for it."
)
