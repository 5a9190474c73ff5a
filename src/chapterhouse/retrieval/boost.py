"""What a document is, rather than what it says, moves its chunks a little."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from chapterhouse.retrieval.question import plain_words
from chapterhouse.text.canonical import written_at
from chapterhouse.types import Document, Question

TAG_BOOST: Final = 0.08
FRESHNESS_HALF_LIFE: Final = 26.0  # days
FRESHNESS_FLOOR: Final = 0.1
_DAY: Final = 86_400
_YEAR: Final = re.compile(r"(?<!\d)(?:1[5-9]|20|21)\d\d(?!\d)")
_SEPARATORS: Final = re.compile(r"[\s_\-]+")
_LEAST_TITLE: Final = 2  # words; a shorter title is too easily met by chance


@dataclass(frozen=True, slots=True)
class Recency:
    """How much the age of a document counts.

    Attributes:
        now: Seconds since 1970.
        share: From 0, age does not count, to 1, the score is multiplied by the freshness.
    """

    now: int
    share: float = 1.0


def freshness(age_seconds: float) -> float:
    """Return ``0.1 + 0.9 · 2^(−age / 26 days)``: .98 after a day, .50 after 30, .11 after 180.

    A document dated in the future counts as new.
    """
    days = max(age_seconds, 0.0) / _DAY
    return FRESHNESS_FLOOR + (1 - FRESHNESS_FLOOR) * math.exp2(-days / FRESHNESS_HALF_LIFE)


def tags_of(document: Document) -> frozenset[str]:
    """Return what a document says it is about in its front matter, folded."""
    listed = document.metadata.get("tags", "")
    return frozenset(filter(None, map(fold_tag, listed.split(","))))


def fold_tag(tag: str) -> str:
    """Return a tag in the form in which tags are compared: ``Eye_Tracking`` is ``eye-tracking``."""
    return _SEPARATORS.sub("-", tag.strip().casefold())


def shared_tags(document: Document, tags: Sequence[str]) -> tuple[str, ...]:
    """Return the tags that a document shares with the asker, sorted."""
    return tuple(sorted(tags_of(document).intersection(map(fold_tag, tags))))


def names_document(question: Question, document: Document) -> bool:
    """Whether the question names this document, by its file or by its whole title."""
    if names_file(question, document):
        return True
    title = _words(document.title)
    return title.count(" ") > _LEAST_TITLE and title in _words(question.text)


def names_file(question: Question, document: Document) -> bool:
    """Whether the question names the file of this document."""
    name = document.source.rpartition("/")[2].casefold()
    return any(name == wanted.casefold() for wanted in question.file_names)


def _words(text: str) -> str:
    """Return the words of a text, a space before and behind each."""
    return f" {' '.join(plain_words(text.casefold()))} "


def names_year(question: Question) -> bool:
    """Whether the question asks about a year."""
    return _YEAR.search(question.text) is not None


def weight_of(
    question: Question, document: Document, tags: Sequence[str], recency: Recency | None
) -> tuple[float, float]:
    """Return by what a document's tags and its freshness multiply the scores of its chunks.

    Freshness is 1 where the question names the document or a year: who asks for the minutes of
    2019 does not want newer ones.
    """
    tagged = 1.0 + TAG_BOOST if tags and shared_tags(document, tags) else 1.0
    if recency is None or names_year(question) or names_document(question, document):
        return tagged, 1.0
    fresh = freshness(recency.now - written_at(document))
    return tagged, 1.0 - recency.share * (1.0 - fresh)
