"""One small document of every format, built here from minimal parts."""

import io
import os
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path

import pypdfium2 as pdfium
import pytest

from chapterhouse.errors import RejectedError
from chapterhouse.reading.detect import Detection
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pdf.page_images import rendered
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.types import Extraction

from .pdf_writer import Page, write_pdf

RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE_RELATIONSHIP = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
ODF_NAMESPACES = " ".join(
    f'xmlns:{prefix}="{OASIS}{name}:1.0"'
    for prefix, name in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
        ("style", "style"),
        ("presentation", "presentation"),
    )
)

Parts = Mapping[str, str | bytes]


def zipped(parts: Parts, *, stored: tuple[str, ...] = ()) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            kind = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(name, content, kind)
    return buffer.getvalue()


def packaged(parts: Parts, format_: str) -> Extraction:
    return read(zipped(parts, stored=("mimetype",)), f"a.{format_}", Limits())


def codes(extraction: Extraction | Detection) -> list[str]:
    return [notice.code for notice in extraction.notices]


def content_types(part: str, kind: str) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/{part}" '
        f'ContentType="application/vnd.openxmlformats-officedocument.{kind}.main+xml"/></Types>'
    )


def relations(*targets: tuple[str, str, str]) -> str:
    rows = "".join(
        f'<Relationship Id="{name}" Type="{OFFICE_RELATIONSHIP}/{kind}" Target="{target}"/>'
        for name, kind, target in targets
    )
    return f'<?xml version="1.0"?><Relationships xmlns="{RELATIONSHIPS}">{rows}</Relationships>'


WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
SHEET = (
    'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    f'xmlns:r="{OFFICE_RELATIONSHIP}"'
)
SLIDE = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    f'xmlns:r="{OFFICE_RELATIONSHIP}"'
)


def docx_parts(body: str | None = None) -> dict[str, str | bytes]:
    def paragraph(text: str, style: str = "") -> str:
        marks = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        return f"<w:p>{marks}<w:r><w:t>{text}</w:t></w:r></w:p>"

    cell = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
    rows = "".join(
        f"<w:tr>{''.join(map(cell.format, row))}</w:tr>"
        for row in (("Vessel", "Seats"), ("Heron", "180"))
    )
    if body is None:
        body = (
            paragraph("Timetable", "Heading1")
            + paragraph("The ferry leaves at nine.")
            + f"<w:tbl>{rows}</w:tbl>"
        )
    return {
        "[Content_Types].xml": content_types(
            "word/document.xml", "wordprocessingml.document"
        ).replace(
            "</Types>",
            '<Override PartName="/word/styles.xml" ContentType="application/'
            'vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/></Types>',
        ),
        "_rels/.rels": relations(("r1", "officeDocument", "word/document.xml")),
        "word/_rels/document.xml.rels": relations(("r1", "styles", "styles.xml")),
        "word/styles.xml": f'<w:styles {WORD}><w:style w:type="paragraph" w:styleId="Heading1">'
        '<w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style></w:styles>',
        "word/document.xml": f'<?xml version="1.0"?><w:document {WORD}><w:body>{body}</w:body>'
        "</w:document>",
    }


def xlsx_parts(rows: tuple[tuple[str, ...], ...] | None = None) -> dict[str, str | bytes]:
    rows = rows or (("Vessel", "Seats"), ("Heron", "180"))
    cells = "".join(
        f'<row r="{number}">'
        + "".join(
            f'<c r="{chr(65 + column)}{number}" t="inlineStr"><is><t>{text}</t></is></c>'
            for column, text in enumerate(row)
        )
        + "</row>"
        for number, row in enumerate(rows, 1)
    )
    return {
        "[Content_Types].xml": content_types("xl/workbook.xml", "spreadsheetml.sheet").replace(
            "</Types>",
            '<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/'
            'vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
        ),
        "_rels/.rels": relations(("r1", "officeDocument", "xl/workbook.xml")),
        "xl/_rels/workbook.xml.rels": relations(("r1", "worksheet", "worksheets/sheet1.xml")),
        "xl/workbook.xml": f'<workbook {SHEET}><sheets><sheet name="Fleet" sheetId="1" r:id="r1"/>'
        "</sheets></workbook>",
        "xl/worksheets/sheet1.xml": f"<worksheet {SHEET}><sheetData>{cells}</sheetData>"
        "</worksheet>",
    }


