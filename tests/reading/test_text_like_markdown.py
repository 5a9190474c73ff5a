"""Text that looks like Markdown is text in every format."""

from collections.abc import Callable

import pytest

from chapterhouse.answering.parts import render_part
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.text.markdown import BlockKind, blocks
from chapterhouse.types import Extraction

from .conftest import docx_parts, odf_parts, packaged, pptx_parts, xlsx_parts

TEXTS = ("# of units sold", "###### six", "```", "~~~ x", "> 7 days", "| a | b", "## two")


def of_odt(texts: tuple[str, ...]) -> Extraction:
    body = "".join(f"<text:p>{text}</text:p>" for text in texts)
    return packaged(odf_parts("text", f"<office:text>{body}</office:text>"), "odt")


def of_docx(texts: tuple[str, ...]) -> Extraction:
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in texts)
    return packaged(docx_parts(body), "docx")


def of_pptx(texts: tuple[str, ...]) -> Extraction:
    runs = "".join(
        f"<a:p><a:pPr><a:buNone/></a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>" for text in texts
    )
    parts = pptx_parts()
    part = "ppt/slides/slide1.xml"
    frame = f"<p:sp><p:txBody>{runs}</p:txBody></p:sp></p:spTree>"
    return packaged(parts | {part: str(parts[part]).replace("</p:spTree>", frame)}, "pptx")


def of_xlsx(texts: tuple[str, ...]) -> Extraction:
    return packaged(xlsx_parts(tuple((text,) for text in texts)), "xlsx")


def of_rtf(texts: tuple[str, ...]) -> Extraction:
    body = "".join(f"{text}\\par\n" for text in texts).replace("&gt;", ">")
    return read(b"{\\rtf1\\ansi\n%s}" % body.encode(), "a.rtf", Limits())


@pytest.mark.parametrize("written", [of_odt, of_docx, of_pptx, of_xlsx, of_rtf])
def test_a_paragraph_that_looks_like_markdown_is_text(
    written: Callable[[tuple[str, ...]], Extraction],
) -> None:
    extraction = written(tuple(text.replace(">", "&gt;") for text in TEXTS))
    text = extraction.pages[0].text
    own = text[text.index("of units sold") - 3 :]
    found = [block for block in blocks(own) if own[block.start] in "\\#`~>|"]
    assert {block.kind for block in found} == {BlockKind.PARAGRAPH}
    shown = [render_part(own[block.start : block.end], extraction.format) for block in found]
    assert [one.replace(" ", "") for one in shown] == [one.replace(" ", "") for one in TEXTS]
    assert not any(name in extraction.title for name in ("units", "six", "two"))


def test_plain_text_of_a_message_has_no_headings_and_its_code_stays() -> None:
    body = "Hi,\n\n# Load the data\n> quoted\n\n```\n# in code\n```\n\n"
    body += "```\n\n## No end\n\nBest\n-- \n# A\n"
    text = (
        read(f"Subject: Script\nFrom: a@x.org\n\n{body}".encode(), "a.eml", Limits()).pages[0].text
    )
    assert text.partition("Hi,\n\n")[2] == (
        "\\# Load the data\n> quoted\n\n```\n# in code\n```\n\n\\```\n\n\\## No end\n\n"
        "Best\n\n-- \n\\# A\n"
    )
    assert [one.title for one in blocks(text) if one.kind is BlockKind.HEADING] == ["Script"]


def test_what_a_cell_or_a_title_says_is_not_escaped() -> None:
    table = "<table:table><table:table-row>{}</table:table-row></table:table>"
    cells = "".join(
        f"<table:table-cell><text:p>{one}</text:p></table:table-cell>"
        for one in ("# of units", "x")
    )
    body = f"<office:text>{table.format(cells)}</office:text>"
    assert "| # of units | x |" in packaged(odf_parts("text", body), "odt").pages[0].text
