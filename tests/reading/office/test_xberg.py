from collections.abc import Mapping

import pytest
from tests.reading.conftest import (
    FLEET,
    SLIDE,
    docx_parts,
    odf_parts,
    odf_table,
    ole,
    pptx_parts,
    relations,
    xlsx_parts,
    zipped,
)

from chapterhouse.errors import RejectedError
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.formats import PACKAGES
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.office.xberg import MIME_TYPES, method, read_office, rejected
from chapterhouse.types import Extraction

LIMITS = Limits()
TABLE = "| Vessel | Seats |\n| --- | --- |\n| Heron | 180 |\n"


def one(data: bytes, name: str) -> Extraction:
    return read(data, name, LIMITS)


def odt(body: str, styles: str = "") -> Extraction:
    parts = odf_parts("text", f"<office:text>{body}</office:text>", styles)
    return one(zipped(parts, stored=("mimetype",)), "a.odt")


def odp(body: str) -> Extraction:
    parts = odf_parts("presentation", f"<office:presentation>{body}</office:presentation>")
    return one(zipped(parts, stored=("mimetype",)), "a.odp")


def test_docx_has_headings_and_tables_and_no_pages(documents: Mapping[str, bytes]) -> None:
    extraction = one(documents["docx"], "a.docx")
    (page,) = extraction.pages
    assert page.text == f"# Timetable\n\nThe ferry leaves at nine.\n\n{TABLE}"
    assert (page.number, extraction.page_kind, extraction.title) == (None, "", "Timetable")
    assert extraction.method == method()
    assert extraction.notices == ()


def test_docx_page_breaks_are_no_pages() -> None:
    inside = '<w:p><w:r><w:t>one</w:t><w:br w:type="page"/><w:t>two</w:t></w:r></w:p>'
    assert one(zipped(docx_parts(inside)), "a.docx").pages[0].text == "one two\n"
    said = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
    breaks = f'{said.format("one")}<w:p><w:r><w:br w:type="page"/></w:r></w:p>{said.format("two")}'
    (page,) = one(zipped(docx_parts(breaks)), "a.docx").pages
    assert (page.number, page.text.split()) == (None, ["one", "two"])


def test_core_properties_give_title_and_author() -> None:
    parts = docx_parts()
    parts["_rels/.rels"] = str(parts["_rels/.rels"]).replace(
        "</Relationships>",
        '<Relationship Id="r9" Type="http://schemas.openxmlformats.org/package/2006/relationships/'
        'metadata/core-properties" Target="docProps/core.xml"/></Relationships>',
    )
    parts["docProps/core.xml"] = (
        '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
        'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Crew Handbook'
        "</dc:title><dc:creator>Ada</dc:creator></cp:coreProperties>"
    )
    extraction = one(zipped(parts), "a.docx")
    assert extraction.title == "Crew Handbook"
    assert extraction.metadata["author"] == "Ada"


def test_a_workbook_has_a_page_for_each_sheet(documents: Mapping[str, bytes]) -> None:
    for name in ("xlsx", "ods"):
        extraction = one(documents[name], f"a.{name}")
        (page,) = extraction.pages
        assert (page.number, page.label, extraction.page_kind) == (1, "Fleet", "sheet"), name
        assert page.text == f"## Fleet\n\n{TABLE}", name


def test_a_sheet_keeps_bars_inside_its_cells() -> None:
    data = zipped(xlsx_parts((("a", "b"), ("x|y", "z"))))
    assert "x\\|y" in one(data, "a.xlsx").pages[0].text


def test_a_presentation_has_a_page_for_each_slide(documents: Mapping[str, bytes]) -> None:
    extraction = one(documents["pptx"], "a.pptx")
    assert [(page.number, page.label) for page in extraction.pages] == [
        (1, "Timetable"),
        (2, "Fleet"),
    ]
    assert extraction.pages[0].text == "## Timetable\n\nThe ferry leaves at nine.\n"
    assert (extraction.page_kind, extraction.title) == ("slide", "Timetable")


