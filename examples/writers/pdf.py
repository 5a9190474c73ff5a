"""A typeset PDF from blocks (ISO 32000): two standard fonts, ruled tables, running footers.

Sizes are in points, from the lower left corner of an A4 page. Streams are left uncompressed, so
that the bytes do not depend on the build of ``zlib``.
"""

from dataclasses import dataclass, field

from writers.blocks import Block, Bullets, Heading, Paragraph, Table

_WIDTH, _HEIGHT = 595, 842
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 531, 770, 76
_BODY = 10.5
_LEADING = 1.42
_HEADINGS = {1: 20.0, 2: 14.0, 3: 11.5}
_PADDING = 5

# Helvetica, from its Adobe font metrics: advance widths of the characters 32 to 126.
_ADVANCES = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 "
    "556 556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 "
    "722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 "
    "556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 "
    "260 334 584"
)
_ADVANCE = {chr(32 + n): int(width) for n, width in enumerate(_ADVANCES.split())}
_BOLD_FACTOR = 1.07  # Helvetica-Bold is wider; only the breaking of lines depends on this


def _measure(words: str, size: float, *, bold: bool = False) -> float:
    width = sum(_ADVANCE.get(letter, 556) for letter in words) * size / 1000
    return width * _BOLD_FACTOR if bold else width


def _wrap(words: str, size: float, width: float, *, bold: bool = False) -> list[str]:
    lines: list[str] = []
    for word in words.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _measure(longer, size, bold=bold) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines or [""]


def _literal(words: str) -> str:
    for mark in "\\()":
        words = words.replace(mark, "\\" + mark)
    return f"({words})"


@dataclass
class _Setter:
    """Places blocks on pages, top to bottom."""

    pages: list[list[str]] = field(default_factory=lambda: [[]])
    y: float = _TOP

    def line(self, x: float, words: str, size: float, *, bold: bool = False) -> None:
        """Set one line with its baseline at the current height."""
        font = "F2" if bold else "F1"
        self.pages[-1].append(
            f"BT /{font} {size:g} Tf 1 0 0 1 {x:.2f} {self.y:.2f} Tm {_literal(words)} Tj ET"
        )

    def need(self, height: float) -> None:
        """Begin a new page where less than ``height`` is left."""
        if self.y - height < _BOTTOM:
            self.pages.append([])
            self.y = _TOP

    def heading(self, level: int, words: str) -> None:
        size = _HEADINGS[level]
        self.y -= size * (0.9 if self.y < _TOP else 0)
        self.need(size * 4)  # never alone at the foot of a page
        for line in _wrap(words, size, _RIGHT - _LEFT, bold=True):
            self.line(_LEFT, line, size, bold=True)
            self.y -= size * 1.25
        self.y -= size * 0.25

    def paragraph(self, words: str, *, indent: float = 0, mark: str = "") -> None:
        lines = _wrap(words, _BODY, _RIGHT - _LEFT - indent)
        self.need(_BODY * _LEADING * min(len(lines), 2))
        for number, line in enumerate(lines):
            self.need(_BODY)
            if mark and number == 0:
                self.line(_LEFT + indent - 14, mark, _BODY)
            self.line(_LEFT + indent, line, _BODY)
            self.y -= _BODY * _LEADING
        self.y -= _BODY * (0.15 if mark else 0.55)

    def table(self, rows: tuple[tuple[str, ...], ...]) -> None:
        widths = _column_widths(rows)
        self.y += _BODY * 0.4
        self.need(sum(_row_height(row, widths) for row in rows[:3]))
        self.row(rows[0], widths, header=True)
        for row in rows[1:]:
            if self.y - _row_height(row, widths) < _BOTTOM:
                self.need(_HEIGHT)
                self.row(rows[0], widths, header=True)
            self.row(row, widths)
        self.y -= _BODY * 1.9

    def row(self, cells: tuple[str, ...], widths: list[float], *, header: bool = False) -> None:
        height, top, x = _row_height(cells, widths), self.y, float(_LEFT)
        paint = self.pages[-1]
        if header:
            total = sum(widths)
            paint.append(f"0.92 g {x:.2f} {top - height:.2f} {total:.2f} {height:.2f} re f 0 g")
        for cell, width in zip(cells, widths, strict=True):
            paint.append(f"0.6 w {x:.2f} {top - height:.2f} {width:.2f} {height:.2f} re S")
            self.y = top - _PADDING - 8
            for line in _wrap(cell, 9, width - 2 * _PADDING, bold=header):
                self.line(x + _PADDING, line, 9, bold=header)
                self.y -= 12
            x += width
        self.y = top - height


