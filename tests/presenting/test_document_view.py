"""A document as it is shown: every character in its place, exactly the passage marked."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.steps import assert_in_proportion

from chapterhouse.presenting.document_view import (
    LONGEST,
    DocumentView,
    Runs,
    ViewBlock,
    ViewKind,
    quotation_view,
    view_document,
)
from chapterhouse.text.markdown import blocks, plain_text, sections
from chapterhouse.types import Body, Page

PIECES = st.sampled_from(
    ["# x\n", "## x #\n", "x\n===\n", "x y. x\n", "\n", "| x | x\\|x |\n", "|---|:-:|\n", "| x |\n",
     "```py\n", "~~~\n", "x\n", "-----\n", "- x\n", "  2) x\n", "> x\n", "    x = x\n", " x\\# ",
     "```\n", "\\", "|", "\\|x", "# ", "####### x", "\t- x\n   x\n"]
)  # fmt: skip
FIRST = 0x4E00  # letters that each come once, so that each tells its place


def body_of(text: str, pages: tuple[Page, ...] = ()) -> Body:
    return Body(text, sections(text, blocks(text)), pages)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Markdown in which each ``x`` is another letter."""
    text = "".join(draw(st.lists(PIECES, max_size=25))).strip("\n")
    letters = iter(range(FIRST, FIRST + len(text)))
    return re.sub("x", lambda _: chr(next(letters)), text)


def runs_of(found: Sequence[ViewBlock]) -> Iterator[Runs]:
    for block in found:
        yield from (block.marker, block.runs, *block.header)
        yield from (cell for row in block.rows for cell in row)


def shown(view: DocumentView, *, marked: bool | None = None) -> str:
    runs = (run for cell in runs_of(view.blocks) for run in cell)
    return "".join(run.text for run in runs if marked in {None, run.is_marked})


def kinds(text: str, format_: str = "md") -> list[str]:
    return [str(block.kind) for block in view_document(body_of(text), format_).blocks]


@given(documents(), st.integers(0, 80), st.integers(0, 80), st.sampled_from(["md", "txt", "eml"]))
def test_exactly_the_characters_of_the_passage_are_marked(
    text: str, start: int, length: int, format_: str
) -> None:
    start = min(start, len(text))
    view = view_document(body_of(text), format_, (start, start + length))
    letters = [one for one in text if ord(one) >= FIRST]
    assert [one for one in shown(view) if ord(one) >= FIRST] == letters
    inside = text[start : start + length]
    marked = shown(view, marked=True)
    assert [one for one in marked if ord(one) >= FIRST] == [o for o in inside if ord(o) >= FIRST]
    characters = iter(inside)
    assert all(one in characters for one in marked)  # in their order, none twice
    for runs in runs_of(view.blocks):
        assert all(run.text for run in runs)
        assert all(replace(one, text=two.text) != two for one, two in pairwise(runs))
    if format_ == "txt":  # only white space between blocks is left out
        assert re.sub(r"\s", "", shown(view)) == re.sub(r"\s", "", text)
        assert re.sub(r"\s", "", marked) == re.sub(r"\s", "", inside)


@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_what_is_left_out_makes_blocks(text: str, start: int, end: int) -> None:
    view = view_document(body_of(text), "md", (start, end))
    signs = re.compile(r"[\s|#=:\\>*_-]")
    fenced = re.search(r"```|~~~", text)
    if not fenced:
        assert signs.sub("", shown(view)) == signs.sub("", text)
        assert signs.sub("", shown(view, marked=True)) == signs.sub("", text[start:end])


