"""A workbook from tables (ECMA-376). A first cell that begins with Total or Surplus is bold."""

from collections.abc import Mapping, Sequence

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

_SPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_PLAIN, _BOLD, _NUMBER, _BOLD_NUMBER = range(4)
_WIDTHS = (34, 14, 14, 12, 16, 52)


def xlsx(
    sheets: Mapping[str, Sequence[Sequence[str]]], *, title: str, creator: str, when: str
) -> bytes:
    """Return a workbook with one sheet an entry; cells that look like whole numbers are numbers."""
    names = {f"worksheets/sheet{n}.xml": name for n, name in enumerate(sheets, 1)}
    listed = "".join(
        f'<sheet name="{text(name)}" sheetId="{n}" r:id="rId{n}"/>'
        for n, name in enumerate(sheets, 1)
    )
    kind = "officedocument.spreadsheetml"
    return pack(
        {
            "[Content_Types].xml": content_types(
                {
                    "xl/workbook.xml": f"{kind}.sheet.main",
                    "xl/styles.xml": f"{kind}.styles",
                    **{f"xl/{part}": f"{kind}.worksheet" for part in names},
                    **ROOT_TYPES,
                }
            ),
            "_rels/.rels": relationships({"xl/workbook.xml": "officeDocument", **CORE}),
            "docProps/core.xml": core_properties(title, creator, when),
            "xl/workbook.xml": f"{XML}<workbook {_SPACE} {_R}><sheets>{listed}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relationships(
                {**dict.fromkeys(names, "worksheet"), "styles.xml": "styles"}
            ),
            "xl/styles.xml": _styles(),
            **{f"xl/{part}": _sheet(sheets[name]) for part, name in names.items()},
        }
    )


def _sheet(rows: Sequence[Sequence[str]]) -> str:
    columns = "".join(
        f'<col min="{n}" max="{n}" width="{width}" customWidth="1"/>'
        for n, width in enumerate(_WIDTHS, 1)
    )
    lines = []
    for number, row in enumerate(rows, 1):
        bold = number == 1 or row[0].startswith(("Total", "Surplus"))
        cells = "".join(
            _cell(f"{chr(65 + column)}{number}", value, bold=bold)
            for column, value in enumerate(row)
        )
        lines.append(f'<row r="{number}">{cells}</row>')
    return (
        f'{XML}<worksheet {_SPACE}><sheetViews><sheetView workbookViewId="0">'
        '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
        f"</sheetView></sheetViews><cols>{columns}</cols>"
        f"<sheetData>{''.join(lines)}</sheetData></worksheet>"
    )


def _cell(reference: str, value: str, *, bold: bool) -> str:
    if not value:
        return ""
    if value.lstrip("-").isdigit():
        style = _BOLD_NUMBER if bold else _NUMBER
        return f'<c r="{reference}" s="{style}"><v>{value}</v></c>'
    style = _BOLD if bold else _PLAIN
    return f'<c r="{reference}" s="{style}" t="inlineStr"><is><t>{text(value)}</t></is></c>'


def _styles() -> str:
    formats = "".join(
        f'<xf numFmtId="{number}" fontId="{font}" fillId="0" borderId="0" xfId="0"'
        ' applyNumberFormat="1" applyFont="1"/>'
        for number, font in ((0, 0), (0, 1), (3, 0), (3, 1))
    )
    return (
        f"{XML}<styleSheet {_SPACE}>"
        '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
        '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill>'
        '<fill><patternFill patternType="gray125"/></fill></fills>'
        '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
        '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>'
        "</cellStyleXfs>"
        f'<cellXfs count="4">{formats}</cellXfs></styleSheet>'
    )
