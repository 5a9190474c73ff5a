"""A question that goes on from the one before it ("and in winter?"), made one that stands alone.

Without a model it is searched with all content words of the question before, which finds more than
a few do, and the answer is chosen by it and the three rarest of them, which chooses better than
more do. Measured by ``benchmarks/natural/turns.py``.
"""

from collections.abc import Callable, Sequence
from typing import Final

from chapterhouse.retrieval.question import plain_words
from chapterhouse.text.language_data import language_data
from chapterhouse.text.scripts import script_language
from chapterhouse.types import Question

SURE: Final = 0.3  # score of the first hit from which a question has found its subject by itself
_FEW: Final = 3  # content words
_SUBJECT: Final = 3  # words that say what a question is about
_MOST: Final = 32  # words of a question that are looked at


def says_little(question: Question) -> bool:
    """Whether a question has so few content words that it may need those of the one before."""
    return len(question.words) <= _FEW


def begins_as_follow_up(question: Question) -> bool:
    """Whether a question begins with a word that ties it to what was said: "and", "but"."""
    data = language_data().get(question.languages[0] or "en")
    words = data.linking_words if data else frozenset[str]()
    text = question.text.casefold()
    if script_language(text):
        return text.startswith(tuple(words))
    return bool(words & set(plain_words(text)[:1]))


def subject(before: Question, frequencies: Callable[[Sequence[str]], Sequence[int]]) -> str:
    """Return the words that tell best what a question is about: its rarest, in their order."""
    words = before.words[:_MOST]
    counts = [min(frequencies(terms), default=0) for _, terms in words]
    rarest = sorted(range(len(words)), key=lambda place: (counts[place], place))[:_SUBJECT]
    return " ".join(words[place][0] for place in sorted(rarest))


def content_words(before: Question) -> str:
    """Return the content words of a question: what a question that goes on is searched with."""
    return " ".join(before.content.split()[:_MOST])