@pytest.mark.parametrize(
    ("text", "format_", "wanted"),
    [
        ("# A\ntext\n- b\n1. c", "md", ["heading", "paragraph", "item", "item"]),
        ("A\n===\n\none\ntwo\n\nthree", "md", ["heading", "paragraph", "paragraph"]),
        ("| a |\n|---|\n| b |", "xlsx", ["table"]),
        ("```\na\n\n# b\n```\nc", "md", ["code", "paragraph"]),
        ("See:\n\n    x = 1\n\n    y = 2\n", "md", ["paragraph", "code", "code"]),
        ("# A\n\n```\n| b |\n|---|\n", "txt", ["paragraph", "paragraph"]),
        ("a\n> b\n> > c\n\n---\n\nd", "md", ["paragraph", "quotation", "rule", "paragraph"]),
        ("> a\n\n---", "docx", ["paragraph", "paragraph"]),
        ("", "md", []),
    ],
)
def test_lines_become_blocks(text: str, format_: str, wanted: list[str]) -> None:
    assert kinds(text, format_) == wanted


def test_a_passage_is_marked_across_blocks_and_cells() -> None:
    text = "# Fees #\n\n- Adults pay\n  **nine**.\n\n| Who | Fee |\n| - | - |\n| a\\|b | 9 € |\n"
    view = view_document(body_of(text), "md", (text.index("nine"), text.index(" €")))
    heading, item, table = view.blocks
    assert [run.text for run in heading.runs] == ["Fees"]
    assert (heading.level, heading.anchor) == (1, "at-0")
    assert [run.text for run in item.marker] == ["-"]
    assert [(run.text, run.is_marked) for run in item.runs] == [
        ("Adults pay\n  ", False), ("**", False), ("nine", True), ("**", True), (".", True)
    ]  # fmt: skip
    assert [cell[0].text for cell in table.header] == ["Who", "Fee"]
    assert [[(run.text, run.is_marked) for run in cell] for cell in table.rows[0]] == [
        [("a|b", True)], [("9", True), (" €", False)]
    ]  # fmt: skip


WORDS = "All **must _pay_** at [the `till`](http://a.example/b), \\*not\\* a snake_case fee."


@pytest.mark.parametrize("format_", ["md", "html", "docx", "txt"])
def test_the_signs_of_markdown_are_told_from_the_words(format_: str) -> None:
    start = WORDS.index("pay")
    (block,) = view_document(body_of(WORDS), format_, (start, WORDS.index("till"))).blocks
    assert "".join(run.text for run in block.runs) == WORDS
    read = "".join(run.text for run in block.runs if not run.is_sign)
    assert read == plain_text(WORDS, format_)
    if format_ == "md":
        emphasis = {run.text: run.emphasis for run in block.runs if run.emphasis}
        assert emphasis == {"must ": ("strong",), "pay": ("em", "strong"), "till": ("code",)}
        marked = [run.text for run in block.runs if run.is_marked and not run.is_sign]
        assert marked == ["pay", " at ", "the "]


@pytest.mark.parametrize(
    ("text", "format_", "wanted"),
    [
        ("Nobody may\nenter.", "md", True),
        ("Harbour office  \nQuay 3", "md", False),
        ("Harbour office\nQuay 3", "txt", False),
        (f"{'word ' * 14}endless\nwords go on here\n", "txt", True),
        (f"{'word ' * 14}endless\na list of its own\n{'word ' * 14}endless", "eml", False),
    ],
)
def test_lines_flow_that_were_cut_because_they_were_full(
    text: str,
    format_: str,
    wanted: bool,  # noqa: FBT001 - a value that is wanted
) -> None:
    (block,) = view_document(body_of(text), format_).blocks
    assert block.flows is wanted


def test_a_quotation_that_is_a_row_stands_below_its_heading_row() -> None:
    (table,) = quotation_view("| **A** | 9 € |", "md", "| Who | Fee |")
    assert [cell[0].text for cell in table.header] == ["Who", "Fee"]
    assert [[run.text for run in cell if not run.is_sign] for cell in table.rows[0]] == [
        ["A"], ["9 €"]
    ]  # fmt: skip
    assert [str(one.kind) for one in quotation_view("# a\nb\n- c", "md")] == [
        "heading", "paragraph", "item"
    ]  # fmt: skip


