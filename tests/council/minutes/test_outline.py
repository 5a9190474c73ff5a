import re
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from selectolax.lexbor import LexborHTMLParser, LexborNode
from tests.steps import assert_in_proportion

from chapterhouse.council.minutes.contents import all_citations, legible, meetings, tool_texts
from chapterhouse.council.minutes.outline import minutes_html as html
from chapterhouse.council.minutes.outline import minutes_markdown as markdown
from chapterhouse.presenting.html import POLICY
from chapterhouse.types import Citation, MemberTurn, Minutes, ToolText

from .conftest import MINUTES

LINK = "https://docs.example/tariffs#fees"
ALLOWED = set(
    re.findall(
        r"\w+",
        "html head meta title style body a header p h1 h2 h3 h4 h5 h6 div span strong nav ol ul li "
        "main section article table caption thead tbody tr th td sup blockquote cite details "
        "summary dl dt dd footer",
    )
)
ATTRIBUTES = set(
    re.findall(
        r"[\w-]+",
        "id class href rel aria-label aria-labelledby role tabindex scope lang charset http-equiv "
        "content name",
    )
)
SORTS = files("chapterhouse.presenting").joinpath("table.js").read_text("utf-8")


def parsed(page: str) -> LexborHTMLParser:
    return LexborHTMLParser(page)


def nodes(page: str) -> list[LexborNode]:
    return parsed(page).css("html, html *")


def shape(page: str) -> list[tuple[str, str]]:
    return [(str(node.tag), node.attributes.get("class") or "") for node in nodes(page)]


def assert_inert(page: str) -> None:
    assert_no_script_but_ours(page)
    for node in nodes(page):
        if node.tag == "script":
            continue
        assert node.tag in ALLOWED, node.tag
        assert set(node.attributes) <= ATTRIBUTES, node.attributes
        href = node.attributes.get("href") or "#"
        assert href.startswith("#") or href == LINK
    ids = [node.id for node in nodes(page) if node.id]
    assert len(ids) == len(set(ids))
    for link in parsed(page).css("a[href^='#']"):
        assert (link.attributes["href"] or "")[1:] in ids, link.html
    for node in parsed(page).css("[aria-labelledby]"):
        assert node.attributes["aria-labelledby"] in ids


def assert_no_script_but_ours(page: str) -> None:
    """Say that only the script that sorts tables runs, where there is one to sort."""
    policy = parsed(page).css_first("meta[http-equiv='Content-Security-Policy']")
    assert policy is not None
    scripts = parsed(page).css("script")
    if not scripts:
        assert policy.attributes["content"] == POLICY
        return
    (script,) = scripts
    assert not script.attributes
    assert script.text() == SORTS
    digest = b64encode(sha256(SORTS.encode()).digest()).decode()
    assert policy.attributes["content"] == f"{POLICY}; script-src 'sha256-{digest}'"


@pytest.fixture(scope="module")
def usual(filled: Callable[[str], Minutes]) -> list[tuple[str, str]]:
    """Give the shape of the page, whatever is said in it."""
    return shape(html(filled("x")))


def test_a_page_stands_alone(minutes: Minutes) -> None:
    page = html(minutes)
    assert_inert(page)
    assert page == html(minutes)
    assert page.startswith("<!DOCTYPE html>\n<html")
    assert POLICY.startswith("default-src 'none'; style-src 'unsafe-inline'")
    style = parsed(page).css_first("style")
    assert style is not None
    assert not re.search(r"url\(|@import|expression|</", style.text())
    assert re.findall(r"https?://[^\"<]+", page) == [LINK, LINK]  # its address, and as text
    assert len(page) < 60_000


def test_the_one_script_reaches_nothing_and_makes_no_markup(minutes: Minutes) -> None:
    assert "<script>" in html(minutes)
    assert "<script" not in html(replace(minutes, table=()))  # nothing to sort
    for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "fetch"):
        assert word not in SORTS
    assert not re.search(r"XMLHttp|WebSocket|import\b|https?:|location|cookie|Storage", SORTS)
    assert "</script" not in SORTS


