import re
from base64 import b64decode
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.presenting.blocks import (
    Block,
    Bullets,
    CitationBlock,
    Grid,
    GridCell,
    Paragraph,
    Part,
    Sources,
    StatementName,
    Words,
)
from chapterhouse.presenting.html import POLICY, Markup, element, joined, markup, page
from chapterhouse.text.sanitise import sanitise
from chapterhouse.types import Citation

CELL = GridCell((Words("maria"),))


def whole(*parts: Part, blocks: tuple[Block, ...] = ()) -> str:
    return page(Part("minutes", "Minutes", blocks, parts), "Minutes of a council")


def citation(**changes: object) -> Citation:
    values = {"verified": True, **changes}
    return Citation(
        1, "rules", "Rules", "rules.md", (), None, "", "", 0, 4, "Stay", "",
        **values,  # type: ignore[arg-type]  # of a citation
    )  # fmt: skip


def test_the_policy_allows_the_one_script_that_a_page_has_and_no_other() -> None:
    table = Part("t", "Table", (Grid("Who", ("member",), ((CELL,),), sortable=True),))
    found = whole(Part("above", "Above", parts=(table,)))
    (script,) = re.findall(r"<script>(.*?)</script>", found, re.DOTALL)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', found)
    (allowed,) = re.findall(r"script-src 'sha256-([^']*)'", unescape(policy))
    assert b64decode(allowed) == sha256(script.encode()).digest()


def test_without_a_table_to_sort_no_script_and_without_titles_no_contents() -> None:
    found = whole(Part("t", "Table", (Grid("Who", ("member",), ((CELL,),)),)), Part("b", ""))
    assert "<script" not in found
    assert "script-src" not in found
    assert POLICY in unescape(found)
    assert re.findall(r'<li><a href="(#\w+)">', found) == ["#t"]
    assert "<nav" not in whole(Part("b", ""))


def test_headings_go_no_deeper_than_html_has_them() -> None:
    part = Part("p9", "Level 9")
    for level in range(8, 1, -1):
        part = Part(f"p{level}", f"Level {level}", parts=(part,))
    levels = re.findall(r"<h(\d)[^>]*>Level (\d)", whole(part))
    assert levels == list(zip("23456666", "23456789", strict=True))


def test_a_source_names_each_place_that_cites_it_once() -> None:
    claim = (
        StatementName("s1", "statement-s1", stated=True),
        Words("Stay."),
        CitationBlock(("1",)),
    )
    found = whole(
        Part("said", "Said", (Bullets((claim, claim)), Paragraph((CitationBlock(("1",)),)))),
        Part("sources", "Sources", (Sources((("1", citation()),)),)),
    )
    _, _, back = found.partition("cited by ")
    assert re.findall(r'<a href="#([\w-]+)">([^<]+)</a>', back) == [
        ("statement-s1", "s1"), ("said", "Said"),
    ]  # fmt: skip
    assert '<li id="statement-s1" class="statement">' in found


@pytest.mark.parametrize(
    ("verified", "verdict"),
    [(True, "compared with the document"), (False, "NOT FOUND IN THE DOCUMENT")],
)
def test_a_quotation_says_whether_it_was_found(verdict: str, *, verified: bool) -> None:
    found = whole(Part("s", "Sources", (Sources((("1", citation(verified=verified)),)),)))
    assert verdict in found
    assert ('<span class="warning">' in found) is not verified


def test_a_member_speaks_in_an_article_and_a_warning_stands_out() -> None:
    found = whole(
        Part("round-1", "", parts=(Part("round-1-statement-2", "Maria"),)), Part("x-warnings", "W")
    )
    assert re.findall(r'<(section|article) id="([\w-]+)"(?: class="(\w*)")?', found) == [
        ("section", "round-1", "round"),
        ("article", "round-1-statement-2", "statement"),
        ("section", "x-warnings", "warnings"),
    ]


def test_what_is_first_stands_below_the_title_and_no_text_is_markup() -> None:
    found = whole(blocks=(Paragraph((Words("<b>Why?</b>"),)), Paragraph((Words("Then."),))))
    header = found[found.index("<header>") : found.index("</header>")]
    assert '<div class="question"><p>&lt;b&gt;Why?&lt;/b&gt;</p></div><p>Then.</p>' in header


class _Read(HTMLParser):
    """Collects what a browser would see of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> _Read:
    parser = _Read()
    parser.feed(page)
    parser.close()
    return parser


HOSTILE = st.text(st.sampled_from("<>&\"'/=ab script\u202e\x1b;#&lt;"), max_size=60)


@given(HOSTILE, HOSTILE)
def test_text_and_attributes_are_read_back_and_are_nothing_else(text: str, value: str) -> None:
    found = read(element("p", text, attributes={"title": value}))
    seen = sanitise(value).text
    assert found.tags == [("p", [("title", seen)] if value else [])]
    assert found.text == sanitise(text).text


def test_markup_stands_as_it_is_and_is_not_escaped_twice() -> None:
    inner = element("em", "a < b")
    assert element("p", inner, " & c") == "<p><em>a &lt; b</em> &amp; c</p>"
    assert markup(inner) is inner
    assert joined(inner, "<") == f"{inner}&lt;"
    assert isinstance(joined("<"), Markup)


@pytest.mark.parametrize(
    ("name", "attributes"),
    [("p onclick", {}), ("P", {}), ("p", {"on click": "x"}), ("p", {'a"': "x"}), ("", {})],
)
def test_names_are_ours_alone(name: str, attributes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="no names"):
        element(name, attributes=attributes)
