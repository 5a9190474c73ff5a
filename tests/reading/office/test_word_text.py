"""What Word shows on a page is read, in its order: forms, boxes, tables, notes, formulas."""

import pytest
from tests.reading.conftest import codes, packaged, zipped
from tests.reading.word_writer import (
    NAMESPACES,
    cell,
    item,
    level,
    numbering,
    paragraph,
    row,
    run,
    shown,
    table,
    word_parts,
)

from chapterhouse.errors import RejectedError
from chapterhouse.text.markdown import plain_text
from chapterhouse.types import Extraction

Case = tuple[str, str]


def mark(kind: str, inside: str = "") -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}">{inside}</w:fldChar></w:r>'


def field_of(instruction: str, result: str = "", data: str = "") -> str:
    return (
        mark("begin", f"<w:ffData>{data}</w:ffData>" if data else "")
        + f"<w:r><w:instrText>{instruction}</w:instrText></w:r>"
        + (mark("separate") + result if result else "")
        + mark("end")
    )


def tick(*states: str) -> str:
    return field_of("FORMCHECKBOX", "", f"<w:checkBox>{''.join(states)}</w:checkBox>")


def choice(*states: str, result: str = "") -> str:
    entries = "".join(f'<w:listEntry w:val="{one}"/>' for one in ("oil", "Fernwärme", "gas"))
    return field_of("FORMDROPDOWN", result, f"<w:ddList>{''.join(states)}{entries}</w:ddList>")


def control(properties: str, inside: str) -> str:
    content = f"<w:sdtContent>{inside}</w:sdtContent>"
    return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr>{content}</w:sdt>"


def box(state: str, sign: str) -> str:
    checked = f'<w14:checkbox><w14:checked w14:val="{state}"/></w14:checkbox>'
    return control(checked, sign)


def sign(font: str, code: str) -> str:
    return f'<w:r><w:sym w:font="{font}" w:char="{code}"/></w:r>'


def eq(instruction: str) -> str:
    """A field as Word writes it: without a result."""
    return mark("begin") + f"<w:r><w:instrText> EQ {instruction} </w:instrText></w:r>" + mark("end")


SHOWN: list[Case] = [
    (field_of("MACROBUTTON AcceptAll [Name of the keeper]"), "[Name of the keeper]"),
    (field_of("macrobutton  NoMacro  Dear") + run(" Ada"), "Dear Ada"),
    (field_of("GOTOBUTTON top See page ").replace(
        mark("end"), field_of("PAGEREF top", run("4")) + mark("end"), 1), "See page 4"),
    (field_of("MACROBUTTON NoMacro", run("Click")), "Click"),
    (run("t = ") + eq(r"\f(1,2)"), "t = 1/2"),
    (eq(r"\f(−b ± \r(b\s\up8(2) − 4ac);2a)"), "(−b ± √(b² − 4ac))/(2a)"),
    (eq(r"\R (3,x)"), "³√x"),
    (eq(r"\i\su(i=1,n,x\s\do4(i))"), "∑ᵢ₌₁ⁿ xᵢ"),
    (eq(r"\i(0,1,x)"), "∫₀¹ x"),
    (eq(r"\b\bc\{(\a\al\co2(1,0,0,1))"), "{[1, 0; 0, 1]}"),
    (eq(r"\b\lc\{ \rc\| (x + y)"), "{x + y|"),
    (eq(r"\l(a,b,c) = 3\,5"), "a, b, c = 3,5"),
    (eq(r"\x\to(12 t) (a, b)"), "12 t (a, b)"),
    (eq(r'\* jc2 \* "Font:Meiryo" \* hps10 \o\ad(\s\up 9(とうきょう),東京)'), "東京"),
    (eq(r"\o\ac(○,3)"), "③"),
    (eq(r"\o(A,/)"), "A/"),
    (run("Seite ") + field_of("PAGE") + field_of("IF 1 = 1 yes"), "Seite"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), SHOWN)
def test_fields_without_a_result_show_what_word_shows(body: str, expected: str) -> None:
    assert shown(paragraph(body)).strip() == expected


