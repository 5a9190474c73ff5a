"""Batches of one-page invoices, printed to one PDF by LibreOffice in each of its page layouts.

Whatever reads such a file must not take what differs from page to page for a running header.
"""

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

INVOICES = 12
_OFFICE = "urn:oasis:names:tc:opendocument:xmlns"
_NAMES = {
    "office": "office",
    "text": "text",
    "style": "style",
    "table": "table",
    "draw": "drawing",
    "fo": "xsl-fo-compatible",
    "svg": "svg-compatible",
}
_NAMESPACES = " ".join(f'xmlns:{key}="{_OFFICE}:{name}:1.0"' for key, name in _NAMES.items())


class Invoice(NamedTuple):
    """What is different on each."""

    place: int
    number: str
    amount: str
    customer: str


def invoices(first: int, step: int) -> list[Invoice]:
    """Return invoices; amounts and customers repeat, as they do."""
    return [
        Invoice(
            place, f"{first + step * place}", f"{(120, 120, 480)[place % 3]}.50", "ABC"[place // 4]
        )
        for place in range(INVOICES)
    ]


def print_invoices(folder: Path) -> dict[str, tuple[Path, list[Invoice]]]:
    """Print every layout, with numbers that count the pages and others; return them by name.

    Raises:
        subprocess.SubprocessError: LibreOffice failed.
    """
    sources = {}
    for name, body_of in LAYOUTS.items():
        for first, step in ((1, 1), (1001, 1), (20417, 13)):
            stem = f"{name} from {first} by {step}".replace(" ", "-")
            values = invoices(first, step)
            (folder / f"{stem}.fodt").write_text(_document(name, body_of, values), "utf-8")
            sources[stem] = values
    command = ["soffice", "--headless", "--convert-to", "pdf", "--outdir", str(folder)]
    profile = f"-env:UserInstallation=file://{folder}/profile"
    files = [str(folder / f"{stem}.fodt") for stem in sources]
    subprocess.run([*command, profile, *files], check=True, capture_output=True, timeout=300)
    return {stem: (folder / f"{stem}.pdf", values) for stem, values in sources.items()}


def found(pages: list[str], values: list[Invoice]) -> int:
    """Count the invoices whose number and amount stand on their page."""
    return sum(
        f" {number} " in f" {_words(page)} " and amount in page
        for page, (_, number, amount, _) in zip(pages, values, strict=False)
    )


def _words(page: str) -> str:
    return " ".join(page.replace("|", " ").replace("#", " ").split())


def _line(text: str, style: str = "P") -> str:
    return f'<text:p text:style-name="{style}">{text}</text:p>'


def _lines(invoice: Invoice) -> str:
    top = f"Invoice no. {invoice.number} "
    lines = [top, "Harbour Supplies Limited", f"Customer {invoice.customer}", "Consulting"]
    return "".join(map(_line, lines)) + _line(f"Amount due: EUR {invoice.amount}", "Low")


def _section(invoice: Invoice) -> str:
    name = f'text:style-name="Two" text:name="S{invoice.place}"'
    return f"<text:section {name}>{_lines(invoice)}</text:section>"


def _tabbed(invoice: Invoice) -> str:
    number, amount = f"Invoice<text:tab/>{invoice.number}", f"Amount<text:tab/>EUR {invoice.amount}"
    return _line(number) + _line("Consulting") + _line(amount)


def _page_ends(invoice: Invoice) -> str:
    return (
        f"<style:header>{_line(f'Invoice {invoice.number} ')}</style:header>"
        f"<style:footer>{_line(f'EUR {invoice.amount}')}</style:footer>"
    )


def _table(invoice: Invoice) -> str:
    amount = f"EUR {invoice.amount}"
    rows = (("Invoice", invoice.number), ("Consulting", "1"), ("Amount due", amount))
    return _rows(f"T{invoice.place}", rows)


def _edge_table(invoice: Invoice) -> str:
    values = (invoice.number, invoice.customer, f"EUR {invoice.amount}")
    rows = (("Invoice", "Customer", "Amount"), values)
    return _rows(f"T{invoice.place}", rows) + _line("Consulting")


def _rows(name: str, rows: tuple[tuple[str, ...], ...]) -> str:
    cells = "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell>{_line(text)}</table:table-cell>" for text in row)
        + "</table:table-row>"
        for row in rows
    )
    columns = f'<table:table-column table:number-columns-repeated="{len(rows[0])}"/>'
    return f'<table:table table:name="{name}">{columns}{cells}</table:table>'


def _boxes(invoice: Invoice, box: Callable[[str, str], str]) -> str:
    placed = 'text:anchor-type="paragraph" svg:width="6cm" svg:height="1.5cm" svg:x="11cm"'
    top = box(f"Invoice {invoice.number} ", f'{placed} svg:y="0cm"')
    low = box(f"EUR {invoice.amount}", f'{placed} svg:y="22cm"')
    return _line(top + low + "Harbour Supplies Limited") + _line("Consulting")


def _frame(text: str, where: str) -> str:
    return f"<draw:frame {where}><draw:text-box>{_line(text)}</draw:text-box></draw:frame>"


def _shape(text: str, where: str) -> str:
    return f"<draw:custom-shape {where}>{_line(text)}</draw:custom-shape>"


def _document(name: str, body_of: Callable[[Invoice], str], values: list[Invoice]) -> str:
    size = ("29.7cm", "21cm") if name == "landscape" else ("21cm", "29.7cm")
    columns = '<style:columns fo:column-count="2" fo:column-gap="1cm"/>'
    masters = "".join(
        f'<style:master-page style:name="M{invoice.place}" style:page-layout-name="L">'
        f"{_page_ends(invoice) if name == 'header and footer' else ''}</style:master-page>"
        for invoice in values
    )
    breaks = "".join(
        f'<style:style style:name="B{place}" style:family="paragraph" '
        f'style:master-page-name="M{place}"/>'
        for place in range(len(values))
    )
    body = "".join(_line("", f"B{invoice.place}") + body_of(invoice) for invoice in values)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document {_NAMESPACES} '
        'office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text">'
        '<office:automatic-styles><style:page-layout style:name="L">'
        f'<style:page-layout-properties fo:page-width="{size[0]}" fo:page-height="{size[1]}" '
        'fo:margin="1cm"/><style:header-style/><style:footer-style/></style:page-layout>'
        '<style:style style:name="Low" style:family="paragraph"><style:paragraph-properties '
        'fo:margin-top="12cm"/></style:style>'
        '<style:style style:name="Two" style:family="section"><style:section-properties>'
        f"{columns}</style:section-properties></style:style>{breaks}</office:automatic-styles>"
        f"<office:master-styles>{masters}</office:master-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document>"
    )


LAYOUTS: dict[str, Callable[[Invoice], str]] = {
    "portrait": _lines,
    "landscape": _lines,
    "header and footer": lambda _: _line("Consulting"),
    "two columns": _section,
    "table": _table,
    "table at the edge": _edge_table,
    "frames": lambda invoice: _boxes(invoice, _frame),
    "text boxes": lambda invoice: _boxes(invoice, _shape),
    "tabs": _tabbed,
}


def measure(read: Callable[[Path], list[str]]) -> list[tuple[str, int, int]]:
    """Return, for each layout, its pages and how many of its invoices a reader keeps whole."""
    with tempfile.TemporaryDirectory() as folder:
        return [
            (name, len(pages := read(path)), found(pages, values))
            for name, (path, values) in print_invoices(Path(folder)).items()
        ]
