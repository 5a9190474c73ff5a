"""How systems are compared at equal words."""

import pytest

from marking import Passage
from questions import Question

pytest.importorskip("langchain_text_splitters", reason="only the benchmarks install it")

from peers import bars, compare, titled

QUESTION = Question("q", "terms", "when", "How long?", other_words=True, facts=(("ten years",),))


def test_every_system_gets_the_words_of_the_first() -> None:
    ours = [Passage("a", "six words are in this hit")] * 3 + [Passage("a", "ten years")]
    theirs = [Passage("b", "word " * 17 + "ten years"), Passage("b", "more")]
    found = {each.system: each for each in compare(QUESTION, {"we": ours, "they": theirs}, "we")}
    assert found["we"].hits == (False, True)
    assert found["we"].words == (False, True)
    assert found["they"].hits == (True, True)
    assert found["they"].words == (False, True)


def test_a_title_is_not_given_twice() -> None:
    assert titled("Terms", "# Terms\n\nText") == "# Terms\n\nText"
    assert titled("Terms", "Text") == "Terms\n\nText"


def test_those_with_vectors_are_compared_with_ours_with_the_same() -> None:
    hit, miss = [Passage("a", "ten years")], [Passage("a", "a b")]
    ranked = {
        "Chapterhouse, built-in": miss,
        "Chapterhouse, folder x": hit,
        "bm25s 1": miss,
        "Chroma 1": miss,
    }
    made = list(bars(compare(QUESTION, ranked, "Chapterhouse, built-in")))
    assert [bar.value for bar in made] == [0, 0, 100, 100]
