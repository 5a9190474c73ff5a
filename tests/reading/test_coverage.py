"""Which words of a file stand in the text that was read from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.reading.coverage import missing_words

WORDS = st.lists(
    st.sampled_from(["ferry", "berth", "17", "ﬁne", "e\u0301tat", "ab-cd"]), min_size=1
)


def missing(lines: list[str], text: str) -> list[list[str]]:
    found = missing_words(lines, text)
    return [[line[a:b] for a, b in spans] for line, spans in zip(lines, found, strict=True)]


@given(st.lists(WORDS, max_size=6), st.data())
def test_nothing_is_missing_in_a_text_of_the_same_lines(
    found: list[list[str]], data: st.DataObject
) -> None:
    lines = [" ".join(line) for line in found]
    held = data.draw(st.permutations(lines))

    assert missing(lines, "\n".join(held)) == [[] for _ in lines]


@given(st.lists(WORDS, min_size=1, max_size=6), st.integers(0, 5))
def test_a_line_with_a_word_that_the_text_lacks_misses_that_word(
    found: list[list[str]], place: int
) -> None:
    lines = [" ".join(line) for line in found]
    place = min(place, len(lines) - 1)
    held = "\n".join(lines)
    lines[place] += " lighthouse"

    told = missing(lines, held)

    assert told == [["lighthouse"] if number == place else [] for number in range(len(lines))]


@given(st.lists(st.text(max_size=30), max_size=5), st.text(max_size=60))
def test_spans_lie_in_their_line_one_after_the_other(lines: list[str], text: str) -> None:
    for line, spans in zip(lines, missing_words(lines, text), strict=True):
        ends = [end for span in spans for end in span]
        assert ends == sorted(ends)
        assert not spans or (ends[0] >= 0 and ends[-1] <= len(line))


def test_a_heading_is_missing_although_its_words_come_below_it() -> None:
    lines = ["Annual report", "The annual report was late."]

    assert missing(lines, "The annual report was late.") == [["Annual report"], []]


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["The ferry is punc-", "tual today."], "The ferry is punctual today."),
        (["a well-", "known berth"], "a well-known berth"),
        (["Redpaper™ ½ ﬁsh"], "Redpaper™ ½ ﬁsh"),
        (["各国の港"], "# 各国の港"),
        (["| … |", "—"], ""),
    ],
    ids=["torn", "hyphen", "composed", "without spaces", "no words"],
)
def test_what_is_written_otherwise_is_not_missing(lines: list[str], text: str) -> None:
    assert missing(lines, text) == [[] for _ in lines]


def test_words_count_once_for_each_time_they_are_held() -> None:
    assert missing(["X", "X", "X"], "| X | X |") == [[], [], ["X"]]
