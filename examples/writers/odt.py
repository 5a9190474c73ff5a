"""An OpenDocument text from blocks (ISO/IEC 26300)."""

from writers.blocks import Block, Bullets, Heading, Paragraph, Table
from writers.package import XML, pack, text

_MIME = "application/vnd.oasis.opendocument.text"
_NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table", "style", "meta", "manifest")
)


def odt(blocks: tuple[Block, ...], *, title: str, creator: str, when: str) -> bytes:
    """Return the document; ``mimetype`` is the first member, as the format demands."""
    body = "".join(_block(block) for block in blocks)
    entries = "".join(
        f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{kind}"/>'
        for path, kind in (("/", _MIME), ("content.xml", "text/xml"), ("meta.xml", "text/xml"))
    )
    return pack(
        {
            "mimetype": _MIME,
            "META-INF/manifest.xml": f"{XML}<manifest:manifest {_NAMES}"
            f' manifest:version="1.3">{entries}</manifest:manifest>',
            "content.xml": f"{XML}<office:document-content {_NAMES}"
            f' office:version="1.3"><office:body><office:text>{body}</office:text></office:body>'
            "</office:document-content>",
            "meta.xml": f"{XML}<office:document-meta {_NAMES}"
            ' xmlns:dc="http://purl.org/dc/elements/1.1/" office:version="1.3"><office:meta>'
            f"<dc:title>{text(title)}</dc:title><dc:creator>{text(creator)}</dc:creator>"
            f"<dc:date>{when}T12:00:00</dc:date></office:meta></office:document-meta>",
        }
    )


def _block(block: Block) -> str:
    match block:
        case Heading(level, words):
            return f'<text:h text:outline-level="{level}">{text(words)}</text:h>'
        case Paragraph(words):
            return f"<text:p>{text(words)}</text:p>"
        case Bullets(items):
            rows = "".join(
                f"<text:list-item><text:p>{text(item)}</text:p></text:list-item>" for item in items
            )
            return f"<text:list>{rows}</text:list>"
        case Table(rows):
            return _table(rows)


def _table(rows: tuple[tuple[str, ...], ...]) -> str:
    lines = [
        "<table:table-row>"
        + "".join(
            '<table:table-cell office:value-type="string">'
            f"<text:p>{text(cell)}</text:p></table:table-cell>"
            for cell in row
        )
        + "</table:table-row>"
        for row in rows
    ]
    columns = f'<table:table-column table:number-columns-repeated="{len(rows[0])}"/>'
    header = f"<table:table-header-rows>{lines[0]}</table:table-header-rows>"
    return f'<table:table table:name="Table">{columns}{header}{"".join(lines[1:])}</table:table>'
