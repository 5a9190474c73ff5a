import re
from dataclasses import replace
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console
from selectolax.lexbor import LexborHTMLParser

from chapterhouse.presenting import wording
from chapterhouse.presenting.answers import OTHERS, answer_blocks, answer_markdown
from chapterhouse.presenting.citing import citation_line, clean
from chapterhouse.presenting.html import page as html_page
from chapterhouse.presenting.markdown import escaped, heading, words
from chapterhouse.presenting.terminal import show
from chapterhouse.types import (
    Answer,
    AnswerOutcome,
    AnswerSentence,
    Citation,
    Mismatch,
    MismatchKind,
    Opinion,
    OpinionKind,
    Searched,
)

PASSAGES = AnswerOutcome.PASSAGES
TAGS = set(
    re.findall(
        r"\w+",
        "head meta title style body a header p h1 h2 div span strong main section sup blockquote "
        "cite details summary dl dt dd footer ul ol li pre br",
    )
)
CITATION = Citation(
    1, "sr-1", "SR Runtime Overview", "papers/sr.md", ("SR Runtime Overview", "Tracking"), 3,
    "page", "", 10, 40, "Eyes are tracked at 60 Hz.", "ab" * 32, "sr:Tracking", "2024",
    "https://docs.example/sr#tracking", verified=True,
)  # fmt: skip
ANSWER = Answer(
    "How fast?",
    outcome=AnswerOutcome.ANSWER,
    sentences=(AnswerSentence("Eyes are tracked at 60 Hz.", (1,)),),
    citations=(CITATION,),
    searched=Searched(1, 1, (), (), ()),
    confidence=0.96,
)
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = [
    "[x](http://evil.example)", "![x](http://evil.example/?q=1)", "](http://evil.example)",
    "”) [x](http://evil.example)", "<img src=http://evil.example>", "<script>alert(1)</script>",
    "<http://evil.example>", "<!-- -->", "&lt;b&gt;", "&#x5b;x](http://evil.example)",
    "`](http://evil.example)`", "```\n[x](http://evil.example)\n```", "# Heading", "\n\n# Heading",
    "\n\n[^1]: forged", "[^1]: forged", "[x]: http://evil.example\n\n[x]", "- item", "1. item",
    "+ item", "1) item", "***", "---", "===", "\n===\n", "> quoted",
    "| a | b |\n|---|---|\n| c | d |", "~~gone~~", "**bold** _it_ *em* __b__", "$x$ ^sup^",
    "\\[x](http://evil.example)", "\\", "a\\", "\t code", "    code", "line  \nbreak",
    "line\\\nbreak", "a\u2028# b", "www.evil.example", "a@evil.example", "https://evil.example/x",
    "[^1][^2]", "^[inline note]", "[[wiki]]", "\x00", "¹", ":smile:", "!", "![",
]  # fmt: skip


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
        CITATION, title=text, source=text, section_path=(text, text), page_label=text, quote=text,
        year=text[:4], marker=text,
    )  # fmt: skip
    return replace(
        ANSWER,
        sentences=(
            AnswerSentence(text, (1,), (Mismatch(MismatchKind.NUMBER, text, text),)),
            AnswerSentence(text, (1,), before="\n\n"),
            AnswerSentence(text, (), before="\n- "),
            AnswerSentence(text, (1,), before="\n1. "),
        ),
        citations=(cited, replace(cited, number=2, page_kind="sheet")),
        notice=text,
    )


def prose(page: str) -> str:
    """Return Markdown without the lines of code in it."""
    lines = page.split("\n")
    for token in reversed(MARKDOWN.parse(page)):
        if token.type == "fence" and token.map:
            del lines[token.map[0] : token.map[1]]
    return "\n".join(lines)


def assert_ours_alone(text: str) -> None:
    answer = hostile_answer(text)
    for told in (answer, replace(answer, method="model"), replace(answer, outcome=PASSAGES)):
        assert_markdown_is_ours(answer_markdown(told))
        assert_html_is_ours(html_page(answer_blocks(told), "An answer"))
        assert_terminal_is_ours(told)


