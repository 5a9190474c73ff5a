import io
import unicodedata
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from chapterhouse.presenting.blocks import Columns, Style, verbatim
from chapterhouse.presenting.styled import columns, indented, shortened, shown
from chapterhouse.presenting.terminal import draw


def test_a_line_of_ours_stays_as_it_is() -> None:
    target = Console(file=io.StringIO(), soft_wrap=True, color_system=None)
    draw(target, [verbatim(("ok      ", Style.GOOD), "[draft].txt"), verbatim("below", indent=4)])
    assert target.file.getvalue() == "ok      [draft].txt\n    below\n"  # type: ignore[attr-defined]


def test_off_a_terminal_lines_are_never_broken() -> None:
    target = Console(file=io.StringIO(), width=20, soft_wrap=True)
    indented(target, "one " * 30 + "\ntwo")
    columns(target, Columns([("name", "价"), ("x" * 40, "九")]))
    lines = target.file.getvalue().splitlines()  # type: ignore[attr-defined]  # a StringIO
    assert len(lines) == 4
    assert lines[1] == "    two"
    assert lines[3] == "x" * 40 + "  九"


def test_wide_characters_count_twice_and_values_are_wrapped() -> None:
    wide = printed(None, [("票价", "a"), ("x", "b")], header=False)
    assert wide == ["票价  a", "x     b"]
    wrapped = printed(20, [("name", "one two three four")], header=False)
    assert wrapped == ["name  one two three", "      four"]


@given(
    st.lists(
        st.lists(st.text("ab漢 ", max_size=60), min_size=3, max_size=3), min_size=1, max_size=4
    ),
    st.integers(30, 120),
)
def test_on_a_terminal_tables_fit_its_width(rows: list[tuple[str, ...]], width: int) -> None:
    lines = printed(width, rows)
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


@given(st.text("ab漢字 ", max_size=40), st.integers(1, 30))
def test_what_is_shortened_fits(text: str, width: int) -> None:
    assert cell_len(shortened(text, width)) <= width


@given(st.text())
def test_nothing_shown_steers_a_terminal(text: str) -> None:
    kept = shown(text).replace("\n", "").replace("\t", "")
    assert not [c for c in kept if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"], codec="utf-8")))
def test_visible_text_is_left_alone_or_spelt_out(text: str) -> None:
    # A few letters and marks are invisible by property; everything else must stay.
    assert shown(text) == text or "\\u" in shown(text) or "\\x" in shown(text)
