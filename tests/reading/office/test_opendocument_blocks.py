"""Numbers of headings and lists that stand nowhere in an OpenDocument file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading.conftest import ODF_NAMESPACES, odf_parts, zipped

from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.office.opendocument_blocks import write

OUTLINE = (
    '<text:outline-style><text:outline-level-style text:level="1" style:num-format="I"/>'
    '<text:outline-level-style text:level="2" style:num-format="1" style:num-suffix=")" '
    'text:display-levels="2"/><text:outline-level-style text:level="3" style:num-format=""/>'
    "</text:outline-style>"
)


def text_of(body: str, styles: str) -> str:
    parts = odf_parts("text", f"<office:text>{body}</office:text>")
    parts["styles.xml"] = (
        f"<office:document-styles {ODF_NAMESPACES}>{styles}</office:document-styles>"
    )
    return read(zipped(parts, stored=("mimetype",)), "a.odt", Limits()).pages[0].text


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
        "# I Fares",
        "## I.1) Adults",
        "## I.2) Children",
        "### Babies",
        "# Preface",
        "# II Berths",
        "## II.1) Guests",
        "## II.7) Crews\n",
    ]


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


@pytest.mark.parametrize(
    ("number", "form", "written"),
    [(4, "1", "4"), (27, "a", "aa"), (52, "A", "AZ"), (1994, "i", "mcmxciv"), (9, "I", "IX")],
)
def test_numbers_are_written_in_the_form_of_their_level(
    number: int, form: str, written: str
) -> None:
    assert write(number, form) == written


@given(st.integers(1, 3_999), st.sampled_from("aAiI1"))
def test_each_number_is_written_in_its_own_way(number: int, form: str) -> None:
    assert write(number, form) != write(number + 1, form)
