"""Paragraphs have the numbers that Word shows; what counts them is in three parts of the file."""

import pytest
from tests.reading.word_writer import item, level, numbering, paragraph, row, shown, styled, table

from chapterhouse.reading.office.word_properties import written_number

CONTRACT = numbering(
    level(0, "decimal", "%1."), level(1, "decimal", "%1.%2"), level(2, "lowerLetter", "(%3)")
)
AGREEMENT = (
    item("Definitions")
    + item("Provider means Oakmoor.", 1)
    + item("Payment")
    + item("Invoices are due in 21 days.", 1)
    + item("Late payment bears interest:", 1)
    + item("at 4 percent for a month", 2)
    + item("at 7 percent after that", 2)
    + paragraph("The bank decides.")
    + item("There is no cap.", 1)
)


def test_clauses_of_a_contract_have_their_whole_numbers() -> None:
    assert shown(AGREEMENT, numbering=CONTRACT) == (
        "1. Definitions\n\n1.1 Provider means Oakmoor.\n\n2. Payment\n\n"
        "2.1 Invoices are due in 21 days.\n\n2.2 Late payment bears interest:\n\n"
        "(a) at 4 percent for a month\n(b) at 7 percent after that\n\nThe bank decides.\n\n"
        "2.3 There is no cap.\n"
    )


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("decimal", "1 4 27"), ("upperLetter", "A D AA"), ("lowerLetter", "a d aa"),
        ("upperRoman", "I IV XXVII"), ("lowerRoman", "i iv xxvii"), ("decimalZero", "01 04 27"),
        ("ordinal", "1st 4th 27th"), ("russianLower", "а г ю"), ("none", "  "),
        ("chineseCounting", "一 四 二十七"), ("japaneseCounting", "一 四 二十七"),
        ("ideographTraditional", "甲 丁 27"), ("ganada", "가 라 27"),
        ("decimalEnclosedCircle", "① ④ 27"), ("decimalFullWidth", "１ ４ ２７"),
        ("001, 002, 003, ...", "001 004 027"), ("unheardOf", "1 4 27"),
    ],
)  # fmt: skip
def test_numbers_are_written_in_the_forms_of_word(form: str, expected: str) -> None:
    assert " ".join(written_number(number, form) for number in (1, 4, 27)) == expected


def test_letters_are_doubled_behind_the_last_and_teens_have_their_ending() -> None:
    assert [written_number(number, "upperLetter") for number in (26, 52, 53)] == ["Z", "ZZ", "AAA"]
    assert [written_number(number, "ordinal") for number in (2, 3, 11, 112)] == (
        ["2nd", "3rd", "11th", "112th"]
    )


OVERRIDE = (
    '<w:num w:numId="2"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0">'
    '<w:startOverride w:val="{}"/></w:lvlOverride></w:num>'
)


