"""An answer as Markdown: what documents say is shown, and nothing of it becomes ours."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from chapterhouse.answering.footnotes import (
    answer_markdown,
    citation_line,
    conflict_lines,
    escaped,
    mark_of,
    page_of,
)
from chapterhouse.types import (
    Answer,
    AnswerOutcome,
    AnswerSentence,
    Citation,
    Conflict,
    ConflictKind,
    Quotation,
    Route,
    Searched,
    Side,
    Support,
)

CITATION = Citation(
    1,
    "sr-1",
    "SR Runtime Overview",
    "papers/sr.md",
    ("SR Runtime Overview", "Tracking"),
    3,
    "page",
    "",
    10,
    40,
    "Eyes are tracked at 60 Hz.",
    "ab" * 32,
    "sr:Tracking",
    "2024",
    "https://docs.example/sr#tracking",
    Support.VERBATIM,
    verified=True,
)
ANSWER = Answer(
    "How fast?",
    outcome=AnswerOutcome.ANSWER,
    sentences=(AnswerSentence("Eyes are tracked at 60 Hz.", (1,)),),
    citations=(CITATION,),
    searched=Searched(1, 1, (), (), ()),
    confidence=0.9,
)
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = [
    "[x](http://evil.example)",
    "![x](http://evil.example/?q=1)",
    "](http://evil.example)",
    "”) [x](http://evil.example)",
    "<img src=http://evil.example>",
    "<script>alert(1)</script>",
    "<http://evil.example>",
    "<!-- -->",
    "&lt;b&gt;",
    "&#x5b;x](http://evil.example)",
    "`](http://evil.example)`",
    "```\n[x](http://evil.example)\n```",
    "# Heading",
    "\n\n# Heading",
    "\n\n[^1]: forged",
    "[^1]: forged",
    "[x]: http://evil.example\n\n[x]",
    "- item",
    "1. item",
    "+ item",
    "1) item",
    "***",
    "---",
    "===",
    "\n===\n",
    "> quoted",
    "| a | b |\n|---|---|\n| c | d |",
    "~~gone~~",
    "**bold** _it_ *em* __b__",
    "$x$ ^sup^",
    "\\[x](http://evil.example)",
    "\\",
    "a\\",
    "\t code",
    "    code",
    "line  \nbreak",
    "line\\\nbreak",
    "a\u2028# b",
    "www.evil.example",
    "a@evil.example",
    "https://evil.example/x",
    "[^1][^2]",
    "^[inline note]",
    "[[wiki]]",
    "\x00",
    "¹",
    ":smile:",
    "!",
    "![",
]


def tokens(text: str) -> list[Token]:
    found = []
    for token in MARKDOWN.parse(text):
        found += [token, *(token.children or ())]
    return found


def links(text: str) -> list[str]:
    return [str(token.attrs["href"]) for token in tokens(text) if token.type == "link_open"]


def plain(text: str) -> str:
    """Return what a reader sees of Markdown."""
    return "".join(
        t.content for t in tokens(text) if t.type in {"text", "code_inline", "text_special"}
    )


def hostile_answer(text: str) -> Answer:
    """Return an answer in which a document or a model put a text wherever it could."""
    cited = replace(
        CITATION,
        title=text,
        source=text,
        section_path=(text, text),
        page_label=text,
        quote=text,
        year=text[:4],
        marker=text,
    )
    span = Quotation("x", 0, 1, text)
    side = Side(span, text, text, text)
    return replace(
        ANSWER,
        sentences=(
            AnswerSentence(text, (1,), Support.UNSUPPORTED),
            AnswerSentence(text, (1,), before="\n\n"),
            AnswerSentence(text, (), before="\n- "),
            AnswerSentence(text, (1,), before="\n1. "),
        ),
        citations=(cited, replace(cited, number=2, page_kind="sheet")),
        notice=text,
        would_help=(text, text),
        conflicts=(Conflict(ConflictKind.NUMBER, text, (side, side)),),
    )


def assert_ours_alone(text: str) -> None:
    page = answer_markdown(hostile_answer(text))
    assert set(links(page)) <= {CITATION.link}
    kinds = {token.type for token in tokens(page)}
    assert not kinds & {
        "image",
        "html_inline",
        "html_block",
        "code_block",
        "fence",
        "code_inline",
        "heading_open",
        "hr",
        "table_open",
        "s_open",
        "hardbreak",
    }, kinds
    # What we mark ourselves: the heading of the conflicts and the warnings.
    strong = [t.content for t in MARKDOWN.parse(page) if "**" in t.content]
    assert all("**Sources disagree**" in one for one in strong if re.search(r"(?<!\\)\*\*", one))
    assert len(re.findall(r"^\[\^\d+\]: ", page, re.MULTILINE)) == 2
    markers = re.findall(r"\[\^([^\]]*)\]", re.sub(r"\\.", "", page))
    assert set(markers) <= {"1", "2"}
    assert len(markers) == 3 + 2
    assert page.count("\n> ") == 0


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_document_becomes_markdown(text: str) -> None:
    assert_ours_alone(text)
    assert_ours_alone(f"a {text} b")
    assert_ours_alone(f"{text}{text}")


@settings(max_examples=400, deadline=None)
@given(st.text(alphabet='ab1 []()!<>#*_`~|\\^&;:/.-+=$@\n\t"”“w', max_size=40))
def test_no_mixture_of_signs_becomes_markdown(text: str) -> None:
    assert_ours_alone(text if text.strip() else f"{text}x")


@given(
    st.text(
        alphabet=st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp")),
        max_size=60,
    )
)
def test_escaped_text_is_shown_as_it_stands(text: str) -> None:
    assert plain(f"x{escaped(text)}") == f"x{text}"
    assert plain(escaped(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "https://evil.example/x",
        "HTTP://evil.example",
        "www.evil.example",
        "WWW.evil.example",
        "//evil.example",
        "a@evil.example",
    ],
)
def test_what_renderers_make_links_of_by_themselves_is_broken_up(text: str) -> None:
    shown = escaped(f"See {text}.")
    assert not re.search(r"(?i)[a-z]+://|\bwww\.|[a-z]@[a-z]", shown)
    assert plain(shown) == f"See {text}."


def test_an_answer_is_a_page_with_numbered_footnotes() -> None:
    assert answer_markdown(ANSWER) == (
        "Eyes are tracked at 60 Hz.[^1]\n\n"
        "[^1]: SR Runtime Overview (2024), §Tracking, page 3. "
        "<https://docs.example/sr#tracking> “Eyes are tracked at 60 Hz.” "
        f"(cited as sr:Tracking; papers/sr.md, characters 10–40, SHA-256 {'ab' * 6})\n"
    )


def test_the_link_of_a_footnote_is_a_link() -> None:
    assert links(answer_markdown(ANSWER)) == [CITATION.link]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({}, "SR Runtime Overview (2024), §Tracking, page 3"),
        ({"year": ""}, "SR Runtime Overview, §Tracking, page 3"),
        ({"section_path": ()}, "SR Runtime Overview (2024), page 3"),
        ({"section_path": ("Other", "Deep")}, "SR Runtime Overview (2024), §Other › Deep, page 3"),
        ({"page": None}, "SR Runtime Overview (2024), §Tracking"),
        ({"title": "", "section_path": ()}, "papers/sr.md (2024), page 3"),
        (
            {"page_kind": "sheet", "page_label": "Prices"},
            "SR Runtime Overview (2024), §Tracking, sheet Prices",
        ),
        ({"page_kind": "sheet"}, "SR Runtime Overview (2024), §Tracking, sheet 3"),
        ({"page_kind": ""}, "SR Runtime Overview (2024), §Tracking, page 3"),
        ({"title": "a\n\nb"}, "a b (2024), §SR Runtime Overview › Tracking, page 3"),
    ],
)
def test_a_citation_is_told_as_people_tell_one(change: dict[str, object], line: str) -> None:
    assert citation_line(replace(CITATION, **change)) == line  # type: ignore[arg-type]  # of a table


def test_a_place_without_pages_has_none() -> None:
    assert page_of(replace(CITATION, page=None, page_kind="sheet", page_label="x")) == ""


@pytest.mark.parametrize("support", list(Support))
def test_a_reader_is_warned_beside_every_sentence_that_is_not_carried(support: Support) -> None:
    warned = mark_of(AnswerSentence("x", (), support))
    assert bool(warned) == (support not in {Support.VERBATIM, Support.SUPPORTED, Support.NO_CLAIM})
    page = answer_markdown(replace(ANSWER, sentences=(AnswerSentence("It is.", (1,), support),)))
    assert (f"*({warned})*" in page) == bool(warned)


def test_the_shape_of_the_answer_is_the_models() -> None:
    told = (
        AnswerSentence("Two things:", ()),
        AnswerSentence("One.", (1,), before="\n\n1. "),
        AnswerSentence("And so.", ()),
        AnswerSentence("Two.", (1,), before="\n2. "),
        AnswerSentence("Thus.", (), before="\n\n"),
    )
    page = answer_markdown(replace(ANSWER, sentences=told))
    assert page.startswith("Two things:\n\n1. One.[^1] And so.\n2. Two.[^1]\n\nThus.\n\n[^1]: ")


def test_a_refusal_says_what_would_help() -> None:
    refusal = Answer(
        "Why?",
        outcome=AnswerOutcome.NOT_FOUND,
        sentences=(),
        citations=(),
        searched=ANSWER.searched,
        confidence=0.1,
        route=Route.INSUFFICIENT,
        notice="It is not known.",
        would_help=("A *plan*.",),
    )
    assert answer_markdown(refusal) == "> It is not known.\n\n- A \\*plan\\*.\n"


@pytest.mark.parametrize(
    ("dates", "newer", "verdict"),
    [
        (("2024", "2023"), True, "The one of 2024 is newer."),
        (("2024", "2024-05"), None, "Their dates do not tell which is newer."),
        (("2024", ""), None, "Which is newer cannot be told: not both state a date."),
        (("", ""), None, "Which is newer cannot be told: not both state a date."),
    ],
)
def test_both_sides_of_a_disagreement_are_told_with_their_dates(
    dates: tuple[str, str], *, newer: bool | None, verdict: str
) -> None:
    sides = (
        Side(Quotation("a", 0, 9, "It is 80.\n"), "80", "New", dates[0]),
        Side(Quotation("b", 0, 9, "It is 70."), "70", "Old", dates[1]),
    )
    assert conflict_lines(Conflict(ConflictKind.NUMBER, "berth price", sides, newer)) == (
        f"80 according to New ({dates[0] or 'undated'}): “It is 80.”",
        f"70 according to Old ({dates[1] or 'undated'}): “It is 70.”",
        verdict,
    )
    assert "Sources disagree" in answer_markdown(
        replace(ANSWER, conflicts=(Conflict(ConflictKind.NUMBER, "x", sides, newer),))
    )