def pptx_parts() -> dict[str, str | bytes]:
    def slide(title: str, *lines: str) -> str:
        runs = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in lines)
        return (
            f"<p:sld {SLIDE}><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id='1' name=''/>"
            "<p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>"
            "<p:sp><p:nvSpPr><p:cNvPr id='2' name='Title'/><p:cNvSpPr/><p:nvPr>"
            "<p:ph type='title'/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>"
            f"<a:p><a:r><a:t>{title}</a:t></a:r></a:p></p:txBody></p:sp>"
            "<p:sp><p:nvSpPr><p:cNvPr id='3' name='Body'/><p:cNvSpPr/><p:nvPr>"
            "<p:ph type='body' idx='1'/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>"
            f"{runs}</p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
        )

    return {
        "[Content_Types].xml": content_types(
            "ppt/presentation.xml", "presentationml.presentation"
        ).replace(
            "</Types>",
            "".join(
                f'<Override PartName="/ppt/slides/slide{number}.xml" ContentType="application/'
                'vnd.openxmlformats-officedocument.presentationml.slide+xml"/>'
                for number in (1, 2)
            )
            + "</Types>",
        ),
        "_rels/.rels": relations(("r1", "officeDocument", "ppt/presentation.xml")),
        "ppt/_rels/presentation.xml.rels": relations(
            ("r1", "slide", "slides/slide1.xml"), ("r2", "slide", "slides/slide2.xml")
        ),
        "ppt/presentation.xml": f'<p:presentation {SLIDE}><p:sldIdLst><p:sldId id="256" '
        'r:id="r1"/><p:sldId id="257" r:id="r2"/></p:sldIdLst></p:presentation>',
        "ppt/slides/slide1.xml": slide("Timetable", "The ferry leaves at nine."),
        "ppt/slides/slide2.xml": slide("Fleet", "Heron has 180 seats."),
    }


def odf_parts(kind: str, body: str, styles: str = "") -> dict[str, str | bytes]:
    mimetype = f"application/vnd.oasis.opendocument.{kind}"
    return {
        "mimetype": mimetype,
        "META-INF/manifest.xml": '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:'
        'opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="/" '
        f'manifest:media-type="{mimetype}"/></manifest:manifest>',
        "content.xml": f'<?xml version="1.0" encoding="UTF-8"?><office:document-content '
        f"{ODF_NAMESPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body>{body}</office:body></office:document-content>",
    }


def odf_table(rows: tuple[tuple[str, ...], ...], name: str = "Fleet") -> str:
    cells = "".join(
        "<table:table-row>"
        + "".join(
            '<table:table-cell office:value-type="string">'
            f"<text:p>{cell}</text:p></table:table-cell>"
            for cell in row
        )
        + "</table:table-row>"
        for row in rows
    )
    return f'<table:table table:name="{name}">{cells}</table:table>'


FLEET = (("Vessel", "Seats"), ("Heron", "180"))
TABLE = "| Vessel | Seats |\n| --- | --- |\n| Heron | 180 |\n"
ODT_BODY = (
    '<office:text><text:h text:outline-level="1">Timetable</text:h>'
    "<text:p>The ferry<text:s/>leaves at <text:span>nine</text:span>.</text:p>"
    "<text:list><text:list-item><text:p>rope</text:p><text:list><text:list-item>"
    "<text:p>short</text:p></text:list-item></text:list></text:list-item></text:list>"
    f"{odf_table(FLEET)}</office:text>"
)
ODP_BODY = (
    '<office:presentation><draw:page draw:name="one">'
    '<draw:frame presentation:class="outline"><draw:text-box><text:list><text:list-item>'
    "<text:p>The ferry leaves at nine.</text:p></text:list-item></text:list></draw:text-box>"
    '</draw:frame><draw:frame presentation:class="title"><draw:text-box>'
    "<text:p>Timetable</text:p></draw:text-box></draw:frame>"
    '<presentation:notes><draw:frame presentation:class="notes"><draw:text-box>'
    "<text:p>Speak slowly.</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>"
    f'<draw:page draw:name="two"><draw:frame>{odf_table(FLEET)}</draw:frame></draw:page>'
    "</office:presentation>"
)
ODG_BODY = (
    '<office:drawing><draw:page draw:name="page1"><draw:custom-shape><text:p>Pier 3</text:p>'
    "</draw:custom-shape><draw:g><draw:frame><draw:text-box><text:p>The ferry leaves at nine."
    "</text:p></draw:text-box></draw:frame><draw:rect><text:p>Ticket<text:line-break/>office"
    '</text:p></draw:rect></draw:g></draw:page><draw:page draw:name="page2"><draw:connector>'
    "<text:p>to the island</text:p></draw:connector></draw:page></office:drawing>"
)