def containing(*files: tuple[str, str | bytes], body: str = "") -> dict[str, str | bytes]:
    """A Word file with others in its place, one after another."""
    inside = "".join(f'<w:altChunk r:id="c{number}"/>' for number in range(len(files)))
    parts = word_parts(paragraph("Before") + (body or inside) + paragraph("After"))
    more = "".join(
        f'<Relationship Id="c{number}" Type="t/aFChunk" Target="{name}"/>'
        for number, (name, _) in enumerate(files)
    )
    rels = "word/_rels/document.xml.rels"
    parts[rels] = str(parts[rels]).replace("</Relationships>", f"{more}</Relationships>")
    return parts | {f"word/{name}": content for name, content in files}


def test_files_in_a_word_file_are_text_in_their_place() -> None:
    page = (
        "<html><body><h1>Fares</h1><table><tr><th>Zone</th><th>Age</th></tr><tr><td>A</td>"
        "<td>9</td></tr></table><p>8 euros</p></body></html>"
    )
    inner = zipped(
        word_parts(item("one") + item("two"), numbering=numbering(level(0, "decimal", "%1.")))
    )
    found = packaged(
        containing(
            ("a.htm", page), ("b.docx", inner), ("c.txt", "# 4\nplain"), ("d.rtf", r"{\rtf1 Tide}")
        ),
        "docx",
    )
    assert found.pages[0].text == (
        "Before\n\n# Fares\n\n| Zone | Age |\n| --- | --- |\n| A | 9 |\n\n8 euros\n\n"
        "1. one\n2. two\n\n\\# 4\n\nplain\n\nTide\n\nAfter\n"
    )
    assert not found.notices


WEB_ARCHIVE = (
    'MIME-Version: 1.0\nContent-Type: multipart/related; type="text/html"; boundary="b"\n\n--b\n'
    'Content-Type: text/html; charset="utf-8"\nContent-Transfer-Encoding: quoted-printable\n'
    "Content-Location: file:///a.html\n\n<html><body><p class=3D'x'>8 =E2=82=AC</p></body></html>"
    "\n--b\nContent-Type: image/png\nContent-Transfer-Encoding: base64\nContent-Location: y.png\n\n"
    "iVBORw0KGgo=\n--b--\n"
)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.mht", WEB_ARCHIVE, "8 €"),
        ("a.mht", "From: <Saved by a browser>\n" + WEB_ARCHIVE, "8 €"),
        ("a.dat", WEB_ARCHIVE, "8 €"),
        ("a.dat", zipped(word_parts(paragraph("Tide"))), "Tide"),
        ("a.htm", "", ""),
        ("a.htm", "<html></html>", ""),
    ],
)
def test_a_file_in_a_word_file_is_told_by_its_content(
    name: str, content: str | bytes, expected: str
) -> None:
    found = packaged(containing((name, content)), "docx")
    assert found.pages[0].text.split("\n\n")[1:-1] == [expected] * bool(expected)
    assert not found.notices


def test_a_file_in_a_word_file_is_read_once_and_not_endlessly() -> None:
    twice = '<w:altChunk r:id="c0"/>' * 9 + '<w:altChunk r:id="none"/>'
    text = packaged(containing(("a.txt", "Tide"), body=twice), "docx").pages[0].text
    assert text == "Before\n\nTide\n\nAfter\n"
    content = zipped(word_parts(paragraph("deep")))
    for _ in range(9):
        content = zipped(containing(("a.docx", content)))
    deep = packaged(containing(("a.docx", content)), "docx")
    assert 3 <= deep.pages[0].text.count("Before") < 9
    broken = packaged(containing(("a.docx", b"PK\x03\x04 broken")), "docx")
    assert broken.pages[0].text == "Before\n\nAfter\n"
    assert codes(broken) == ["part-unreadable"]


