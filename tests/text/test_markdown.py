"""Blocks cover the text; sections follow the headings."""

from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.markdown import BlockKind, blocks, plain_title, sections

PIECES = st.sampled_from(
    ["# One\n", "## Two\n", "text\n", "more text. And more.\n", "\n", "| a | b |\n", "|---|---|\n",
     "```\n", "~~~py\n", "Title\n", "=====\n", "-----\n", "- item\n", "> quote\n", "   \n", "x"]
)  # fmt: skip
MARKDOWN = st.lists(PIECES, max_size=30).map("".join)


@given(MARKDOWN | st.text())
def test_blocks_follow_one_another_and_cover_the_text(text: str) -> None:
    found = blocks(text)
    assert "".join(text[block.start : block.end] for block in found) == text
    assert [block.start for block in found[1:]] == [block.end for block in found[:-1]]


@given(MARKDOWN)
def test_sections_follow_one_another_and_cover_the_text(text: str) -> None:
    found = sections(text, blocks(text))
    assert "".join(text[section.start : section.end] for section in found) == text
    assert [section.ordinal for section in found] == list(range(len(found)))


def test_a_section_knows_its_path() -> None:
    text = "intro\n\n# A\n\n## B\n\ntext\n\n### C\n\n## D\n"
    assert [section.path for section in sections(text, blocks(text))] == [
        (), ("A",), ("A", "B"), ("A", "B", "C"), ("A", "D"),
    ]  # fmt: skip


def test_a_hash_inside_a_fence_is_no_heading() -> None:
    text = "```python\n# not a heading\n```\n\n# a heading\n"
    assert [block.kind for block in blocks(text)] == [BlockKind.CODE, BlockKind.HEADING]


def test_a_longer_fence_holds_a_shorter_one() -> None:
    text = "````\n```\n# no\n```\n````\nafter\n"
    assert [block.kind for block in blocks(text)] == [BlockKind.CODE, BlockKind.PARAGRAPH]


def test_setext_headings_are_found_and_rules_are_not() -> None:
    text = "Title\n=====\n\ntext\n\n---\n\nSub\n---\n"
    kinds = [(block.kind, block.level) for block in blocks(text)]
    assert kinds[0] == (BlockKind.HEADING, 1)
    assert kinds[-1] == (BlockKind.HEADING, 2)
    assert sum(kind is BlockKind.HEADING for kind, _ in kinds) == 2


def test_a_table_knows_where_its_rows_begin() -> None:
    text = "| a | b |\n| --- | --- |\n| 1 | 2 |\n\nafter"
    table = blocks(text)[0]
    assert table.kind is BlockKind.TABLE
    assert text[table.body_start : table.end].startswith("| 1 |")


def test_a_title_loses_its_marks_and_keeps_its_names() -> None:
    assert plain_title("see [[ 15 ]](#cite_note-1) there") == "see [ 15 ] there"
    assert plain_title("**Bold** `code_name` [link](http://x) 2\\*3") == "Bold code_name link 2*3"