def assert_markdown_is_ours(page: str) -> None:
    assert set(links(page)) <= {CITATION.link}
    kinds = {token.type for token in tokens(page)}
    assert not kinds & {
        "image", "html_inline", "html_block", "code_block", "code_inline", "heading_open", "hr",
        "table_open", "s_open", "blockquote_open",
    }, kinds  # fmt: skip
    page = prose(page)
    assert len(re.findall(r"^\[\^\d+\]: ", page, re.MULTILINE)) in {1, 2}
    markers = re.findall(r"\[\^([^\]]*)\]", re.sub(r"\\.", "", page))
    assert set(markers) <= {"1", "2"}
    assert len(markers) <= 3 + 2


def assert_html_is_ours(page: str) -> None:
    tree = LexborHTMLParser(page)
    for node in tree.css("html *"):
        assert node.tag in TAGS, node.tag
        href = node.attributes.get("href") or "#"
        assert href.startswith("#") or href == CITATION.link
    assert len(tree.css("ol.sources > li")) in {1, 2}
    assert len(tree.css("sup a")) <= 3


def on_a_terminal(answer: Answer, *, colour: bool = False, detailed: bool = False) -> str:
    out = StringIO()
    target = Console(
        file=out, width=70, force_terminal=colour, markup=False, highlight=False, emoji=False
    )
    target.soft_wrap = not colour
    show(target, answer_blocks(answer), detailed=detailed)
    return out.getvalue()


def assert_terminal_is_ours(answer: Answer) -> None:
    for detailed in (False, True):
        out = on_a_terminal(answer, detailed=detailed)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u200b\u2028]", out)
        numbered = re.findall(r"^(?:\[\d+\])+", out, re.MULTILINE)
        assert len(numbered) in {1, 2}
    for line in on_a_terminal(answer).splitlines():
        if re.match(r"\[\d+\]", line):
            assert re.search(r" — chapterhouse open \d$", line)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_document_becomes_markdown(text: str) -> None:
    assert_ours_alone(text)
    assert_ours_alone(f"a {text} b")
    assert_ours_alone(f"{text}{text}")


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


def test_what_renderers_make_links_of_by_themselves_is_broken_up() -> None:
    for text in ("https://evil.example/x", "HTTP://e.example", "WWW.e.example", "//e.x", "a@e.x"):
        shown = escaped(f"See {text}.")
        assert not re.search(r"(?i)[a-z]+://|\bwww\.|[a-z]@[a-z]", shown)
        assert plain(shown) == f"See {text}."


def test_an_answer_is_a_page_with_numbered_footnotes() -> None:
    assert answer_markdown(ANSWER) == (
        "Eyes are tracked at 60 Hz.[^1]\n\n"
        "sure · quoted, without a model · searched 1 document, 1 chunk\n\n"
        "[^1]: SR Runtime Overview (2024), §Tracking, page 3. "
        "<https://docs.example/sr#tracking> “Eyes are tracked at 60 Hz.” "
        f"(cited as sr:Tracking; papers/sr.md, characters 10–40, SHA-256 {'ab' * 6})\n"
    )


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


@pytest.mark.parametrize(
    ("mismatch", "mark"),
    [
        (Mismatch(MismatchKind.NUMBER, "30 Hz", "60 Hz"),
         "not in the source: “30 Hz”, “60 Hz” is"),
        (Mismatch(MismatchKind.DATE, "May 2021"), "not in the source: “May 2021”"),
        (Mismatch(MismatchKind.QUOTATION, "by all of us"),
         "not in the source: quotation “by all of us”"),
    ],
)  # fmt: skip
def test_what_no_source_has_is_named_beside_the_sentence(mismatch: Mismatch, mark: str) -> None:
    for mismatches, shown in (((mismatch,), True), ((), False)):
        own = AnswerSentence("It is.", (1,), mismatches)
        answer = replace(ANSWER, sentences=(own,), method="model")
        assert (f"*({mark})*" in answer_markdown(answer)) == shown
        assert (f"({mark})" in on_a_terminal(answer)) == shown


