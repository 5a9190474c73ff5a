"""A presentation from blocks (ECMA-376): one slide a heading, the first is the title."""

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

_SPACE = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    ' xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
)
_GROUP = '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'
_WIDTH, _HEIGHT = 12192000, 6858000  # 16:9, in English metric units
_LEFT, _INNER = 838200, 10515600
_KIND = "officedocument.presentationml"


def pptx(blocks: tuple[Block, ...], *, title: str, creator: str, when: str) -> bytes:
    """Return the presentation with one master, one layout and a slide a heading."""
    slides = {f"slides/slide{n}.xml": _slide(group) for n, group in enumerate(_split(blocks), 1)}
    identifiers = "".join(
        f'<p:sldId id="{255 + n}" r:id="rId{n + 1}"/>' for n in range(1, len(slides) + 1)
    )
    return pack(
        {
            "[Content_Types].xml": content_types(
                {
                    "ppt/presentation.xml": f"{_KIND}.presentation.main",
                    "ppt/slideMasters/slideMaster1.xml": f"{_KIND}.slideMaster",
                    "ppt/slideLayouts/slideLayout1.xml": f"{_KIND}.slideLayout",
                    "ppt/theme/theme1.xml": "officedocument.theme",
                    **{f"ppt/{part}": f"{_KIND}.slide" for part in slides},
                    **ROOT_TYPES,
                }
            ),
            "_rels/.rels": relationships({"ppt/presentation.xml": "officeDocument", **CORE}),
            "docProps/core.xml": core_properties(title, creator, when),
            "ppt/presentation.xml": f"{XML}<p:presentation {_SPACE}><p:sldMasterIdLst>"
            '<p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst>'
            f'<p:sldIdLst>{identifiers}</p:sldIdLst><p:sldSz cx="{_WIDTH}" cy="{_HEIGHT}"/>'
            f'<p:notesSz cx="{_HEIGHT}" cy="9144000"/></p:presentation>',
            "ppt/_rels/presentation.xml.rels": relationships(
                {"slideMasters/slideMaster1.xml": "slideMaster", **dict.fromkeys(slides, "slide")}
            ),
            **_master(),
            **{f"ppt/{part}": content for part, content in slides.items()},
            **{
                f"ppt/slides/_rels/{part.rpartition('/')[2]}.rels": relationships(
                    {"../slideLayouts/slideLayout1.xml": "slideLayout"}
                )
                for part in slides
            },
        }
    )


def _split(blocks: tuple[Block, ...]) -> list[list[Block]]:
    slides: list[list[Block]] = []
    for block in blocks:
        if isinstance(block, Heading):
            slides.append([])
        slides[-1].append(block)
    return slides


def _slide(blocks: list[Block]) -> str:
    shapes, top = [], 365125
    for number, block in enumerate(blocks, 2):
        match block:
            case Heading(_, words):
                shapes.append(_shape(number, "title", top, 1000000, [words]))
                top += 1200000
            case Paragraph(words):
                shapes.append(_shape(number, "body", top, 800000, [words]))
                top += 900000
            case Bullets(items):
                shapes.append(_shape(number, "body", top, 3600000, list(items), bullets=True))
                top += 3700000
            case Table(rows):
                shapes.append(_table(number, top, rows))
                top += 400000 * len(rows)
    tree = f"<p:cSld><p:spTree>{_GROUP}{''.join(shapes)}</p:spTree></p:cSld>"
    return f"{XML}<p:sld {_SPACE}>{tree}</p:sld>"


def _shape(
    number: int, kind: str, top: int, height: int, paragraphs: list[str], *, bullets: bool = False
) -> str:
    index = "" if kind == "title" else ' idx="1"'
    size = 3600 if kind == "title" else 2000
    mark = (
        '<a:pPr marL="285750" indent="-285750"><a:buChar char="\u2022"/></a:pPr>' if bullets else ""
    )
    words = "".join(
        f'<a:p>{mark}<a:r><a:rPr lang="en-GB" sz="{size}"/><a:t>{text(line)}</a:t></a:r></a:p>'
        for line in paragraphs
    )
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="{kind} {number}"/><p:cNvSpPr/>'
        f'<p:nvPr><p:ph type="{kind}"{index}/></p:nvPr></p:nvSpPr><p:spPr><a:xfrm>'
        f'<a:off x="{_LEFT}" y="{top}"/><a:ext cx="{_INNER}" cy="{height}"/></a:xfrm></p:spPr>'
        f"<p:txBody><a:bodyPr/><a:lstStyle/>{words}</p:txBody></p:sp>"
    )


