"""Minimal PDFs for tests: text at positions, lines, several pages; nothing is compressed."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pypdfium2 as pdfium

HEIGHT = 792
WIDTH = 612
_PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


@dataclass
class Page:
    """Drawing operators of one page; y counts downwards from its top."""

    operators: list[str] = field(default_factory=list)
    annotations: list[str] = field(default_factory=list)

    def text(
        self, x: float, y: float, text: str, size: float = 11, *, bold: bool = False
    ) -> "Page":
        return self.turned(x, y, text, size, (1, 0, 0, 1), bold=bold)

    def turned(
        self,
        x: float,
        y: float,
        text: str,
        size: float,
        matrix: tuple[int, int, int, int],
        *,
        bold: bool = False,
    ) -> "Page":
        escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        a, b, c, d = matrix
        font = f"/F{2 if bold else 1} {size} Tf"
        self.operators.append(f"BT {font} {a} {b} {c} {d} {x} {HEIGHT - y} Tm ({escaped}) Tj ET")
        return self

    def lines(
        self, x: float, y: float, texts: list[str], size: float = 11, step: float = 14
    ) -> "Page":
        for number, text in enumerate(texts):
            self.text(x, y + number * step, text, size)
        return self

    def rule(self, x0: float, y0: float, x1: float, y1: float) -> "Page":
        self.operators.append(f"0.5 w {x0} {HEIGHT - y0} m {x1} {HEIGHT - y1} l S")
        return self

    def grid(self, columns: list[float], rows: list[float]) -> "Page":
        for x in columns:
            self.rule(x, rows[0], x, rows[-1])
        for y in rows:
            self.rule(columns[0], y, columns[-1], y)
        return self

    def annotation(
        self, kind: str, x: float, y: float, width: float, height: float, entries: str
    ) -> "Page":
        """Add an annotation whose top left corner is at ``x`` and ``y``."""
        rectangle = f"{x} {HEIGHT - y - height} {x + width} {HEIGHT - y}"
        self.annotations.append(
            f"<< /Type /Annot /Subtype /{kind} /Rect [{rectangle}] /F 4 {entries} >>"
        )
        return self

    def field(self, x: float, y: float, name: str, entries: str, width: float = 120) -> "Page":
        """Add a form's field, 14 points high."""
        return self.annotation("Widget", x, y, width, 14, f"/T ({name}) {entries}")

    def filled(self) -> "Page":
        """Cover the page with a shape, as a scan covers it with a picture."""
        self.operators.append(f"0.5 g 50 50 {WIDTH - 100} {HEIGHT - 100} re f")
        return self


def write_pdf(
    pages: list[Page],
    *,
    info: dict[str, str] | None = None,
    outline: list[tuple[str, int]] | None = None,
    password: str = "",
    labels: str = "",
    files: list[tuple[str, bytes]] | None = None,
    listed: bool = True,
    mapped: dict[str, str] | None = None,
) -> bytes:
    """Return a PDF of these pages; ``outline`` names bookmarks and their pages from 0.

    ``labels`` are the numbers of its page labels (ISO 32000-1, 12.4.2). Of ``files`` those that are
    not ``listed`` belong to an annotation, which calls the first ``@0``. ``mapped`` says what the
    glyphs of these letters are.
    """
    count = len(pages)
    first = 5  # objects: catalog, page tree, two fonts, then two a page
    outlines = f"/Outlines {first + 2 * count} 0 R" if outline else ""
    beside = first + 2 * count + (1 + len(outline) if outline else 0)  # the first annotation
    marks = [mark for page in pages for mark in page.annotations]
    numbers = iter(range(beside, beside + len(marks)))
    annotations = [[f"{next(numbers)} 0 R" for _ in page.annotations] for page in pages]
    fields = " ".join(f"{beside + n} 0 R" for n, mark in enumerate(marks) if "/Widget" in mark)
    outlines += f" /AcroForm << /Fields [{fields}] >>" if fields else ""
    kids = " ".join(f"{first + 2 * number} 0 R" for number in range(count))
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {outlines} >>",
        f"<< /Type /Pages /Count {count} /Kids [{kids}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
    ]
    for number, page in enumerate(pages):
        content = "\n".join(page.operators)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] "
            f"/Contents {first + 2 * number + 1} 0 R /Annots [{' '.join(annotations[number])}] "
            "/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>"
        )
        objects.append(
            f"<< /Length {len(content.encode('cp1252'))} >>\nstream\n{content}\nendstream"
        )
    specified = beside + len(marks)
    names = [f"({name}) {specified + 2 * n} 0 R" for n, (name, _) in enumerate(files or [])]
    inside = [one for n, file in enumerate(files or []) for one in _file(*file, specified + 2 * n)]
    if names and listed:
        objects[0] = (
            objects[0][:-2] + f"/Names << /EmbeddedFiles << /Names [{' '.join(names)}] >> >> >>"
        )
    if labels:
        objects[0] = objects[0][:-2] + f"/PageLabels << /Nums [{labels}] >> >>"
    objects += _outline(outline or [], first, count)
    objects += [mark.replace("@0", f"{specified} 0 R") for mark in marks] + inside
    trailer = ""
    if info:
        objects.append("<< " + " ".join(f"/{key} ({value})" for key, value in info.items()) + " >>")
        trailer += f" /Info {len(objects)} 0 R"
    if mapped:
        objects.append(_character_map(mapped))
        objects[2] = objects[2][:-2] + f"/ToUnicode {len(objects)} 0 R >>"
    if password:
        objects.append(_encryption(password))
        trailer += f" /Encrypt {len(objects)} 0 R /ID [<{'00' * 16}> <{'00' * 16}>]"
    return _assembled(objects, trailer)


