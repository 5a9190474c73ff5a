"""What stands on one page: its lines and tables in reading order, and its notes below."""

from hypothesis import given
from hypothesis import strategies as st
from tests.reading.pdf_writer import HEIGHT, WIDTH, Page, opened

from chapterhouse.reading.pdf.fields import PageMarks
from chapterhouse.reading.pdf.page import Line, PageLayout, page_layout
from chapterhouse.reading.pdf.tables import Drawn
from chapterhouse.reading.pdf.text import Box

NO_MARKS = PageMarks((), ())


def layout(page: Page, most: int = 9_000, marks: PageMarks = NO_MARKS) -> PageLayout:
    with opened(page) as (loaded, textpage):
        return page_layout(loaded, textpage, (WIDTH, HEIGHT), most, marks)


def test_parts_of_one_line_are_joined_and_known() -> None:
    line, below = layout(
        Page()
        .text(72, 100, "Quay three")
        .text(200, 100, "page 7")
        .text(72, 130, "Below", bold=True)
    ).lines
    assert (line.text, line.parts) == ("Quay three page 7", ("Quay three", "page 7"))
    assert not line.bold
    assert (below.text, below.bold, below.size) == ("Below", True, 11)
    assert line.box.bottom < below.box.top


def test_a_table_stands_where_its_first_word_does_and_its_words_nowhere_else() -> None:
    page = Page().text(72, 100, "Above").grid([72, 200, 300], [150, 170, 190])
    for row, (name, seats) in enumerate((("Heron", "180"), ("Teal", "90"))):
        page.text(76, 164 + 20 * row, name).text(204, 164 + 20 * row, seats)
    found = layout(page.text(72, 250, "Below")).lines
    assert [line.table for line in found] == [False, True, False]
    assert [line.text for line in found if not line.table] == ["Above", "Below"]
    assert found[1].text == "| Heron | 180 |\n| --- | --- |\n| Teal | 90 |"


def test_a_crowded_page_keeps_its_text_as_drawn_with_its_notes() -> None:
    page = Page().lines(72, 100, ["one line", "another"])
    crowded = layout(page, 10, PageMarks((), ("A note.",)))
    assert (crowded.lines, crowded.plain) == ((), "one line\nanother\nA note.")
    assert crowded.characters == layout(page).characters == 17
    assert layout(page).plain == ""


def test_notes_are_paragraphs_below_all_others_in_the_size_of_the_text() -> None:
    found = layout(Page().text(72, 700, "Text", 9), marks=PageMarks((), ("One.", "Two."))).lines
    assert [(line.text, line.size) for line in found] == [("Text", 9), ("One.", 9), ("Two.", 9)]
    assert found[0].box.bottom < found[1].box.top < found[1].box.bottom < found[2].box.top


@given(st.lists(st.tuples(st.text("ab", min_size=1), st.text("\x01\ue000\ufffd", max_size=3))))
def test_the_share_of_nameless_characters_is_that_of_all_but_spaces(
    pieces: list[tuple[str, str]],
) -> None:
    lines = tuple(Line(f"{known} {nameless} ", Box(0, 0, 9, 9)) for known, nameless in pieces)
    share = PageLayout(lines, 9, Drawn((), (), 0, complete=True)).unmapped_share
    nameless = sum(len(nameless) for _, nameless in pieces)
    assert share == nameless / max(1, nameless + sum(len(known) for known, _ in pieces))
