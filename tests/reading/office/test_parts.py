"""A package with one damaged part: the rest is read, and the part is named."""

import re
from collections.abc import Callable
from xml.etree.ElementTree import Element, fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading.conftest import (
    ODP_BODY,
    ODT_BODY,
    WORD,
    docx_parts,
    odf_parts,
    packaged,
    pptx_parts,
    relations,
    xlsx_parts,
    zipped,
)

from chapterhouse.errors import RejectedError
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.office.parts import Parts, is_shallow
from chapterhouse.types import Extraction

LIMITS = Limits()
PARTS: dict[str, Callable[[], dict[str, str | bytes]]] = {
    "docx": docx_parts,
    "xlsx": xlsx_parts,
    "pptx": pptx_parts,
    "odt": lambda: odf_parts("text", ODT_BODY) | {"styles.xml": "<styles/>"},
    "odp": lambda: odf_parts("presentation", ODP_BODY) | {"meta.xml": "<meta/>"},
}
DAMAGE: dict[str, tuple[str, str]] = {
    "cut off": ("<a><b", "unclosed token"),
    "nothing": ("a", "syntax error"),
    "nested": ("<a>" * 300 + "</a>" * 300, "it is nested too deeply"),
    "with entities": ('<!DOCTYPE a [<!ENTITY b "c">]><a/>', "it declares a document type"),
}


def text(extraction: Extraction) -> str:
    return "\n".join(page.text for page in extraction.pages)


@pytest.mark.parametrize("damage", sorted(DAMAGE))
@pytest.mark.parametrize(
    ("format_", "part", "left"),
    [
        ("docx", "word/footnotes.xml", "The ferry leaves at nine."),
        ("docx", "word/styles.xml", "The ferry leaves at nine."),
        ("docx", "_rels/.rels", "The ferry leaves at nine."),
        ("xlsx", "xl/worksheets/_rels/sheet1.xml.rels", "Heron"),
        ("pptx", "ppt/slides/slide2.xml", "The ferry leaves at nine."),
        ("pptx", "ppt/presentation.xml", "Heron has 180 seats."),
        ("pptx", "ppt/_rels/presentation.xml.rels", "Heron has 180 seats."),
        ("odt", "styles.xml", "The ferry leaves at nine."),
        ("odp", "meta.xml", "The ferry leaves at nine."),
    ],
)
def test_a_damaged_part_is_named_and_the_rest_is_read(
    format_: str, part: str, left: str, damage: str
) -> None:
    content, reason = DAMAGE[damage]
    extraction = packaged(PARTS[format_]() | {part: content}, format_)
    assert left in text(extraction)
    first = extraction.notices[0]
    assert first.code == "part-unreadable"
    assert f"{part!r} in the container " in first.sentence
    assert f"({reason}" in first.sentence


def test_damage_where_no_text_is_says_nothing() -> None:
    for content, _ in DAMAGE.values():
        assert packaged(docx_parts() | {"word/theme/theme1.xml": content}, "docx").notices == ()


@pytest.mark.parametrize(
    ("format_", "part", "here", "left", "lost"),
    [
        ("docx", "word/document.xml", "<w:tbl>", "The ferry leaves at nine.", "Heron"),
        ("docx", "word/document.xml", "180", "Vessel", "180"),
        ("xlsx", "xl/worksheets/sheet1.xml", "180", "| Heron |", "180"),
        ("pptx", "ppt/slides/slide1.xml", "The ferry", "Timetable", "nine"),
        ("odt", "content.xml", "rope", "The ferry leaves at nine", "rope"),
    ],
)
def test_a_part_that_breaks_off_is_read_as_far_as_it_goes(
    format_: str, part: str, here: str, left: str, lost: str
) -> None:
    parts = PARTS[format_]()
    content = str(parts[part])
    for end in range(content.index(here) - 3, content.index(here) + 3):
        extraction = packaged(parts | {part: content[:end]}, format_)
        assert left in text(extraction)
        assert lost not in text(extraction)
        (notice,) = extraction.notices
        assert f"{part!r} in the container is damaged and may lack text" in notice.sentence


