from collections.abc import Mapping

import pytest
from tests.reading.conftest import (
    FLEET,
    SLIDE,
    TABLE,
    docx_parts,
    packaged,
    pptx_parts,
    relations,
    xlsx_parts,
)

from chapterhouse.errors import RejectedError
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.formats import PACKAGES
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.office import xberg
from chapterhouse.reading.office.xberg import MIME_TYPES, method, read_office, rejected
from chapterhouse.reading.ole import compound_file as ole
from chapterhouse.types import Extraction

LIMITS = Limits()
NINE = "The ferry leaves at nine."


Shown = tuple[int | None, str, str]  # of a page: number, label, text


@pytest.mark.parametrize(
    ("format_", "kind", "title", "pages"),
    [
        ("docx", "", "Timetable", [(None, "", f"# Timetable\n\n{NINE}\n\n{TABLE}")]),
        ("odt", "", "Timetable",
         [(None, "", f"# Timetable\n\n{NINE}\n\n- rope\n  - short\n\n{TABLE}")]),
        ("xlsx", "sheet", "", [(1, "Fleet", f"## Fleet\n\n{TABLE}")]),
        ("ods", "sheet", "", [(1, "Fleet", f"## Fleet\n\n{TABLE}")]),
        ("pptx", "slide", "Timetable",
         [(1, "Timetable", f"## Timetable\n\n{NINE}\n"),
          (2, "Fleet", "## Fleet\n\nHeron has 180 seats.\n")]),
        ("odp", "slide", "Timetable",
         [(1, "Timetable", f"## Timetable\n\n- {NINE}\n\nNotes:\n\nSpeak slowly.\n"),
          (2, "", TABLE)]),
        ("odg", "page", "",
         [(1, "", f"Pier 3\n\n{NINE}\n\nTicket office\n"), (2, "", "to the island\n")]),
        ("epub", "", "Ferry Tales",
         [(None, "", f"# Timetable\n\n{NINE}\n\n# Fleet\n\nHeron has 180 seats.\n")]),
        ("rtf", "", "", [(None, "", f"**Timetable**\n\n{NINE}\n")]),
    ],
)  # fmt: skip
def test_a_document_of_each_format_is_read_whole(
    documents: Mapping[str, bytes], format_: str, kind: str, title: str, pages: list[Shown]
) -> None:
    extraction = read(documents[format_], f"a.{format_}", LIMITS)
    assert [(page.number, page.label, page.text) for page in extraction.pages] == pages
    assert (extraction.page_kind, extraction.title, extraction.notices) == (kind, title, ())
    assert (extraction.method == method()) is (format_ in MIME_TYPES)


def run(text: str, more: str = "") -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r>{more}</w:p>"


PICTURE = (
    '<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/'
    'wordprocessingDrawing"><wp:docPr id="1" name="Picture 1" descr="alt"/></wp:inline>'
    "</w:drawing></w:r></w:p>"
)
BREAK = '<w:r><w:br w:type="page"/></w:r>'


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<w:p><w:r><w:t>one</w:t></w:r>{BREAK}<w:r><w:t>two</w:t></w:r></w:p>", "one two\n"),
        (f"{run('one')}<w:p>{BREAK}</w:p>{run('two')}", "one\n\ntwo\n"),  # no pages of their own
        (run("x") + PICTURE, "x\n"),
    ],
)
def test_a_word_file_has_its_words_and_nothing_else(body: str, text: str) -> None:
    (page,) = packaged(docx_parts(body), "docx").pages
    assert (page.number, " ".join(page.text.split())) == (None, " ".join(text.split()))


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
    extraction = packaged(parts, "docx")
    assert extraction.title == "Crew Handbook"
    assert extraction.metadata["author"] == "Ada"


def with_slide(shapes: str, **extra: str) -> Extraction:
    """Read a presentation whose first slide has more shapes; ``extra`` are parts by relation."""
    parts = pptx_parts()
    slide = str(parts["ppt/slides/slide1.xml"])
    parts["ppt/slides/slide1.xml"] = slide.replace("</p:spTree>", f"{shapes}</p:spTree>")
    parts["ppt/slides/_rels/slide1.xml.rels"] = relations(
        *((kind, kind, f"../{kind}.xml") for kind in extra)
    )
    parts |= {f"ppt/{kind}.xml": content for kind, content in extra.items()}
    return packaged(parts, "pptx")


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


def test_charts_stand_behind_the_text_of_a_document() -> None:
    parts = docx_parts()
    parts["word/charts/chart1.xml"] = (
        "<c:chartSpace xmlns:c='c'><c:ser><c:xVal><c:pt idx='0'><c:v>1998</c:v></c:pt></c:xVal>"
        "<c:yVal><c:pt idx='0'><c:v>180</c:v></c:pt></c:yVal></c:ser></c:chartSpace>"
    )
    text = packaged(parts, "docx").pages[0].text
    assert text.endswith("|  |  |\n| --- | --- |\n| 1998 | 180 |\n")


@pytest.mark.parametrize("format_", sorted(MIME_TYPES.keys() - PACKAGES))
def test_damage_is_reported_and_nothing_else_escapes(format_: str) -> None:
    for data in (b"PK\3\4 garbage", b"{\\rtf", ole({"WordDocument": b"x"}), b"\0" * 100):
        try:
            ended = read_office(data, format_, LIMITS).format
        except RejectedError as error:
            ended = error.code
        assert ended in {format_, "unreadable", "archive-damaged", "encrypted", "too-large"}


def test_a_reason_of_the_library_is_told_as_what_it_is() -> None:
    for message, code in (
        ("Failed to parse MSG file: name length too large: 4000", "unreadable"),
        ("Security limit exceeded: Nesting too deep: 201 levels (max: 200)", "too-deep"),
        ("Cell limit exceeded (6000000)", "too-many-cells"),
        ("Security limit exceeded: Content too large", "too-large"),
        ("The file is password-protected", "encrypted"),
    ):
        rejection = rejected(message)
        assert rejection.code == code
        assert code == "encrypted" or message in str(rejection)


def test_signs_are_not_escaped() -> None:
    said = ["Hello! C:\\dir", "<tag> & `code` ~x~", "1 > quote + 1. #2", "a|b"]
    marks = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
    runs = ["".join(marks.get(sign, sign) for sign in text) for text in said]
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in runs)
    assert packaged(docx_parts(body), "docx").pages[0].text == "\n\n".join(said) + "\n"
    sheet = packaged(xlsx_parts(tuple((text, "x") for text in runs)), "xlsx").pages[0].text
    assert [f"| {text.replace('|', chr(92) + '|')} | x |" for text in said] == [
        line for line in sheet.splitlines() if line.endswith("| x |")
    ]


def test_slides_are_cut_at_the_rules_of_the_library() -> None:
    text = xberg._unescaped("-----\n\n# Boats\n\n\\--\n\n-----\n\n# Nets\n")
    assert [page.label for page in xberg._old_slides(text)] == ["Boats", "Nets"]