def test_everything_that_was_held_stands_there(minutes: Minutes) -> None:
    page = parsed(html(minutes))
    titles = [node.text() for node in page.css("main > section > h2")]
    assert titles == [
        "What each member's documents say", "Nothing was found", "Who sat", "Decision", "Grounds",
        "Dissent", "Who stands where", "Open questions", "Missing evidence", "Absences",
        "What was said", "Warnings", "The council that sat as a member: Finance", "Sources",
    ]  # fmt: skip
    assert [node.text() for node in page.css("nav li")] == titles
    quotes = [node.text() for node in page.css("blockquote")]
    assert quotes == [*(c.quote for c in minutes.citations), minutes.citations[1].quote]
    facts = {node.text() for node in page.css("dd")}
    assert {citation.text_sha256 for citation in minutes.citations} <= facts


def test_statements_and_sources_lead_to_each_other(minutes: Minutes) -> None:
    page = parsed(html(minutes))
    stated = page.css_first("#statement-s1")
    assert stated is not None
    assert stated.text().startswith("s1 What does a guest berth cost? 80 euros. Guests pay more")
    assert [a.attributes["href"] for a in stated.css("sup a")] == ["#source-2"]
    source = page.css_first("#source-2")
    assert source is not None
    back = [(a.text(), a.attributes["href"]) for a in source.css(".quiet a")]
    assert ("s1", "#statement-s1") in back
    assert ("Decision", "#decision") in back
    assert page.css_first("#source-3-1") is not None


def test_it_can_be_read_without_colours_and_by_ear(minutes: Minutes) -> None:
    page = parsed(html(minutes))
    for landmark in ("header", "nav[aria-label]", "main", "footer", "a.skip[href='#minutes']"):
        assert len(page.css(landmark)) == 1, landmark
    assert page.css_first("html").attributes["lang"] == "en"  # type: ignore[union-attr]  # it is there
    for table in page.css("table"):
        assert table.css_first("caption") is not None
        assert {th.attributes.get("scope") for th in table.css("thead th")} == {"col"}
        assert {th.attributes.get("scope") for th in table.css("tbody th")} == {"row"}
    tones = {"stand": "✓ holds", "oppose": "✗ opposes", "concede": "~ concedes"}
    for tone, words in tones.items():
        cells = page.css(f"td.{tone}")
        assert cells
        assert all(cell.text().startswith(words) for cell in cells)
    levels = [int(str(node.tag)[1]) for node in page.css("h1, h2, h3, h4, h5, h6")]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def contrast(one: str, other: str) -> float:
    """Return the ratio of two colours, after https://www.w3.org/TR/WCAG22/#contrast-minimum."""

    def luminance(colour: str) -> float:
        digits = colour.lstrip("#")
        digits = "".join(c * 2 for c in digits) if len(digits) == 3 else digits
        parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("place", [0, 1], ids=["light", "dark"])
def test_colours_stand_out_enough(minutes: Minutes, place: int) -> None:
    style = parsed(html(minutes)).css_first("style")
    assert style is not None
    blocks = re.findall(r":root \{(.*?)\}", style.text(), re.DOTALL)
    named = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6});", blocks[place]))
    pairs = [
        (ink, ground) for ink in ("ink", "quiet", "accent", "no") for ground in ("paper", "raised")
    ]
    pairs += [("yes", "yes-ground"), ("no", "no-ground")]
    for ink, ground in pairs:
        assert contrast(named[ink], named[ground]) >= 4.5, (ink, ground)


def test_empty_minutes_are_a_page_too(empty: Minutes) -> None:
    page = html(empty)
    assert_inert(page)
    assert "Sources" not in page
    assert "Decision" not in page  # none was asked for
    debated = replace(empty, options=("stay", "go"), members=MINUTES.members)
    assert "stays open" in html(debated)