def epub_parts() -> dict[str, str | bytes]:
    page = (
        '<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head>'
        "<title>{0}</title></head><body><h1>{0}</h1><p>{1}</p></body></html>"
    )
    return {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:'
        'xmlns:container"><rootfiles><rootfile full-path="book.opf" '
        'media-type="application/oebps-package+xml"/></rootfiles></container>',
        "book.opf": '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" '
        'unique-identifier="id"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        '<dc:identifier id="id">x</dc:identifier><dc:title>Ferry Tales</dc:title>'
        "<dc:language>en</dc:language></metadata><manifest>"
        '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="b" href="b.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
        "a.xhtml": page.format("Timetable", "The ferry leaves at nine."),
        "b.xhtml": page.format("Fleet", "Heron has 180 seats."),
    }


def eml() -> bytes:
    message = EmailMessage()
    message["Subject"] = "Timetable"
    message["From"] = "Ada <ada@example.org>"
    message["To"] = "bob@example.org"
    message["Date"] = "Tue, 18 Nov 2025 10:42:00 +0100"
    message.set_content("The ferry leaves at nine.\n")
    message.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="plan.pdf")
    return message.as_bytes()


def png(width: int = 8, height: int = 8, *, claimed: tuple[int, int] | None = None) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        checksum = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)

    shown = claimed or (width, height)
    header = struct.pack(">2I5B", *shown, 8, 0, 0, 0, 0)
    rows = (b"\0" + b"\xff" * width) * height
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def picture(page: Page) -> bytes:
    """A page as a PNG, as a scanner would make it."""
    document = pdfium.PdfDocument(write_pdf([page]))
    try:
        opened = document[0]
        return rendered(opened.raw, opened.get_size())
    finally:
        document.close()


def saved(pictures: list[bytes], format_: str) -> bytes:
    """Pictures as the pages of a PDF or a TIFF."""
    from PIL import Image  # noqa: PLC0415 - comes with the extra

    opened = [Image.open(io.BytesIO(picture)) for picture in pictures]
    written = io.BytesIO()
    opened[0].save(
        written, format_, save_all=True, append_images=opened[1:], resolution=200, dpi=(200, 200)
    )
    return written.getvalue()


PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font"
    b"<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n"
    b"4 0 obj<</Length 48>>stream\nBT /F1 12 Tf 20 100 Td (The ferry leaves at nine) Tj ET\n"
    b"endstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
)


def xlsb_fleet() -> bytes:
    from .xlsb_writer import xlsb  # noqa: PLC0415 - it is made of what is here

    return xlsb({"Fleet": FLEET})


