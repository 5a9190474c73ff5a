import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.steps import assert_in_proportion

from chapterhouse.presenting.blocks import (
    Block,
    Bullets,
    CitationBlock,
    Code,
    Lines,
    Mark,
    Paragraph,
    Style,
    Words,
    lines_of,
)
from chapterhouse.presenting.quoted import quoted_blocks


def words(block: Block, style: Style | None = None) -> str:
    if isinstance(block, Code):
        return "" if style else block.text
    runs = (run for line in lines_of(block) for run in line if isinstance(run, Words))
    marks = "".join(mark.number for mark in block.marks) if isinstance(block, Bullets) else ""
    return ("" if style else marks) + "".join(
        run.text for run in runs if style in {None, run.style}
    )


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("One line.", [Paragraph]),
        ("One line.\nAnother.", [Lines]),
        ("One.\n\nAnother.", [Paragraph, Paragraph]),
        ("Do this:\n- a\n- b", [Paragraph, Bullets]),
        ("- a\n\n- b", [Bullets, Bullets]),
        ("See:\n    x = 1\n    y = 2", [Paragraph, Code]),
        ("~~~\n- a\n\n- b\n~~~\nAfter.", [Code, Paragraph]),
        ("```\nnever closed", [Code]),
        ("-5 degrees", [Paragraph]),
        ("12. March", [Bullets]),
        ("The parties:\n(a) one\niv) two\n▪ three", [Paragraph, Bullets]),
        ("(aside) no item", [Paragraph]),
        ("", [Paragraph]),
        ("```", [Paragraph]),
    ],
)
def test_lines_become_blocks(text: str, kinds: list[type]) -> None:
    assert [type(block) for block in quoted_blocks(text)] == kinds


def test_a_list_has_the_marks_of_its_document() -> None:
    (block,) = quoted_blocks("1. a\n   goes on\n  - b\n    * c\n7) d")
    assert isinstance(block, Bullets)
    assert block.marks == (Mark(0, "1."), Mark(1), Mark(2), Mark(0, "7)"))
    assert words(block) == "1.7)a\n   goes onbcd"


def test_what_is_said_behind_it_follows_the_last_line() -> None:
    cited = CitationBlock(("1",))
    for text in ("a", "a\nb", "- a\n- b"):
        *_, last = quoted_blocks(text, after=(cited,))
        assert list(lines_of(last))[-1][-1] == cited
    assert quoted_blocks("    code", after=(cited,))[-1] == Paragraph((cited,))


TEXT = st.text(alphabet="ab1 -*.)`~\t\n", max_size=60)


@given(TEXT)
def test_no_word_is_lost(text: str) -> None:
    def letters(value: str) -> str:
        return "".join(character for character in value if character.isalpha())

    shown = "".join(map(words, quoted_blocks(text)))
    fences = [line for line in text.split("\n") if line.strip()[:3] in {"```", "~~~"}]
    if not fences:
        assert letters(shown) == letters(text)


@given(TEXT, st.integers(0, 60), st.integers(0, 60))
def test_what_tells_is_what_was_named(text: str, start: int, end: int) -> None:
    shown = "".join(words(block, Style.KEY) for block in quoted_blocks(text, (start, end)))
    pieces = iter(text[start:end])
    assert all(character in pieces for character in shown)


def test_a_number_in_brackets_is_inert_wherever_it_is_cut() -> None:
    for start in range(8):
        (block,) = quoted_blocks("a [12] b", (start, 8))
        assert words(block) == "a ⟦12⟧ b"


@pytest.mark.parametrize("unit", ["- ", "\n- a", " ", "`"])
def test_it_takes_work_in_proportion(unit: str) -> None:
    assert_in_proportion(lambda text: quoted_blocks(text, (0, len(text))), unit, 2_000)
