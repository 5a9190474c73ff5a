"""Word files of a few elements, for tests of what Word shows."""

from .conftest import WORD, docx_parts, packaged, relations

NAMESPACES = (
    f"{WORD} xmlns:mc='m' xmlns:w14='w14' xmlns:wps='wps' xmlns:v='v' xmlns:m='math' "
    "xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'"
)
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"


def run(text: str, properties: str = "") -> str:
    marks = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{marks}<w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(content: str, properties: str = "") -> str:
    """Return a paragraph of text, or of runs."""
    inner = content if content.startswith("<") or not content else run(content)
    return f"<w:p><w:pPr>{properties}</w:pPr>{inner}</w:p>"


def item(text: str, level: int = 0, number: int = 1) -> str:
    place = f'<w:ilvl w:val="{level}"/><w:numId w:val="{number}"/>'
    return paragraph(text, f"<w:numPr>{place}</w:numPr>")


def styled(text: str, style: str) -> str:
    return paragraph(text, f'<w:pStyle w:val="{style}"/>')


def level(number: int, form: str, text: str, more: str = "", start: int = 1) -> str:
    return (
        f'<w:lvl w:ilvl="{number}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>'
        f'{more}<w:lvlText w:val="{text}"/></w:lvl>'
    )


def numbering(*levels: str, more: str = "") -> str:
    """Return the lists 1, with these levels, and what ``more`` adds."""
    return (
        f'<w:abstractNum w:abstractNumId="7">{"".join(levels)}</w:abstractNum>'
        f'<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>{more}'
    )


def cell(content: str, properties: str = "") -> str:
    inner = content if content.startswith("<") else paragraph(content)
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inner}</w:tc>"


def row(*cells: str, properties: str = "") -> str:
    inner = (one if one.startswith("<w:tc>") else cell(one) for one in cells)
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(inner)}</w:tr>"


def table(*rows: str) -> str:
    return f"<w:tbl><w:tblPr/>{''.join(rows)}</w:tbl>"


def word_parts(body: str, **parts: str) -> dict[str, str | bytes]:
    """Return a Word file; ``parts`` are the contents of others by their kind."""
    found = docx_parts(body)
    found["word/document.xml"] = f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>"
    roots = {"header": "hdr", "footer": "ftr"}
    kinds = [kind for kind in parts if kind != "core"]
    for kind in kinds:
        root = roots.get(kind, kind)
        found[f"word/{kind}.xml"] = f"<w:{root} {NAMESPACES}>{parts[kind]}</w:{root}>"
    found["word/_rels/document.xml.rels"] = relations(
        ("styles", "styles", "styles.xml"), *((kind, kind, f"{kind}.xml") for kind in kinds)
    ).replace("</Relationships>", f"{LINK}</Relationships>")
    if "core" in parts:
        found["docProps/core.xml"] = (
            f"<c:coreProperties xmlns:c='c' xmlns:dc='d'>{parts['core']}</c:coreProperties>"
        )
    return found


LINK = (
    '<Relationship Id="web" Type="t/hyperlink" Target="https://x.org/a(b)" TargetMode="External"/>'
)


def shown(body: str, **parts: str) -> str:
    """Return the text of a Word file."""
    return packaged(word_parts(body, **parts), "docx").pages[0].text
