"""The words of a library."""

from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.index.vocabulary import Vocabulary
from chapterhouse.text.spelling import edit_cost

WORDS = st.text(alphabet="abcdeé", min_size=4, max_size=10)


@given(st.sets(WORDS, max_size=30), WORDS)
def test_the_filters_lose_no_near_word(words: set[str], written: str) -> None:
    costs = {word: edit_cost(written, word) for word in words - {written}}
    near = {word: cost for word, cost in costs.items() if cost is not None}
    vocabulary = Vocabulary("\n".join(sorted(words)))
    assert vocabulary.near(written) == near
    assert len(vocabulary) == len(words)


def test_an_empty_vocabulary_has_nothing_near() -> None:
    assert Vocabulary("").near("harbour") == {}
