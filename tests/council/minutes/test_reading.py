"""What each member's documents say, for readers: a table, a list, words for how they compare."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.council.minutes.outline import minutes_html, minutes_markdown
from chapterhouse.council.minutes.reading import (
    aspect_title,
    position_line,
    position_word,
    reading_grid,
    reading_lines,
    relation_text,
)
from chapterhouse.council.minutes.wording import reader_of
from chapterhouse.presenting.blocks import Bullets, Cited, Grid, Line, Paragraph, Words
from chapterhouse.types import (
    Minutes,
    Position,
    PositionComparison,
    PositionKind,
    PositionRelation,
    PositionTable,
)

from .conftest import FEE_2021, FEE_2025, MINUTES, OUTDATED, QUAY

ALONE = replace(
    MINUTES,
    members=tuple(replace(one, model="") for one in MINUTES.members),
    turns=(),
    agreement=(),
    options=(),
    decided="",
    decision=(),
)
SILENT = PositionKind.SILENT


def words(line: Line) -> str:
    return "".join(one.text for one in line if isinstance(one, Words))


def cited(line: Line) -> list[Cited]:
    return [one for one in line if isinstance(one, Cited)]


# --- the table ------------------------------------------------------------------------------------


def test_it_has_a_row_for_each_aspect_and_a_column_for_each_member() -> None:
    (grid,) = reading_grid(reader_of(MINUTES))
    assert isinstance(grid, Grid)
    assert grid.columns == ("Asked", "Maria Lind", "Tom", "Finance", "Together")
    assert [len(row) for row in grid.rows] == [5, 5]
    first, second = grid.rows
    assert words(first[0].line) == "What does a guest berth cost?"
    assert [words(cell.line) for cell in first[1:4]] == ["80 euros", "60 euros", "silent"]
    assert [words(cell.line) for cell in second[1:4]] == ["no", "under a condition", ""]


def test_where_nothing_was_read_there_is_no_table(empty: Minutes) -> None:
    assert reading_grid(reader_of(empty)) == ()
    assert reading_lines(reader_of(empty)) == ()
    assert "documents say" not in minutes_markdown(empty)


@pytest.mark.parametrize("form", [minutes_markdown, minutes_html])
def test_every_sentence_and_how_they_compare_stand_in_every_form(
    form: object, minutes: Minutes
) -> None:
    assert callable(form)
    told = form(minutes)
    for text in (FEE_2025, FEE_2021, QUAY, "80 euros", "Before, 2021-01-15: 60 euros"):
        assert text in told
    assert "They seem to differ: 80 euros (Maria Lind); 60 euros (Tom)" in told
    assert "They say the same; all quote one document" in told


# --- the list -------------------------------------------------------------------------------------


def test_a_list_stands_below_each_aspect() -> None:
    blocks = reading_lines(reader_of(ALONE))
    assert [type(block) for block in blocks] == [Paragraph, Bullets, Paragraph, Bullets]
    head, bullets = blocks[0], blocks[1]
    assert isinstance(head, Paragraph)
    assert isinstance(bullets, Bullets)
    assert words(head.line).startswith("What does a guest berth cost? They seem to differ")
    assert [words(line).partition(":")[0] for line in bullets.lines] == [
        "Maria Lind",
        "Tom",
        "Finance",
    ]
    assert words(bullets.lines[2]) == "Finance: silent"


@given(st.text(min_size=1, max_size=400), st.integers(20, 200))
def test_a_sentence_is_cut_to_what_there_is_room_for(text: str, most: int) -> None:
    cell = Position("maria", "a1", PositionKind.STATED, text=text, citations=(2,))
    line = position_line(reader_of(ALONE), cell, most)
    assert len(words(line)) <= most + 2
    assert cited(line)
    assert "\n" not in words(line)


# --- one position ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "values", "word"),
    [
        (PositionKind.VALUE, ("60 euros",), "60 euros"),
        (PositionKind.VALUE, ("a", "b", "c", "d", "e", "f"), "a, b, c, d"),
        (PositionKind.YES, (), "yes"),
        (PositionKind.NO, (), "no"),
        (PositionKind.CONDITIONAL, (), "under a condition"),
        (PositionKind.STATED, (), ""),
        (SILENT, (), "silent"),
    ],
)
def test_a_position_in_a_word(kind: PositionKind, values: tuple[str, ...], word: str) -> None:
    assert position_word(Position("maria", "a1", kind, values)) == word


def test_a_line_holds_value_sentence_source_date_and_what_is_older() -> None:
    cell = MINUTES.reading.positions[0]
    line = position_line(reader_of(MINUTES), cell)
    assert words(line) == f"80 euros: {FEE_2025} (2025-03-01) Before, 2021-01-15: 60 euros"
    assert [one.names for one in cited(line)] == [("2",), ("1",)]


def test_what_is_older_and_has_no_value_is_told_by_its_sentence() -> None:
    older = replace(OUTDATED, kind=PositionKind.STATED, values=(), text="x" * 100)
    cell = replace(MINUTES.reading.positions[0], outdated=older)
    told = words(position_line(reader_of(MINUTES), cell))
    before = told.partition("Before, 2021-01-15: ")[2]
    assert 0 < len(before) < 70


def test_who_is_silent_has_a_word_and_no_source() -> None:
    line = position_line(reader_of(MINUTES), Position("finance", "a1", SILENT))
    assert (words(line), cited(line)) == ("silent", [])


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ("who owns it", "Who owns it?"),
        ("Harbour fees", "Harbour fees?"),
        ("où est le siège", "Où est le siège?"),
        ("what\nthen", "What then?"),
    ],
)
def test_an_aspect_is_a_title(asked: str, title: str) -> None:
    assert aspect_title(asked) == title


# --- how they stand to each other -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("relation", "groups", "told"),
    [
        (PositionRelation.AGREE, (("maria", "tom"),), "They say the same"),
        (
            PositionRelation.DIFFER,
            (("maria",), ("tom",)),
            "They seem to differ: 80 euros (Maria Lind); 60 euros (Tom)",
        ),
        (
            PositionRelation.CONDITIONAL,
            (("maria",), ("tom",)),
            "They differ in a condition: 80 euros (Maria Lind); 60 euros (Tom)",
        ),
        (PositionRelation.ONE_ONLY, (("tom",),), "Only the documents of Tom speak of it"),
        (
            PositionRelation.NOT_COMPARABLE,
            (("maria",), ("tom",)),
            "Not compared: each says something different",
        ),
        (PositionRelation.SILENT, (), "Nobody's documents speak of it"),
    ],
)
def test_how_they_stand_in_words(
    relation: PositionRelation, groups: tuple[tuple[str, ...], ...], told: str
) -> None:
    cells = MINUTES.reading.positions[:3]
    comparison = PositionComparison("a1", relation, groups)
    assert relation_text(reader_of(MINUTES), comparison, cells) == told
    assert not {"contradict", "dispute"} & set(told.split())


@pytest.mark.parametrize("relation", list(PositionRelation))
def test_every_relation_has_words(relation: PositionRelation) -> None:
    groups = () if relation is PositionRelation.SILENT else (("maria",),)
    comparison = PositionComparison("a1", relation, groups)
    assert relation_text(reader_of(MINUTES), comparison, MINUTES.reading.positions[:3])


# --- minutes of documents that were only read -----------------------------------------------------


def test_minutes_without_a_model_name_no_decision_and_no_dispute() -> None:
    held = replace(ALONE, grounds=(), dissent=(), open_questions=())
    assert not held.debated
    for told in (minutes_markdown(held), minutes_html(held)):
        for title in ("Decision", "Decided", "Disputes", "Dissent", "Grounds"):
            assert title not in told
        assert "What each member" in told


def test_a_table_without_a_cell_for_an_aspect_of_a_comparison_is_refused() -> None:
    torn = PositionTable(MINUTES.reading.aspects, MINUTES.reading.positions, ())
    with pytest.raises(ValueError, match="argument"):
        reading_grid(reader_of(replace(MINUTES, reading=torn)))


def test_a_sentence_that_is_cut_shows_its_value() -> None:
    text = f"{'The agreement goes on. ' * 20}It ends after five years, whatever happens."
    cell = Position("maria", "a1", PositionKind.VALUE, ("five years",), text=text)

    shown = words(position_line(reader_of(MINUTES), cell, 80))

    assert "after five years" in shown
    assert len(shown) < 120
