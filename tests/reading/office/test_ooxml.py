"""What stands beside the text of Office files: headers, shapes, tracked changes, slides."""

import pytest
from tests.reading.conftest import (
    SHEET,
    TABLE,
    WORD,
    codes,
    docx_parts,
    odf_parts,
    packaged,
    pptx_parts,
    relations,
    xlsx_parts,
)

from chapterhouse.types import Extraction


def word(runs: str) -> str:
    return f"<w:p>{runs}</w:p>"


def said(text: str) -> str:
    return f"<w:r><w:t>{text}</w:t></w:r>"


def header(kind: str, body: str) -> str:
    return f"<w:{kind} {WORD}>{body}</w:{kind}>"


def test_headers_and_footers_of_a_word_file_are_shown_once() -> None:
    page = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>17</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
        f'<w:fldSimple w:instr="NUMPAGES">{said("40")}</w:fldSimple>'
    )
    parts = docx_parts() | {
        "word/_rels/document.xml.rels": relations(
            ("h1", "header", "header1.xml"),
            ("h2", "header", "header2.xml"),
            ("f1", "footer", "footer1.xml"),
            ("f2", "footer", "footer2.xml"),
        ),
        "word/header1.xml": header("hdr", word(said("Harbour") + said(" Board"))),
        "word/header2.xml": header("hdr", word(said("Harbour Board"))),
        "word/footer1.xml": header("ftr", word(said("Confidential ") + page)),
        "word/footer2.xml": header("ftr", word(page)),
    }
    text = packaged(parts, "docx").pages[0].text
    assert text.endswith(f"{TABLE}\nHeader: Harbour Board\n\nFooter: Confidential\n")


def test_tracked_changes_are_accepted() -> None:
    body = word(
        said("Fares ")
        + f"<w:ins>{said('rise')}</w:ins>"
        + "<w:del><w:r><w:delText>fall</w:delText></w:r></w:del>"
        + f'<w:moveFromRangeStart w:id="1"/><w:moveFrom w:id="2">{said("gone")}</w:moveFrom>'
        + f"<w:moveTo>{said(' here')}</w:moveTo>"
    )
    assert packaged(docx_parts(body), "docx").pages[0].text == "Fares rise here\n"


def test_smart_art_of_a_word_file_is_a_list() -> None:
    parts = docx_parts() | {
        "word/diagrams/data1.xml": "<d:dataModel xmlns:d='d' xmlns:a='a'><a:p><a:r><a:t>Plan</a:t>"
        "</a:r></a:p><a:p><a:r><a:t>Build</a:t></a:r></a:p></d:dataModel>"
    }
    assert packaged(parts, "docx").pages[0].text.endswith("\n- Plan\n- Build\n")


def test_sheets_show_shapes_titles_of_charts_and_headers_and_say_when_they_are_hidden() -> None:
    parts = xlsx_parts()
    sheet = str(parts["xl/worksheets/sheet1.xml"])
    workbook = str(parts["xl/workbook.xml"])
    parts |= {
        "xl/workbook.xml": workbook.replace('name="Fleet"', 'name="Fleet" state="veryHidden"'),
        "xl/worksheets/sheet1.xml": sheet.replace(
            "</worksheet>",
            "<headerFooter><oddHeader>&amp;C&amp;&quot;Arial,Bold&quot;&amp;12Harbour &amp;&amp; "
            "Board</oddHeader><oddFooter>&amp;P</oddFooter></headerFooter></worksheet>",
        ),
        "xl/worksheets/_rels/sheet1.xml.rels": relations(("d", "drawing", "../drawings/d.xml")),
        "xl/drawings/d.xml": "<d xmlns:a='a'><a:p><a:r><a:t>To the </a:t></a:r><a:r><a:t>quay"
        "</a:t></a:r></a:p></d>",
        "xl/drawings/_rels/d.xml.rels": relations(("c", "chart", "../charts/chart1.xml")),
        "xl/charts/chart1.xml": "<c:chartSpace xmlns:c='c' xmlns:a='a'><c:title><a:t>Seats</a:t>"
        "</c:title></c:chartSpace>",
    }
    (page,) = packaged(parts, "xlsx").pages
    assert page.label == "Fleet (hidden)"
    assert page.text == (
        f"## Fleet (hidden)\n\n{TABLE}\nTo the quay\n\nSeats\n\nHeader: Harbour & Board\n"
    )