def test_pages_are_announced_where_their_text_begins() -> None:
    text = "one\n\ntwo\n\n- a\n\n- b"
    pages = (Page(1, "", 0, 3), Page(2, "", 3, 3), Page(3, "Fees", 3, 8), Page(4, "iv", 8, 16))
    view = view_document(Body(text, body_of(text).sections, pages), "pdf", (5, 8))
    found = [(one.level, one.label) for one in view.blocks if one.kind is ViewKind.PAGE]
    assert found == [(1, ""), (3, "Fees"), (4, "iv")]
    assert [str(one.kind) for one in view.blocks] == [
        "page", "paragraph", "page", "paragraph", "page", "item", "item"
    ]  # fmt: skip


ROW = "| {number} | some words that fill a row of a sheet |\n"
SHEET = "| No. | Text |\n| --- | --- |\n" + "".join(ROW.format(number=n) for n in range(3_000))


def test_rows_of_a_sheet_stand_below_their_heading_row() -> None:
    start = SHEET.index("| 2500 |")
    view = view_document(body_of(SHEET), "xlsx", (start, start + 8))
    (table,) = view.blocks
    assert [cell[0].text for cell in table.header] == ["No.", "Text"]
    numbers = [int(row[0][0].text) for row in table.rows]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    assert {2450, 2550} <= set(numbers)
    assert shown(view, marked=True) == "2500"


LONG = {
    "sheet": SHEET,
    "prose": "Some words that end.\n\n" * 4_000,
    "one line": "words " * 20_000,
    "code": "```\n" + "x = 1\n" * 15_000 + "```\n",
    "chapters": "".join(f"# Chapter {n}\n\n{'words ' * 700}\n\n" for n in range(30)),
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
@pytest.mark.parametrize("format_", ["md", "txt"])
def test_parts_of_a_long_document_lead_to_one_another(text: str, format_: str) -> None:
    body = body_of(text)
    middle = view_document(body, format_, (len(text) // 2, len(text) // 2 + 5))
    assert middle.start < len(text) // 2 < middle.end <= middle.start + LONGEST
    view, parts = middle, [middle]
    while view.later is not None:
        view = view_document(body, format_, begin=view.later)
        assert view.start == parts[-1].end
        parts.append(view)
    assert parts[-1].end == len(text)
    view = middle
    while view.earlier is not None:
        following, view = view, view_document(body, format_, begin=view.earlier)
        assert view.start < following.start <= view.end
    assert view.start == 0
    whole = "".join(re.sub(r"\s", "", shown(part)) for part in parts)
    header = "No.Text" if text is SHEET and format_ == "md" else ""
    signs = r"[\s`|#-]" if format_ == "md" else r"\s"
    ending = re.sub(signs, "", text[middle.start :])
    assert re.sub(signs, "", whole.replace(header, "")) == ending


def test_a_message_shows_its_headers_above_a_later_part() -> None:
    text = "# Fees\n\nFrom: a@b.example  \nDate: today\n\n" + "Words.\n\n" * 9_000
    view = view_document(body_of(text), "eml", (60_000, 60_005))
    assert [str(one.kind) for one in view.opening] == ["heading", "paragraph"]
    assert "a@b.example" in view.opening[1].runs[0].text
    assert view_document(body_of(text), "eml", (3, 5)).opening == ()
    assert view_document(body_of(text), "md", (60_000, 60_005)).opening == ()


@pytest.mark.parametrize(
    "unit", ["a ", "- a\n", "\n", "| a\\|b ", "`", "# ", "a\n\n", "|a|\n|-|\n|b|\n\n", "#"]
)
def test_it_takes_work_in_proportion(unit: str) -> None:
    assert_in_proportion(lambda text: view_document(body_of(text), "md", (0, len(text))), unit)