def with_slide(shapes: str, **extra: str) -> Extraction:
    """Read a presentation whose first slide has more shapes; ``extra`` are parts by relation."""
    parts = pptx_parts()
    slide = str(parts["ppt/slides/slide1.xml"])
    parts["ppt/slides/slide1.xml"] = slide.replace("</p:spTree>", f"{shapes}</p:spTree>")
    parts["ppt/slides/_rels/slide1.xml.rels"] = relations(
        *((kind, kind, f"../{kind}.xml") for kind in extra)
    )
    parts |= {f"ppt/{kind}.xml": content for kind, content in extra.items()}
    return one(zipped(parts), "a.pptx")


def test_slides_keep_words_whole_across_runs_and_number_what_is_numbered() -> None:
    extraction = with_slide(
        "<p:grpSp><p:sp><p:txBody><a:p><a:pPr><a:buAutoNum type='arabicPeriod'/></a:pPr>"
        "<a:r><a:t>S</a:t></a:r><a:r><a:t>ome</a:t></a:r><a:br/><a:r><a:t>info</a:t></a:r></a:p>"
        "<a:p><a:pPr lvl='1'><a:buChar char='x'/></a:pPr><a:r><a:t>more</a:t></a:r></a:p>"
        "</p:txBody></p:sp></p:grpSp>"
    )
    assert extraction.pages[0].text.endswith("\n\n1. Some info\n  - more\n")


def test_slides_keep_tables_charts_notes_and_comments_and_drop_furniture() -> None:
    cell = "<a:tc><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"
    rows = "".join(f"<a:tr>{''.join(map(cell.format, row))}</a:tr>" for row in FLEET)
    placeholder = (
        "<p:sp><p:nvSpPr><p:nvPr><p:ph type='{}'/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r>"
        "<a:t>{}</a:t></a:r></a:p></p:txBody></p:sp>"
    )
    extraction = with_slide(
        f"<p:graphicFrame><a:tbl>{rows}</a:tbl></p:graphicFrame>"
        "<p:graphicFrame><c:chart xmlns:c='c' r:id='chart'/></p:graphicFrame>"
        + placeholder.format("sldNum", "17"),
        chart="<c:chartSpace xmlns:c='c' xmlns:a='a'><c:chart><c:title><a:t>Fleet</a:t></c:title>"
        "<c:ser><c:tx><c:v>Seats</c:v></c:tx><c:cat><c:pt idx='0'><c:v>Heron</c:v></c:pt></c:cat>"
        "<c:val><c:pt idx='0'><c:v>180</c:v></c:pt></c:val></c:ser></c:chart></c:chartSpace>",
        notesSlide=f"<p:notes {SLIDE}><p:cSld><p:spTree>{placeholder.format('body', 'Slowly.')}"
        "</p:spTree></p:cSld></p:notes>",
        comments="<p:cmLst xmlns:p='p'><p:cm><p:text>Really?</p:text></p:cm></p:cmLst>",
    )
    assert extraction.pages[0].text == (
        f"## Timetable\n\nThe ferry leaves at nine.\n\n{TABLE}\nFleet\n\n"
        "|  | Seats |\n| --- | --- |\n| Heron | 180 |\n\nNotes:\n\nSlowly.\n\nComment: Really?\n"
    )


def test_comments_stand_under_their_sheet() -> None:
    parts = xlsx_parts()
    parts["xl/worksheets/_rels/sheet1.xml.rels"] = relations(("c", "comments", "../comments1.xml"))
    parts["xl/comments1.xml"] = (
        "<comments><commentList><comment ref='B2'><text><r><t>too </t></r><r><t>few</t></r></text>"
        "</comment></commentList></comments>"
    )
    text = one(zipped(parts), "a.xlsx").pages[0].text
    assert text == f"## Fleet\n\n{TABLE}\nComment on B2: too few\n"


def test_charts_stand_behind_the_text_of_a_document() -> None:
    parts = docx_parts()
    parts["word/charts/chart1.xml"] = (
        "<c:chartSpace xmlns:c='c'><c:ser><c:xVal><c:pt idx='0'><c:v>1998</c:v></c:pt></c:xVal>"
        "<c:yVal><c:pt idx='0'><c:v>180</c:v></c:pt></c:yVal></c:ser></c:chartSpace>"
    )
    text = one(zipped(parts), "a.docx").pages[0].text
    assert text.endswith("|  |  |\n| --- | --- |\n| 1998 | 180 |\n")