def test_a_second_opinion_says_whose_it_is() -> None:
    opinion = Opinion(OpinionKind.CONTRADICTS, "m", 1)
    answer = replace(ANSWER, sentences=(AnswerSentence("It is.", (), opinion=opinion),), method="m")
    assert "(m, asked again: the sources say otherwise) [1]" in on_a_terminal(answer)


def test_the_shape_of_the_answer_is_the_models() -> None:
    told = (
        AnswerSentence("Two things:", ()),
        AnswerSentence("One.", (1,), before="\n\n1. "),
        AnswerSentence("And so.", ()),
        AnswerSentence("Two.", (1,), before="\n2. "),
        AnswerSentence("Thus.", (), before="\n\n"),
    )
    page = answer_markdown(replace(ANSWER, sentences=told, method="model"))
    assert page.startswith("Two things:\n\n1. One.[^1] And so.\n2. Two.[^1]\n\nThus.\n\nwritten")


def test_the_answer_comes_first_then_a_line_for_each_place() -> None:
    other = replace(CITATION, number=2, start=50, end=60)
    far = replace(CITATION, number=3, page=4, verified=False)
    sentences = (AnswerSentence("It is 60 Hz.", (1,)), AnswerSentence("Or 90.", (2, 3)))
    answer = replace(ANSWER, sentences=sentences, citations=(CITATION, other, far), confidence=0.6)
    assert on_a_terminal(answer) == (
        "This is likely the answer:\nIt is 60 Hz. [1]\nOr 90. [2][3]\n\n"
        "[1][2] SR Runtime Overview (2024), §Tracking, page 3 — chapterhouse open 1\n"
        "[3] SR Runtime Overview (2024), §Tracking, page 4 NOT VERIFIED — chapterhouse open 3\n\n"
        "likely · quoted, without a model · searched 1 document, 1 chunk\n"
    )


def test_where_nothing_answers_passages_are_shown_with_what_tells() -> None:
    text = "Cameras look at the eyes. They do so at 60 Hz. That is enough."
    telling = (26, 46)
    passage = AnswerSentence(text, (1,), key_span=telling, note="3 of 9 shown")
    answer = replace(ANSWER, outcome=PASSAGES, sentences=(passage,) * 5, confidence=0.3)
    out = on_a_terminal(answer)
    assert out.startswith(
        "The closest passages:\n"
        "Cameras look at the eyes. »They do so at 60 Hz.« That is enough. [1]"
        " (3 of 9 shown)\n\nCameras"
    )
    assert out.count("»They do so at 60 Hz.«") == 5
    coloured = on_a_terminal(answer, colour=True)
    assert "\x1b[1mThey do so at 60 Hz.\x1b[0m" in coloured.replace("\n", " ")
    assert "»" not in coloured
    assert "**They do so at 60 Hz.** That" in answer_markdown(answer)
    (*shown, others, _) = answer_blocks(replace(answer, citations=())).parts
    assert len(shown) == 3
    assert (others.key, len(others.parts)) == (OTHERS, 2)


def test_a_list_and_lines_of_code_keep_their_lines() -> None:
    text = "Do this:\n1. stop\n   the pump\n2. run\n\n```sh\npump  --stop a[1]\n```"
    answer = replace(ANSWER, sentences=(AnswerSentence(text, (1,)),))
    assert on_a_terminal(answer).startswith(
        "Do this:\n1. stop the pump\n2. run\n    pump  --stop a[1]\n [1]\n"
    )
    assert answer_markdown(answer).startswith(
        "Do this:\n\n1. stop the pump\n2. run\n\n```\npump  --stop a[1]\n```\n\n[^1]\n"
    )
    tree = LexborHTMLParser(html_page(answer_blocks(answer), "An answer"))
    assert [node.text() for node in tree.css("li.depth-0")] == ["1. stop\n   the pump", "2. run"]
    assert [node.text() for node in tree.css("pre")] == ["pump  --stop a[1]"]


