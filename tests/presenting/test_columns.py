import io
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from chapterhouse.presenting.blocks import Columns
from chapterhouse.presenting.columns import columns, shortened
from chapterhouse.presenting.markdown import block_text
from chapterhouse.presenting.styled import indented


def test_off_a_terminal_lines_are_never_broken() -> None:
    target = Console(file=io.StringIO(), width=20, soft_wrap=True)
    indented(target, "one " * 30 + "\ntwo")
    columns(target, Columns([("name", "价"), ("x" * 40, "九")]))
    lines = target.file.getvalue().splitlines()  # type: ignore[attr-defined]  # a StringIO
    assert len(lines) == 4
    assert lines[1] == "    two"
    assert lines[3] == "x" * 40 + "  九"


def test_wide_characters_count_twice() -> None:
    target = Console(file=io.StringIO(), soft_wrap=True)
    columns(target, Columns([("票价", "a"), ("x", "b")], header=False))
    assert target.file.getvalue() == "票价  a\nx     b\n"  # type: ignore[attr-defined]  # a StringIO


@given(
    st.lists(
        st.lists(st.text("ab漢 ", max_size=60), min_size=3, max_size=3), min_size=1, max_size=4
    ),
    st.integers(30, 120),
)
def test_on_a_terminal_tables_fit_its_width(rows: list[tuple[str, ...]], width: int) -> None:
    target = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    columns(target, Columns(rows))
    lines = target.file.getvalue().splitlines()  # type: ignore[attr-defined]  # a StringIO
    assert len(lines) == len(rows)
    assert all(cell_len(line) <= width for line in lines)


def printed(width: int | None, rows: Sequence[tuple[str, ...]], **options: Any) -> list[str]:
    """Return the lines of a table: of a terminal so wide, or off a terminal."""
    if width is None:
        target = Console(file=io.StringIO(), soft_wrap=True)
    else:
        target = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    columns(target, Columns(rows, **options))
    return target.file.getvalue().splitlines()  # type: ignore[attr-defined,no-any-return]


def test_only_the_widest_column_of_a_table_is_shortened_in_its_middle() -> None:
    short, long = printed(30, [("id", "source"), ("short-1", "folder/" + "x" * 40 + ".pdf")])
    assert short == "id       source"
    assert long == "short-1  folder/xxx…xxxxxx.pdf"


def test_names_to_be_copied_stay_whole_where_there_is_room() -> None:
    rows = [("id", "source"), ("i" * 30, "s" * 40)]
    assert printed(50, rows, whole={0})[1] == f"{'i' * 30}  {'s' * 9}…{'s' * 8}"
    assert all(len(line) <= 30 for line in printed(30, rows, whole={0}))


def test_off_a_terminal_a_table_has_120_columns() -> None:
    lines = printed(None, [("a", "b"), ("x" * 200, "y" * 200)])
    assert [len(line) for line in lines] == [62, 120]


def test_values_are_wrapped_not_shortened() -> None:
    assert printed(20, [("name", "one two three four")], header=False) == [
        "name  one two three",
        "      four",
    ]


def test_reasons_stand_below_their_rows() -> None:
    lines = printed(None, [("file",), ("a",), ("b",)], below=["", "It is\nempty.", ""])
    assert lines == ["file", "a", "    It is empty.", "b"]


@given(st.text("ab漢字 ", max_size=40), st.integers(1, 30))
def test_what_is_shortened_fits(text: str, width: int) -> None:
    assert cell_len(shortened(text, width)) <= width


def test_a_renderer_of_documents_shows_columns_as_a_table() -> None:
    block = Columns([("id", "source"), ("a", "b.md")])
    assert block_text(block) == block_text(block.grid())
    assert "| id | source |" in block_text(block)
    bare = Columns([("name", "tide")], header=False).grid()
    assert (bare.columns, len(bare.rows)) == (("", ""), 1)