def test_notes_of_cells_are_read_beside_threads_which_are_not_read_twice() -> None:
    def note(cell: str, text: str) -> str:
        return f'<comment ref="{cell}"><text><r><t>{text}</t></r></text></comment>'

    def thread(cell: str, text: str) -> str:
        return f'<threadedComment ref="{cell}"><text>{text}</text></threadedComment>'

    notes = (
        note("A2", "[sic] Heron, not Hern")
        + note(
            "B2", "[Kommentarthread]\n\nIhre Version …\n\nKommentar:\n  With crew?\nAntwort:\n  No"
        )
        + note("B1", "Licensed")
    )
    threads = thread("B2", "With crew?") + thread("B2", "No") + thread("A2", "Since when?")
    parts = xlsx_parts() | {
        "xl/worksheets/_rels/sheet1.xml.rels": relations(
            ("t", "threadedComment", "../threadedComments/threadedComment1.xml"),
            ("c", "comments", "../comments1.xml"),
        ),
        "xl/comments1.xml": f"<comments {SHEET}><commentList>{notes}</commentList></comments>",
        "xl/threadedComments/threadedComment1.xml": f"<ThreadedComments>{threads}"
        "</ThreadedComments>",
    }
    (page,) = packaged(parts, "xlsx").pages
    assert page.text.partition("\n\nComment ")[2].rstrip().split("\n\nComment ") == [
        "on A2: [sic] Heron, not Hern",
        "on B1: Licensed",
        "on B2: With crew?",
        "on B2: No",
        "on A2: Since when?",
    ]


def calculated(cells: str, properties: str = "") -> Extraction:
    """Read a sheet whose styles 0 to 3 are General, a per cent, euros and hidden."""
    parts = xlsx_parts()
    styles = (
        f"<styleSheet {SHEET}><numFmts><numFmt numFmtId='164' formatCode='0.00\\ \"€\"'/>"
        "<numFmt numFmtId='165' formatCode=';;;'/></numFmts><cellStyleXfs><xf numFmtId='9'/>"
        "</cellStyleXfs><cellXfs><xf numFmtId='0'/><xf numFmtId='9'/><xf numFmtId='164'/>"
        "<xf numFmtId='165'/><xf numFmtId='14'/></cellXfs></styleSheet>"
    )
    workbook = str(parts["xl/workbook.xml"])
    parts |= {
        "xl/_rels/workbook.xml.rels": relations(
            ("r1", "worksheet", "worksheets/sheet1.xml"), ("r2", "styles", "styles.xml")
        ),
        "xl/workbook.xml": workbook.replace("<sheets>", f"{properties}<sheets>"),
        "xl/styles.xml": styles,
        "xl/worksheets/sheet1.xml": f"<x:worksheet xmlns:x={SHEET.split('=', 1)[1]}><x:sheetData>"
        f'<x:row r="1">{cells}</x:row></x:sheetData></x:worksheet>',
    }
    return packaged(parts, "xlsx")