@given(st.text(min_size=1, max_size=40) | st.text("<>&\"'/=!-[]: ab\x00\x1b\u202e", max_size=40))
@example("</style></title><script>alert(1)</script><img src=x onerror=alert(1)><!-- ]]>")
@example(
    "\"><svg onload=alert(1)> ' onmouseover='alert(1) javascript:alert(1) http://evil.example/"
)
@example("&lt;b&gt; &#60;script&#62; <meta http-equiv=refresh content='0;url=http://evil.example'>")
def test_any_text_is_only_text(
    filled: Callable[[str], Minutes], usual: list[tuple[str, str]], text: str
) -> None:
    page = html(filled(f"x{text}"))
    assert_inert(page)
    assert shape(page) == usual
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e\u200b]", page)


def test_a_warning_of_several_members_stands_once() -> None:
    warning = "The model did not answer, so the documents are quoted."
    said = tuple(replace(one, warnings=(warning,)) for one in MINUTES.turns)
    minutes = replace(MINUTES, turns=said, warnings=(f"Maria Lind, Tom: {warning}",))
    assert markdown(minutes).count("did not answer") == 1


GOLDEN = Path(__file__).parent / "golden"
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE_MARKDOWN = [
    "[x](http://evil.example)", "![x](http://evil.example/?q=1)", "<img src=http://evil.example>",
    "<script>alert(1)</script>", "<!-- -->", "```\nx\n```", "# Heading", "\n\n# Heading",
    "[^1]: forged", "\n\n[^1]: forged", "[x]: http://evil.example\n\n[x]", "- item", "1. item",
    "---", "\n===\n", "> quoted", "| a | b |\n|---|---|\n| c | d |", "a | b", "~~gone~~",
    "**bold** _it_", "ww\u200bw.evil.example", "title #", "wow!", "x\\", "$x$", "[1] 【2】 ［3］",
    "北京市" * 60, "w" * 400,
]  # fmt: skip


def tokens(text: str) -> list[Token]:
    return [inner for token in MARKDOWN.parse(text) for inner in (token, *(token.children or ()))]


def token_shape(text: str) -> list[str]:
    """Return what a page is made of, whatever its words are."""
    return [t.type for t in tokens(text) if t.type not in {"text", "text_special", "softbreak"}]


def assert_ours_alone(page: str, usual_tokens: list[str], footnotes: int) -> None:
    assert token_shape(page) == usual_tokens
    links = {str(t.attrs["href"]) for t in tokens(page) if t.type == "link_open"}
    assert links <= {LINK}
    assert not {"image", "html_inline", "html_block", "fence", "code_inline"} & set(
        token_shape(page)
    )
    assert len(re.findall(r"^\[\^[0-9-]+\]: ", page, re.MULTILINE)) == footnotes
    known = {"1", "2", "3", "4", "3-1"}
    assert set(re.findall(r"\[\^([^\]]*)\]", re.sub(r"\\.", "", page))) <= known
    assert not re.search(r"(?i)(?<!\\)\bwww\.", page)


@pytest.fixture(scope="module")
def usual_tokens(filled: Callable[[str], Minutes]) -> list[str]:
    """Give what minutes are made of, whatever is said in them."""
    return token_shape(markdown(filled("x")))


def test_minutes_are_a_page_with_numbered_footnotes(minutes: Minutes) -> None:
    assert markdown(minutes) == (GOLDEN / "minutes.md").read_text("utf-8")


def test_what_no_source_has_stands_beside_its_sentence(minutes: Minutes) -> None:
    lines = markdown(minutes).splitlines()
    (line,) = [one for one in lines if one.startswith("- It has nine cranes.")]
    assert line.endswith("*(not in the source: “nine”, “no” is)*")


@given(
    st.sampled_from(HOSTILE_MARKDOWN)
    | st.text('ab1 []()!<>#*_`~|\\^&;:/.-+=$@\n\t"”“w\u200b', min_size=1, max_size=30)
)
def test_no_text_becomes_markdown(
    filled: Callable[[str], Minutes], usual_tokens: list[str], text: str
) -> None:
    told = text if text.strip(" \n\t\u200b") else f"{text}x"
    for one in (told, f"a {told} b"):
        assert_ours_alone(markdown(filled(one)), usual_tokens, 5)


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