def test_odp_slides_have_title_text_table_and_notes(documents: Mapping[str, bytes]) -> None:
    extraction = one(documents["odp"], "a.odp")
    first, second = extraction.pages
    assert first.text == (
        "## Timetable\n\n- The ferry leaves at nine.\n\nNotes:\n\nSpeak slowly.\n"
    )
    assert (first.number, first.label, extraction.page_kind) == (1, "Timetable", "slide")
    assert (second.number, second.text) == (2, TABLE)


def test_drawings_have_the_texts_of_their_shapes(documents: Mapping[str, bytes]) -> None:
    extraction = one(documents["odg"], "a.odg")
    assert [(page.number, page.text) for page in extraction.pages] == [
        (1, "Pier 3\n\nThe ferry leaves at nine.\n\nTicket office\n"),
        (2, "to the island\n"),
    ]
    assert (extraction.format, extraction.page_kind, extraction.notices) == ("odg", "page", ())


def test_odt_has_headings_lists_and_tables(documents: Mapping[str, bytes]) -> None:
    extraction = one(documents["odt"], "a.odt")
    assert extraction.pages[0].text == (
        f"# Timetable\n\nThe ferry leaves at nine.\n\n- rope\n  - short\n\n{TABLE}"
    )
    assert extraction.title == "Timetable"


def test_odt_numbers_what_its_style_numbers() -> None:
    style = (
        '<text:list-style style:name="L1"><text:list-level-style-number text:level="1"/>'
        "</text:list-style>"
    )
    items = "".join(
        f"<text:list-item><text:p>{word}</text:p></text:list-item>" for word in ("one", "two")
    )
    extraction = odt(f'<text:list text:style-name="L1">{items}</text:list>', style)
    assert extraction.pages[0].text == "1. one\n2. two\n"


def test_odt_titles_are_headings_by_their_style() -> None:
    style = '<style:style style:name="P1" style:parent-style-name="Title"/>'
    extraction = odt('<text:p text:style-name="P1">Minutes</text:p>', style)
    assert (extraction.pages[0].text, extraction.title) == ("# Minutes\n", "Minutes")


def test_odt_leaves_out_what_was_deleted_and_keeps_notes_and_comments() -> None:
    extraction = odt(
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>GONE</text:p>"
        "</text:deletion></text:changed-region></text:tracked-changes>"
        "<text:p>Fares<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>in euros</text:p></text:note-body></text:note> rise"
        "<office:annotation><text:p>really?</text:p></office:annotation>.</text:p>"
    )
    assert extraction.pages[0].text == "Fares[^1] rise.\n\n[^1]: in euros\n\nComment: really?\n"


def test_odt_frames_inside_paragraphs_are_read() -> None:
    extraction = odt(
        "<text:p>Before<draw:frame><draw:text-box><text:p>Inside</text:p></draw:text-box>"
        "</draw:frame>after.</text:p>"
    )
    assert extraction.pages[0].text == "Beforeafter.\n\nInside\n"


def test_odf_cells_are_joined_escaped_and_repeated() -> None:
    extraction = odt(
        "<table:table><table:table-row><table:table-cell><text:p>a|b</text:p><text:p>c</text:p>"
        '</table:table-cell><table:table-cell table:number-columns-repeated="2"><text:p>d</text:p>'
        '</table:table-cell><table:table-cell table:number-columns-repeated="16000"/>'
        '</table:table-row><table:table-row table:number-rows-repeated="1000000">'
        '<table:table-cell table:number-columns-repeated="16000"/></table:table-row></table:table>'
    )
    assert extraction.pages[0].text == "| a\\|b c | d | d |\n| --- | --- | --- |\n"


def test_odf_charts_give_their_title_and_numbers() -> None:
    parts = odf_parts(
        "text",
        '<office:text><text:p><draw:frame><draw:object xlink:href="./Object 1" '
        'xmlns:xlink="http://www.w3.org/1999/xlink"/></draw:frame></text:p></office:text>',
    )
    chart = (
        "<office:chart xmlns:chart='urn:oasis:names:tc:opendocument:xmlns:chart:1.0'>"
        f"<chart:chart><chart:title><text:p>Fleet</text:p></chart:title>{odf_table(FLEET)}"
        "</chart:chart></office:chart>"
    )
    parts["Object 1/content.xml"] = str(odf_parts("chart", chart)["content.xml"])
    assert one(zipped(parts), "a.odt").pages[0].text == f"Fleet\n\n{TABLE}"


