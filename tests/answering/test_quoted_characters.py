import html
import json
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from tests.interfaces.mcp.conftest import Direct
from tests.reading.conftest import xlsx_parts, zipped
from tests.reading.pdf_writer import Page, write_pdf

from chapterhouse.answering.parts import render_part
from chapterhouse.library import Library
from chapterhouse.presenting.answers import answer_blocks, answer_markdown
from chapterhouse.presenting.html import page
from chapterhouse.presenting.terminal import show
from chapterhouse.text.markdown import plain_title
from chapterhouse.types import Answer

HARD = (
    r"a*b*c + 5*3*2, files *.bak and **/*.log, snake_case_name, __init__, x<y & y>z, ~4~, C:\dir, "
    "off|on, 20*30"
)
ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
TAG = re.compile(r"</?[a-z][^>]*>")

BOATS = {
    "txt": "Heron", "md": "Osprey", "html": "Gannet", "pdf": "Merlin", "csv": "Dotterel",
    "xlsx": "Shelduck", "rtf": "Turnstone",
}  # fmt: skip
RAISED = {
    "html": "<p>The limit of the Curlew is 2<sup>31</sup>-1 m<sup>2</sup> of H<sub>2</sub>O.</p>",
    "rtf": r"{\rtf1\ansi The limit of the Curlew is 2{\super 31}-1 m{\super 2} of H{\sub 2}O.\par}",
}


def file_of(format_: str, text: str) -> bytes:
    """Return a file that shows a text."""
    escaped = html.escape(text, quote=False)
    match format_:
        case "html":
            return f"<html><body><p>{escaped}</p></body></html>".encode()
        case "pdf":
            return write_pdf([Page().text(72, 700, text, size=7)])
        case "csv":
            return f'Boat,Formula\n{BOATS["csv"]},"{text}"\n'.encode()
        case "xlsx":
            return zipped(xlsx_parts((("Boat", "Formula"), (BOATS["xlsx"], escaped))))
        case "rtf":
            return (r"{\rtf1\ansi " + text.replace("\\", r"\\") + r"\par}").encode()
        case _:
            return text.encode()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("boats")
    for format_, boat in BOATS.items():
        text = f"The formula of the {boat} is {HARD}."
        (folder / f"{boat}.{format_}").write_bytes(file_of(format_, text))
    with Library.open(folder / "home") as opened:
        opened.documents.add(folder)
        yield opened


def ask(library: Library, boat: str) -> Answer:
    return library.answers.ask(f"What is the formula of the {boat}?", model="none", remember=False)


def without_spaces(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("format_", sorted(BOATS))
def test_every_presentation_has_every_character(library: Library, format_: str) -> None:
    answer = ask(library, BOATS[format_])
    for citation in answer.citations:
        body = library.documents.body(citation.document_id)
        assert body.text[citation.start : citation.end] == citation.quote
    terminal = StringIO()
    show(Console(file=terminal, width=2_000), answer_blocks(answer))
    tool = Direct(library).tool("ask", question=answer.question)
    shown = {
        "API": "".join(sentence.text for sentence in answer.sentences),
        "terminal": terminal.getvalue(),
        "Markdown": ESCAPE.sub("", answer_markdown(answer)),
        "HTML": html.unescape(TAG.sub("", page(answer_blocks(answer), "answer"))),
        "MCP, text": ESCAPE.sub("", tool.content[0].text),
        "MCP": json.dumps(tool.structured_content, ensure_ascii=False).replace("\\\\", "\\"),
    }
    for name, text in shown.items():
        assert without_spaces(HARD) in without_spaces(text), (name, text)


@pytest.mark.parametrize("format_", sorted(RAISED))
def test_raised_and_lowered_text_is_not_read_as_a_number(tmp_path: Path, format_: str) -> None:
    (tmp_path / f"limits.{format_}").write_text(RAISED[format_])
    with Library.open(tmp_path / "home") as library:
        library.documents.add(tmp_path)
        answer = library.answers.ask("What is the limit of the Curlew?", remember=False)
        assert "2³¹-1m²ofH₂O" in without_spaces(answer.sentences[0].text)


@given(st.text(st.sampled_from("ab12*_`~\\[]()<>#+-|. \n"), max_size=60))
def test_of_a_plain_text_every_character_is_shown(text: str) -> None:
    quote = "x" + text  # a row of a table is framed
    rows = [line for line in quote.splitlines() if line.startswith("|")]
    if not rows:
        assert without_spaces(render_part(quote, "txt")) == without_spaces(quote)


WORDS = st.lists(st.text("ab12", min_size=1, max_size=3), min_size=2, max_size=6)


@given(WORDS, st.sampled_from("*_~"))
def test_a_mark_between_letters_and_digits_is_none(words: list[str], mark: str) -> None:
    product = mark.join(words)
    assert (
        plain_title(f"It is {product} and **that** is *all*.")
        == f"It is {product} and that is all."
    )


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("***a*** and **b *c* d**", "a and b c d"),
        ("__bold words__, `__init__` and __init__", "bold words, __init__ and __init__"),
        ("Price* and net** (*see below)", "Price* and net** (*see below)"),
        ("`a*b` and `*c*`", "a*b and *c*"),
        (r"\*a\* and \\server", r"*a* and \server"),
        ("这是**重点**内容", "这是重点内容"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("**Total:** 5*3*2", "Total: 5*3*2"),
    ],
)
def test_only_marks_that_are_emphasis_are_left_out(markdown: str, shown: str) -> None:
    assert plain_title(markdown) == shown


def test_a_sign_before_a_number_is_no_bullet() -> None:
    assert render_part("+ 5 %\n- 3 %", "md") == "+ 5 %\n- 3 %"
