"""Blocks, sections and sentences: they cover the text and end where a reader says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.markdown import BlockKind, blocks, plain_title, sections, sentence_spans

PIECES = st.sampled_from(
    ["# One\n", "## Two\n", "text\n", "more text. And more.\n", "\n", "| a | b |\n", "|---|---|\n",
     "```\n", "~~~py\n", "Title\n", "=====\n", "-----\n", "- item\n", "> quote\n", "   \n", "x"]
)  # fmt: skip
MARKDOWN = st.lists(PIECES, max_size=30).map("".join)


@given(MARKDOWN | st.text())
def test_blocks_and_sections_follow_one_another_and_cover_the_text(text: str) -> None:
    found = blocks(text)
    for parts in (found, sections(text, found)):
        assert "".join(text[part.start : part.end] for part in parts) == text
        assert [part.start for part in parts[1:]] == [part.end for part in parts[:-1]]
    assert [one.ordinal for one in sections(text, found)] == list(range(len(sections(text, found))))


def test_a_section_knows_its_path() -> None:
    text = "intro\n\n# A\n\n## B\n\ntext\n\n### C\n\n## D\n"
    assert [section.path for section in sections(text, blocks(text))] == [
        (), ("A",), ("A", "B"), ("A", "B", "C"), ("A", "D"),
    ]  # fmt: skip


def test_a_fence_holds_headings_and_shorter_fences() -> None:
    text = "````\n```\n# no\n```\n````\nafter\n# a heading\n"
    kinds = [BlockKind.CODE, BlockKind.PARAGRAPH, BlockKind.HEADING]
    assert [block.kind for block in blocks(text)] == kinds


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


def split(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in sentence_spans(text, 0, len(text))]


@given(st.text() | st.text(alphabet=st.sampled_from("aB. !?\n-1。")))
def test_sentences_follow_one_another_and_cover_the_text(text: str) -> None:
    spans = list(sentence_spans(text, 0, len(text)))
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four", 4),
        ("Dr. Smith met J. R. Tolkien at 3.14 p.m. on Jan. 5. They spoke.", 2),
        ("It costs e.g. five euros, i.e. little. Good.", 2),
        ('"Is it?" he said. "Yes." She left.', 3),
        ("Das kostet z.B. 5 Euro. Am 3. Oktober ist frei.", 2),
        ("第一句。第二句！第三句？", 3),
        ("First line\nof one sentence. Second.", 2),
        ("- one item\n- another item\n- a third", 3),
        ("A paragraph\n\nAnother one", 2),
        ("It ended in 2019. The rest is silence.", 2),
        ("## 9. Lost luggage\n\nBags are kept.", 2),
        ("## Rent. New\nIt is 5 euros. It rises.\n### Use\nFor:\n(a) boats;\n(b) an office.", 7),
        ("Wait... what? Yes.", 2),
        ("| Theft | Misd. A fine. | St. Paul! |\n| Fraud | 3 |", 2),
        ("See Sec. 5 and Cl. 12 of it. Then go, eg. home.", 2),
        ("Protokoll vom\n3. Mai 2024 ist da. Der\n1. Antrag nicht.", 3),
        ("Schůze ze dne\n3. května byla. Am 5. Maintenance begins.", 3),
        ("1. Is it? No.\n2. Is that? No.", 4),
        ("", 0),
    ],
)
def test_known_cases(text: str, sentences: int) -> None:
    assert len(split(text)) == sentences, split(text)


def test_a_span_inside_a_text_is_respected() -> None:
    text = "Before. One. Two. After."
    start, end = text.index("One"), text.index(" After")
    assert [text[a:b].strip() for a, b in sentence_spans(text, start, end)] == ["One.", "Two."]
