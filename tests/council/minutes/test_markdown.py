"""Minutes as Markdown: whole, the same every time, and nothing in them becomes ours."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from chapterhouse.council.minutes.outline import minutes_markdown as markdown
from chapterhouse.types import Minutes

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