def _table(number: int, top: int, rows: tuple[tuple[str, ...], ...]) -> str:
    grid = "".join(f'<a:gridCol w="{_INNER // len(rows[0])}"/>' for _ in rows[0])
    lines = "".join(
        '<a:tr h="400000">'
        + "".join(
            "<a:tc><a:txBody><a:bodyPr/><a:lstStyle/><a:p><a:r>"
            f'<a:rPr lang="en-GB" sz="1800"/><a:t>{text(cell)}</a:t></a:r></a:p></a:txBody>'
            "<a:tcPr/></a:tc>"
            for cell in row
        )
        + "</a:tr>"
        for row in rows
    )
    return (
        f'<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="{number}" name="table {number}"/>'
        "<p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr>"
        f'<p:xfrm><a:off x="{_LEFT}" y="{top}"/>'
        f'<a:ext cx="{_INNER}" cy="{400000 * len(rows)}"/></p:xfrm>'
        '<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/table">'
        f'<a:tbl><a:tblPr firstRow="1"/><a:tblGrid>{grid}</a:tblGrid>{lines}</a:tbl>'
        "</a:graphicData></a:graphic></p:graphicFrame>"
    )


def _master() -> dict[str, str]:
    tree = f"<p:cSld><p:spTree>{_GROUP}</p:spTree></p:cSld>"
    colours = " ".join(
        f'{name}="{value}"'
        for name, value in (
            ("bg1", "lt1"),
            ("tx1", "dk1"),
            ("bg2", "lt2"),
            ("tx2", "dk2"),
            *((f"accent{n}", f"accent{n}") for n in range(1, 7)),
            ("hlink", "hlink"),
            ("folHlink", "folHlink"),
        )
    )
    layout = "../slideLayouts/slideLayout1.xml"
    return {
        "ppt/slideMasters/slideMaster1.xml": f"{XML}<p:sldMaster {_SPACE}>{tree}"
        f"<p:clrMap {colours}/>"
        '<p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/></p:sldLayoutIdLst>'
        "</p:sldMaster>",
        "ppt/slideMasters/_rels/slideMaster1.xml.rels": relationships(
            {layout: "slideLayout", "../theme/theme1.xml": "theme"}
        ),
        "ppt/slideLayouts/slideLayout1.xml": f'{XML}<p:sldLayout {_SPACE} type="obj">{tree}'
        "<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sldLayout>",
        "ppt/slideLayouts/_rels/slideLayout1.xml.rels": relationships(
            {"../slideMasters/slideMaster1.xml": "slideMaster"}
        ),
        "ppt/theme/theme1.xml": _theme(),
    }


def _theme() -> str:
    names = ("dk1", "lt1", "dk2", "lt2", *(f"accent{n}" for n in range(1, 7)), "hlink", "folHlink")
    values = (
        *("1B2A38", "FFFFFF", "1F4E79", "EEF3F7", "1F4E79", "2E8B7A"),
        *("C46A2B", "8A9BA8", "B23A48", "5B6C7A", "1F4E79", "5B6C7A"),
    )
    colours = "".join(
        f'<a:{name}><a:srgbClr val="{value}"/></a:{name}>'
        for name, value in zip(names, values, strict=True)
    )
    font = '<a:latin typeface="Calibri"/><a:ea typeface=""/><a:cs typeface=""/>'
    fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'
    effect = "<a:effectStyle><a:effectLst/></a:effectStyle>"
    return (
        f'{XML}<a:theme {_SPACE} name="Varnholm"><a:themeElements>'
        f'<a:clrScheme name="Varnholm">{colours}</a:clrScheme><a:fontScheme name="Varnholm">'
        f"<a:majorFont>{font}</a:majorFont><a:minorFont>{font}</a:minorFont></a:fontScheme>"
        f'<a:fmtScheme name="Varnholm"><a:fillStyleLst>{fill * 3}</a:fillStyleLst>'
        f"<a:lnStyleLst>{('<a:ln>' + fill + '</a:ln>') * 3}</a:lnStyleLst>"
        f"<a:effectStyleLst>{effect * 3}</a:effectStyleLst>"
        f"<a:bgFillStyleLst>{fill * 3}</a:bgFillStyleLst></a:fmtScheme>"
        "</a:themeElements></a:theme>"
    )