ON, OFF = '<w:checked w:val="1"/>', '<w:checked w:val="0"/>'
FORMS: list[Case] = [
    (tick(ON) + run(" Garden"), "☒ Garden"),
    (tick(OFF) + run(" Cellar"), "☐ Cellar"),
    (tick("<w:checked/>") + run(" Pets"), "☒ Pets"),
    (tick('<w:default w:val="1"/>') + run(" Roof"), "☒ Roof"),
    (tick('<w:default w:val="1"/>', OFF) + run(" Attic"), "☐ Attic"),
    (tick() + run(" Yard"), "☐ Yard"),
    (run("Heizung: ") + choice('<w:result w:val="1"/>'), "Heizung: Fernwärme"),
    (run("Heizung: ") + choice('<w:default w:val="2"/>'), "Heizung: gas"),
    (run("Heizung: ") + choice(), "Heizung: oil"),
    (run("Heizung: ") + choice('<w:result w:val="7"/>'), "Heizung:"),
    # A result that is stored is shown once.
    (choice('<w:result w:val="1"/>', result=run("Fernwärme")), "Fernwärme"),
    (run("Name: ") + field_of("FORMTEXT", run("Ada"), "<w:textInput/>"), "Name: Ada"),
    (run("Name: ") + field_of("FORMTEXT", run("\u2002" * 5), "<w:textInput/>"), "Name:"),
    (box("1", run("☒")) + run(" Ja"), "☒ Ja"),
    (box("1", sign("Wingdings", "F0FE")) + run(" Ja"), "☒ Ja"),
    (box("0", sign("Wingdings", "F0A8")) + run(" Nein"), "☐ Nein"),
    (box("true", "") + run(" Oui"), "☒ Oui"),
    (box("1", run("☒ with words")), "☒ with words"),
    (run("Zone: ") + control("<w:dropDownList/>", run("North")), "Zone: North"),
    (sign("Wingdings", "F0FE") + sign("Wingdings", "A8") + sign("Wingdings 2", "F054"), "☑☐☒"),
    (run("þ", '<w:rFonts w:ascii="Wingdings"/>') + run(" yes"), "☑ yes"),
    (sign("Symbol", "F06D") + run("m ") + sign("Symbol", "B3") + run("5"), "μm ≥5"),
    (run("\uf061", '<w:rFonts w:ascii="Symbol"/>') + sign("Webdings", "F061"), "α"),
    # Instructions are no text, nor is a field in one; without its end nothing tells them apart.
    (field_of("IF " + "x", run("shown")), "shown"),
    (mark("begin") + run("hidden") + mark("separate") + run("seen") + mark("end"), "seen"),
    (mark("begin") + run("seen"), "seen"),
    ('<w:fldSimple w:instr="DATE">' + run("1 May") + "</w:fldSimple>", "1 May"),
    (field_of("PAGE", run("7")), "7"),
]


@pytest.mark.parametrize(("body", "expected"), FORMS)
def test_forms_show_what_was_ticked_and_chosen(body: str, expected: str) -> None:
    assert shown(paragraph(body)) == f"{expected}\n"


def textbox(*paragraphs: str) -> str:
    return f"<w:txbxContent>{''.join(paragraphs)}</w:txbxContent>"


