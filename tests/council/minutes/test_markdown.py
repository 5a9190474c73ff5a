"""Minutes as Markdown: whole, the same every time, and nothing in them becomes ours."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from tests.steps import assert_in_proportion

from chapterhouse.council.minutes.contents import all_citations, legible, meetings, tool_texts
from chapterhouse.council.minutes.outline import minutes_markdown as markdown
from chapterhouse.types import Citation, MemberTurn, Minutes, ToolText

GOLDEN = Path(__file__).parent / "golden"
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
LINK = "https://docs.example/tariffs#fees"
HOSTILE = [
    "[x](http://evil.example)",
    "![x](http://evil.example/?q=1)",
    "<img src=http://evil.example>",
    "<script>alert(1)</script>",
    "<!-- -->",
    "```\nx\n```",
    "# Heading",
    "\n\n# Heading",
    "[^1]: forged",
    "\n\n[^1]: forged",
    "[x]: http://evil.example\n\n[x]",
    "- item",
    "1. item",
    "---",
    "\n===\n",
    "> quoted",
    "| a | b |\n|---|---|\n| c | d |",
    "a | b",
    "~~gone~~",
    "**bold** _it_",
    "ww\u200bw.evil.example",
    "title #",
    "wow!",
    "x\\",
    "$x$",
    "[1] 【2】 ［3］",
    "北京市" * 60,
    "w" * 400,
]


def tokens(text: str) -> list[Token]:
    return [inner for token in MARKDOWN.parse(text) for inner in (token, *(token.children or ()))]


def shape(text: str) -> list[str]:
    """Return what a page is made of, whatever its words are."""
    return [t.type for t in tokens(text) if t.type not in {"text", "text_special", "softbreak"}]


def assert_ours_alone(page: str, usual: list[str], footnotes: int) -> None:
    assert shape(page) == usual
    links = {str(t.attrs["href"]) for t in tokens(page) if t.type == "link_open"}
    assert links <= {LINK}
    assert not {"image", "html_inline", "html_block", "fence", "code_inline"} & set(shape(page))
    assert len(re.findall(r"^\[\^[0-9-]+\]: ", page, re.MULTILINE)) == footnotes
    known = {"1", "2", "3", "4", "3-1"}
    assert set(re.findall(r"\[\^([^\]]*)\]", re.sub(r"\\.", "", page))) <= known
    assert not re.search(r"(?i)(?<!\\)\bwww\.", page)


@pytest.fixture(scope="module")
def usual(filled: Callable[[str], Minutes]) -> list[str]:
    """Give what minutes are made of, whatever is said in them."""
    return shape(markdown(filled("x")))


def test_minutes_are_a_page_with_numbered_footnotes(minutes: Minutes) -> None:
    assert markdown(minutes) == (GOLDEN / "minutes.md").read_text("utf-8")
    assert markdown(minutes) == markdown(minutes)


def test_what_no_source_has_stands_beside_its_sentence(minutes: Minutes) -> None:
    lines = markdown(minutes).splitlines()
    (line,) = [one for one in lines if one.startswith("- It has nine cranes.")]
    assert line.endswith("*(not in the source: “nine”, “no” is)*")


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_document_or_a_model_becomes_markdown(
    filled: Callable[[str], Minutes], usual: list[str], text: str
) -> None:
    for told in (text, f"a {text} b"):
        assert_ours_alone(markdown(filled(told)), usual, 5)


@given(st.text(alphabet='ab1 []()!<>#*_`~|\\^&;:/.-+=$@\n\t"”“w\u200b', min_size=1, max_size=30))
def test_no_mixture_of_signs_becomes_markdown(
    filled: Callable[[str], Minutes], usual: list[str], text: str
) -> None:
    told = text if text.strip(" \n\t\u200b") else f"{text}x"
    assert_ours_alone(markdown(filled(told)), usual, 5)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("- **Red**: wind above 21 m/s.", "Red: wind above 21 m/s."),
        ("* one", "one"),
        ("  • one", "one"),
        ("Which holds: “- **a** b” or “- c”?", "Which holds: “a b” or “c”?"),
        ("2*3 is 2 * 3, 2**3 is 8", "2*3 is 2 * 3, 2**3 is 8"),
        ("-5 degrees", "-5 degrees"),
        ("a - b", "a - b"),
        ("** **", "** **"),
        ("1. first", "1. first"),
        ("snake_case _x_", "snake_case _x_"),
    ],
)
def test_marks_of_markdown_are_left_out_and_nothing_else(text: str, shown: str) -> None:
    assert legible(text) == shown


@pytest.mark.parametrize("unit", ["**a", "*", "“- "])
def test_it_takes_work_in_proportion(unit: str) -> None:
    assert_in_proportion(legible, unit, 2_000)


ROUND = "independent_analysis"


def citation(number: int) -> Citation:
    return Citation(number, "d", "D", "d.md", (), None, "", "", 0, 1, "x", "")


def council(*turns: MemberTurn, cites: int = 1) -> Minutes:
    numbered = tuple(map(citation, range(1, cites + 1)))
    return Minutes("c", "C", "Why?", turns=turns, citations=numbered)


def holding(inner: Minutes | None) -> MemberTurn:
    return MemberTurn("maria", ROUND, inner=inner)


def test_a_citation_is_called_by_the_turns_on_the_way_to_it() -> None:
    innermost = council(cites=2)
    minutes = council(holding(None), holding(council(holding(innermost))))
    assert [place for place, _ in meetings(minutes)] == ["", "2-", "2-1-"]
    assert [name for name, _ in all_citations(minutes)] == ["1", "2-1", "2-1-1", "2-1-2"]


def test_a_text_of_a_tool_that_several_cite_is_returned_once() -> None:
    shared = ToolText("fees", {}, "", "60", "a" * 64)
    other = ToolText("fees", {}, "", "80", "b" * 64)
    inner = Minutes("i", "I", "Why?", tool_texts=(other, shared))
    said = MemberTurn("maria", ROUND, tool_texts=(shared,), inner=inner)
    assert tool_texts(Minutes("c", "C", "Why?", turns=(said,))) == (shared, other)
