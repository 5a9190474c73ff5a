"""Visio drawings: page names, and the texts of shapes as a person reads them."""

import pytest
from tests.reading.conftest import VISIO, vsdx_parts, zipped

from chapterhouse.errors import RejectedError
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.types import Extraction


def shape(text: str, x: float, y: float, inside: str = "", more: str = "") -> str:
    said = f"<Text><cp IX='0'/>{text}\n</Text>" if text else ""
    group = f"<Shapes>{inside}</Shapes>" if inside else ""
    cells = f"<Cell N='PinX' V='{x}'/><Cell N='PinY' V='{y}'/>"
    return f"<Shape {more}>{cells}{said}{group}</Shape>"


def one(*shapes: str, **parts: str) -> Extraction:
    return read(zipped(vsdx_parts(*shapes) | parts), "a.vsdx", Limits())


def texts(extraction: Extraction) -> list[str]:
    return extraction.pages[0].text.strip().split("\n\n")


def test_shapes_are_read_row_by_row_from_the_top() -> None:
    found = one(
        shape("below", 1, 2), shape("right", 5, 8.1), shape("left", 1, 8), shape("top", 3, 10)
    )
    assert texts(found) == ["## Plan", "top", "left", "right", "below"]
    assert (found.pages[0].number, found.pages[0].label) == (1, "Plan")
    assert not found.notices


def test_what_is_in_a_group_stays_together() -> None:
    group = shape("Quay", 1, 9, shape("lower", 0, 0) + shape("upper", 0, 1))
    assert texts(one(shape("Ferry", 5, 9), group))[1:] == ["Quay", "upper", "lower", "Ferry"]


def test_lines_and_fields_keep_their_words() -> None:
    found = one(shape("At <fld IX='0'>nine</fld>,\u2028from  the\nquay", 1, 1))
    assert texts(found)[1] == "At nine,  \nfrom the  \nquay"


def test_a_shape_without_text_shows_that_of_its_master() -> None:
    master = shape("Start", 0, 0, "<Shape ID='6'><Text>inner</Text></Shape>")
    parts = {
        "visio/masters/master1.xml": f"<MasterContents {VISIO}><Shapes>{master}</Shapes>"
        "</MasterContents>",
        "visio/masters/masters.xml": f"<Masters {VISIO}><Master ID='2'><Rel r:id='r1'/></Master>"
        "<Master ID='3'><Rel r:id='r9'/></Master></Masters>",
    }
    copy = shape("", 1, 9, "<Shape ID='8' MasterShape='6'/>", "Master='2'")
    named = shape("Stop", 1, 8, "<Shape ID='9' MasterShape='6' Del='1'/>", "Master='2'")
    lost = shape("", 1, 7, more="Master='3'") + shape("", 1, 6, more="Master='4'")
    empty = "<Shape ID='1' Master='2'><Text/></Shape>"
    assert texts(one(copy, named, lost, empty, **parts))[1:] == ["Start", "inner", "Stop"]


def test_hidden_texts_are_left_out_and_odd_numbers_survived() -> None:
    hidden = "<Shape ID='1'><Cell N='HideText' V='1'/><Text>unseen</Text></Shape>"
    odd = "<Shape ID='2'><Cell N='PinX' V='wide'/><Text>seen</Text></Shape>"
    assert texts(one(hidden, odd))[1:] == ["seen"]


def test_comments_stand_on_their_page() -> None:
    comments = (
        f"<Comments {VISIO}><CommentList><CommentEntry PageID='0' AuthorID='1'>Is it  so?"
        "</CommentEntry><CommentEntry PageID='0'/></CommentList></Comments>"
    )
    found = one(shape("Quay", 1, 1), **{"visio/comments.xml": comments})
    assert texts(found)[1:] == ["Quay", "Comment: Is it so?"]


def test_damage_is_told() -> None:
    found = one("<Shape ID='1'><Text>whole</Text></Shape><Shape><Text>cut")
    assert "whole" in found.pages[0].text
    assert [notice.code for notice in found.notices] == ["part-unreadable"]
    with pytest.raises(RejectedError, match="list of pages"):
        one(**{"visio/pages/pages.xml": ""})


def test_macro_and_template_files_are_drawings() -> None:
    parts = vsdx_parts(shape("Quay", 1, 1))
    types = str(parts["[Content_Types].xml"])
    for kind in ("drawing.macroEnabled", "template", "template.macroEnabled"):
        parts["[Content_Types].xml"] = types.replace("visio.drawing", f"visio.{kind}")
        assert read(zipped(parts), "a.vsdm", Limits()).format == "vsdx"
