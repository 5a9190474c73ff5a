"""A Word document from blocks (ECMA-376, the transitional dialect)."""

from writers.blocks import Block, Bullets, Heading, Paragraph, Table
from writers.package import (
    CORE,
    ROOT_TYPES,
    XML,
    content_types,
    core_properties,
    pack,
    relationships,
    text,
)

_SPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def docx(blocks: tuple[Block, ...], *, title: str, creator: str, when: str) -> bytes:
    """Return the document with real heading styles and bordered tables."""
    body = "".join(_block(block) for block in blocks)
    page = '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/></w:sectPr>'
    word = "officedocument.wordprocessingml"
    return pack(
        {
            "[Content_Types].xml": content_types(
                {
                    "word/document.xml": f"{word}.document.main",
                    "word/styles.xml": f"{word}.styles",
                    **ROOT_TYPES,
                }
            ),
            "_rels/.rels": relationships({"word/document.xml": "officeDocument", **CORE}),
            "docProps/core.xml": core_properties(title, creator, when),
            "word/document.xml": f"{XML}<w:document {_SPACE}>"
            f"<w:body>{body}{page}</w:body></w:document>",
            "word/styles.xml": _styles(),
            "word/_rels/document.xml.rels": relationships({"styles.xml": "styles"}),
        }
    )


def _block(block: Block) -> str:
    match block:
        case Heading(level, words):
            return _paragraph(words, style=f"Heading{level}")
        case Paragraph(words):
            return _paragraph(words)
        case Bullets(items, numbered):
            marks = [f"{n}. " if numbered else "\u2022 " for n in range(1, len(items) + 1)]
            return "".join(_paragraph(mark + item) for mark, item in zip(marks, items, strict=True))
        case Table(rows):
            return _table(rows)


def _paragraph(words: str, *, style: str = "", bold: bool = False) -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    run = "<w:rPr><w:b/></w:rPr>" if bold else ""
    return f'<w:p>{properties}<w:r>{run}<w:t xml:space="preserve">{text(words)}</w:t></w:r></w:p>'


def _table(rows: tuple[tuple[str, ...], ...]) -> str:
    sides = ("top", "left", "bottom", "right", "insideH", "insideV")
    borders = "".join(f'<w:{side} w:val="single" w:sz="4" w:color="808080"/>' for side in sides)
    grid = "".join('<w:gridCol w:w="2200"/>' for _ in rows[0])
    lines = []
    for number, row in enumerate(rows):
        header = "<w:trPr><w:tblHeader/></w:trPr>" if number == 0 else ""
        cells = "".join(
            f'<w:tc><w:tcPr><w:tcW w:w="2200" w:type="dxa"/></w:tcPr>'
            f"{_paragraph(cell, bold=number == 0)}</w:tc>"
            for cell in row
        )
        lines.append(f"<w:tr>{header}{cells}</w:tr>")
    return (
        f"<w:tbl><w:tblPr><w:tblBorders>{borders}</w:tblBorders></w:tblPr>"
        f"<w:tblGrid>{grid}</w:tblGrid>{''.join(lines)}</w:tbl><w:p/>"
    )


def _styles() -> str:
    headings = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/>'
        f'<w:pPr><w:keepNext/><w:spacing w:before="240" w:after="80"/>'
        f'<w:outlineLvl w:val="{level - 1}"/>'
        f'</w:pPr><w:rPr><w:b/><w:sz w:val="{size}"/></w:rPr></w:style>'
        for level, size in ((1, 36), (2, 28), (3, 24))
    )
    return (
        f"{XML}<w:styles {_SPACE}><w:docDefaults><w:rPrDefault><w:rPr>"
        '<w:rFonts w:ascii="Calibri" w:hAnsi="Calibri"/><w:sz w:val="22"/></w:rPr></w:rPrDefault>'
        '<w:pPrDefault><w:pPr><w:spacing w:after="120"/></w:pPr></w:pPrDefault></w:docDefaults>'
        '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/>'
        f"</w:style>{headings}</w:styles>"
    )
