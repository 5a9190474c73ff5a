"""Sentences cover the text and end where a reader says they do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.sentences import sentence_spans


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
        ("", 0),
    ],
)
def test_known_cases(text: str, sentences: int) -> None:
    assert len(split(text)) == sentences, split(text)


def test_a_span_inside_a_text_is_respected() -> None:
    text = "Before. One. Two. After."
    start, end = text.index("One"), text.index(" After")
    assert [text[a:b].strip() for a, b in sentence_spans(text, start, end)] == ["One.", "Two."]