def test_numbers_are_those_of_the_document_in_every_format() -> None:
    text = "1. one\n3. three\n1.5 is no item\nPrice: 1,000.50 · Total: 07"
    page = answer_markdown(replace(ANSWER, sentences=(AnswerSentence(text, (1,)),)))
    assert "1\\. one\\\n3\\. three" in page
    assert not [token for token in tokens(page) if token.type == "ordered_list_open"]
    assert "1,000.50 · Total: 07" in plain(page)


def test_a_question_that_documents_do_not_answer_says_what_was_searched() -> None:
    searched = Searched(
        3, 9, ("pier", "won"), ("won",), ("Piers › Osk",), partly_read=1,
        partly_read_names=("a/plan.pdf",), languages=("de",), question_language="en",
    )  # fmt: skip
    refusal = replace(
        ANSWER,
        outcome=AnswerOutcome.NOT_FOUND,
        sentences=(),
        citations=(),
        searched=searched,
        warnings=("Of plan.pdf only 2 of 9 pages were read.",),
    )
    assert on_a_terminal(refusal) == (
        "I don't find this in the documents; it may be there in other words.\n"
        "Searched 3 documents, 9 chunks, for: pier, won\n"
        "No document searched mentions “won”.\n1 document was read only in part: a/plan.pdf\n"
        "The documents are in German; the question is in English.\n"
        "Nearest headings:\n• Piers › Osk\n\n"
        "Of plan.pdf only 2 of 9 pages were read.\n"
    )


def test_what_was_searched_stays_readable() -> None:
    words = ("x" * 100_000, *(f"word{number}" for number in range(10_000)))
    searched = Searched(1, 1, words, words, ())
    refusal = replace(ANSWER, outcome=AnswerOutcome.NOT_FOUND, sentences=(), searched=searched)
    out = on_a_terminal(refusal)
    assert "word1, word2" in out
    assert "more" in out
    assert len(out) < 2_000


@pytest.mark.parametrize(
    "link",
    ["javascript:alert(1)", "http://a b", "//evil.example", "https://x@y.example", "https://a>b"],
)
def test_only_a_plain_web_address_is_a_link(link: str) -> None:
    assert clean(replace(CITATION, link=link)).link == ""
    answer = replace(ANSWER, citations=(replace(CITATION, link=link),))
    assert link not in answer_markdown(answer)
    assert link not in html_page(answer_blocks(answer), "An answer")


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z", "M")), max_size=40),
    st.booleans(),
)
def test_words_are_shown_as_they_stand(text: str, begins: bool) -> None:  # noqa: FBT001 - drawn
    said = re.sub(r"[\[\]【】〔〕［］\ufe00-\ufe0f]", "", text)
    shown = "".join(
        t.content for t in tokens(f"x{words(said)}") if t.type in {"text", "text_special"}
    )
    assert shown == f"x{words_without_escapes(said)}"
    assert bool(words(said, begins=begins)) == bool(words_without_escapes(said))


def words_without_escapes(text: str) -> str:
    return re.sub(r"\\([\\`*_|<>~$^&@:.!#+=)-])", r"\1", words(text))


def test_a_heading_keeps_the_number_signs_at_its_end() -> None:
    assert heading("In C #", 2) == "## In C \\#"


def test_a_question_in_another_language_is_told() -> None:
    for languages, named in {
        ("de",): "German",
        ("de", "fr"): "German and French",
        ("de", "fr", "it"): "German, French and Italian",
        ("de", "fr", "it", "es", "nl", "pt"): "German, French, Italian, Spanish and others",
    }.items():
        looked = Searched(3, 9, (), (), (), languages=languages, question_language="en")
        told = f"The documents are in {named}; the question is in English."
        assert wording.reservations(looked) == (told,)