@pytest.mark.parametrize(
    ("body", "lists", "expected"),
    [
        # A list goes on behind another, and under another name; an override begins it anew, once.
        (
            item("a") + item("x", 0, 9) + item("b"),
            numbering(
                level(0, "decimal", "%1)"),
                more='<w:abstractNum w:abstractNumId="8"><w:lvl w:ilvl="0"><w:numFmt w:val='
                '"bullet"/><w:lvlText w:val="•"/></w:lvl></w:abstractNum>'
                '<w:num w:numId="9"><w:abstractNumId w:val="8"/></w:num>',
            ),
            "1) a\n\n- x\n\n2) b\n",
        ),
        (
            item("a") + item("b", 0, 2) + item("c", 0, 2) + item("d"),
            numbering(level(0, "decimal", "%1."), more=OVERRIDE.format(5)),
            "1. a\n\n5. b\n6. c\n\n7. d\n",
        ),
        # Levels restart behind any above, never, or behind a certain one.
        (
            item("a") + item("b", 1) + item("c") + item("d", 1),
            numbering(
                level(0, "upperRoman", "Part %1"),
                level(1, "decimal", "Article %2", '<w:lvlRestart w:val="0"/>'),
            ),
            "Part I a\n\nArticle 1 b\n\nPart II c\n\nArticle 2 d\n",
        ),
        # Legal numbers are digits; signs of bullets and levels without numbers are left out.
        (
            item("a") + item("b", 1) + item("c", 2) + item("d", 3),
            numbering(
                level(0, "upperRoman", "Article %1."),
                level(1, "decimalZero", "Section %1.%2", "<w:isLgl/>"),
                level(2, "none", ""),
                level(3, "decimal", "%1.%2.%3%4"),
            ),
            "Article I. a\n\nSection 1.1 b\n\nc\n\nI.01.1 d\n",
        ),
        # Numbers begin where their level says, also those that are only named.
        (
            item("a", 1),
            numbering(level(0, "decimal", "%1", start=3), level(1, "decimal", "%1.%2", start=0)),
            "3.0 a\n",
        ),
        # No list, a list that is switched off, a level that it has not.
        (item("a", 0, 4) + item("b", 0, 0) + item("c", 5), CONTRACT, "a\n\nb\n\nc\n"),
        # An empty numbered paragraph counts; one that was deleted does not.
        (
            item("a")
            + item("")
            + item("").replace("<w:numPr>", "<w:rPr><w:del/></w:rPr><w:numPr>")
            + item("b"),
            CONTRACT,
            "1. a\n3. b\n",
        ),
        # Bullets are signs: not words, and not blanks, which set a paragraph behind an item.
        (
            item("a") + item("b", 1) + item("c", 2),
            numbering(
                level(0, "bullet", "o"), level(1, "bullet", " "), level(2, "bullet", "Note:")
            ),
            "- a\n\nb\n\nNote: c\n",
        ),
        # Items in items, of several lists.
        (
            item("a") + item("x", 1, 9) + item("y", 1, 9) + item("b"),
            numbering(
                level(0, "decimal", "%1."),
                more='<w:abstractNum w:abstractNumId="8">'
                + level(1, "bullet", "\uf0b7")
                + '</w:abstractNum><w:num w:numId="9"><w:abstractNumId w:val="8"/></w:num>',
            ),
            "1. a\n   - x\n   - y\n2. b\n",
        ),
        # The first column of a table may hold nothing but numbers.
        (
            table(row("No.", "Name"), row(item(""), "Heron"), row(item(""), "Teal")),
            CONTRACT,
            "| No. | Name |\n| --- | --- |\n| 1. | Heron |\n| 2. | Teal |\n",
        ),
    ],
)
def test_lists_count_as_word_counts_them(body: str, lists: str, expected: str) -> None:
    assert shown(body, numbering=lists) == expected


def style(name: str, properties: str, more: str = "", kind: str = "paragraph") -> str:
    return (
        f'<w:style w:type="{kind}" w:styleId="{name}"><w:name w:val="{more or name}"/>'
        f"{properties}</w:style>"
    )


LINKED = numbering(
    level(0, "chineseCountingThousand", "第%1章", '<w:pStyle w:val="berschrift1"/>'),
    level(1, "decimal", "%1.%2", '<w:isLgl/><w:pStyle w:val="2"/>'),
)
STYLES = (
    style(
        "berschrift1",
        '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>',
        "heading 1",
    )
    + style(
        "2",
        '<w:basedOn w:val="berschrift1"/><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr>',
        "Heading 2",
    )
    + style(
        "Annex",
        '<w:basedOn w:val="berschrift1"/><w:pPr><w:outlineLvl w:val="2"/>'
        '<w:numPr><w:numId w:val="0"/></w:numPr></w:pPr>',
    )
    + style("Loop", '<w:basedOn w:val="Loop"/>')
    + style("Titel", "", "Title")
)


def test_headings_have_numbers_of_their_styles_in_any_language() -> None:
    body = (
        styled("Vertrag", "Titel")
        + styled("Allgemeines", "berschrift1")
        + styled("Zweck", "2")
        + styled("Invoices that are not paid in time bear interest.", "2")
        + styled("Zahlung", "berschrift1")
        + styled("Frist", "2")
        + styled("Anlage", "Annex")
        + styled("Text", "Loop")
        + paragraph("Level", '<w:outlineLvl w:val="3"/>')
        + paragraph("Text", '<w:pStyle w:val="Annex"/><w:outlineLvl w:val="9"/>')
    )
    assert shown(body, styles=STYLES, numbering=LINKED) == (
        "# Vertrag\n\n# 第一章 Allgemeines\n\n## 1.1 Zweck\n\n"
        "1.2 Invoices that are not paid in time bear interest.\n\n"  # a clause is no heading
        "# 第二章 Zahlung\n\n## 2.1 Frist\n\n### Anlage\n\nText\n\n#### Level\n\nText\n"
    )


def test_a_numbering_style_leads_to_the_list_that_has_levels() -> None:
    lists = (
        '<w:abstractNum w:abstractNumId="1"><w:numStyleLink w:val="Outline"/></w:abstractNum>'
        '<w:abstractNum w:abstractNumId="2"><w:styleLink w:val="Outline"/>'
        + level(0, "upperLetter", "%1)")
        + '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>'
        '<w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num>'
    )
    properties = '<w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr>'
    styles = style("Outline", properties, kind="numbering")
    assert shown(item("a") + item("b"), numbering=lists, styles=styles) == "A) a\n\nB) b\n"