@pytest.mark.parametrize(
    ("cells", "properties", "row", "formulas"),
    [
        ('<x:c r="A1"><x:v>5</x:v></x:c><x:c r="B1"><x:v>7.25</x:v></x:c>', "", "5 | 7.25", 0),
        (
            ('<x:c r="A1"><x:v>1234.5</x:v></x:c>'
            "<x:c s='1' r='B1' t='n'><x:v>0.25</x:v></x:c>"
            '<x:c r="C1" s="2"><x:f>A1*2</x:f><x:v>2469</x:v></x:c>'
            '<x:c r="D1" s="3"><x:v>42</x:v></x:c><x:c r="E1" s="1"/>'
            '<x:c r="F1" s="1" t="str"><x:v>0.25</x:v></x:c>'
            '<x:c r="G1" s="4"><x:v>45356</x:v></x:c>'),
            "",
            "1234.5 | 25% | 2469.00 € | 42 |  | 0.25 | 2024-03-05",
            0,
        ),
        ('<x:c r="A1" s="4"><x:v>43894</x:v></x:c>', '<workbookPr date1904="1"/>', "2024-03-05", 0),
        (
            ('<x:c r="A1"><x:f>SUM(B1:C1)&lt;5</x:f></x:c>'
            '<x:c r="B1" s="1"><x:f t="shared" si="0"/><x:v></x:v></x:c>'
            '<x:c r="C1" t="str"><x:f>""</x:f><x:v></x:v></x:c><x:c r="D1"><x:v>7</x:v></x:c>'),
            "",
            "=SUM(B1:C1)<5 (not calculated) | (not calculated) |  | 7",
            2,
        ),
    ],
    ids=["numbers", "formats", "1904", "formulas"],
)  # fmt: skip
def test_cells_of_a_sheet_are_read_as_they_are_shown(
    cells: str, properties: str, row: str, formulas: int
) -> None:
    extraction = calculated(cells, properties)
    shown = extraction.pages[0].text.splitlines()[-1].strip("| ").split(" | ")
    assert shown == [cell.strip() for cell in row.split("|") if cell.strip()]  # no empty columns
    assert codes(extraction) == ["not-calculated"] * bool(formulas)
    assert all(f"calculated: {formulas}." in notice.sentence for notice in extraction.notices)


def test_a_title_that_a_program_left_gives_way_to_the_text() -> None:
    meta = (
        '<office:document-meta xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta><dc:title>Untitled 1</dc:title>'
        "</office:meta></office:document-meta>"
    )
    parts = odf_parts("text", "<office:text><text:h>Timetable</text:h></office:text>")
    assert packaged(parts | {"meta.xml": meta}, "odt").title == "Timetable"


def test_a_word_file_may_call_its_main_part_as_it_likes() -> None:
    def renamed(text: str) -> str:
        return text.replace("document.xml", "document2.xml")

    parts = {renamed(name): renamed(str(content)) for name, content in docx_parts().items()}
    text = packaged({**parts}, "docx").pages[0].text
    assert text == f"# Timetable\n\nThe ferry leaves at nine.\n\n{TABLE}"


def test_footers_of_slides_are_shown_on_the_first_slide_that_has_them() -> None:
    footer = (
        "<p:sp><p:nvSpPr><p:nvPr><p:ph type='ftr'/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r>"
        "<a:t>Harbour Board</a:t></a:r></a:p></p:txBody></p:sp></p:spTree>"
    )
    parts = {
        name: str(content).replace("</p:spTree>", footer) for name, content in pptx_parts().items()
    }
    first, second = packaged({**parts}, "pptx").pages
    assert first.text.endswith("\n\nFooter: Harbour Board\n")
    assert "Harbour" not in second.text


def test_a_slide_that_is_missing_is_told_and_the_others_keep_their_numbers() -> None:
    parts = pptx_parts()
    gone = parts.pop("ppt/slides/slide1.xml")
    assert gone
    extraction = packaged({**parts}, "pptx")
    assert [page.number for page in extraction.pages] == [1, 2]
    assert extraction.pages[0].text == ""
    assert extraction.pages[1].text
    (notice,) = extraction.notices
    assert notice.sentence == "'ppt/slides/slide1.xml' is missing from the container."


def test_without_their_relations_slides_come_in_the_order_of_their_numbers() -> None:
    parts = {**pptx_parts()}
    slide = str(parts["ppt/slides/slide2.xml"])
    parts |= {f"ppt/slides/slide{n}.xml": slide.replace("Fleet", f"No. {n}") for n in (10, 9)}
    del parts["ppt/_rels/presentation.xml.rels"]
    extraction = packaged(parts, "pptx")
    assert [page.label for page in extraction.pages] == ["Timetable", "Fleet", "No. 9", "No. 10"]
