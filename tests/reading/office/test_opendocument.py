"""Open documents: what is read of their XML, numbers of headings, hidden sheets, running lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading.conftest import (
    FLEET,
    ODF_NAMESPACES,
    TABLE,
    codes,
    odf_parts,
    odf_table,
    packaged,
)

from chapterhouse.reading.office.opendocument_blocks import write
from chapterhouse.types import Extraction


def styled(styles: str) -> str:
    return f"<office:document-styles {ODF_NAMESPACES}>{styles}</office:document-styles>"


def text_of(body: str, styles: str = "", automatic: str = "") -> str:
    """Read a text document whose styles are in ``styles.xml``, or in the document itself."""
    parts = odf_parts("text", f"<office:text>{body}</office:text>", automatic)
    return packaged(parts | {"styles.xml": styled(styles)}, "odt").pages[0].text


def ods(body: str, styles: str = "") -> Extraction:
    content = f"<office:spreadsheet>{body}</office:spreadsheet>"
    return packaged(odf_parts("spreadsheet", content, styles), "ods")


LISTED = "<text:list-item><text:p>one</text:p></text:list-item>"
CELL = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>"
TWICE = ' table:number-columns-repeated="2"'
EMPTY = '<table:table-cell table:number-columns-repeated="16000"/>'
RUNNING = (
    "<office:master-styles><style:master-page><style:header><text:p>Harbour Board</text:p>"
    "</style:header><style:header-left><text:p>Harbour Board</text:p></style:header-left>"
    '<style:footer style:display="false"><text:p>Off</text:p></style:footer>'
    "<style:footer-left><text:p>Page <text:page-number>1</text:page-number></text:p>"
    "</style:footer-left></style:master-page></office:master-styles>"
)
BODIES = {
    "numbered lists": (
        f'<text:list text:style-name="L1">{LISTED}{LISTED}</text:list>',
        (
            '<text:list-style style:name="L1"><text:list-level-style-number text:level="1"/>'
            "</text:list-style>"
        ),
        "1. one\n2. one\n",
    ),
    "titles by their style": (
        '<text:p text:style-name="P1">Minutes</text:p>',
        '<style:style style:name="P1" style:parent-style-name="Title"/>',
        "# Minutes\n",
    ),
    "deletions, notes and comments": (
        (
            "<text:tracked-changes><text:changed-region><text:deletion><text:p>GONE</text:p>"
            "</text:deletion></text:changed-region></text:tracked-changes>"
            "<text:p>Fares<text:note><text:note-citation>1</text:note-citation><text:note-body>"
            "<text:p>in euros</text:p></text:note-body></text:note> rise"
            "<office:annotation><text:p>really?</text:p></office:annotation>.</text:p>"
        ),
        "",
        "Fares[^1] rise.\n\n[^1]: in euros\n\nComment: really?\n",
    ),
    "frames inside paragraphs": (
        (
            "<text:p>Before<draw:frame><draw:text-box><text:p>Inside</text:p></draw:text-box>"
            "</draw:frame>after.</text:p>"
        ),
        "",
        "Beforeafter.\n\nInside\n",
    ),
    "cells joined, escaped and repeated": (
        (
            f"<table:table><table:table-row>{CELL.format('', 'a|b</text:p><text:p>c')}"
            f"{CELL.format(TWICE, 'd')}{EMPTY}</table:table-row>"
            f'<table:table-row table:number-rows-repeated="1000000">{EMPTY}</table:table-row>'
            "</table:table>"
        ),
        "",
        "| a\\|b c | d | d |\n| --- | --- | --- |\n",
    ),
}


@pytest.mark.parametrize("what", BODIES)
def test_a_text_document_is_read_as_it_is_set(what: str) -> None:
    body, automatic, text = BODIES[what]
    assert text_of(body, automatic=automatic) == text


def test_headers_and_footers_are_shown_once() -> None:
    assert text_of("<text:p>Body.</text:p>", RUNNING) == "Body.\n\nHeader: Harbour Board\n"


def test_tables_in_headers_keep_their_cells_apart() -> None:
    table = odf_table((("Order", "QX|7"), ("Carrier", "Halvorsen")))
    header = f"<style:header>{table}<text:p>Copy</text:p></style:header>"
    text = text_of(
        "<text:p>Body.</text:p>", RUNNING.replace("<style:footer ", f"{header}<style:footer ", 1)
    )
    assert text.splitlines()[-1] == "Header: Order | QX|7 | Carrier | Halvorsen Copy"


def test_a_table_in_a_cell_is_a_line_of_its_cells() -> None:
    cell = CELL.format("", "Heron")
    inner = f"<table:table-cell>{odf_table(FLEET)}</table:table-cell>"
    text = text_of(f"<table:table><table:table-row>{cell}{inner}</table:table-row></table:table>")
    fleet = " \\| ".join(cell for row in FLEET for cell in row)
    assert f"| Heron | {fleet} |" in text.splitlines()


LINK = '<draw:object xlink:href="./Object 1" xmlns:xlink="http://www.w3.org/1999/xlink"/>'


FORM = (("Keeper", "Ragna"), ("Height", "21 m"), ("Lamp", "LED"))
GROUPS = (("Zone", "Fare", ""), ("", "Adult", "Child"), ("North", "17", "8"))


def test_the_headings_of_a_table_are_marked_or_told() -> None:
    def first_lines(rows: tuple[tuple[str, ...], ...], marked: int = 0) -> list[str]:
        table = odf_table(rows)
        end = "</table:table-row>"
        if marked:
            head = "<table:table-header-rows>"
            table = table.replace("<table:table-row>", f"{head}<table:table-row>", 1)
            parts = table.split(end)
            table = end.join(parts[:marked]) + f"{end}</table:table-header-rows>"
            table += end.join(parts[marked:])
        body = odf_parts("text", f"<office:text>{table}</office:text>")
        return packaged(body, "odt").pages[0].text.split("\n")

    assert first_lines(FORM)[:3] == ["|  |  |", "| --- | --- |", "| Keeper | Ragna |"]
    assert first_lines(FORM, marked=1)[0] == "| Keeper | Ragna |"
    assert first_lines(GROUPS)[0] == "| Zone | Fare, Adult | Child |"
    assert first_lines(GROUPS, marked=1)[::2][:2] == ["| Zone | Fare |  |", "|  | Adult | Child |"]
    assert first_lines(GROUPS, marked=2)[0] == "| Zone | Fare, Adult | Child |"
    years = (("", "2025"), ("Heron", "180"))
    chart = (
        "<office:chart xmlns:chart='urn:oasis:names:tc:opendocument:xmlns:chart:1.0'>"
        f"<chart:chart>{odf_table(years)}</chart:chart></office:chart>"
    )
    text = f"<office:text><draw:frame>{LINK}</draw:frame></office:text>"
    inner = {"Object 1/content.xml": odf_parts("chart", chart)["content.xml"]}
    shown = packaged(odf_parts("text", text) | inner, "odt").pages[0].text
    assert shown.startswith("|  | 2025 |\n")  # what a chart states needs not be told


def test_charts_give_their_title_and_numbers() -> None:
    parts = odf_parts(
        "text", f"<office:text><text:p><draw:frame>{LINK}</draw:frame></text:p></office:text>"
    )
    chart = (
        "<office:chart xmlns:chart='urn:oasis:names:tc:opendocument:xmlns:chart:1.0'>"
        f"<chart:chart><chart:title><text:p>Fleet</text:p></chart:title>{odf_table(FLEET)}"
        "</chart:chart></office:chart>"
    )
    inner = odf_parts("chart", chart)["content.xml"]
    assert (
        packaged(parts | {"Object 1/content.xml": inner}, "odt").pages[0].text
        == f"Fleet\n\n{TABLE}"
    )


def test_sheets_inside_others_are_read_and_end_where_they_hold_themselves() -> None:
    page = f"<draw:page><draw:frame>{LINK}</draw:frame></draw:page>"
    parts = odf_parts("presentation", f"<office:presentation>{page}</office:presentation>")
    sheet = f"<office:spreadsheet>{odf_table(FLEET)}<draw:frame>{LINK}</draw:frame>"
    inner = odf_parts("spreadsheet", f"{sheet}</office:spreadsheet>")["content.xml"]
    (slide,) = packaged(parts | {"Object 1/content.xml": inner}, "odp").pages
    assert (slide.text, slide.label) == (f"{TABLE}\n{TABLE}\n{TABLE}", "")


def test_a_sheet_shows_its_cells_as_they_are_shown() -> None:
    cells = (
        CELL.format(' office:value-type="percentage" office:value="0.25"', "25 %")
        + '<table:table-cell office:value-type="float" office:value="7"/>'
        "<table:table-cell><office:annotation><text:p>really?</text:p></office:annotation>"
        "<text:p>x</text:p></table:table-cell><table:table-cell><draw:custom-shape>"
        "<text:p>To the quay</text:p></draw:custom-shape></table:table-cell>"
    )
    table = f'<table:table table:name="A"><table:table-row>{cells}</table:table-row></table:table>'
    assert ods(table).pages[0].text == (
        "## A\n\n|  |  |  |\n| --- | --- | --- |\n| 25 % | 7 | x |\n\n"
        "To the quay\n\nComment: really?\n"
    )


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
    assert "| =SUM([.A1:.B1]) (not calculated) | 7 | x |" in extraction.pages[0].text
    assert codes(extraction) == ["not-calculated"]


def test_hidden_sheets_of_open_documents_say_so() -> None:
    style = (
        '<style:style style:name="ta2" style:family="table"><style:table-properties '
        'table:display="false"/></style:style>'
    )
    table = odf_table(FLEET).replace("<table:table ", '<table:table table:style-name="ta2" ', 1)
    (page,) = ods(table, style).pages
    assert (page.label, page.text) == ("Fleet (hidden)", f"## Fleet (hidden)\n\n{TABLE}")


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
    texts = [page.text for page in packaged(odf_parts("presentation", body), "odp").pages]
    assert texts == ["x\n\nFooter: Harbour Board\n", "x\n"]


OUTLINE = (
    '<text:outline-style><text:outline-level-style text:level="1" style:num-format="I"/>'
    '<text:outline-level-style text:level="2" style:num-format="1" style:num-suffix=")" '
    'text:display-levels="2"/><text:outline-level-style text:level="3" style:num-format=""/>'
    "</text:outline-style>"
)


def heading(level: int, text: str, more: str = "") -> str:
    return f'<text:h text:outline-level="{level}" {more}>{text}</text:h>'


def test_headings_have_the_numbers_of_their_outline() -> None:
    body = (
        heading(1, "Fares")
        + heading(2, "Adults")
        + heading(2, "Children")
        + heading(3, "Babies")
        + heading(1, "Preface", 'text:is-list-header="true"')
        + heading(1, "Berths")
        + heading(2, "Guests")
        + heading(2, "Crews", 'text:restart-numbering="true" text:start-value="7"')
    )
    assert text_of(body, OUTLINE).split("\n\n") == [
        "# I Fares", "## I.1) Adults", "## I.2) Children", "### Babies", "# Preface",
        "# II Berths", "## II.1) Guests", "## II.7) Crews\n",
    ]  # fmt: skip


def test_lists_are_numbered_by_styles_of_the_document_and_of_their_level() -> None:
    style = (
        '<text:list-style style:name="N"><text:list-level-style-bullet text:level="1"/>'
        '<text:list-level-style-number text:level="2" style:num-format="1"/></text:list-style>'
    )
    inner = "<text:list><text:list-item><text:p>nine</text:p></text:list-item></text:list>"
    body = (
        '<text:list text:style-name="N"><text:list-item><text:p>ferries</text:p>'
        f"{inner}</text:list-item></text:list>"
    )
    assert text_of(body, style) == "- ferries\n  1. nine\n"


def test_numbers_are_written_in_the_form_of_their_level() -> None:
    found = [write(4, "1"), write(27, "a"), write(52, "A"), write(1994, "i"), write(9, "I")]
    assert found == ["4", "aa", "AZ", "mcmxciv", "IX"]


@given(st.integers(1, 3_999), st.sampled_from("aAiI1"))
def test_each_number_is_written_in_its_own_way(number: int, form: str) -> None:
    assert write(number, form) != write(number + 1, form)
