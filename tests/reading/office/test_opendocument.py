"""Open documents: cells as they are shown, hidden sheets, headers and footers once."""

from tests.reading.conftest import (
    FLEET,
    ODF_NAMESPACES,
    odf_parts,
    odf_table,
    zipped,
)

from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.types import Extraction

LIMITS = Limits()
TABLE = "| Vessel | Seats |\n| --- | --- |\n| Heron | 180 |\n"
Files = dict[str, str | bytes]


def one(parts: Files, format_: str) -> Extraction:
    return read(zipped(parts, stored=("mimetype",)), f"a.{format_}", LIMITS)


def test_a_formula_of_an_open_document_sheet_without_a_value_is_shown_and_counted() -> None:
    cells = (
        '<table:table-cell table:formula="of:=SUM([.A1:.B1])" office:value-type="float"/>'
        '<table:table-cell table:formula="of:=A1" office:value-type="float" office:value="7"/>'
        '<table:table-cell table:formula="of:=&quot;&quot;" office:value-type="string"/>'
        "<table:table-cell><text:p>x</text:p></table:table-cell>"
    )
    extraction = ods(
        f'<table:table table:name="S"><table:table-row>{cells}</table:table-row></table:table>'
    )
    assert "| =SUM([.A1:.B1]) (not calculated) | 7 |  | x |" in extraction.pages[0].text
    assert [notice.code for notice in extraction.notices] == ["not-calculated"]


def ods(body: str, styles: str = "") -> Extraction:
    content = f"<office:spreadsheet>{body}</office:spreadsheet>"
    return one(odf_parts("spreadsheet", content, styles), "ods")


def test_an_open_document_sheet_shows_its_cells_as_they_are_shown() -> None:
    cells = (
        '<table:table-cell office:value-type="percentage" office:value="0.25"><text:p>25 %'
        "</text:p></table:table-cell>"
        '<table:table-cell office:value-type="float" office:value="7"/>'
        "<table:table-cell><office:annotation><text:p>really?</text:p></office:annotation>"
        "<text:p>x</text:p></table:table-cell>"
        "<table:table-cell><draw:custom-shape><text:p>To the quay</text:p></draw:custom-shape>"
        "</table:table-cell>"
    )
    extraction = ods(
        f'<table:table table:name="A"><table:table-row>{cells}</table:table-row></table:table>'
    )
    assert extraction.pages[0].text == (
        "## A\n\n| 25 % | 7 | x |\n| --- | --- | --- |\n\nTo the quay\n\nComment: really?\n"
    )


def test_hidden_sheets_of_open_documents_say_so() -> None:
    style = (
        '<style:style style:name="ta2" style:family="table"><style:table-properties '
        'table:display="false"/></style:style>'
    )
    table = odf_table(FLEET).replace("<table:table ", '<table:table table:style-name="ta2" ', 1)
    (page,) = ods(table, style).pages
    assert (page.label, page.text) == ("Fleet (hidden)", f"## Fleet (hidden)\n\n{TABLE}")


def test_headers_and_footers_of_open_documents_are_shown_once() -> None:
    parts = odf_parts("text", "<office:text><text:p>Body.</text:p></office:text>")
    running = (
        "<style:header><text:p>Harbour Board</text:p></style:header>"
        "<style:header-left><text:p>Harbour Board</text:p></style:header-left>"
        '<style:footer style:display="false"><text:p>Off</text:p></style:footer>'
        "<style:footer-left><text:p>Page <text:page-number>1</text:page-number></text:p>"
        "</style:footer-left>"
    )
    parts["styles.xml"] = (
        f"<office:document-styles {ODF_NAMESPACES}><office:master-styles><style:master-page>"
        f"{running}</style:master-page></office:master-styles></office:document-styles>"
    )
    assert one(parts, "odt").pages[0].text == "Body.\n\nHeader: Harbour Board\n"


def test_footers_of_open_document_slides_are_shown_once() -> None:
    page = (
        '<draw:page presentation:use-footer-name="f"><draw:frame><draw:text-box><text:p>x</text:p>'
        "</draw:text-box></draw:frame><presentation:notes><draw:frame presentation:class="
        '"page-number"><draw:text-box><text:p>&lt;number&gt;</text:p></draw:text-box></draw:frame>'
        "</presentation:notes></draw:page>"
    )
    body = (
        '<office:presentation><presentation:footer-decl presentation:name="f">Harbour Board'
        f"</presentation:footer-decl>{page}{page}</office:presentation>"
    )
    texts = [page.text for page in one(odf_parts("presentation", body), "odp").pages]
    assert texts == ["x\n\nFooter: Harbour Board\n", "x\n"]