def test_sheets_inside_open_documents_are_read_and_end_where_they_hold_themselves() -> None:
    link = '<draw:object xlink:href="./Object 1" xmlns:xlink="http://www.w3.org/1999/xlink"/>'
    page = f"<draw:page><draw:frame>{link}</draw:frame></draw:page>"
    parts = odf_parts("presentation", f"<office:presentation>{page}</office:presentation>")
    sheet = f"<office:spreadsheet>{odf_table(FLEET)}<draw:frame>{link}</draw:frame>"
    inner = odf_parts("spreadsheet", f"{sheet}</office:spreadsheet>")["content.xml"]
    (slide,) = one(zipped(parts | {"Object 1/content.xml": inner}), "a.odp").pages
    assert slide.text == f"{TABLE}\n{TABLE}\n{TABLE}"


def test_a_slide_without_title_has_no_label() -> None:
    (page,) = odp(
        "<draw:page><draw:custom-shape><text:p>x</text:p></draw:custom-shape></draw:page>"
    ).pages
    assert (page.text, page.label, page.number) == ("x\n", "", 1)


def test_epub_chapters_are_headings(documents: Mapping[str, bytes]) -> None:
    extraction = one(documents["epub"], "a.epub")
    text = extraction.pages[0].text
    assert extraction.title == "Ferry Tales"
    assert "# Timetable\n\nThe ferry leaves at nine." in text
    assert "# Fleet\n\nHeron has 180 seats." in text
    assert extraction.metadata["language"] == "en"


def test_rtf_is_text(documents: Mapping[str, bytes]) -> None:
    text = one(documents["rtf"], "a.rtf").pages[0].text
    assert "Timetable" in text
    assert "The ferry leaves at nine." in text


def test_a_document_without_words_says_so() -> None:
    extraction = one(zipped(docx_parts("<w:p/>")), "a.docx")
    assert [notice.code for notice in extraction.notices] == ["no-text"]


def test_pictures_leave_nothing_behind() -> None:
    body = (
        '<w:p><w:r><w:t>x</w:t></w:r></w:p><w:p><w:r><w:drawing><wp:inline xmlns:wp="http://'
        'schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><wp:docPr id="1" '
        'name="Picture 1" descr="alt"/></wp:inline></w:drawing></w:r></w:p>'
    )
    assert one(zipped(docx_parts(body)), "a.docx").pages[0].text == "x\n"


@pytest.mark.parametrize("format_", sorted(MIME_TYPES.keys() - PACKAGES))
def test_damage_is_reported_and_nothing_else_escapes(format_: str) -> None:
    for data in (b"PK\3\4 garbage", b"{\\rtf", ole({"WordDocument": b"x"}), b"\0" * 100):
        try:
            ended = read_office(data, format_, LIMITS).format
        except RejectedError as error:
            ended = error.code
        assert ended in {format_, "unreadable", "archive-damaged", "encrypted", "too-large"}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("Failed to parse MSG file: name length too large: 4000", "unreadable"),
        ("Security limit exceeded: Nesting too deep: 201 levels (max: 200)", "too-deep"),
        ("Cell limit exceeded (6000000)", "too-many-cells"),
        ("Security limit exceeded: Content too large", "too-large"),
        ("The file is password-protected", "encrypted"),
    ],
)
def test_a_reason_of_the_library_is_told_as_what_it_is(message: str, code: str) -> None:
    rejection = rejected(message)
    assert rejection.code == code
    assert code == "encrypted" or message in str(rejection)


def test_signs_are_not_escaped() -> None:
    said = ["Hello! C:\\dir", "<tag> & `code` ~x~", "> quote + 1. #2", "a|b"]
    marks = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
    runs = ["".join(marks.get(sign, sign) for sign in text) for text in said]
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in runs)
    assert one(zipped(docx_parts(body)), "a.docx").pages[0].text == "\n\n".join(said) + "\n"
    sheet = one(zipped(xlsx_parts(tuple((text, "x") for text in runs))), "a.xlsx").pages[0].text
    assert [f"| {text.replace('|', chr(92) + '|')} | x |" for text in said] == [
        line for line in sheet.splitlines() if line.endswith("| x |")
    ]