def alternatives(*paragraphs: str) -> str:
    inside = textbox(*paragraphs)
    return (
        "<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:txbx>"
        f"{inside}</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>{inside}"
        "</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )


BULLETS = numbering(level(0, "bullet", "•"))
BOXES: list[Case] = [
    (
        paragraph(alternatives(item("Stop"), item("Wait"), item("Drain"))) + paragraph("Report."),
        "- Stop\n- Wait\n- Drain\n\nReport.\n",
    ),
    (
        paragraph(
            run("Before ") + alternatives(paragraph("Eins"), paragraph("Zwei")) + run("after")
        ),
        "Before after\n\nEins\n\nZwei\n",
    ),
    (
        paragraph(
            f"<w:r><w:pict><v:textbox>{textbox(table(row('a', 'b')))}</v:textbox></w:pict></w:r>"
        ),
        "| a | b |\n| --- | --- |\n",
    ),
    (
        item("x")
        + paragraph(alternatives(paragraph(alternatives(paragraph("inner")))))
        + item("y"),
        "- x\n\ninner\n\n- y\n",
    ),
    (
        table(
            row(cell(paragraph(run("Box: ") + alternatives(paragraph("a"), paragraph("b")))), "c")
        ),
        "| Box: a b | c |\n| --- | --- |\n",
    ),
    # An open field around a box hides nothing in it.
    (
        paragraph(mark("begin") + alternatives(paragraph("in a box")) + mark("end")),
        "in a box\n",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), BOXES)
def test_text_boxes_are_paragraphs_of_their_own(body: str, expected: str) -> None:
    assert shown(body, numbering=BULLETS) == expected


def test_tables_in_headers_and_footers_keep_their_cells_apart() -> None:
    page = run("Seite ") + field_of("PAGE", run("3"))
    text = shown(
        paragraph("Body"),
        header=paragraph("Brandt")
        + table(row("Order", "QX-55013"), row("Carrier", "Halvorsen"))
        + paragraph("Copy"),
        footer=table(row(cell(paragraph(page)), "Rev. 7"), row(cell("both", SPAN.format(2)))),
    )
    assert text == (
        "Body\n\nHeader: Brandt Order | QX-55013 | Carrier | Halvorsen Copy\n\n"
        "Footer: Seite | Rev. 7 | both\n"
    )


SPAN, DOWN, GOES_ON = '<w:gridSpan w:val="{}"/>', '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
HEADER = "<w:tblHeader/>"
TABLES: list[tuple[str, list[str]]] = [
    # A label belongs to each of its rows, and columns.
    (
        table(
            row("Zone", "Age", "Fare"),
            row(cell("North", DOWN), "Adult", "17.40"),
            row(cell("", GOES_ON), "Child", "8.10"),
            row(cell("South", DOWN), "Adult", "21.90"),
            row(cell("", '<w:vMerge w:val="continue"/>'), "Child", "9.60"),
            row("East", "all", ""),
        ),
        ["Zone | Age | Fare", "North | Adult | 17.40", "North | Child | 8.10",
         "South | Adult | 21.90", "South | Child | 9.60", "East | all | "],
    ),
    (
        table(row("Schiff", cell("Juni", SPAN.format(2)), "x"), row("Reiher", "1", "2", "y")),
        ["Schiff | Juni | Juni | x", "Reiher | 1 | 2 | y"],
    ),
    (
        table(
            row("a", cell("b", SPAN.format(2) + DOWN)),
            row("c", cell("", SPAN.format(2) + GOES_ON)),
            row(cell("d", '<w:hMerge w:val="restart"/>'), cell("", "<w:hMerge/>"), "e"),
            row("f", "", "g", properties='<w:gridBefore w:val="1"/>'),
        ),
        ["a, c | b | b | ", "d | d | e | ", " | f |  | g"],
    ),
    # Rows of one cell above a table are its title; heading rows that the file marks are one.
    (
        table(
            row(cell("Fares 2024", SPAN.format(3))),
            row(cell("Zone", DOWN), cell("Fare", SPAN.format(2)), properties=HEADER),
            row(cell("", GOES_ON), "Adult", "Child", properties=HEADER),
            row("North", "17", "8"),
            row(cell("South coast", SPAN.format(3))),
        ),
        ["Fares 2024", "Zone | Fare, Adult | Fare, Child", "North | 17 | 8",
         "South coast |  | "],
    ),
    # Headings that are not marked are told as those of sheets are; a form has none.
    (
        table(row("Zone", cell("Fare", SPAN.format(2))), row("", "Adult", "Child"),
              row("North", "17", "8")),
        ["Zone | Fare, Adult | Fare, Child", "North | 17 | 8"],
    ),
    (table(row("Keeper", "Ragna"), row("Height", "21 m"), row("Lamp", "LED")),
     [" | ", "Keeper | Ragna", "Height | 21 m", "Lamp | LED"]),
    (table(row("Site", "1200", properties=HEADER), row("North", "8")),
     ["Site | 1200", "North | 8"]),
    # One row of headings is no more than that, and what is not merged is not filled.
    (
        table(row("Name", "Seats", properties=HEADER), row("Heron", ""), row("", "18")),
        ["Name | Seats", "Heron | ", " | 18"],
    ),
    # A long text is no label.
    (
        table(row(cell("long " * 70, SPAN.format(2)), "b"), row("c", "d", "e")),
        [" |  | ", ("long " * 70).strip() + " |  | b", "c | d | e"],
    ),
    # One column is no table; a table in a cell has its cells apart.
    (table(row("Note"), row(cell(item("one") + item("two")))), ["Note", "- one", "- two"]),
    (
        table(row("a", cell(table(row("b", "c"), row("d|e", "f")) + paragraph("g")))),
        [r"a | b \| c \| d\|e \| f g"],
    ),
    (table(row("", ""), row("", "")), []),
    # Controls hold rows and cells; deleted rows and cells are not there.
    (
        table(
            control("", row("a", "b").replace("<w:tc>", "<w:sdt><w:sdtContent><w:tc>", 1).replace(
                "</w:tc>", "</w:tc></w:sdtContent></w:sdt>", 1)),
            row("c", "d", properties="<w:del/>"),
            row("e", cell("f", "<w:cellDel/>"), "g", properties="<w:ins/>"),
        ),
        ["a | b", "e | g"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("body", "lines"), TABLES)
def test_tables_repeat_what_is_merged_and_nothing_else(body: str, lines: list[str]) -> None:
    text = shown(body, numbering=BULLETS)
    found = [line for line in text.splitlines() if line and "| --- |" not in line]
    assert [line.removeprefix("| ").removesuffix(" |") for line in found] == [
        line.removesuffix(" |") for line in lines
    ]


def test_a_caption_of_a_table_stands_above_it() -> None:
    captioned = table(row("a", "b")).replace(
        "<w:tblPr/>", '<w:tblPr><w:tblCaption w:val="Fares"/></w:tblPr>'
    )
    assert shown(captioned) == "Fares\n\n| a | b |\n| --- | --- |\n"


def test_tables_have_a_limit_that_merging_does_not_evade() -> None:
    rows = [row("a", "b"), row(*["c"] * 9)] * 200
    assert "| c |" in shown(table(*rows))
    wide = row(*[cell("x", SPAN.format(99_999))] * 501)
    with pytest.raises(RejectedError) as caught:
        packaged(word_parts(table(*[wide] * 101)), "docx")
    assert caught.value.code == "too-many-cells"


UP, SUB = '<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>'
STRUCK = "<w:strike/>"
RUNS: list[Case] = [
    (run("2") + run("31", UP) + run(" − 1"), "2³¹ − 1"),
    (run("H") + run("2", SUB) + run("O"), "H₂O"),
    (run("the 1") + run("s", UP) + run("t", UP) + run(" of May"), "the 1st of May"),
    (run("x") + run("n", UP) + run("+1", UP), "xⁿ⁺¹"),
    (run("as seen") + run("[12]", UP), "as seen[12]"),
    (run("above ") + run("notes", UP), "above notes"),
    (run("45 euros", STRUCK) + run(" 40 euros"), "~~45 euros~~ 40 euros"),
    (run("45 ", STRUCK) + run("euros", STRUCK) + run("!"), "~~45 euros~~!"),
    (run("not ", "<w:vanish/>") + run("seen", '<w:vanish w:val="0"/>'), "seen"),
    (run("Kon", "<w:b/>") + run("zept", "<w:i/>"), "Konzept"),
    ("<w:r><w:t>a</w:t><w:br/><w:t>b</w:t><w:tab/><w:t>c</w:t></w:r>", "a b c"),
    ('<w:r><w:t>a</w:t><w:br w:type="page"/><w:t>b</w:t></w:r>', "a b"),
    ("<w:r><w:t>x</w:t><w:noBreakHyphen/><w:t>y</w:t><w:softHyphen/><w:t>z</w:t></w:r>", "x‑yz"),
    (run("10\u00a0000\u00a0€"), "10\u00a0000\u00a0€"),
    (f"<w:ruby><w:rt>{run('とう')}</w:rt><w:rubyBase>{run('東')}</w:rubyBase></w:ruby>", "東"),
    (f"<w:ins>{run('new')}</w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>", "new"),
    (f"<w:moveFrom>{run('gone')}</w:moveFrom><w:moveTo>{run('here')}</w:moveTo>", "here"),
    ("<w:smartTag><w:customXml>" + run("Oslo") + "</w:customXml></w:smartTag>", "Oslo"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), RUNS)
def test_runs_keep_their_sense(body: str, expected: str) -> None:
    assert shown(paragraph(body)) == f"{expected}\n"


@pytest.mark.parametrize(
    "text",
    ["5*3*2 metres", "*.bak and *.log", "a_b_c and _x_", "**not bold**", "`code` \\* \\_", "C:\\_d",
     "[1](a)", "~x~", "&lt;b&gt;", "x | y", "- 4 °C", "1) one"],
)  # fmt: skip
def test_signs_of_markup_are_text(text: str) -> None:
    expected = text.replace("&lt;", "<").replace("&gt;", ">")
    assert shown(paragraph(text)) == f"{expected}\n"
    assert plain_text(expected, "docx") == expected


LINKS: list[Case] = [
    ('<w:hyperlink r:id="web">' + run("the form") + "</w:hyperlink>",
     "[the form](https://x.org/a%28b%29)"),
    ('<w:hyperlink r:id="web">' + run("x.org") + "</w:hyperlink>", "x.org"),
    ('<w:hyperlink w:anchor="top">' + run("above") + "</w:hyperlink>", "above"),
    ('<w:hyperlink r:id="gone">' + run("lost") + "</w:hyperlink>", "lost"),
    (field_of(' HYPERLINK "mailto:a@x.org" ', run("Ada")), "[Ada](mailto:a@x.org)"),
    (field_of(' HYPERLINK "mailto:a@x.org" ', run("a@x.org")), "a@x.org"),
    (field_of(' HYPERLINK \\l "_Toc1" ', run("Part 1")), "Part 1"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), LINKS)
def test_links_have_their_address_where_the_text_has_not(body: str, expected: str) -> None:
    assert shown(paragraph(body)) == f"{expected}\n"
    assert "x.org/" not in plain_text(expected, "docx")


def test_notes_stand_apart_from_words_and_are_numbered_once() -> None:
    def note(kind: str, name: int) -> str:
        return f'<w:r><w:rPr>{UP}</w:rPr><w:{kind}Reference w:id="{name}"/></w:r>'

    body = paragraph(
        run("Fares") + note("footnote", 2) + run(" rise") + note("endnote", 2) + run(" again")
        + note("footnote", 2) + note("footnote", 9) + run(".")
    )  # fmt: skip
    itself = paragraph(run("In May.") + note("footnote", 2)) + paragraph("See above.")
    text = shown(
        body,
        footnotes=f'<w:footnote w:id="2">{itself}</w:footnote>',
        endnotes=f'<w:endnote w:id="2">{paragraph("By law.")}</w:endnote>',
        comments=f'<w:comment w:id="0">{paragraph("Really?")}{paragraph("Yes.")}</w:comment>',
    )
    assert text == (
        "Fares[^1] rise[^2] again[^1].\n\n[^1]: In May. See above.\n\n[^2]: By law.\n\n"
        "Comment: Really? Yes.\n"
    )


def m(name: str, *inside: str) -> str:
    return f"<m:{name}>{''.join(inside)}</m:{name}>"


def letters(text: str) -> str:
    return m("r", m("t", text))


def part(name: str, text: str) -> str:
    return m(name, letters(text))


SQUARE = m("sSup", part("e", "b"), part("sup", "2"))
FORMULAS: list[Case] = [
    (SQUARE, "b²"),
    (m("f", part("num", "a"), part("den", "b")), "a/b"),
    (m("f", part("num", "−b"), part("den", "2a")) + letters("x"), "(−b)/(2a) x"),
    (m("f", part("num", "1"), part("den", "z")) + letters("dz"), "1/z dz"),
    (m("f", m("fPr", '<m:type m:val="noBar"/>'), part("num", "n"), part("den", "k")), "n¦k"),
    (m("rad", m("deg"), m("e", SQUARE, letters("−4ac"))), "√(b²−4ac)"),
    (m("rad", part("deg", "3"), part("e", "8")), "³√8"),
    (m("sSubSup", part("e", "x"), part("sub", "i"), part("sup", "2")), "xᵢ²"),
    (m("nary", m("naryPr", '<m:chr m:val="∑"/>'), part("sub", "i=1"), part("sup", "∞"),
       part("e", "x")), "∑ᵢ₌₁^∞ x"),
    (m("nary", m("naryPr"), part("sub", "0"), part("sup", "1"), part("e", "x")), "∫₀¹ x"),
    (m("d", m("dPr", '<m:begChr m:val="["/><m:endChr m:val="]"/>'), part("e", "0"),
       part("e", "1")), "[0|1]"),
    (m("func", part("fName", "cos"), part("e", "x")), "cos x"),
    (m("limLow", part("e", "lim"), part("lim", "n→∞")), "lim_(n→∞)"),
    (m("m", m("mr", part("e", "1"), part("e", "0")), m("mr", part("e", "0"), part("e", "1"))),
     "[1, 0; 0, 1]"),
    (m("acc", m("accPr", '<m:chr m:val="\u20d7"/>'), part("e", "v")), "v\u20d7"),
]  # fmt: skip


@pytest.mark.parametrize(("inside", "expected"), FORMULAS)
def test_formulas_are_text_in_their_place(inside: str, expected: str) -> None:
    body = run("where ") + m("oMath", inside) + run(" holds")
    assert shown(paragraph(body)) == f"where {expected} holds\n"


def test_formulas_that_follow_one_another_are_apart() -> None:
    both = m("oMath", letters("a=b")), m("oMath", letters("c=d"))
    assert shown(paragraph("".join(both)) + m("oMathPara", *both)) == "a=b c=d\n\na=b c=d\n"


TEMPLATE = "2013-12-23T23:15:00Z"


def stated(author: str, created: str, modified: str) -> Extraction:
    core = (
        f"<dc:creator>{author}</dc:creator><dc:created>{created}</dc:created>"
        f"<dc:modified>{modified}</dc:modified>"
    )
    return packaged(word_parts(paragraph("x"), core=core), "docx")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (("python-docx", TEMPLATE, TEMPLATE), {}),
        (("Ada", TEMPLATE, "2024-05-01T08:00:00Z"),
         {"author": "Ada", "modified": "2024-05-01T08:00:00Z"}),
        (("openpyxl", "1601-01-01T00:00:00Z", "1970-01-01T00:00:00Z"), {}),
        (("Un-named", "2013-12-23T23:16:00Z", "1980-01-01T09:00:00Z"),
         {"created": "2013-12-23T23:16:00Z", "modified": "1980-01-01T09:00:00Z"}),
        (("Apache POI", "", ""), {}),
    ],
)  # fmt: skip
def test_what_a_library_writes_into_every_file_says_nothing(
    fields: tuple[str, str, str], expected: dict[str, str]
) -> None:
    assert stated(*fields).metadata == expected


def test_strict_files_mean_the_same() -> None:
    body = item("a") + table(row(cell("b", DOWN), "c"), row(cell("", GOES_ON), "d"))
    parts = word_parts(body + paragraph(tick(ON)), numbering=numbering(level(0, "decimal", "%1.")))
    transitional = NAMESPACES.split('"')[1]
    strict = {
        name: str(content).replace(transitional, "http://purl.oclc.org/ooxml/wordprocessingml/main")
        for name, content in parts.items()
    }
    expected = "1. a\n\n| b | c |\n| --- | --- |\n| b | d |\n\n☒\n"
    assert packaged({**strict}, "docx").pages[0].text == expected
    assert packaged(parts, "docx").pages[0].text == expected


@pytest.mark.parametrize("kind", ["footnotes", "numbering", "comments", "header"])
def test_a_damaged_part_leaves_the_others(kind: str) -> None:
    parts = word_parts(item("body"), numbering=numbering(level(0, "decimal", "%1.")), header="")
    parts[f"word/{kind}.xml"] = "<w:broken"
    extraction = packaged(parts, "docx")
    assert "body" in extraction.pages[0].text
    assert codes(extraction) == ["part-unreadable"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"),
        ("<w:p><w:r><w:txbxContent>", "</w:txbxContent></w:r></w:p>"),
        ("<w:p><m:oMath><m:rad><m:e>", "</m:e></m:rad></m:oMath></w:p>"),
        ("<w:p><w:sdt><w:sdtContent><w:r>", "</w:r></w:sdtContent></w:sdt></w:p>"),
        ("<w:p><w:hyperlink><w:fldSimple>", "</w:fldSimple></w:hyperlink></w:p>"),
    ],
)
def test_what_is_nested_as_deeply_as_allowed_is_read(before: str, after: str) -> None:
    times = 195 // before.count("<")
    text = shown(before * times + paragraph("<w:r><w:t>in</w:t></w:r>") + after * times)
    assert text.count("in") <= 1  # what no program writes need not be shown, but is no error


@pytest.mark.parametrize(
    "body",
    [
        mark("begin") * 3_000 + run("x") * 3_000 + mark("end") * 2_999,
        item("x", "9" * 5_000) + item("y", "٣"),  # type: ignore[arg-type]  # no level
        paragraph("x", f'<w:outlineLvl w:val="{"7" * 5_000}"/>'),
        table(
            row(cell("x", SPAN.format("9" * 5_000)), "y", properties='<w:gridBefore w:val="-"/>')
        ),
        paragraph(choice(f'<w:result w:val="{"9" * 5_000}"/>') + sign("Symbol", "XYZ" * 9)),
        paragraph(eq(r"\f(1" * 4_000 + r"\a\co99999999999(" + r"\o(○,99" * 99)),
    ],
    ids=["fields", "levels", "outline", "span", "choice", "formula"],
)
def test_numbers_that_are_none_harm_nothing(body: str) -> None:
    shown(body, numbering=BULLETS)