@pytest.mark.parametrize(
    ("format_", "part"),
    [
        ("docx", "word/document.xml"),
        ("xlsx", "xl/workbook.xml"),
        ("pptx", "ppt/presentation.xml"),
        ("odt", "content.xml"),
    ],
)
def test_without_its_main_part_there_is_no_document(format_: str, part: str) -> None:
    parts = PARTS[format_]()
    del parts[part]
    with pytest.raises(RejectedError) as caught:
        packaged(parts, format_)
    assert caught.value.code == "unreadable"
    assert part in str(caught.value)


def test_a_copy_of_a_package_has_its_xml_parts_and_what_replaced_them() -> None:
    data = zipped({"a.xml": "<a/>", "b.xml": "<b/>", "c.png": b"png", "d.xml": "<d"})
    parts = Parts(data, LIMITS)
    assert parts.packed() is data
    notices = parts.repair(re.compile(".*"), "b.xml")
    assert [notice.code for notice in notices] == ["part-unreadable"]
    parts.replace("a.xml", b"<other/>")
    copy = Parts(parts.packed(), LIMITS)
    assert copy.names() == ("a.xml", "b.xml")
    assert copy.content("a.xml") == b"<other/>"


def test_a_header_that_cannot_be_read_leaves_the_others() -> None:
    parts = docx_parts() | {
        "word/_rels/document.xml.rels": relations(
            ("h1", "header", "header1.xml"), ("h2", "header", "header2.xml")
        ),
        "word/header1.xml": f"<w:hdr {WORD}><w:p>",
        "word/header2.xml": f"<w:hdr {WORD}><w:p><w:r><w:t>Harbour</w:t></w:r></w:p></w:hdr>",
    }
    extraction = packaged(parts, "docx")
    assert text(extraction).endswith("Header: Harbour\n")
    assert "'word/header1.xml'" in extraction.notices[0].sentence


def test_a_part_whose_checksum_differs_is_named() -> None:
    data = zipped(docx_parts(), stored=("word/document.xml",))
    extraction = read(data.replace(b"leaves at nine", b"leaves at five"), "a.docx", LIMITS)
    (notice,) = extraction.notices
    assert "'word/document.xml'" in notice.sentence
    assert "checksum" in notice.sentence


@given(st.integers(min_value=1), st.sampled_from([b"", b"<", b"&", b"\xff", b"</x>", b"<q:r>"]))
def test_what_is_left_of_damaged_xml_is_well_formed(place: int, wrong: bytes) -> None:
    whole = (
        b'<?xml version="1.0"?><a xmlns="one" xmlns:b="two"><!-- > --><b:c d=">"/>text<e>'
        b"<b:f>more</b:f></e><![CDATA[<x>]]><g/></a>"
    )
    cut = whole[: place % len(whole)] + wrong
    parts = Parts(zipped({"a.xml": cut}), LIMITS)
    damage = parts.damage("a.xml")
    assert damage is not None
    assert damage.code == "unreadable"
    if damage.left:
        assert fromstring(damage.left).tag == "{one}a"


XML = st.recursive(
    st.sampled_from(["", "text", "a/>b", "<e/>", "<!-- <a> -->", "<![CDATA[/>]]>", "<?p <a> ?>"]),
    lambda inner: st.builds(
        "<a{}>{}</a >".format,
        st.sampled_from(["", " b='c'", " b='/>'", ' b="</"'.replace("<", "&lt;")]),
        st.lists(inner, max_size=4).map("".join),
    ),
    max_leaves=40,
)


def _depth(element: Element) -> int:
    return 1 + max(map(_depth, element), default=0)


@given(XML, st.integers(1, 8), st.sampled_from(["", '<?xml version="1.0"?>']))
def test_xml_that_is_called_shallow_is(inside: str, limit: int, head: str) -> None:
    content = f"{head}<a>{inside}</a>".encode()
    if is_shallow(content, limit):
        assert _depth(fromstring(content)) <= limit