DOCUMENTS: Mapping[str, Callable[[], bytes]] = {
    "txt": lambda: b"The ferry leaves at nine.\n",
    "md": lambda: b"# Timetable\n\nThe ferry leaves at nine.\n",
    "code": lambda: b"def leave():\n    return 'nine'\n",
    "csv": lambda: b"Vessel,Seats,Year\nHeron,180,1998\nTeal,90,2004\n",
    "tsv": lambda: b"Vessel\tSeats\nHeron\t180\n",
    "json": lambda: b'{"vessel": "Heron", "seats": 180}\n',
    "ipynb": lambda: (
        b'{"cells": [{"cell_type": "markdown", "source": ["The ferry ", "leaves at nine."]}]}'
    ),
    "yaml": lambda: b"vessel: Heron\nseats: 180\n",
    "xml": lambda: b'<?xml version="1.0"?><fleet><vessel seats="180">Heron</vessel></fleet>\n',
    "srt": lambda: b"1\n00:00:01,000 --> 00:00:02,500\nThe ferry leaves at nine.\n",
    "vtt": lambda: b"WEBVTT\n\n00:01.000 --> 00:02.500\n<v Ada>The ferry leaves at nine.\n",
    "ics": lambda: (
        b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:20261123T090000Z\r\n"
        b"SUMMARY:The ferry leaves\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    ),
    "rst": lambda: b"Timetable\n=========\n\nThe ferry leaves at nine.\n",
    "adoc": lambda: b"= Timetable\n\nThe ferry leaves at nine.\n",
    "org": lambda: b"* Timetable\nThe ferry leaves at nine.\n",
    "tex": lambda: b"\\section{Timetable}\nThe ferry leaves at nine.\n",
    "typst": lambda: b"= Timetable\n\nThe ferry leaves at nine.\n",
    "html": lambda: (
        b"<!doctype html><html><head><title>Timetable</title></head><body>"
        b"<h1>Timetable</h1><p>The ferry leaves at nine.</p></body></html>"
    ),
    "rtf": lambda: rb"{\rtf1\ansi{\b Timetable}\par The ferry leaves at nine.\par}",
    "eml": eml,
    "docx": lambda: zipped(docx_parts()),
    "xlsx": lambda: zipped(xlsx_parts()),
    "xlsb": xlsb_fleet,
    "pptx": lambda: zipped(pptx_parts()),
    "odt": lambda: zipped(odf_parts("text", ODT_BODY), stored=("mimetype",)),
    "odp": lambda: zipped(odf_parts("presentation", ODP_BODY), stored=("mimetype",)),
    "odg": lambda: zipped(odf_parts("graphics", ODG_BODY), stored=("mimetype",)),
    "ods": lambda: zipped(
        odf_parts("spreadsheet", f"<office:spreadsheet>{odf_table(FLEET)}</office:spreadsheet>"),
        stored=("mimetype",),
    ),
    "epub": lambda: zipped(epub_parts(), stored=("mimetype",)),
    "png": png,
    "pdf": lambda: PDF,
}
EXTENSION = {"code": "py"}


@pytest.fixture(scope="session")
def documents() -> Mapping[str, bytes]:
    """A sound document of each format, by the format's name."""
    return {name: build() for name, build in DOCUMENTS.items()}


@pytest.fixture(scope="session")
def limits() -> Limits:
    return Limits()


@pytest.fixture(scope="session")
def pool() -> Iterator[ReadingPool]:
    with ReadingPool(workers=1) as pool:
        yield pool


HERE = Path(__file__).parent
QUICK = Limits(wall_seconds=1.0, worker_memory_bytes=1_000_000_000)
PATIENT = replace(QUICK, wall_seconds=60.0)
SOAK = pytest.mark.skipif("CHAPTERHOUSE_LARGE" not in os.environ, reason="make soak does it")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux does this")


Scripted = Callable[[Limits], ReadingPool]


@pytest.fixture
def scripted_pool(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """What makes a pool of one real worker whose reader does what the file says."""
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("CHAPTERHOUSE_SECRET", "canary")
    return lambda limits: ReadingPool(1, limits, reader="misbehave:read")


@pytest.fixture
def scripted(scripted_pool: Scripted) -> Iterator[ReadingPool]:
    with scripted_pool(QUICK) as pool:
        yield pool


def text_of(pool: ReadingPool, order: str) -> str:
    return pool.read(order.encode(), "order").pages[0].text


def code_of(pool: ReadingPool, order: str) -> tuple[str, str]:
    with pytest.raises(RejectedError) as caught:
        pool.read(order.encode(), "order")
    return caught.value.code, caught.value.message
