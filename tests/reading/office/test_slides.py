"""Presentations: slides in their order, what is missing, and footers that are shown once."""

from tests.reading.conftest import (
    pptx_parts,
    zipped,
)

from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.types import Extraction

LIMITS = Limits()
Files = dict[str, str | bytes]


def one(parts: Files, format_: str) -> Extraction:
    return read(zipped(parts, stored=("mimetype",)), f"a.{format_}", LIMITS)


def test_footers_of_slides_are_shown_on_the_first_slide_that_has_them() -> None:
    footer = (
        "<p:sp><p:nvSpPr><p:nvPr><p:ph type='ftr'/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r>"
        "<a:t>Harbour Board</a:t></a:r></a:p></p:txBody></p:sp></p:spTree>"
    )
    parts = {
        name: str(content).replace("</p:spTree>", footer) for name, content in pptx_parts().items()
    }
    first, second = one({**parts}, "pptx").pages
    assert first.text.endswith("\n\nFooter: Harbour Board\n")
    assert "Harbour" not in second.text


def test_a_slide_that_is_missing_is_told_and_the_others_keep_their_numbers() -> None:
    parts = pptx_parts()
    gone = parts.pop("ppt/slides/slide1.xml")
    assert gone
    extraction = one({**parts}, "pptx")
    assert [page.number for page in extraction.pages] == [1, 2]
    assert extraction.pages[0].text == ""
    assert extraction.pages[1].text
    (notice,) = [one for one in extraction.notices if one.code == "part-unreadable"]
    assert "ppt/slides/slide1.xml" in notice.sentence


def test_without_their_relations_slides_come_in_the_order_of_their_numbers() -> None:
    parts = {**pptx_parts()}
    slide = str(parts["ppt/slides/slide2.xml"])
    parts |= {f"ppt/slides/slide{n}.xml": slide.replace("Fleet", f"No. {n}") for n in (10, 9)}
    del parts["ppt/_rels/presentation.xml.rels"]
    extraction = one(parts, "pptx")
    assert [page.label for page in extraction.pages] == ["Timetable", "Fleet", "No. 9", "No. 10"]