@contextmanager
def opened(page: Page) -> Iterator[tuple[Any, Any]]:
    """Open a page with PDFium: its ``FPDF_PAGE`` and ``FPDF_TEXTPAGE``."""
    document = pdfium.PdfDocument(write_pdf([page]))
    try:
        loaded = document[0]
        textpage = loaded.get_textpage()
        yield loaded.raw, textpage.raw
    finally:
        document.close()


def _character_map(mapped: dict[str, str]) -> str:
    pairs = "".join(f"<{ord(k):02x}> <{v.encode('utf-16-be').hex()}>\n" for k, v in mapped.items())
    body = (
        "begincmap\n1 begincodespacerange\n<00> <ff>\nendcodespacerange\n"
        f"{len(mapped)} beginbfchar\n{pairs}endbfchar\nendcmap"
    )
    return f"<< /Length {len(body)} >>\nstream\n{body}\nendstream"


def _file(name: str, content: bytes, number: int) -> tuple[str, str]:
    """Return the two objects of an embedded file, of which the first has this number."""
    written = content.hex() + ">"
    head = f"<< /Type /EmbeddedFile /Filter /ASCIIHexDecode /Length {len(written)} >>"
    return (
        f"<< /Type /Filespec /F ({name}) /UF ({name}) /EF << /F {number + 1} 0 R >> >>",
        f"{head}\nstream\n{written}\nendstream",
    )


def _outline(outline: list[tuple[str, int]], first: int, count: int) -> list[str]:
    if not outline:
        return []
    root = first + 2 * count
    items = range(root + 1, root + 1 + len(outline))
    objects = [
        f"<< /Type /Outlines /First {items[0]} 0 R /Last {items[-1]} 0 R /Count {len(outline)} >>",
    ]
    for number, (title, page) in zip(items, outline, strict=True):
        following = f"/Next {number + 1} 0 R" if number != items[-1] else ""
        objects.append(
            f"<< /Title ({title}) /Parent {root} 0 R {following} "
            f"/Dest [{first + 2 * page} 0 R /Fit] >>"
        )
    return objects


def _assembled(objects: list[str], trailer: str) -> bytes:
    out = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    end = (
        f"trailer << /Size {len(objects) + 1} /Root 1 0 R{trailer} >>\nstartxref\n{start}\n%%EOF\n"
    )
    return out + end.encode()


def _encryption(password: str) -> str:
    """Return a standard security handler of revision 2 (ISO 32000-1, 7.6.3)."""
    padded = (password.encode() + _PAD)[:32]
    owner = _rc4(hashlib.md5(padded).digest()[:5], padded)
    rights = (-4 & 0xFFFFFFFF).to_bytes(4, "little")
    user = _rc4(hashlib.md5(padded + owner + rights + bytes(16)).digest()[:5], _PAD)
    return f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{owner.hex()}> /U <{user.hex()}> >>"


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)