def _row_height(cells: tuple[str, ...], widths: list[float]) -> float:
    lines = max(
        len(_wrap(cell, 9, width - 2 * _PADDING, bold=True))
        for cell, width in zip(cells, widths, strict=True)
    )
    return lines * 12 + 2 * _PADDING - 1


def _column_widths(rows: tuple[tuple[str, ...], ...]) -> list[float]:
    """Share the line by the longest cell of each column, with room for its longest word."""
    columns = list(zip(*rows, strict=True))
    words = [
        max(_measure(word, 9, bold=True) for cell in column for word in (cell.split() or [""]))
        for column in columns
    ]
    wanted = [max(min(_measure(cell, 9, bold=True), 160) for cell in column) for column in columns]
    spare = _RIGHT - _LEFT - sum(words) - 2 * _PADDING * len(columns)
    extra = [max(want - word, 0) + 1 for want, word in zip(wanted, words, strict=True)]
    return [
        word + 2 * _PADDING + spare * share / sum(extra)
        for word, share in zip(words, extra, strict=True)
    ]


def pdf(blocks: tuple[Block, ...], *, title: str, creator: str, when: str) -> bytes:
    """Return the typeset document."""
    setter = _Setter()
    for block in blocks:
        match block:
            case Heading(level, words):
                setter.heading(level, words)
            case Paragraph(words):
                setter.paragraph(words)
            case Bullets(items, numbered):
                for number, item in enumerate(items, 1):
                    setter.paragraph(item, indent=18, mark=f"{number}." if numbered else "\u2022")
                setter.y -= _BODY * 0.4
            case Table(rows):
                setter.table(rows)
    for number, page in enumerate(setter.pages, 1):
        setter.y = 44
        page.append(
            f"0.4 g BT /F1 8 Tf 1 0 0 1 {_LEFT} 44 Tm {_literal(title)} Tj ET "
            f"BT /F1 8 Tf 1 0 0 1 {_RIGHT - 50} 44 Tm "
            f"{_literal(f'Page {number} of {len(setter.pages)}')} Tj ET 0 g"
        )
    return _assemble(setter.pages, title, creator, when)


def _assemble(pages: list[list[str]], title: str, creator: str, when: str) -> bytes:
    kids = " ".join(f"{6 + 2 * n} 0 R" for n in range(len(pages)))
    stamp = f"D:{when.replace('-', '')}120000Z"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R /Lang (en-GB) >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
        f"<< /Title {_literal(title)} /Author {_literal(creator)} /CreationDate ({stamp}) >>",
    ]
    for n, page in enumerate(pages):
        stream = "\n".join(page)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {_WIDTH} {_HEIGHT}]"
            f" /Contents {7 + 2 * n} 0 R"
            " /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>"
        )
        length = len(stream.encode("cp1252"))
        objects.append(f"<< /Length {length} >>\nstream\n{stream}\nendstream")
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n".encode("cp1252")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    start, count = len(out), len(objects) + 1
    out += f"xref\n0 {count}\n0000000000 65535 f \n{table}".encode()
    out += f"trailer\n<< /Size {count} /Root 1 0 R /Info 5 0 R >>\n".encode()
    out += f"startxref\n{start}\n%%EOF\n".encode()
    return bytes(out)
