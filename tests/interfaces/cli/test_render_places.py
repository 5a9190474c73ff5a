"""A place in a document: its section and page, and what stands around it."""

from dataclasses import replace

import pytest

from chapterhouse.interfaces.cli.render_places import place, place_of
from chapterhouse.presenting.blocks import Style, Verbatim, Words
from chapterhouse.types import Body, Document, Page, Section

DOCUMENT = Document(
    id="tariffs-1",
    source="papers/tariffs.pdf",
    location="/papers/tariffs.pdf",
    title="Tariffs",
    format="pdf",
    method="test",
    sha256="",
    text_sha256="0123456789abcdef",
    size=1,
    modified=0,
    page_kind="page",
)
BODY = Body(
    "a" * 300 + "b" * 300,
    (Section(0, 1, ("Tariffs",), 0, 300), Section(1, 2, ("Tariffs", "Guests"), 300, 600)),
    (Page(1, "", 0, 300), Page(2, "ii", 300, 600)),
)


@pytest.mark.parametrize(
    ("start", "section", "page"),
    [(0, ("Tariffs",), 1), (299, ("Tariffs",), 1), (300, ("Tariffs", "Guests"), 2)],
)
def test_a_place_is_where_its_first_character_stands(
    start: int, section: tuple[str, ...], page: int
) -> None:
    found = place_of(DOCUMENT, BODY, start, start + 10)
    assert (found.section_path, found.page) == (section, page)
    assert found.text == BODY.text[start : start + 10]


def test_what_surrounds_it_ends_with_the_text() -> None:
    found = place_of(DOCUMENT, BODY, 5, 590)
    assert (found.before, found.after) == ("a" * 5, "b" * 10)
    middle = place_of(DOCUMENT, BODY, 300, 301)
    assert (len(middle.before), len(middle.after)) == (200, 200)


def test_a_text_without_sections_and_pages_has_a_place_too() -> None:
    found = place_of(replace(DOCUMENT, page_kind=""), Body("abc"), 1, 2)
    assert (found.section_path, found.page, found.page_label) == ((), None, "")
    path, facts, *_ = place(found)
    assert isinstance(path, Verbatim)
    assert isinstance(facts, Verbatim)
    assert path.line == (Words("Tariffs", Style.TITLE),)
    assert facts.line[0].text == "papers/tariffs.pdf · characters 1–2 · sha256 0123456789ab"


def test_the_title_is_said_once_and_the_place_itself_stands_out() -> None:
    path, _, _, text = place(place_of(DOCUMENT, BODY, 300, 302))
    assert isinstance(path, Verbatim)
    assert isinstance(text, Verbatim)
    assert path.line[0].text == "Tariffs › Guests"
    assert [words.style for words in text.line] == [Style.QUIET, Style.KEY, Style.QUIET]
