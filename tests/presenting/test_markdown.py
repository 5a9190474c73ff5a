import re

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from chapterhouse.presenting.markdown import heading, words

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def tokens(text: str) -> list[Token]:
    return [inner for token in MARKDOWN.parse(text) for inner in (token, *(token.children or ()))]


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
    assert [t.content for t in MARKDOWN.parse(heading("In C ##", 1)) if t.type == "inline"] == [
        "In C #\\#"
    ]
